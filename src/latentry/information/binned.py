"""A fixed number of equal bins between the least and the greatest value of each column.

The edges move with the data, so the counts, and the answer, are the same after any positive scaling of any column.
Bins suit one or two columns a side: with more, nearly every bin holds one row and the answer tends to log n.
"""

from __future__ import annotations

import numpy as np

__all__ = ["bin_codes", "default_bins"]

Array = np.ndarray
EDGE = 1e-9  # of a box: a value on an edge belongs above it, however its units were rounded


def bin_codes(x: Array, bins: int) -> Array:
    """Return the number of the box that holds each row.

    Args:
        x: Rows of numbers.
        bins: Boxes a column.

    Returns:
        An integer for each row.

    >>> bin_codes(np.array([[0.0], [0.4], [1.0]]), 2).tolist()
    [0, 0, 1]
    """
    low, width = x.min(axis=0), np.ptp(x, axis=0)
    fraction = np.divide(x - low, width, out=np.zeros_like(x), where=width > 0)
    index = np.minimum((fraction * bins + EDGE).astype(np.int64), bins - 1)
    return np.unique(index, axis=0, return_inverse=True)[1].reshape(-1)


def default_bins(n: int, d: int) -> int:
    """Return about n^(1/3) boxes a side in all, at least two a column: five rows a joint box at n = 1000.

    Args:
        n: Rows.
        d: Columns.

    Returns:
        Boxes a column.
    """
    return int(max(2, round((n / 5) ** (0.5 / d))))
