r"""Columns by their ranks: normal scores do not depend on units, nor on any increasing map of a column."""

from __future__ import annotations

import numpy as np

__all__ = ["normal_scores"]


def normal_scores(x: np.ndarray, *, offset: float = 0.5, ties: np.random.Generator | None = None) -> np.ndarray:
    r"""Return :math:`\Phi^{-1}((r - a)/(n + 1 - 2a))` of each column, with ranks r = 1, ..., n (Blom 1958).

    Args:
        x: Rows of numbers.
        offset: a; 1/2 gives (r − ½)/n, 0 gives r/(n + 1).
        ties: Breaks ties at random, column by column: broken by row number in two columns, they would depend on each other
            through it. Without it, tied rows all get their mean rank.

    Returns:
        Scores of the same shape.

    >>> normal_scores(np.array([[5.0], [7.0], [6.0]])).round(3).tolist()
    [[-0.967], [0.967], [0.0]]
    """
    from scipy import special, stats  # half a second to load: only when it is asked for

    ranks = stats.rankdata(x, axis=0) if ties is None else np.column_stack([_shuffled(column, ties) for column in x.T])
    return np.asarray(special.ndtri((ranks - offset) / (len(x) + 1 - 2 * offset)))


def _shuffled(column: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Rank a column, ties in random order."""
    ranks = np.empty(len(column))
    ranks[np.lexsort((rng.random(len(column)), column))] = np.arange(1, len(column) + 1)
    return ranks
