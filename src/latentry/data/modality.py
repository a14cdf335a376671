"""From whatever a user hands over to one clean array per modality."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from latentry.data.frames import as_frame, frame_table
from latentry.data.inputs import RowsLike, StoredRows
from latentry.data.largest import LARGEST
from latentry.data.lazy_rows import blocks, stays_on_disk
from latentry.errors import DataError

__all__ = ["Modality", "read_modality"]


class Modality(NamedTuple):
    """One kind of measurement for every row."""

    values: StoredRows  # (rows, ...): NumPy, or an array that stays on disk
    observed: np.ndarray  # (rows,) bool
    columns: tuple[str, ...] | None


class _NotANumber(DataError, TypeError):
    """An entry that cannot be a number; also a TypeError, as in the rest of the scientific stack."""


def read_modality(
    name: str, raw: RowsLike, mask: ArrayLike | None = None, columns: tuple[str, ...] | None = None
) -> Modality:
    """Check one modality and mark its missing rows: None, all-NaN rows, or those that ``mask`` says.

    Args:
        name: Of the modality.
        raw: Rows, in whatever form they were given.
        mask: Booleans, (rows,), True where observed.
        columns: Names of the features; a data frame has its own.

    Returns:
        Values, a mask of what was observed, and names of features.

    Raises:
        DataError: By row and column, for what is not a number, not finite or not of one shape.
    """
    frame = as_frame(f"modality {name!r}", raw)
    if frame is not None:
        columns, raw = frame_table(name, frame)
        _check_unique(name, columns)
    values, stacked_mask = _as_array(name, raw)
    _check_kind(name, values)
    if columns is not None:
        _check_columns(name, columns, values.shape)
    observed = np.ones(values.shape[0], dtype=bool) if stacked_mask is None else stacked_mask
    if mask is not None:
        observed = observed & _read_mask(name, mask, values.shape[0])
    observed = _mark_missing(name, values, observed, columns)
    if not observed.any():
        raise DataError(f"modality {name!r}: missing in every row. Leave it out.")
    return Modality(values, observed, columns)


def _as_array(name: str, raw: RowsLike) -> tuple[StoredRows, np.ndarray | None]:
    if stays_on_disk(raw):
        return cast(StoredRows, raw), None
    if hasattr(raw, "toarray") and hasattr(raw, "nnz"):
        raise DataError(f"modality {name!r}: a sparse matrix, but rows must be dense. Pass {name}.toarray().")
    if isinstance(raw, np.ma.MaskedArray):
        return raw.filled(np.nan if raw.dtype.kind == "f" else 0), _mask_rows(name, raw)
    if isinstance(raw, (list, tuple)) or (isinstance(raw, np.ndarray) and raw.dtype == object and raw.ndim == 1):
        return _stack(name, raw)
    array = np.asarray(raw)
    return (_numbers(name, array) if array.dtype == object else array), None


def _mask_rows(name: str, raw: np.ma.MaskedArray) -> np.ndarray:
    hidden = np.ma.getmaskarray(raw).reshape(len(raw), -1)
    partial = np.flatnonzero(hidden.any(axis=1) & ~hidden.all(axis=1))
    if partial.size:
        raise DataError(
            f"modality {name!r}: row {partial[0]} is masked in part, but a modality is observed or missing per row. "
            "Fill the entries, or split the columns into two modalities."
        )
    return np.asarray(~hidden.all(axis=1))


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
        raise DataError(f"modality {name!r}: dtype {dtype}, not numbers. Encode it as numbers, or pass it as domain=.")
    if len(values.shape) < 2:
        raise DataError(
            f"modality {name!r}: Expected 2D array, got {len(values.shape)}D array instead. "
            "Reshape your data with array.reshape(-1, 1) if it is one column, or array.reshape(1, -1) if it is one row."
        )
    if values.shape[0] == 0:
        raise DataError(
            f"modality {name!r}: Found array with 0 sample(s) (shape={values.shape}): there is no row. Give at least one."
        )
    if 0 in values.shape[1:]:
        raise DataError(
            f"modality {name!r}: 0 feature(s) (shape={values.shape}) while a minimum of 1 is required: it has no column. "
            "Leave it out."
        )


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


def _read_mask(name: str, mask: ArrayLike, rows: int) -> np.ndarray:
    array = np.asarray(mask)
    if array.shape != (rows,) or array.dtype != bool:
        raise DataError(
            f"observed[{name!r}] of shape {array.shape} and dtype {array.dtype}: no mask of rows. "
            f"Give {rows} booleans, True where observed."
        )
    return array


def _mark_missing(name: str, values: StoredRows, observed: np.ndarray, columns: tuple[str, ...] | None) -> np.ndarray:
    if np.dtype(values.dtype).kind != "f":
        return observed
    observed = observed.copy()
    for start, piece in blocks(values):
        flat = piece.reshape(len(piece), -1)
        nan = np.isnan(flat)
        observed[start : start + len(piece)] &= ~nan.all(axis=1)
        bad = (nan | np.isinf(flat)) & observed[start : start + len(piece), None]
        if bad.any():
            row, entry = np.argwhere(bad)[0]
            what = "NaN" if nan[row, entry] else "infinity"
            raise DataError(_not_finite(name, what, start + row, _place(values.shape[1:], int(entry), columns)))
        seen = observed[start : start + len(piece), None]
        large = (np.abs(flat) > LARGEST) & seen if flat.dtype.itemsize >= 8 else np.zeros((1, 1), dtype=bool)
        if large.any():
            row, entry = np.argwhere(large)[0]
            place = _place(values.shape[1:], int(entry), columns)
            raise DataError(
                f"modality {name!r}: {flat[row, entry]:.3g} at row {start + row}, {place}. Squares of such numbers overflow. "
                "Use other units."
            )
    return observed


def _place(shape: tuple[int, ...], entry: int, columns: tuple[str, ...] | None) -> str:
    if len(shape) == 1:
        return f"column {columns[entry]!r}" if columns else f"column {entry}"
    return f"entry {tuple(int(i) for i in np.unravel_index(entry, shape))}"


def _not_finite(name: str, what: str, row: int, place: str) -> str:
    return (
        f"modality {name!r}: {what} at row {row}, {place}. A row is observed whole or missing whole. "
        "Fill the entry, mark the row missing (all NaN, or None), or split the columns into two modalities "
        "(in a csv file by header cells such as body:height, blood:sodium). "
        "(Input X must not contain NaN or infinity.)"
    )
