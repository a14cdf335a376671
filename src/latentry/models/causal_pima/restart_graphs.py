"""Graphs of several fits, with the nodes of each named after the nodes of the first that they agree with most."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import normalized_mutual_info_score

from latentry.graphs import CPDAG

__all__ = ["matched_names", "renamed"]

Labels = NDArray[np.int64]


def matched_names(first: Labels, other: Labels, outcomes: Sequence[int]) -> list[int]:
    """Match each column of ``other`` with the column of ``first`` that it agrees with most, by normalised mutual information.

    Values need no common names; only nodes with as many outcomes are matched.

    Args:
        first: Values of the nodes of a fit, (rows, nodes).
        other: Values of the nodes of another fit.
        outcomes: Of each node.

    Returns:
        For each column of ``other``, the number of one of ``first``.

    >>> first = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> matched_names(first, 1 - first[:, ::-1], (2, 2))
    [1, 0]
    """
    count = len(outcomes)
    agreement = np.full((count, count), -1.0)
    for i in range(count):
        for j in range(count):
            if outcomes[i] == outcomes[j]:
                agreement[i, j] = normalized_mutual_info_score(other[:, i], first[:, j])
    columns: list[int] = linear_sum_assignment(-agreement)[1].tolist()
    return columns


def renamed(pattern: CPDAG, columns: Sequence[int]) -> CPDAG:
    """Return the same class with node i called what node ``columns[i]`` is called.

    Args:
        pattern: A class of graphs.
        columns: A permutation.

    Returns:
        The class with other names.

    >>> renamed(CPDAG(("N1", "N2"), compelled=(("N1", "N2"),)), [1, 0])
    CPDAG(N2 → N1)
    """
    name = {node: pattern.names[column] for node, column in zip(pattern.names, columns, strict=True)}
    compelled, reversible = (
        tuple((name[a], name[b]) for a, b in edges) for edges in (pattern.compelled, pattern.reversible)
    )
    return CPDAG(pattern.names, compelled, reversible)
