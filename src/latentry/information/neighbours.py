"""Distances to the k-th neighbour and counts within them, in the max-norm, as fast as the shape of the data allows.

Three engines give the same integers:
- a k-d tree for the k-th neighbour of the joint rows (SciPy's in the plane, scikit-learn's beyond), with rows and questions in
  the tree's own order (neighbours in space are neighbours in memory), on all cores;
- a sorted column and two binary searches for the counts in one dimension, scikit-learn's counting tree for more;
- many columns and few rows: all distances, tile by tile, in one compiled kernel (`brute.py`).
Memory is linear in the number of rows for all of them.

Whether a point at *exactly* the radius counts must not hang on rounding. Radii are therefore shrunk ("<") or widened ("≤")
by a few units in the last place of the largest coordinate: a relative amount, so that units still cancel.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

__all__ = ["Neighbourhood", "kth_distance", "neighbourhoods"]

Array = np.ndarray
Spaces = tuple[tuple[int, ...], ...]

BRUTE_COLUMNS = 12  # from this many joint columns on, trees visit nearly every leaf
BRUTE_ROWS = 30_000
SMALL = 5_000  # rows below which starting threads costs more than it saves


@dataclass(frozen=True)
class Neighbourhood:
    """What surrounds each row.

    radius: the joint distance to the k-th neighbour. counts: how many other rows lie within reach, space by space. ties:
    how many lie up to the radius in the joint space (counted for rule "within"; k otherwise).
    """

    radius: Array
    counts: tuple[Array, ...]
    ties: Array


def workers() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def neighbourhoods(parts: tuple[Array, ...], spaces: Spaces, k: int, rule: str = "strict") -> Neighbourhood:
    """Count neighbours of every row in each space, where a space is a tuple of positions in `parts`.

    rule: "strict" counts rows nearer than the k-th joint neighbour (KSG1); "within" also those just as near, and reports
    how many such rows there are in the joint space (mixed data); "rectangle" gives every space its own radius, the largest
    distance among the k joint neighbours, and counts up to and including it (KSG2).

    >>> x = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> found = neighbourhoods((x, x), ((0,), (1,)), k=1)
    >>> found.radius.tolist(), found.counts[0].tolist()
    ([1.0, 1.0, 2.0, 4.0], [0, 0, 0, 0])
    """
    columns, n = sum(p.shape[1] for p in parts), len(parts[0])
    if columns >= BRUTE_COLUMNS and 1_000 <= n <= BRUTE_ROWS:
        from latentry.information.brute import brute_neighbourhoods  # compiles: only when it pays

        return Neighbourhood(*brute_neighbourhoods(parts, spaces, k, rule))
    return _tree_neighbourhoods(parts, spaces, k, rule)


def slack(parts: Iterable[Array]) -> float:
    """A few units in the last place of the largest coordinate."""
    return 8 * np.finfo(float).eps * max(float(np.max(np.abs(p), initial=0.0)) for p in parts)


def kth_distance(rows: Array, k: int) -> tuple[Array, Array]:
    """Max-norm distance to the k-th other row, and the numbers of the k + 1 nearest rows, itself among them."""
    tree = cKDTree(rows)
    order = tree.indices
    ranks = np.arange(1, k + 2)
    found, who = tree.query(rows[order], k=ranks, p=np.inf, workers=workers() if len(rows) > SMALL else 1)
    distance, nearest = np.empty(len(rows)), np.empty_like(who)
    distance[order], nearest[order] = found[:, -1], who
    return distance, nearest


def _kth_radius(rows: Array, k: int) -> Array:
    """As `kth_distance`, without the neighbours' numbers; SciPy's tree is the faster in the plane, scikit-learn's beyond."""
    if rows.shape[1] > 2:
        return _asked_in_order(rows, 10, lambda tree, part, _: tree.query(part, k=k + 1)[0][:, -1])
    tree = cKDTree(rows, leafsize=8)
    radius = np.empty(len(rows))
    many = workers() if len(rows) > SMALL else 1
    radius[tree.indices] = tree.query(rows[tree.indices], k=[k + 1], p=np.inf, workers=many)[0][:, 0]
    return radius


def _tree_neighbourhoods(parts: tuple[Array, ...], spaces: Spaces, k: int, rule: str) -> Neighbourhood:
    joint = np.hstack(parts)
    margin = slack(parts)
    groups = [np.hstack([parts[i] for i in space]) for space in spaces]
    if rule == "rectangle":
        radius, nearest = kth_distance(joint, k)
        reaches = [_reach(rows, nearest) + margin for rows in groups]
    else:
        radius = _kth_radius(joint, k)
        reaches = [radius + (margin if rule == "within" else -margin)] * len(groups)
    if rule == "within":
        groups, reaches = [*groups, joint], [*reaches, radius + margin]
    jobs = list(zip(groups, reaches, strict=True))
    single = max(rows.shape[1] for rows in groups) == 1  # trees share out their own rows
    counts = tuple(_in_threads(lambda job: count_within(*job), jobs, len(joint) // 2 if single else 0))
    return Neighbourhood(radius, counts[: len(spaces)], counts[-1] if rule == "within" else np.full(len(joint), k))


def _reach(rows: Array, nearest: Array) -> Array:
    """The largest distance, in this space, to any of the joint neighbours."""
    reach = np.zeros(len(rows))
    for column in nearest.T:
        np.maximum(reach, np.max(np.abs(rows[column] - rows), axis=1), out=reach)
    return reach


def count_within(rows: Array, reach: Array) -> Array:
    """How many other rows lie within each row's own reach.

    >>> count_within(np.array([[0.0], [1.0], [3.0]]), np.array([1.0, 2.0, 1.0])).tolist()
    [1, 2, 0]
    """
    count = _count_sorted if rows.shape[1] == 1 else _count_tree
    found = count(rows, np.maximum(reach, 0.0)) - 1  # less the row itself
    return np.where(reach < 0, 0, found)  # nothing is nearer than a copy


def _count_sorted(rows: Array, reach: Array) -> Array:
    values = rows[:, 0]
    order = np.argsort(values)
    ordered, reach = values[order], reach[order]
    counts = np.empty(len(values), dtype=np.int64)
    counts[order] = np.searchsorted(ordered, ordered + reach, "right") - np.searchsorted(
        ordered, ordered - reach, "left"
    )
    return counts


def _count_tree(rows: Array, reach: Array) -> Array:
    count = lambda tree, part, who: tree.query_radius(part, reach[who], count_only=True)  # noqa: E731
    return _asked_in_order(rows, 20, count).astype(np.int64)


def _asked_in_order(rows: Array, leaf: int, ask: Callable[[Any, Array, Array], Array]) -> Array:
    """Put a question about every row to a tree of the rows, on all cores.

    The rows are first put into the order of a tree, and the tree is built again on them: neighbours in space are then
    neighbours in memory, for the questions and for the leaves. At 10⁵ rows that is worth a factor of three.
    """
    from sklearn.neighbors import KDTree  # a second to import: only when it is needed

    order = np.asarray(KDTree(rows, metric="chebyshev", leaf_size=leaf).get_arrays()[1])
    ordered = rows[order]
    tree = KDTree(ordered, metric="chebyshev", leaf_size=leaf)
    chunks = np.array_split(np.arange(len(rows)), 4 * workers() if len(rows) > SMALL else 1)
    answers = np.empty(len(rows))
    found = _in_threads(lambda chunk: ask(tree, ordered[chunk], order[chunk]), chunks, len(rows))
    answers[order] = np.concatenate(found)
    return answers


def _in_threads(task: Callable, items: list, rows: int) -> list:
    """Map over threads if there are rows enough to pay for them: the searches hold no lock of the interpreter."""
    if rows <= SMALL or len(items) == 1:
        return [task(item) for item in items]
    with ThreadPoolExecutor(workers()) as pool:
        return list(pool.map(task, items))
