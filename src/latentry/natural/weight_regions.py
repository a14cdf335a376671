"""Sets of mixture weights over which a worst case is taken: polytopes inside the simplex."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import ConvexHull, QhullError

from latentry.errors import DataError
from latentry.natural.distributions import as_weights

__all__ = ["Region", "ball", "box", "simplex"]

Array = NDArray[np.float64]
# Corners this close to a plane lie on it (the region is scaled to size one).
_TOUCH = 1e-8
# 2^k corners of a box are looked at.
_MAX_DOMAINS = 16


@dataclass(frozen=True, eq=False)
class Region:
    """The convex hull of some mixture weights (rows of `vertices`).

    A worst case over the region is a worst case over all mixtures of the distributions at its vertices, so that one
    algorithm serves the simplex, a box and a ball.

    Args:
        vertices: (m, k) mixture weights.
        name: In words, for the report.
        planes: Rows (a, b) of a·α ≤ b that hold in the region and include all its facets, if they are known.
    """

    vertices: Array
    name: str
    planes: Array | None = None

    def __post_init__(self) -> None:
        rows = np.asarray(self.vertices, dtype=np.float64)
        if rows.ndim != 2 or rows.size == 0:
            raise DataError(f"vertices: has shape {rows.shape}. Give one row of weights per vertex.")
        fine = (rows >= 0).all(axis=1) & (np.abs(rows.sum(axis=1) - 1.0) <= 1e-9)
        if not fine.all():
            row = int(np.argmin(fine))
            raise DataError(f"vertices[{row}]={rows[row].tolist()}: is no mixture. Weights are ≥ 0 and sum to 1.")
        object.__setattr__(self, "vertices", rows)

    def triangulate(self) -> list[Array]:
        """Cover the region with simplices, each a matrix whose rows are its corners.

        >>> square = Region(np.array([[0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0.5], [0, 0, 1]]), "four corners")
        >>> [piece.shape for piece in square.triangulate()]
        [(3, 3), (3, 3)]
        """
        v = self.vertices
        centred = v - v.mean(axis=0)
        axes, spread = np.linalg.svd(centred, full_matrices=False)[2], np.linalg.svd(centred, compute_uv=False)
        rank = int((spread > 1e-9).sum())
        if len(v) == rank + 1:
            return [v]
        if rank <= 1:
            order = np.argsort(v @ axes[0])
            return [v[order[[0, -1]]] if rank else v[:1]]
        flat = centred @ axes[:rank].T / spread[0]
        heights = _hull_heights(flat) if self.planes is None else v @ self.planes[:, :-1].T - self.planes[:, -1]
        touching = np.abs(heights) < _TOUCH * (1.0 if self.planes is None else min(1.0, float(spread[0])))
        facets = {frozenset(np.flatnonzero(column).tolist()) for column in touching.T}
        pieces = _pulled(flat, frozenset(range(len(v))), sorted(facets, key=sorted))
        return [v[list(corners)] for corners in pieces]


def _hull_heights(points: Array) -> Array:
    """How far each point is below each facet of the convex hull."""
    try:
        planes = ConvexHull(points).equations
    except QhullError:
        raise DataError(f"vertices: the hull of these {len(points)} is almost flat. Give fewer of them.") from None
    heights: Array = points @ planes[:, :-1].T + planes[:, -1]
    return heights


def _pulled(points: Array, face: frozenset[int], facets: list[frozenset[int]]) -> list[tuple[int, ...]]:
    """A triangulation without new corners: cones from one corner over the facets that do not hold it.

    Unlike Delaunay's, it is decided by which corner lies on which facet alone, and many corners of a ball lie
    on one sphere, where Delaunay's is a matter of rounding.
    """
    dimension = _dimension(points[sorted(face)])
    if len(face) == dimension + 1:
        return [tuple(sorted(face))]
    apex = min(face)
    walls = {face & facet for facet in facets if not face <= facet and apex not in facet}
    sides = [w for w in walls if len(w) >= dimension and _dimension(points[sorted(w)]) == dimension - 1]
    return [(apex, *piece) for side in sides for piece in _pulled(points, side, facets)]


def _dimension(points: Array) -> int:
    return int(np.linalg.matrix_rank(points[1:] - points[0], tol=_TOUCH)) if len(points) > 1 else 0


def simplex(k: int) -> Region:
    """Return the region of all mixtures of k domains.

    Cost: linear in the domains.

    Args:
        k: Number of domains.

    Returns:
        The simplex.
    """
    return Region(np.eye(k), f"all mixtures of {k} domains" if k > 1 else "the only domain")


def box(low: ArrayLike, high: ArrayLike) -> Region:
    """Return the region of mixtures whose weights lie between two limits.

    Cost: linear in the domains.

    >>> box([0.4, 0.0], [0.6, 1.0]).vertices
    array([[0.4, 0.6],
           [0.6, 0.4]])

    Args:
        low: (k,) smallest weights.
        high: (k,) largest weights.

    Returns:
        The region.

    Raises:
        DataError: If shapes differ, no mixture lies between the limits, or there are too many domains.
    """
    lo, hi = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    if lo.shape != hi.shape or lo.ndim != 1:
        raise DataError(
            f"low has shape {lo.shape} and high {hi.shape}: they must be equal. Give one weight per domain in both."
        )
    lo, hi = np.clip(lo, 0.0, 1.0), np.clip(hi, 0.0, 1.0)
    if (lo > hi).any() or lo.sum() > 1 + 1e-12 or hi.sum() < 1 - 1e-12:
        raise DataError(f"low={lo.tolist()}, high={hi.tolist()}: no mixture has weights between them. Widen the box.")
    sides = np.vstack([np.column_stack([-np.eye(lo.size), -lo]), np.column_stack([np.eye(lo.size), hi])])
    return Region(_distinct(_slice(lo, hi, 1.0)), f"weights between {lo.tolist()} and {hi.tolist()}", sides)


def ball(weights: ArrayLike, radius: float) -> Region:
    """Return the region of mixtures within a total-variation distance ½ Σ_j |α_j − weights_j| ≤ radius.

    Cost: quadratic in the domains.

    >>> ball([0.5, 0.5], 0.1).vertices
    array([[0.4, 0.6],
           [0.6, 0.4]])

    Args:
        weights: (k,) mixture weights, the centre.
        radius: Largest distance, above zero.

    Returns:
        The region.

    Raises:
        DataError: If the radius is not positive, the weights are no mixture, or there are too many domains.
    """
    centre = as_weights(weights, np.size(np.asarray(weights)))
    if not radius > 0:
        raise DataError(f"radius={radius}: must be positive.")
    corners = [_receiving(centre, gainer, radius) for gainer in range(centre.size)]
    k = centre.size
    groups = ((np.arange(1, (1 << k) - 1)[:, None] >> np.arange(k)) & 1).astype(float)
    limits = np.column_stack([groups, groups @ centre + radius])
    sides = np.vstack([limits, np.column_stack([-np.eye(k), np.zeros(k)])])
    return Region(_distinct(np.vstack(corners)), f"total variation ≤ {radius:g} around {centre.tolist()}", sides)


def _receiving(centre: Array, gainer: int, radius: float) -> Array:
    """Mixtures reached when one domain takes as much weight as it may: the corners of a ball."""
    moved = min(radius, 1.0 - centre[gainer])
    losses = _slice(np.zeros(centre.size - 1), np.delete(centre, gainer), moved)
    return centre - np.insert(losses, gainer, -moved, axis=1)


def _slice(low: Array, high: Array, total: float) -> Array:
    """Corners of {x : low ≤ x ≤ high, Σ x = total}: all coordinates but one are at an end."""
    k = low.size
    if k > _MAX_DOMAINS:
        raise DataError(
            f"region: a box or ball over {k} domains has too many corners. Use at most {_MAX_DOMAINS + 1} domains, or simplex."
        )
    ends = np.where((np.arange(1 << k)[:, None] >> np.arange(k)) & 1, high, low)
    result = []
    for free in range(k):
        rows = ends[((np.arange(1 << k) >> free) & 1) == 0].copy()
        rows[:, free] = total - np.delete(rows, free, axis=1).sum(axis=1)
        inside = (rows[:, free] >= low[free] - 1e-12) & (rows[:, free] <= high[free] + 1e-12)
        result.append(np.clip(rows[inside], low, high))
    return np.vstack(result) if k else np.zeros((1, 0))


def _distinct(corners: Array) -> Array:
    rows = np.unique(np.round(np.clip(corners, 0.0, 1.0), 12), axis=0)
    total: Array = rows.sum(axis=1, keepdims=True)
    return rows / total
