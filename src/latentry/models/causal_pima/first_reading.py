"""Groups of rows as the highest hills of their density, and the reading of groups as values of nodes.

Hills: each row climbs to denser neighbours; of all peaks the most prominent are kept (Chazal, Guibas, Oudot and Skraba,
*Persistence-based clustering in Riemannian manifolds*, 2013). No shape is assumed of a group.

Reading: K groups can be read as values of nodes in many inequivalent manners (840 for eight groups as three binary nodes).
The reading under which the groups' mean rows are most nearly a sum of one part per node is kept; how far the next
best reading falls behind says how clear it was, and chooses among candidate groupings.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial import cKDTree
from sklearn.cluster import KMeans

from latentry.models.causal_pima.mixture_updates import shape_of

__all__ = ["aligned", "hills", "reading", "rows_as_nodes"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

_NEIGHBOURS = ((10, 10), (25, 15))  # for the density, and to climb to
_WIDTHS = (5, 8, 12, 30)  # leading dimensions that k-means looks at
_RUNS = 8
_PERMUTATIONS = 720  # permutations that are all tried; beyond, swaps from random ones


def rows_as_nodes(spaces: Sequence[Array], rows: Array, outcomes: Sequence[int], seed: int) -> Labels:
    """Read each row as a cell (configuration of the nodes): the clearest reading over several groupings.

    Args:
        spaces: coordinates of the rows, (rows, dimensions) each, in which groups are sought.
        rows: the data, (rows, features), whose group means are read as sums.
        outcomes: of each node.
        seed: of what is random.

    Returns:
        The cell of each row.
    """
    count = math.prod(outcomes)
    best, clearest = None, (-np.inf, -np.inf)
    for labels in _groupings(spaces, count, seed):
        if len(np.unique(labels)) < count:
            continue
        means = np.eye(count)[labels].T @ rows / np.bincount(labels, minlength=count)[:, None]
        cells, gap = reading(means, outcomes, seed)
        clear = (
            round(gap, 9),
            -float(((rows - means[labels]) ** 2).sum()),
        )  # one node reads all alike: then tight groups
        if clear > clearest:
            best, clearest = cells[labels], clear
    if best is None:  # fewer distinct rows than clusters: any assignment will do
        return np.arange(len(rows)) % count
    return best


def aligned(cells: Labels, allowed: NDArray[np.bool_], outcomes: Sequence[int]) -> Labels:
    """Rename nodes and values of a reading so that most rows agree with what is known of them.

    >>> cells = np.array([0, 0, 1, 1, 3])  # two binary nodes
    >>> known = np.ones((5, 4), dtype=bool)
    >>> known[2:4] = [False, True, False, True]  # rows 2 and 3 had the second node set to 1
    >>> known[0] = [False, False, True, True]  # row 0 had the first node set to 1
    >>> aligned(cells, known, (2, 2)).tolist()
    [2, 2, 3, 3, 1]

    Args:
        cells: cell of each row.
        allowed: (rows, cells), False where an experiment excludes a cell.
        outcomes: of each node.

    Returns:
        The cell of each row.
    """
    if allowed.all():
        return cells
    values = np.stack(np.unravel_index(np.arange(math.prod(outcomes)), tuple(outcomes)))
    read, places, names = values[:, cells], {}, np.full((len(outcomes),) * 2, -np.inf)
    for node, count in enumerate(outcomes):
        fits = np.stack([allowed[:, values[node] == value].any(axis=1) for value in range(count)], axis=1)
        fits = fits & ~fits.all(axis=1, keepdims=True)  # speaks in rows in which this node was set
        for other in range(len(outcomes)):
            if outcomes[other] == count:
                agreement = np.eye(count)[read[other]].T @ fits + 1e-6 * np.eye(
                    count
                )  # as they are, if nothing speaks for more
                places[other, node] = linear_sum_assignment(-agreement)[1]
                names[other, node] = agreement[np.arange(count), places[other, node]].sum() + 1e-3 * (other == node)
    renamed = np.empty_like(read)
    for other, node in zip(*linear_sum_assignment(-np.where(np.isinf(names), -1e9, names)), strict=True):
        renamed[node] = places[other, node][read[other]]
    return _permitted(renamed, values, allowed, outcomes)


def _permitted(read: Labels, values: Labels, allowed: NDArray[np.bool_], outcomes: Sequence[int]) -> Labels:
    """Cells of the readings (nodes, rows); where an experiment excludes one, the allowed cell that differs least from it."""
    cells: Labels = np.ravel_multi_index(tuple(read), tuple(outcomes))
    wrong = np.flatnonzero(~allowed[np.arange(len(cells)), cells])
    same = (read[:, wrong, None] == values[:, None, :]).sum(axis=0)  # (wrong rows, cells)
    cells[wrong] = np.where(allowed[wrong], same, -1).argmax(axis=1)
    return cells


def _groupings(spaces: Sequence[Array], count: int, seed: int) -> Iterator[Labels]:
    """Hills, and many single runs of k-means: the one of least inertia is often not the one that reads best."""
    for space in spaces:
        for neighbours, near in _NEIGHBOURS:
            labels = hills(space, count, neighbours, near)
            if labels is not None:
                yield labels
        if len(np.unique(space, axis=0)) < count:
            continue
        for width in sorted({min(width, space.shape[1]) for width in _WIDTHS}):
            for run in range(_RUNS):
                means = KMeans(count, n_init=1, random_state=seed + run).fit(space[:, :width])
                yield means.labels_.astype(np.int64)


def hills(points: Array, count: int, neighbours: int = 15, near: int = 15) -> Labels | None:
    """Label rows 0 to count − 1 by the most prominent peaks of the density, or None where there are not as many.

    >>> rng = np.random.default_rng(0)
    >>> points = np.concatenate([rng.normal(size=(100, 2)), rng.normal(size=(100, 2)) + 8])
    >>> labels = hills(points, 2)
    >>> len(set(labels[:100])), len(set(labels[100:])), labels[0] == labels[-1]
    (1, 1, np.False_)

    Args:
        points: (rows, dimensions).
        count: of groups.
        neighbours: to the distance of which the density is inverse.
        near: neighbours that a row may climb to, and over which the density is smoothed.

    Returns:
        A label for each row, or None.
    """
    most = max(neighbours, near)
    if len(points) <= most + 1:
        return None
    distance, index = cKDTree(points).query(points, most + 1)
    height = -np.log(distance[:, neighbours] + 1e-12)
    height = height[index[:, : near + 1]].mean(axis=1)
    peak, prominence, onto = _climb(height, index[:, 1 : near + 1])
    kept = np.argsort(-prominence, kind="stable")[:count]
    if len(prominence) < count or np.isinf(prominence).sum() > count:
        return None
    final = _followed(onto, set(kept.tolist()))
    return np.unique(final[peak], return_inverse=True)[1]


def _climb(height: Array, index: Labels) -> tuple[Labels, Array, Labels]:
    """Peak of each row, prominence of each peak, and the peak that it merges into."""
    order = np.argsort(-height, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    root = np.arange(len(order))
    peak_of = np.full(len(order), -1)
    peaks: list[int] = []
    prominence: list[float] = []
    onto: list[int] = []

    def top(i: int) -> int:
        while root[i] != i:
            root[i] = root[root[i]]
            i = root[i]
        return i

    for row in order.tolist():
        higher = index[row][rank[index[row]] < rank[row]]
        if not len(higher):
            peak_of[row] = len(peaks)
            peaks.append(row)
            prominence.append(math.inf)
            onto.append(len(onto))
            continue
        steepest = int(higher[np.argmin(rank[higher])])
        peak_of[row] = peak_of[steepest]
        root[row] = top(steepest)
        for other in {top(int(i)) for i in higher}:
            high, low = sorted((other, top(row)), key=lambda i: rank[i])
            if high != low:
                prominence[peak_of[low]] = float(height[low] - height[row])
                onto[peak_of[low]] = int(peak_of[high])
                root[low] = high
    return peak_of, np.array(prominence), np.array(onto)


def _followed(onto: Labels, kept: set[int]) -> Labels:
    final = []
    for peak in range(len(onto)):
        while peak not in kept:
            peak = int(onto[peak])
        final.append(peak)
    return np.array(final)


def reading(means: Array, outcomes: Sequence[int], seed: int = 0) -> tuple[Labels, float]:
    """Read groups as cells, by the reading under which their mean rows are most nearly a sum of one part per node.

    Args:
        means: mean row of each group, (groups, features).
        outcomes: of each node.
        seed: of random orders, where there are too many to try all.

    Returns:
        Cell of each group, and by how much of the groups' variance the next best reading explains less.

    >>> cells = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> cell, gap = reading(cells[[2, 0, 3, 1]] @ np.array([[1.0, 0.0], [0.0, 2.0]]), (2, 2))
    >>> gap > 0.1, bool(cell[0] in (1, 2) or cell[0] in (0, 3))
    (True, True)
    """
    count = len(means)
    design = shape_of(outcomes, 1, means="additive").design
    projection = design @ np.linalg.pinv(design)
    centred = means - means.mean(axis=0)
    gram = centred @ centred.T
    gram = gram / max(float(np.trace(gram)), 1e-300)

    best, most, seen = None, -np.inf, []
    for order in _orders(count, seed):
        order, value, met = _climbed(order, projection, gram, climb=math.factorial(count) > _PERMUTATIONS)
        seen.append(met)
        if value > most:
            best, most = order, value
    assert best is not None
    values = np.concatenate(seen)
    others = values[values < most - 1e-9]
    cells = np.empty(count, dtype=np.int64)
    cells[best] = np.arange(count)
    return cells, float(most - others.max()) if len(others) else 0.0


def _orders(count: int, seed: int) -> list[Labels]:
    if math.factorial(count) <= _PERMUTATIONS:
        return [np.array(order) for order in itertools.permutations(range(count))]
    rng = np.random.default_rng(seed)
    return [rng.permutation(count) for _ in range(max(4, 240 // count))]


def _climbed(order: Labels, projection: Array, gram: Array, *, climb: bool) -> tuple[Labels, float, Array]:
    """Where swaps of two groups lead, how much is explained there, and what was explained by all that was met.

    order[cell] is the group that sits there; explained is the sum of projection times the gram matrix in that order.
    """
    value = float((projection * gram[np.ix_(order, order)]).sum())
    met = [np.array([value])]
    while climb:
        gains = alignment_gains(projection, gram[np.ix_(order, order)])
        met.append(value + gains[np.triu_indices(len(order), 1)])
        i, j = np.unravel_index(int(gains.argmax()), gains.shape)
        if gains[i, j] <= 1e-12:
            break
        order, value = order.copy(), value + float(gains[i, j])
        order[[i, j]] = order[[j, i]]
    return order, value, np.concatenate(met)


def alignment_gains(p: Array, g: Array) -> Array:
    """Return by how much Σ P·G grows when rows and columns i and j of G are swapped, for every pair, (cells, cells)."""
    product, pd, gd = p @ g, np.diag(p), np.diag(g)
    whole = product + product.T - np.diag(product)[:, None] - np.diag(product)[None, :]
    at_i = (pd[:, None] - p) * (g - gd[:, None])
    at_j = (p - pd[None, :]) * (gd[None, :] - g)
    gains: Array = 2 * (whole - at_i - at_j) + (pd[:, None] - pd[None, :]) * (gd[None, :] - gd[:, None])
    return gains
