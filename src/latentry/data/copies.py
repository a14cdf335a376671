"""Rows that repeat each other, exactly or nearly (a copy that was rounded): they are not independent observations.

Where rows are independent and the density is smooth, the distances r₁ ≤ r₂ ≤ … from a row to the others grow slowly: in d
dimensions :math:`(r_j / r_{j+1})^{jd}` is uniform on (0, 1). A copy lies far nearer than that (the ratio of two neighbours
as in Facco et al., Sci. Rep. 7, 12140, 2017; d from farther neighbours as in Levina and Bickel, NIPS 2004). Where all columns
were rounded, equal rows are counted against rows that are one step away.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from latentry.data.rounded import lattice_step, to_usual_digits, unrounded
from latentry.streams import stream

__all__ = ["copy_groups", "dimension_of", "rounded_copies"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
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
OFTEN = 3  # times as frequent as the values next to it: a value of its own, such as zero
LEVELS = 20  # values beyond which a column is not one of labels
FEWEST_DISTINCT = 60  # rows: fewer are labels, which repeat by nature
FEW = 20  # rows of a value that is not looked at alone
PROBES = 2000  # rows whose equals are counted
EQUAL = 0.2  # equal rows of a row on average, at least, where rounded rows were copied


def copy_groups(columns: Sequence[Array], seed: int = 0) -> Codes | None:
    """Return the code of a group for each row, copies of a row in one group; None if rows do not repeat each other.

    Args:
        columns: Numbers, each (rows,).
        seed: Of the rows that are looked at first.

    Returns:
        Codes from 0, or None.

    >>> rows = np.random.default_rng(0).standard_normal((300, 2))
    >>> codes = copy_groups(np.concatenate([rows, rows.round(4)]).T)
    >>> bool((codes[:300] == codes[300:]).all()), len(np.unique(codes)) <= 300
    (True, True)
    """
    columns = [to_usual_digits(column) for column in columns if np.ptp(column) > 0]
    if not columns or len(columns[0]) < FEWEST_ROWS:
        return None
    if len(columns) == 1 and lattice_step(columns[0]) > 0:
        return None  # round numbers that people prefer look like copies
    if _rounded(columns):
        return np.asarray(np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)[1].reshape(-1))
    place, rows = _probe(columns)
    if rows is None:
        return None
    from scipy.spatial import cKDTree  # slow to load: only when it is asked for

    tree = cKDTree(rows)
    asked = stream("data/copies", seed).permutation(len(rows))[:MOST_ROWS]
    distances, _ = tree.query(rows[asked], k=FARTHER + 1)
    dimension = dimension_of(distances)
    seen = {p: float(np.mean(_copies(distances, dimension, p) > 0)) for p in JUMPS}
    if (
        all(seen[p] <= max(many, _by_chance(p, len(asked))) for p, many in JUMPS.items())
        and np.mean(distances[:, 1] == 0) <= MANY
    ):
        return None
    distances, neighbours = tree.query(rows, k=NEAREST + 2)
    return _components(_copies(distances, dimension, _bar(seen)), neighbours, rows, place, len(columns[0]))


def _rounded(columns: Sequence[Array]) -> bool:
    """Say whether all columns were rounded, and rows are equal because they were copied."""
    return all(lattice_step(column) > 0 for column in columns) and rounded_copies(np.stack(columns, axis=1))


def rounded_copies(table: np.ndarray) -> bool:
    """Say whether rows of rounded columns are equal because they were copied.

    Where a density is smooth on the scale of the rounding, more rows are one step of it away from a row (in any columns) than equal
    it: two or more for each equal one, since there is a step on either side. Copies equal a row and add none beside it. Values
    that occur again and again by themselves, such as zeros, are left out, and columns of few values, which are labels.

    Args:
        table: Numbers, (rows, columns).

    Returns:
        Whether more rows equal a row than are one step away from it, and copies are many.

    >>> rng = np.random.default_rng(0)
    >>> table = rng.normal(size=(300, 4)).round(1)
    >>> rounded_copies(table), rounded_copies(np.tile(table, (3, 1))), rounded_copies(rng.normal(size=(300, 1)).round(1))
    (False, True, False)
    """
    from scipy.spatial import cKDTree

    codes = [np.unique(column, return_inverse=True)[1] for column in table.T]
    codes = [column for column in codes if column.max() >= LEVELS]
    if not codes:
        return False
    steps = np.stack(codes, axis=1)[~np.any([_stands_out(column) for column in codes], axis=0)].astype(np.float64)
    if not len(steps) or len(np.unique(steps, axis=0)) < FEWEST_DISTINCT:
        return False
    tree, asked = cKDTree(steps), steps[np.linspace(0, len(steps) - 1, min(len(steps), PROBES)).astype(np.int64)]
    near = tree.query_ball_point(asked, r=1.5, p=np.inf, return_length=True)
    equal = tree.query_ball_point(asked, r=0.5, p=np.inf, return_length=True)
    return bool((equal - 1).mean() > max((near - equal).mean(), EQUAL))


def _stands_out(codes: np.ndarray) -> np.ndarray:
    """Say for each row whether its value is far more frequent than the values next to it."""
    counts = np.bincount(codes)
    padded = np.concatenate([[0], counts, [0]])
    beside = np.maximum(padded[:-2], padded[2:])
    return np.asarray((counts > OFTEN * np.maximum(beside, FEW))[codes])


def _probe(columns: Sequence[Array]) -> tuple[Codes, Array | None]:
    """Few of the columns, scaled, of the rows without a value that repeats by nature; their row numbers.

    Rounded columns are left out where others are not rounded: spread over their cells, copies would be apart.
    """
    columns = [column for column in columns if lattice_step(column) == 0] or columns
    distinct = [(len(np.unique(c)), -i) for i, c in enumerate(columns)]
    best = [-i for _, i in sorted(distinct, reverse=True)[:MOST_COLUMNS]]
    part = np.stack([columns[i] for i in sorted(best)], axis=1)
    place = np.flatnonzero(~np.any([_at_atom(c) for c in part.T], axis=0))
    part = part[place]
    if len(place) < FEWEST_ROWS or not np.all(np.ptp(part, axis=0) > 0):
        return place, None
    (spread,) = unrounded((part,), NEAREST)
    return place, np.arcsinh(_from_the_middle(spread))  # rows far out in heavy tails are no copies of each other


def _from_the_middle(part: Array) -> Array:
    """Return columns in units of their median distance from the median, or of their deviation where that is 0."""
    away = part - np.median(part, axis=0)
    usual = np.median(np.abs(away), axis=0)
    return np.asarray(away / np.where(usual > 0, usual, part.std(axis=0)))


def _at_atom(column: Array) -> Array:
    _, where, counts = np.unique(column, return_inverse=True, return_counts=True)
    return np.asarray(counts[where] > max(ATOM * len(column), 2 * FARTHER))


def dimension_of(distances: Array) -> float:
    """Estimate the dimension of rows from their farther neighbours, which copies hardly change.

    Args:
        distances: To the row itself and its nearest neighbours, ascending, (rows, 11 or more).

    Returns:
        From 1 to 4.
    """
    distances = distances[:, : FARTHER + 1]
    far = distances[:, NEAREST + 1 :]
    usable = far[:, 0] > 0
    if not np.any(usable):
        return 1.0
    far = far[usable]
    slope = np.mean(np.log(far[:, -1:] / far[:, :-1]))
    expected = np.mean([np.sum(1 / np.arange(j, FARTHER)) for j in range(NEAREST + 1, FARTHER)])  # in one dimension
    return float(np.clip(expected / slope, 1.0, MOST_COLUMNS)) if slope > 0 else float(MOST_COLUMNS)


def _by_chance(rare: float, rows: int) -> float:
    """The fraction of so many rows that chance gives a jump so rare, but once in 10,000; a pair that is near gives two rows one."""
    from scipy.stats import poisson  # slow to load: only when it is asked for

    return float(2 * poisson.ppf(1 - 1e-4, rows * NEAREST * rare / 2) / rows)


def _bar(seen: dict[float, float]) -> float:
    """The probability below which a jump is taken for one to a copy: higher where copies do not stand out clearly."""
    finest, coarsest = min(seen), max(seen)
    return coarsest if seen[coarsest] - seen[finest] < UNCLEAR else 5 * coarsest


def _copies(distances: Array, dimension: float, rare: float) -> Codes:
    """How many neighbours of each row are copies: those before a jump that chance makes so rarely."""
    near = distances[:, 1 : NEAREST + 2]
    ratio = np.divide(near[:, :-1], near[:, 1:], out=np.ones_like(near[:, 1:]), where=near[:, 1:] > 0)
    which = np.arange(1, NEAREST + 1)
    return np.asarray(np.where(ratio ** (dimension * which) < rare, which, 0).max(axis=1))


def _components(count: Codes, neighbours: Codes, rows: Array, place: Codes, n: int) -> Codes:
    """Groups of rows that are copies of copies; exact copies, of which there may be many, are found by their values."""
    linked = np.arange(1, NEAREST + 1) <= count[:, None]
    left, right = np.repeat(np.arange(len(rows)), linked.sum(axis=1)), neighbours[:, 1 : NEAREST + 1][linked]
    _, first, same = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    left, right = np.concatenate([left, np.arange(len(rows))]), np.concatenate([right, first[same.reshape(-1)]])
    from scipy import sparse  # slow to load: only when it is asked for

    graph = sparse.coo_matrix((np.ones(len(left)), (place[left], place[right])), shape=(n, n))
    return np.asarray(sparse.csgraph.connected_components(graph, directed=False)[1])
