"""How far the components of a mixture overlap: rows that could be of either of two."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_SHARED", "Overlap", "largest_overlap"]

MOST_SHARED = 0.05  # of the rows of two components may be of either: two equal Gaussians 3.3 deviations apart


class Overlap(NamedTuple):
    """Two components, and the fraction of their rows that a best guess gives to the wrong one.

    Args:
        first: Number of a component.
        second: Number of another.
        shared: The fraction.
    """

    first: int
    second: int
    shared: float


def largest_overlap(probabilities: NDArray[np.float64], among: Sequence[int]) -> Overlap:
    r"""Return the two components that overlap most: :math:`\sum_n \min(r_{ni}, r_{nj}) / \sum_n (r_{ni} + r_{nj})`.

    Args:
        probabilities: Of each component for each row, (rows, components).
        among: Numbers of the components that are looked at, at least two.

    Returns:
        The pair.

    >>> r = np.array([[0.9, 0.1, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    >>> found = largest_overlap(r, [0, 1, 2])
    >>> found.first, found.second, round(found.shared, 2)
    (0, 1, 0.3)
    """
    pairs = []
    for i, j in combinations(among, 2):
        both = probabilities[:, i] + probabilities[:, j]
        shared = np.minimum(probabilities[:, i], probabilities[:, j]).sum() / max(both.sum(), 1e-300)
        pairs.append(Overlap(i, j, float(shared)))
    return max(pairs, key=lambda one: one.shared)
