"""A fixed number of equal bins between the least and the greatest value of each column.

The edges move with the data, so the counts, and the answer, are the same after any positive scaling of any column.
Bins suit one or two columns a side: with more, nearly every bin holds one row and the answer tends to log n.
"""

from __future__ import annotations

import numpy as np

from latentry.information.discrete import discrete_information

__all__ = ["bin_codes", "binned_information"]

Array = np.ndarray


def bin_codes(x: Array, bins: int) -> Array:
    """The number of the box that holds each row.

    >>> bin_codes(np.array([[0.0], [0.4], [1.0]]), 2).tolist()
    [0, 0, 1]
    """
    low, width = x.min(axis=0), np.ptp(x, axis=0)
    share = np.divide(x - low, width, out=np.zeros_like(x), where=width > 0)
    index = np.minimum((share * bins).astype(np.int64), bins - 1)
    return np.unique(index, axis=0, return_inverse=True)[1].reshape(-1)


def default_bins(n: int, d: int) -> int:
    """About n^(1/3) boxes a side in all, at least two a column: five rows a joint box at n = 1000."""
    return max(2, round((n / 5) ** (0.5 / d)))


def binned_information(
    x: Array, y: Array, z: Array | None = None, *, bins: int | None = None, correction: str = "miller_madow"
) -> float:
    """Plug-in information of the box numbers, with a bias correction."""
    parts = [part for part in (x, y, z) if part is not None]
    codes = [bin_codes(p, bins or default_bins(len(p), p.shape[1])) for p in parts]
    return discrete_information(*codes, correction=correction)
