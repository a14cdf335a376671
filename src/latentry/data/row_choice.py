"""Which rows an index means."""

from __future__ import annotations

import numpy as np

from latentry.errors import DataError

__all__ = ["chosen_rows"]


class _NoSuchRow(DataError, IndexError):
    """A row that is not there; also an IndexError, by which a loop over rows knows that it has ended."""


def chosen_rows(index: object, count: int) -> np.ndarray:
    """Return the rows that a slice, a number, numbers or truth values choose.

    Args:
        index: Between the brackets.
        count: Number of rows.

    Returns:
        Numbers of rows, or a truth value for each.

    Raises:
        DataError: If it chooses no rows of these.

    >>> chosen_rows(slice(None, None, 2), 5).tolist()
    [0, 2, 4]
    """
    if isinstance(index, slice):
        return np.arange(count)[index]
    if isinstance(index, tuple):
        raise DataError(f"data[{index!r}]: rows are chosen alone. Give data[rows], and then a modality.")
    chosen = np.atleast_1d(np.asarray(index))
    if chosen.size == 0:
        return np.zeros(0, dtype=int)
    if chosen.dtype.kind not in "biu" or chosen.ndim != 1 or (chosen.dtype == bool and len(chosen) != count):
        raise DataError(
            f"data[{index!r}]: neither a modality nor rows. Give a name, a slice, numbers of rows, or a boolean for each row."
        )
    if chosen.dtype != bool and not -count <= chosen.min() <= chosen.max() < count:
        raise _NoSuchRow(f"data[{index!r}]: there are {count} rows, numbered from 0. Give numbers of these.")
    return chosen
