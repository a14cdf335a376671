"""Distances to the k-th neighbour and counts within them, in the max-norm, as fast as the shape of the data allows.

Three engines give the same integers:
- a compiled k-d tree that answers for a leaf of rows at a time (`kd_tree.py`), for the k-th neighbour and for the counts;
- a sorted column and two binary searches for the counts in one dimension;
- on a GPU or TPU, many columns and not too many rows: all distances, tile by tile, in one kernel (`brute_force_neighbours.py`).
Memory is linear in the number of rows for all of them.

Whether a point at *exactly* the radius counts must not hang on rounding. Radii are therefore shrunk ("<") or widened ("≤")
by a few units in the last place of the largest coordinate: a relative amount, so that units still cancel.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from latentry.threads import cores, side_by_side

__all__ = ["Neighbourhood", "count_within", "kth_distance", "neighbourhoods", "slack"]

Array = np.ndarray
Spaces = tuple[tuple[int, ...], ...]
Rows = Array | None

BRUTE_COLUMNS = 12  # joint columns from which an accelerator looks at all pairs: below, a tree has little to do
BRUTE_ROWS = 30_000
MANY = 150_000  # numbers in a block below which starting threads costs more than it saves


@dataclass(frozen=True)
class Neighbourhood:
    """What surrounds each row.

    Args:
        radius: The joint distance to the k-th neighbour.
        counts: How many other rows lie within reach, space by space.
        ties: How many lie up to the radius in the joint space (counted for rule "within"; k otherwise).
    """

    radius: Array
    counts: tuple[Array, ...]
    ties: Array


def neighbourhoods(
    parts: tuple[Array, ...], spaces: Spaces, k: int, rule: str = "strict", asked: Rows = None
) -> Neighbourhood:
    """Count neighbours of every row in each space, where a space is a tuple of positions in `parts`.

    Args:
        parts: Blocks with the same rows.
        spaces: Tuples of positions in `parts`.
        k: Which neighbour sets the radius.
        rule: "strict" counts rows nearer than the k-th joint neighbour (KSG1); "within" also those just as near, and reports
            how many such rows there are in the joint space (mixed data); "rectangle" gives every space its own radius, the
            largest distance among the k joint neighbours and rows just as near as the k-th, and counts up to and including it
            (KSG2).
        asked: Numbers of the rows to answer for; their neighbours are looked for among all rows. None is every row.

    Returns:
        Radius, counts in each space, and ties.

    >>> x = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> result = neighbourhoods((x, x), ((0,), (1,)), k=1)
    >>> result.radius.tolist(), result.counts[0].tolist()
    ([1.0, 1.0, 2.0, 4.0], [0, 0, 0, 0])
    """
    if _on_accelerator(len(parts[0]), sum(p.shape[1] for p in parts)):
        from latentry.information.brute_force_neighbours import brute_neighbourhoods  # compiles: only when it pays

        return Neighbourhood(*brute_neighbourhoods(parts, spaces, k, rule, asked))
    return tree_neighbourhoods(parts, spaces, k, rule, asked)


def _on_accelerator(n: int, columns: int) -> bool:
    """Whether JAX runs on something else than the processor, asked only for shapes that would go there."""
    if columns < BRUTE_COLUMNS or not 1_000 <= n <= BRUTE_ROWS:
        return False
    import jax

    return jax.default_backend() != "cpu"


def slack(parts: Iterable[Array]) -> float:
    """Return a few units in the last place of the largest coordinate.

    Args:
        parts: Blocks.

    Returns:
        A distance.
    """
    return float(8 * np.finfo(float).eps * max(float(np.max(np.abs(p), initial=0.0)) for p in parts))


def tree_neighbourhoods(
    parts: tuple[Array, ...], spaces: Spaces, k: int, rule: str, asked: Rows = None
) -> Neighbourhood:
    """Search neighbourhoods on trees of the rows."""
    (joint, ask), margin = _trees(np.hstack(parts), asked), slack(parts)
    radius = joint.kth_distance(k, ask)
    if rule == "rectangle":
        reaches = [*(joint.reaches(radius, _masks(parts, spaces), ask) + margin).T]
    else:
        reaches = [radius + (margin if rule == "within" else -margin)] * len(spaces)
    groups = [parts[s[0]] if len(s) == 1 else np.hstack([parts[i] for i in s]) for s in spaces]
    counts = _counts_within(groups, reaches, asked)
    ties = joint.counts(radius + margin, ask) if rule == "within" else np.full(len(radius), k)
    return Neighbourhood(radius, counts, ties)


def _masks(parts: tuple[Array, ...], spaces: Spaces) -> Array:
    """Mark the joint columns that each space has."""
    owner = np.repeat(np.arange(len(parts)), [p.shape[1] for p in parts])
    return np.array([np.isin(owner, space) for space in spaces])


def kth_distance(rows: Array, k: int, asked: Rows = None) -> Array:
    """Measure the max-norm distance of every row, or of the asked ones, to the k-th other row.

    Args:
        rows: In any dimension.
        k: Which other row.
        asked: Rows to answer for; None is every row.

    Returns:
        Distances.

    >>> kth_distance(np.array([[0.0], [1.0], [3.0]]), 2).tolist()
    [3.0, 2.0, 3.0]
    """
    every, ask = _trees(rows, asked)
    return every.kth_distance(k, ask)


def _counts_within(groups: list[Array], reaches: list[Array], asked: Rows) -> tuple[Array, ...]:
    """Apply `count_within` to each group; single columns side by side, since trees divide their own rows among threads."""
    single = max(rows.shape[1] for rows in groups) == 1
    threads = cores() if single and len(groups[0]) > MANY else 1
    jobs = zip(groups, reaches, strict=True)
    return tuple(side_by_side(lambda job: count_within(*job, asked), jobs, threads=threads))


def count_within(rows: Array, reach: Array, asked: Rows = None) -> Array:
    """Count the other rows within each row's own reach, or within that of the asked rows.

    Args:
        rows: In any dimension.
        reach: Of each answered row.
        asked: Rows to answer for; None is every row.

    Returns:
        Counts.

    >>> count_within(np.array([[0.0], [1.0], [3.0]]), np.array([1.0, 2.0, 1.0])).tolist()
    [1, 2, 0]
    """
    if rows.shape[1] == 1:
        return _count_sorted(rows[:, 0], reach, asked)
    every, ask = _trees(rows, asked)
    return every.counts(reach, ask)


def _count_sorted(values: Array, reach: Array, asked: Rows) -> Array:
    """Count in one column: where the ends of each interval would be sorted in."""
    ordered, centres = np.sort(values), values if asked is None else values[asked]
    order = np.argsort(centres)  # sorted questions meet the same numbers
    centres, reach = centres[order], reach[order]
    result = np.searchsorted(ordered, centres + reach, "right") - np.searchsorted(ordered, centres - reach, "left")
    counts = np.empty(len(centres), dtype=np.int64)
    counts[order] = np.where(reach < 0, 0, result - 1)  # less the row itself; nothing is nearer than a copy
    return counts


@dataclass(frozen=True)
class _Tree:
    """Rows in the order of a k-d tree (see `kd_tree.plant`); answers come back in the order of the asked rows."""

    order: Array
    arrays: tuple[Array, ...]

    def kth_distance(self, k: int, asked: _Tree) -> Array:
        """Measure the distance of each asked row to its k-th other row."""
        return self._search("kth", k, asked=asked, answers=np.empty(len(asked.order)))

    def counts(self, reach: Array, asked: _Tree) -> Array:
        """Count the other rows up to each asked row's reach."""
        finite = np.minimum(reach[asked.order], np.finfo(float).max)  # what fills up the last leaf is at ∞
        answers = np.empty(len(reach), dtype=np.int64)
        result = self._search("count", len(self.order), finite, asked=asked, answers=answers)
        others: Array = np.maximum(result - 1, 0)  # less the row itself; nothing is nearer than a copy
        return others

    def reaches(self, radius: Array, spaces: Array, asked: _Tree) -> Array:
        """Measure the largest distance in each space (a mask of columns) to a row within the radius: row × space."""
        answers = np.zeros((len(radius), len(spaces)))
        return self._search("reach", radius[asked.order], spaces, asked=asked, answers=answers)

    def _search(self, kernel: str, *question: object, asked: _Tree, answers: Array) -> Array:
        """Run a kernel over all asked leaves, in pieces if there is work for several threads."""
        from latentry.information import kd_tree

        leaves, low, high, homes = asked.arrays
        given = (*self.arrays, leaves, low[homes], high[homes], *question)
        pieces = 4 * cores() if len(asked.order) * leaves.shape[1] > MANY else 1
        cuts = np.linspace(0, len(leaves), pieces + 1).astype(np.int64)
        run = getattr(kd_tree, kernel)
        side_by_side(lambda span: run(*given, *span, answers), zip(cuts[:-1], cuts[1:], strict=True))
        placed = np.empty_like(answers)
        placed[asked.order] = answers
        return placed


def _trees(rows: Array, asked: Rows) -> tuple[_Tree, _Tree]:
    """Plant the tree of all rows, and that of the asked ones."""
    every = plant_tree(rows)
    return every, every if asked is None else plant_tree(rows[asked])


def plant_tree(rows: Array) -> _Tree:
    """Plant the tree of some rows."""
    from latentry.information import kd_tree  # loads numba: only when a search is run

    n, d = rows.shape
    count = -(-n // kd_tree.LEAF)
    order, leaves, homes = np.arange(n), np.full((count, d, kd_tree.LEAF), np.inf), np.empty(count, dtype=np.int64)
    low, high = np.empty((2, 2 * count - 1, d))
    kd_tree.plant(np.array(rows, dtype=np.float64, order="C"), order, leaves, low, high, homes)
    return _Tree(order, (leaves, low, high, homes))
