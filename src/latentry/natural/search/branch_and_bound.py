"""Global maxima over products of simplices, by branch and bound on cells whose corners decide.

A function is relaxed on a cell to one that is convex in each factor separately; such a function is largest at
a combination of corners. `Relaxation` says how; this module refines the cells.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from itertools import count
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ceiling", "Relaxation", "ceiling"]

Array = NDArray[np.float64]
Cell = tuple[Array, ...]
_BATCH = 64


class Relaxation(Protocol):
    """A function on a product of simplices, with an upper bound on small cells."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of coordinates of each factor."""
        ...

    def exact(self, points: Cell) -> Array:
        """Evaluate the function at a batch of points.

        Args:
            points: One (b, d_i) array per factor.

        Returns:
            Values (b,).
        """
        ...

    def upper(self, corners: Cell) -> Array:
        """Bound the function from above on a batch of cells.

        Args:
            corners: One (b, corners, d_i) array per factor.

        Returns:
            Upper bounds (b,).
        """
        ...


@dataclass(frozen=True, eq=False)
class Ceiling:
    """max ≤ value; the best points met, as rows per factor; how many cells were looked at."""

    value: float
    best: float
    points: Cell
    nodes: int


@dataclass
class _State:
    relaxation: Relaxation
    tolerance: float
    best: float
    points: list[Cell] = field(default_factory=list)
    heap: list[tuple[float, int, Cell]] = field(default_factory=list)
    nodes: int = 0
    ids: count[int] = field(default_factory=count)

    def add(self, cells: Cell) -> None:
        """Evaluate cells at their centres, bound them, and keep those that could hold the maximum."""
        centres = tuple(c.mean(axis=1) for c in cells)
        values = self.relaxation.exact(centres)
        top = int(np.argmax(values))
        if values[top] > self.best:
            self.best = float(values[top])
            self.points.append(tuple(c[top] for c in centres))
        uppers = self.relaxation.upper(cells)
        self.nodes += len(uppers)
        for b in np.flatnonzero(uppers > self.best + self.tolerance):
            heapq.heappush(self.heap, (-float(uppers[b]), next(self.ids), tuple(c[b] for c in cells)))

    def bisect(self) -> None:
        """Halve the most promising cells."""
        taken = [heapq.heappop(self.heap) for _ in range(min(_BATCH, len(self.heap)))]
        kept = [cell for upper, _, cell in taken if -upper > self.best + self.tolerance]
        if kept:
            self.add(_halves(tuple(np.stack(factor) for factor in zip(*kept, strict=True))))


def _halves(cells: Cell) -> Cell:
    """Cut each cell across its longest edge, measured between square roots (where entropies bend evenly)."""
    edges = [_longest(np.sqrt(corners)) for corners in cells]
    which = np.argmax([length for length, _, _ in edges], axis=0)
    halves = tuple(np.repeat(corners, 2, axis=0) for corners in cells)
    for i, (corners, (_, a, b)) in enumerate(zip(cells, edges, strict=True)):
        cut = np.flatnonzero(which == i)
        middle = (corners[cut, a[cut]] + corners[cut, b[cut]]) / 2
        halves[i][2 * cut, a[cut]] = middle
        halves[i][2 * cut + 1, b[cut]] = middle
    return halves


def _longest(roots: Array) -> tuple[Array, NDArray[np.intp], NDArray[np.intp]]:
    """Length and ends of the longest edge of each cell."""
    lengths = np.linalg.norm(roots[:, :, None] - roots[:, None], axis=-1)
    flat = lengths.reshape(len(roots), -1)
    return flat.max(axis=1), *np.divmod(flat.argmax(axis=1), roots.shape[1])


def ceiling(relaxation: Relaxation, *, known: float, tolerance: float, nodes: int) -> Ceiling:
    """Bound the maximum to within `tolerance` above the larger of `known` and what the search reaches.

    The bound stays valid when `nodes` runs out; it is then only less tight.

    Args:
        relaxation: The function and its upper bound on cells.
        known: A value that is known to be reached.
        tolerance: Gap at which the search stops.
        nodes: Budget of cells.

    Returns:
        The bound, the best value met, the points where it improved, and the cells spent.
    """
    state = _State(relaxation, tolerance, known)
    if all(size == 1 for size in relaxation.sizes):
        value = float(relaxation.exact(tuple(np.ones((1, 1)) for _ in relaxation.sizes))[0])
        return Ceiling(max(value, known), value, (), 1)
    state.add(tuple(np.eye(size)[None] for size in relaxation.sizes))
    while state.heap and state.nodes < nodes:
        state.bisect()
    top = -state.heap[0][0] if state.heap else -np.inf
    points = tuple(np.stack(f) for f in zip(*state.points, strict=True)) if state.points else ()
    return Ceiling(max(state.best + tolerance, top), state.best, points, state.nodes)
