"""Ranks as numbers in (0, 1), for rows at hand and for rows not used in the fit."""

from __future__ import annotations

import numpy as np
from scipy import stats

from latentry.streams import stream

__all__ = ["folds", "ranks_within", "uniforms"]

Array = np.ndarray


def uniforms(x: Array) -> Array:
    """Return (rank − ½) / n of each column; ties have their mean rank.

    Args:
        x: Rows.

    Returns:
        Numbers in (0, 1).

    >>> uniforms(np.array([[10.0], [30.0]])).tolist()
    [[0.25], [0.75]]
    """
    ranks: Array = stats.rankdata(x, axis=0)
    return (ranks - 0.5) / len(x)


def ranks_within(reference: Array, x: Array) -> Array:
    """Return the place of new rows among reference rows, kept inside (0, 1).

    Args:
        reference: Rows.
        x: New rows.

    Returns:
        Numbers in (0, 1).

    >>> ranks_within(np.array([[1.0], [2.0], [3.0]]), np.array([[2.5], [9.0]])).tolist()
    [[0.625], [0.875]]
    """
    n = len(reference)
    result = np.empty(x.shape)
    for j, column in enumerate(np.sort(reference, axis=0).T):
        below = np.searchsorted(column, x[:, j], "left") + np.searchsorted(column, x[:, j], "right")
        result[:, j] = (below / 2 + 0.5) / (n + 1)
    return result


def folds(n: int, count: int, seed: int) -> list[Array]:
    """Divide the row numbers at random into `count` parts of nearly equal size.

    Args:
        n: Rows.
        count: Parts.
        seed: Of the division.

    Returns:
        Row numbers of each part.
    """
    return np.array_split(stream("information/folds", seed).permutation(n), count)
