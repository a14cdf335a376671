"""From whatever a user hands over to one clean array per modality."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from latentry.data.annotated_rows import annotated_rows
from latentry.data.columns import Coding, UnsaidColumn, encoded
from latentry.data.frames import as_frame, frame_columns
from latentry.data.inputs import RowsLike, StoredRows
from latentry.data.largest import LARGEST
from latentry.data.lazy_rows import blocks, is_lazy, stays_on_disk
from latentry.data.missing_cells import place_in_row
from latentry.data.raw_columns import RawColumn, RawTable
from latentry.errors import DataError, DataWarning

__all__ = ["Modality", "read_modality"]

_MOST_CURVES = 4  # channels; rows (length, channels) with more are images


class Modality(NamedTuple):
    """One kind of measurement for every row."""

    values: StoredRows  # (rows, ...): NumPy, or an array that stays on disk
    observed: np.ndarray  # (rows,) bool
    columns: tuple[str, ...] | None
    coding: tuple[Coding, ...] = ()  # how columns became numbers; none where all of them hold numbers
    partial: bool = False  # whether single cells are missing: NaN in rows that were observed


class _NotANumber(DataError, TypeError):
    """An entry that cannot be a number; also a TypeError, as in the rest of the scientific stack."""


def read_modality(
    name: str,
    raw: RowsLike,
    mask: ArrayLike | None = None,
    columns: tuple[str, ...] | None = None,
    coding: Sequence[Coding] = (),
    *,
    of_a_fit: bool = False,
) -> Modality:
    """Check one modality and mark what is missing: None, NaN, or what ``mask`` says.

    Args:
        name: Of the modality.
        raw: Rows, in whatever form they were given.
        mask: Booleans, (rows,) or of the shape of the values, True where observed.
        columns: Names of the features; a data frame has its own.
        coding: How columns of a table become numbers, where that is known; of an array, how its columns came to be.
        of_a_fit: Whether a fit knows these columns: then one may be missing in every row.

    Returns:
        Values, a mask of what was observed, names of features, and how these became numbers.

    Raises:
        DataError: By row and column, for what is not a number, not finite or not of one shape.
    """
    annotated = annotated_rows(name, raw)
    if annotated is not None:
        raw, columns = annotated.values, annotated.columns if columns is None else columns
    table, used = _raw_columns(name, raw), tuple(coding)
    if table is not None:
        columns, raw, used = _encoded(name, raw, table, coding)
        _check_unique(name, columns)
    elif columns is None:
        used = ()  # numbers without names are what they are
    elif used and tuple(feature for rule in used for feature in rule.features) != columns:
        raise DataError(f"coding[{name!r}]: is of other columns. Give that of a dataset with these columns.")
    values, stacked_mask = _as_array(name, raw)
    _check_kind(name, values)
    if columns is not None:
        _check_columns(name, columns, values.shape)
    observed = np.ones(values.shape[0], dtype=bool) if stacked_mask is None else stacked_mask
    if mask is not None:
        known = _read_mask(name, mask, values.shape)
        values, observed = (values, observed & known) if known.ndim == 1 else (_blanked(name, values, known), observed)
    observed, partial = _mark_missing(name, values, observed, columns)
    if not observed.any():
        raise DataError(f"modality {name!r}: missing in every row. Leave it out.")
    if partial and not of_a_fit:
        _check_never_observed(name, values, observed, columns)
    return Modality(values, observed, columns, used, partial)


def _encoded(
    name: str, raw: RowsLike, table: tuple[RawColumn, ...], coding: Sequence[Coding]
) -> tuple[tuple[str, ...], np.ndarray, tuple[Coding, ...]]:
    """Return columns as numbers; what a sentence advises can be done with a frame, where that was given."""
    try:
        return encoded(name, table, coding)
    except UnsaidColumn as problem:
        raise (problem if isinstance(raw, RawTable) else problem.of_frame) from None


def _raw_columns(name: str, raw: RowsLike) -> tuple[RawColumn, ...] | None:
    if isinstance(raw, RawTable):
        return raw.columns
    frame = as_frame(f"modality {name!r}", raw)
    return None if frame is None else frame_columns(f"modality {name!r}", frame)


def _as_array(name: str, raw: RowsLike) -> tuple[StoredRows, np.ndarray | None]:
    if stays_on_disk(raw):
        return cast(StoredRows, raw), None
    if hasattr(raw, "toarray") and hasattr(raw, "nnz"):
        raise DataError(f"modality {name!r}: a sparse matrix, but rows must be dense. Pass {name}.toarray().")
    if isinstance(raw, np.ma.MaskedArray):
        return _unmasked(name, raw)
    if isinstance(raw, (list, tuple)) or (isinstance(raw, np.ndarray) and raw.dtype == object and raw.ndim == 1):
        return _stack(name, raw)
    array = np.asarray(raw)
    return (_numbers(name, array) if array.dtype == object else array), None


def _unmasked(name: str, raw: np.ma.MaskedArray) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of a masked array, with NaN in single masked cells, and which rows are not masked whole."""
    hidden = np.ma.getmaskarray(raw)
    observed = np.asarray(~hidden.reshape(len(raw), -1).all(axis=1))
    plain = raw.filled(np.nan if raw.dtype.kind == "f" else 0)
    return (plain if not hidden[observed].any() else _blanked(name, plain, ~hidden)), observed


def _blanked(name: str, values: StoredRows, known: np.ndarray) -> np.ndarray:
    """Return values with NaN in the cells that are not known."""
    if is_lazy(values):
        raise DataError(
            f"observed[{name!r}]: masks cells of an array on disk. Store NaN in the cells that are missing."
        )
    wide = np.array(values, dtype=np.result_type(values.dtype, np.float32))
    wide[~known] = np.nan
    return wide


def _stack(name: str, raw: Sequence[ArrayLike | None] | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    observed = np.array([row is not None for row in raw], dtype=bool)
    present = [np.asarray(row) for row in raw if row is not None]
    if not present:
        raise DataError(f"modality {name!r}: no row was observed. Leave it out.")
    shape = present[0].shape
    for index, row in zip(np.flatnonzero(observed), present, strict=True):
        if row.shape != shape:
            raise DataError(
                f"modality {name!r}: ragged, as row {index} has shape {row.shape} but row {np.flatnonzero(observed)[0]} "
                f"has {shape}. Cut, pad or resample the rows to one shape."
            )
    dtype = np.result_type(*present)
    stacked = np.zeros((len(observed), *shape), dtype=dtype)
    stacked[observed] = present
    return (_numbers(name, stacked) if stacked.dtype.kind == "O" else stacked), observed


def _numbers(name: str, array: np.ndarray) -> np.ndarray:
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as problem:
        raise _NotANumber(
            f"modality {name!r}: an object array with an entry that is no number ({problem}). Give numbers."
        ) from problem


def _check_kind(name: str, values: StoredRows) -> None:
    dtype = np.dtype(values.dtype)
    if dtype.kind == "c":
        raise DataError(f"modality {name!r}: Complex data not supported. Pass real and imaginary parts as two columns.")
    if dtype.kind not in "biuf":
        raise DataError(f"modality {name!r}: {_remedy(name, dtype)}")
    if len(values.shape) < 2:
        raise DataError(
            f"modality {name!r}: Expected 2D array, got {len(values.shape)}D array instead. "
            "Reshape your data with array.reshape(-1, 1) if it is one column, or array.reshape(1, -1) if it is one row. "
            f"If it labels the rows, it is no modality: read it as domain={name!r} or groups={name!r}."
        )
    if len(values.shape) == 4 and values.shape[1] in (1, 3, 4) and min(values.shape[2:]) > 4:
        raise DataError(
            f"modality {name!r}: rows of shape {values.shape[1:]}: images with channels first, it seems, but axes are (height, "
            f"width, channels). Pass numpy.moveaxis({name}, 1, -1)."
        )
    _warn_of_channels(name, tuple(values.shape[1:]))
    if values.shape[0] == 0:
        raise DataError(
            f"modality {name!r}: Found array with 0 sample(s) (shape={values.shape}): there is no row. Give at least one."
        )
    if 0 in values.shape[1:]:
        raise DataError(
            f"modality {name!r}: 0 feature(s) (shape={values.shape}) while a minimum of 1 is required: it has no column. "
            "Leave it out."
        )


def _warn_of_channels(name: str, row: tuple[int, ...]) -> None:
    """Warn of rows that would be odd as they are read, and usual with their channels first."""
    if len(row) == 2 and row[0] <= _MOST_CURVES < row[1] and row[1] >= 4 * row[0]:
        read, meant = f"an image, {row[0]} high and {row[1]} wide", f"curves of {row[0]} channel{'s' * (row[0] > 1)}"
    elif len(row) == 3 and row[0] > 1 and 2 * row[0] <= min(row[1:]) and row[1] == row[2]:
        read = f"an image, {row[0]} high and {row[1]} wide, of {row[2]} channels"
        meant = f"images of {row[0]} channels"
    else:
        return
    warnings.warn(
        f"modality {name!r}: rows of shape {row} are read as {read}: channels come last. If they are {meant}, pass "
        f"numpy.moveaxis({name}, 1, -1).",
        DataWarning,
        stacklevel=6,
    )


def _remedy(name: str, dtype: np.dtype) -> str:
    """Say what an array holds instead of numbers, and what to do."""
    if dtype.names:
        shown = ", ".join(dtype.names[:5]) + (", …" if len(dtype.names) > 5 else "")
        return f"records with the fields {shown}, not numbers. Pass a data frame of them: pandas.DataFrame({name})."
    if dtype.kind in "Mm":
        return f"dates ({dtype}), not numbers. Pass them in a data frame, whose dates become days; or say time={name}."
    if dtype.kind in "US":
        return f"text ({dtype}), not numbers. Say what it is: domain={name}, groups={name} or ids={name}; or encode it as numbers."
    return f"dtype {dtype}, not numbers. Encode it as numbers, or leave it out."


def _check_columns(name: str, columns: tuple[str, ...], shape: tuple[int, ...]) -> None:
    if len(shape) != 2 or len(columns) != shape[1]:
        raise DataError(
            f"columns[{name!r}]: {len(columns)} names for rows of shape {shape[1:]}. Give one for each column of a table."
        )
    _check_unique(name, columns)


def _check_unique(name: str, columns: tuple[str, ...]) -> None:
    if len(set(columns)) != len(columns):
        twice = next(column for column in columns if columns.count(column) > 1)
        raise DataError(f"modality {name!r}: two columns called {twice!r}. Rename one.")


def _read_mask(name: str, mask: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    array = np.asarray(mask)
    if array.shape not in (shape[:1], shape) or array.dtype != bool:
        raise DataError(
            f"observed[{name!r}] of shape {array.shape} and dtype {array.dtype}: no mask of rows. "
            f"Give {shape[0]} booleans, True where observed, or one for each cell, of shape {shape}."
        )
    return array


def _mark_missing(
    name: str, values: StoredRows, observed: np.ndarray, columns: tuple[str, ...] | None
) -> tuple[np.ndarray, bool]:
    """Return which rows were observed, and whether single cells of these are missing."""
    if np.dtype(values.dtype).kind != "f":
        return observed, False
    observed, partial = observed.copy(), False
    for start, piece in blocks(values):
        flat = piece.reshape(len(piece), -1)
        nan = np.isnan(flat)
        observed[start : start + len(piece)] &= ~nan.all(axis=1)
        seen = observed[start : start + len(piece), None]
        partial = partial or bool((nan & seen).any())
        _check_size(name, flat, np.isinf(flat) & seen, start, values.shape[1:], columns)
        if flat.dtype.itemsize >= 8:
            _check_size(name, flat, (np.abs(flat) > LARGEST) & seen, start, values.shape[1:], columns)
    return observed, partial


def _check_size(
    name: str,
    flat: np.ndarray,
    bad: np.ndarray,
    start: int,
    shape: tuple[int, ...],
    columns: tuple[str, ...] | None,
) -> None:
    """Refuse numbers that are infinite, or so large that their squares would be."""
    if not bad.any():
        return
    row, entry = np.argwhere(bad)[0]
    what = f"at row {start + row}, {place_in_row(shape, int(entry), columns)}"
    if np.isinf(flat[row, entry]):
        raise DataError(
            f"modality {name!r}: infinity {what}. Give a finite number, or NaN where nothing was measured. "
            "(Input X must not contain NaN or infinity.)"
        )
    raise DataError(
        f"modality {name!r}: {flat[row, entry]:.3g} {what}. Squares of such numbers overflow. Use other units."
    )


def _check_never_observed(name: str, values: StoredRows, observed: np.ndarray, columns: tuple[str, ...] | None) -> None:
    """Refuse a column of a table in which no row has a number."""
    if len(values.shape) != 2:
        return
    known = np.zeros(values.shape[1], dtype=bool)
    for start, piece in blocks(values):
        known |= (~np.isnan(piece) & observed[start : start + len(piece), None]).any(axis=0)
    if not known.all():
        empty = place_in_row(values.shape[1:], int(np.argmin(known)), columns)
        raise DataError(
            f"modality {name!r}: {empty} is missing in every row. Leave it out; or hand the rows themselves to a fitted model."
        )
