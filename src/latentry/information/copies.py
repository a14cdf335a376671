"""Rows that repeat each other, exactly or nearly (a copy that was rounded): they are not independent observations.

Where rows are independent and the density is smooth, the distances r₁ ≤ r₂ ≤ … from a row to the others grow slowly: in d
dimensions :math:`(r_j / r_{j+1})^{jd}` is uniform on (0, 1). A copy lies far nearer than that (the ratio of two neighbours
as in Facco et al., Sci. Rep. 7, 12140, 2017; d from farther neighbours as in Levina and Bickel, NIPS 2004).
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree

from latentry.information.questions import Question
from latentry.information.rounding import unrounded
from latentry.streams import stream

__all__ = ["copy_groups"]

Array = np.ndarray
NEAREST = 4  # neighbours among which copies are looked for
FARTHER = 10  # neighbours that tell the dimension
# Probabilities of a jump between neighbours, and the fraction of the rows that must have one so rare: several times chance.
JUMPS = {1e-4: 0.03, 1e-3: 0.06, 1e-2: 0.25}
UNCLEAR = 0.04  # of the rows have jumps that are rare, but not very
MANY = 0.03  # of the rows must have an exact copy
MOST_COLUMNS = 4  # copies are near in any few of the columns
MOST_ROWS = 500  # whose neighbours are looked at, before all are
FEWEST_ROWS = 50
ATOM = 0.01  # of the rows have this very value: it is a value of its own, and repeats by nature


def copy_groups(question: Question) -> Array | None:
    """Return the code of a group for each row, copies of a row in one group; None if rows do not repeat each other.

    Args:
        question: Variables.

    Returns:
        Codes from 0, or None.

    >>> from latentry.information.blocks import Block
    >>> rows = np.random.default_rng(0).standard_normal((300, 2))
    >>> twice = np.concatenate([rows, rows.round(4)])
    >>> codes = copy_groups(Question(Block("x", twice[:, :1]), Block("y", twice[:, 1:])))
    >>> bool((codes[:300] == codes[300:]).all()), len(np.unique(codes)) <= 300
    (True, True)
    """
    n = question.x.n
    columns = [c for b in question.blocks if not b.discrete for c in b.values.T]
    if n < FEWEST_ROWS or not columns:
        return None
    place, rows = _probe(columns, question)
    if rows is None:
        return None
    tree = cKDTree(rows)
    asked = stream("information/copies", question.options.seed).permutation(len(rows))[:MOST_ROWS]
    distances, _ = tree.query(rows[asked], k=FARTHER + 1)
    dimension = _dimension(distances)
    seen = {p: float(np.mean(_copies(distances, dimension, p) > 0)) for p in JUMPS}
    if all(seen[p] <= many for p, many in JUMPS.items()) and np.mean(distances[:, 1] == 0) <= MANY:
        return None
    distances, neighbours = tree.query(rows, k=NEAREST + 2)
    return _components(_copies(distances, dimension, _bar(seen)), neighbours, rows, place, n)


def _probe(columns: list[Array], question: Question) -> tuple[Array, Array | None]:
    """Few of the columns, scaled, of the rows without a value that repeats by nature; their row numbers."""
    distinct = [(len(np.unique(c)), -i) for i, c in enumerate(columns)]
    best = [-i for _, i in sorted(distinct, reverse=True)[:MOST_COLUMNS]]
    part = np.stack([columns[i] for i in sorted(best)], axis=1)
    place = np.flatnonzero(~np.any([_at_atom(c) for c in part.T], axis=0))
    part = part[place]
    if len(place) < FEWEST_ROWS or not np.all(np.ptp(part, axis=0) > 0):
        return place, None
    scaled = (part - part.mean(axis=0)) / part.std(axis=0)
    return place, unrounded((scaled,), NEAREST)[0]


def _at_atom(column: Array) -> Array:
    _, where, counts = np.unique(column, return_inverse=True, return_counts=True)
    return np.asarray(counts[where] > max(ATOM * len(column), 2 * FARTHER))


def _dimension(distances: Array) -> float:
    """The dimension of the rows from their farther neighbours, which copies hardly change."""
    far = distances[:, NEAREST + 1 :]
    usable = far[:, 0] > 0
    if not np.any(usable):
        return 1.0
    far = far[usable]
    slope = np.mean(np.log(far[:, -1:] / far[:, :-1]))
    expected = np.mean([np.sum(1 / np.arange(j, FARTHER)) for j in range(NEAREST + 1, FARTHER)])  # in one dimension
    return float(np.clip(expected / slope, 1.0, MOST_COLUMNS)) if slope > 0 else float(MOST_COLUMNS)


def _bar(seen: dict[float, float]) -> float:
    """The probability below which a jump is taken for one to a copy: higher where copies do not stand out clearly."""
    finest, coarsest = min(seen), max(seen)
    return coarsest if seen[coarsest] - seen[finest] < UNCLEAR else 5 * coarsest


def _copies(distances: Array, dimension: float, rare: float) -> Array:
    """How many neighbours of each row are copies: those before a jump that chance makes so rarely."""
    near = distances[:, 1 : NEAREST + 2]
    ratio = np.divide(near[:, :-1], near[:, 1:], out=np.ones_like(near[:, 1:]), where=near[:, 1:] > 0)
    which = np.arange(1, NEAREST + 1)
    return np.asarray(np.where(ratio ** (dimension * which) < rare, which, 0).max(axis=1))


def _components(count: Array, neighbours: Array, rows: Array, place: Array, n: int) -> Array:
    """Groups of rows that are copies of copies; exact copies, of which there may be many, are found by their values."""
    linked = np.arange(1, NEAREST + 1) <= count[:, None]
    left, right = np.repeat(np.arange(len(rows)), linked.sum(axis=1)), neighbours[:, 1 : NEAREST + 1][linked]
    _, first, same = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    left, right = np.concatenate([left, np.arange(len(rows))]), np.concatenate([right, first[same.reshape(-1)]])
    graph = sparse.coo_matrix((np.ones(len(left)), (place[left], place[right])), shape=(n, n))
    return np.asarray(sparse.csgraph.connected_components(graph, directed=False)[1])
