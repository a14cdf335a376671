"""Which rows an index means."""

from __future__ import annotations

import numpy as np

from latentry.errors import DataError

__all__ = ["chosen_rows"]


class _NoSuchRow(DataError, IndexError):
    """A row that is not there; also an IndexError, by which a loop over rows knows that it has ended."""


def chosen_rows(index: object, count: int, what: str = "data") -> np.ndarray:
    """Return the rows that a slice, a number, numbers or truth values choose.

    Args:
        index: Between the brackets.
        count: Number of rows.
        what: The call, for sentences, without its brackets.

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
        raise DataError(f"{_said(what, index)}: rows are chosen alone. Give data[rows], and then a modality.")
    try:
        chosen = np.atleast_1d(np.asarray(index))
    except ValueError:  # lists of different lengths
        chosen = np.empty((0, 0))
    if chosen.shape == (0,):
        return np.zeros(0, dtype=int)
    if chosen.dtype == object and all(isinstance(one, (bool, np.bool_)) for one in chosen.tolist()):
        chosen = chosen.astype(bool)  # as pandas gives truth values that could be missing
    if chosen.dtype.kind not in "biu" or chosen.ndim != 1:
        other = (
            "neither a modality nor rows. Give a name, a slice, numbers" if what == "data" else "no rows. Give numbers"
        )
        raise DataError(f"{_said(what, index)}: {other} of rows, or a boolean for each row.")
    if chosen.dtype == bool and len(chosen) != count:
        raise DataError(f"{_said(what, index)}: {len(chosen)} booleans for {count} rows. Give one for each row.")
    if chosen.dtype != bool and not -count <= chosen.min() <= chosen.max() < count:
        raise _NoSuchRow(f"{_said(what, index)}: there are {count} rows, numbered from 0. Give numbers of these.")
    return chosen


def _said(what: str, index: object) -> str:
    """Write a call in one line, however long its argument is."""
    words = " ".join(repr(index).split())
    if len(words) > _LONGEST:
        words = f"{words[:_LONGEST]} …"
    return f"{what}[{words}]" if what == "data" else f"{what}({words})"


_LONGEST = 60  # characters of an argument in a sentence
