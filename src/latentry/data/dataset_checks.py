"""Checks of what a dataset is made of, with a sentence for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from os import PathLike
from typing import TypeVar, cast

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike

from latentry.data.cells import is_missing
from latentry.data.frames import as_frame
from latentry.data.inputs import RowsLike, kind_of
from latentry.data.modality import Modality
from latentry.errors import DataError, nearest

__all__ = [
    "are_swapped",
    "by_name",
    "check_names",
    "common_rows",
    "factor_values",
    "known",
    "read_only",
    "refuse_swapped",
    "rows_match",
    "some_modality_everywhere",
]

_Counted = TypeVar("_Counted", bound=Sized)


def by_name(modalities: RowsLike | Mapping[str, RowsLike]) -> dict[str, RowsLike]:
    """Return modalities by name; an array alone is called x.

    Args:
        modalities: An array, or arrays by name.

    Returns:
        A new dictionary.

    Raises:
        DataError: If there is none.
    """
    if isinstance(modalities, (str, PathLike)):
        raise DataError(
            f"{str(modalities)!r}: is a text, and not rows. Read the file first: latentry.read({str(modalities)!r})."
        )
    if not isinstance(modalities, Mapping) or hasattr(modalities, "nnz"):  # some sparse matrices are mappings
        return {"x": cast(RowsLike, modalities)}
    if not modalities:
        raise DataError("modalities={}: a Dataset has at least one modality. Give an array, or arrays by name.")
    return dict(modalities)


def are_swapped(rows: object, domain: object) -> bool:
    """Return whether labels stand in the place of rows, and rows in that of the domain.

    Args:
        rows: What was given first.
        domain: What was given as domain.

    Returns:
        Its truth, where both have a shape that says it.
    """
    return _rank(domain) >= 2 and _rank(rows) == 1 and not _is_column(rows)


def _is_column(rows: object) -> bool:
    """Return whether a series is rows, as a table of one column is: it is of a library that has series, and holds no text."""
    frame = as_frame("modalities", rows)
    if isinstance(frame, nw.Series):
        return not any(isinstance(cell, str) for cell in frame.to_list())
    return kind_of(rows) == "xarray.DataArray" and not any(isinstance(cell, str) for cell in np.asarray(rows).tolist())


def _rank(values: object) -> int:
    shape = getattr(values, "shape", None)
    try:
        return len(shape) if isinstance(shape, tuple) else np.asarray(values).ndim
    except ValueError:  # rows of different lengths have a sentence of their own
        return 0


def refuse_swapped(rows: object, domain: object) -> None:
    """Refuse labels in the place of rows: by itself, each has a sentence that misleads.

    Args:
        rows: What was given first.
        domain: What was given as domain.

    Raises:
        DataError: If the two are swapped.
    """
    if domain is not None and not isinstance(rows, Mapping) and are_swapped(rows, domain):
        raise DataError(
            "modalities and domain: the first has one number or label for each row, and the second holds rows: the two are "
            "swapped. Give the rows first, as in Dataset(rows, domain)."
        )


def check_names(names: Iterable[object]) -> None:
    """Check that names of modalities can stand in files.

    Args:
        names: Of the modalities.

    Raises:
        DataError: For the first that cannot.
    """
    for name in names:
        if not isinstance(name, str) or not name or name.startswith("@") or set(name) & set("/:"):
            raise DataError(f"modality {name!r}: not a name. Give text without / or : that does not begin with @.")


def common_rows(parsed: dict[str, Modality]) -> int:
    """Return how many rows each modality has.

    Args:
        parsed: Modalities by name.

    Returns:
        The number.

    Raises:
        DataError: If they do not have the same number.
    """
    counts = {name: part.values.shape[0] for name, part in parsed.items()}
    first = next(iter(counts))
    for name, count in counts.items():
        if count != counts[first]:
            raise DataError(
                f"modality {name!r}: has {count} rows but {first!r} has {counts[first]}. "
                "Give one row per sample in each, with None where it was not measured."
            )
    return counts[first]


def some_modality_everywhere(parsed: dict[str, Modality]) -> None:
    """Check that each row was observed in some modality.

    Args:
        parsed: Modalities by name.

    Raises:
        DataError: With the first rows that were not.
    """
    nowhere = np.flatnonzero(~np.any([part.observed for part in parsed.values()], axis=0))
    if nowhere.size:
        shown = ", ".join(map(str, nowhere[:5])) + (", …" if nowhere.size > 5 else "")
        raise DataError(
            f"modalities: {nowhere.size} row{'s are' if nowhere.size > 1 else ' is'} missing in every modality "
            f"(all NaN or None): row {shown}. Drop them."
        )


def rows_match(what: str, values: _Counted, count: int) -> _Counted:
    """Return values of which there is one for each row.

    Args:
        what: A sentence is to call them.
        values: With a length.
        count: Number of rows.

    Returns:
        The same values.

    Raises:
        DataError: If there are more or fewer.
    """
    if len(values) != count:
        raise DataError(f"{what}: has {len(values)} entries for {count} rows. Give one per row.")
    return values


def factor_values(name: str, raw: ArrayLike, count: int) -> np.ndarray:
    """Return a true latent as numbers or strings.

    Args:
        name: Of the factor.
        raw: One for each row.
        count: Number of rows.

    Returns:
        An array that cannot be changed.

    Raises:
        DataError: If a value is missing, or is of another kind.
    """
    array = np.asarray(raw)
    if array.dtype == object:
        gap = next((i for i, value in enumerate(array.tolist()) if is_missing(value)), None)
        if gap is not None:
            raise DataError(f"factor {name!r}: missing at row {gap}. Give it for every row, or leave it out.")
        array = np.array(array.tolist())
    if array.dtype.kind not in "biufU":
        raise DataError(f"factor {name!r}: dtype {array.dtype} is neither. Give numbers or strings.")
    return read_only(rows_match(f"factor {name!r}", array, count))


def known(argument: str, given: Iterable[str], names: Iterable[str]) -> None:
    """Check that what an argument names is there.

    Args:
        argument: For the sentence.
        given: Names in it.
        names: Of the modalities.

    Raises:
        DataError: For the first that is not.
    """
    for name in given:
        if name not in names:
            raise DataError(f"{argument}[{name!r}]: there is no such modality{nearest(str(name), map(str, names))}")


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a view that cannot be written through.

    Args:
        array: Of anything.

    Returns:
        The view.
    """
    view = array.view()
    view.flags.writeable = False
    return view
