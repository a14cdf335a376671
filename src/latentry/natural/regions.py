"""Sets of mixture weights over which a worst case is taken: polytopes inside the simplex."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog
from scipy.spatial import Delaunay, HalfspaceIntersection, QhullError

from latentry.errors import DataError
from latentry.natural.laws import as_weights

__all__ = ["Region", "ball", "box", "simplex"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Region:
    """The convex hull of some mixture weights (rows of `vertices`).

    A worst case over the region is a worst case over all mixtures of the laws at its vertices, so that one
    algorithm serves the simplex, a box and a ball.
    """

    vertices: Array
    name: str

    def triangulate(self) -> list[Array]:
        """Simplices that cover the region, each a matrix whose rows are its corners."""
        v = self.vertices
        rank = int(np.linalg.matrix_rank(v[1:] - v[0], tol=1e-9)) if len(v) > 1 else 0
        if len(v) == rank + 1:
            return [v]
        if rank == 1:
            order = np.argsort(v @ (v[-1] - v[0]))
            return [v[order[[0, -1]]]]
        flat = (v - v.mean(axis=0)) @ np.linalg.svd(v - v.mean(axis=0), full_matrices=False)[2][:rank].T
        return [v[corners] for corners in Delaunay(flat).simplices]


def simplex(k: int) -> Region:
    """All mixtures of k domains."""
    return Region(np.eye(k), f"all mixtures of {k} domains" if k > 1 else "the only domain")


def box(low: ArrayLike, high: ArrayLike) -> Region:
    """Mixtures whose weights lie between `low` and `high`.

    >>> box([0.4, 0.0], [0.6, 1.0]).vertices
    array([[0.4, 0.6],
           [0.6, 0.4]])
    """
    lo, hi = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    if lo.shape != hi.shape or lo.ndim != 1:
        raise DataError(f"box: low has shape {lo.shape} and high {hi.shape}; both need one weight per domain")
    lo, hi = np.clip(lo, 0.0, 1.0), np.clip(hi, 0.0, 1.0)
    if (lo > hi).any() or lo.sum() > 1 + 1e-12 or hi.sum() < 1 - 1e-12:
        raise DataError(f"box: no mixture has weights between {lo.tolist()} and {hi.tolist()}")
    k = lo.size
    identity = np.eye(k)
    limits = [(-identity[j], -lo[j]) for j in range(k)] + [(identity[j], hi[j]) for j in range(k)]
    return Region(_vertices(limits, k), f"weights between {lo.tolist()} and {hi.tolist()}")


def ball(weights: ArrayLike, radius: float) -> Region:
    """Mixtures within a total-variation distance ½ Σ_j |α_j − weights_j| ≤ radius.

    >>> ball([0.5, 0.5], 0.1).vertices
    array([[0.4, 0.6],
           [0.6, 0.4]])
    """
    centre = as_weights(weights, np.size(np.asarray(weights)))
    if not radius > 0:
        raise DataError(f"ball: radius={radius} must be positive")
    k = centre.size
    subsets = [np.isin(np.arange(k), s).astype(float) for r in range(1, k) for s in combinations(range(k), r)]
    limits = [(s, float(s @ centre) + radius) for s in subsets] + [(-e, 0.0) for e in np.eye(k)]
    return Region(_vertices(limits, k), f"total variation ≤ {radius:g} around {centre.tolist()}")


def _vertices(limits: list[tuple[Array, float]], k: int) -> Array:
    """Corners of {α : Σα = 1, a·α ≤ b}, with α_k eliminated."""
    if k == 1:
        return np.ones((1, 1))
    slopes = np.array([a[:-1] - a[-1] for a, _ in limits])
    offsets = np.array([b - a[-1] for a, b in limits])
    free = _interval(slopes[:, 0], offsets) if k == 2 else _polytope(slopes, offsets)
    corners = np.column_stack([free, 1.0 - free.sum(axis=1)])
    corners = np.unique(np.round(np.clip(corners, 0.0, 1.0), 12), axis=0)
    return corners / corners.sum(axis=1, keepdims=True)


def _interval(slopes: Array, offsets: Array) -> Array:
    ends = offsets[slopes != 0] / slopes[slopes != 0]
    rising = slopes[slopes != 0] > 0
    return np.array([[ends[~rising].max()], [ends[rising].min()]])


def _polytope(slopes: Array, offsets: Array) -> Array:
    centre = _deepest_point(slopes, offsets)
    try:
        corners = HalfspaceIntersection(np.column_stack([slopes, -offsets]), centre).intersections
    except QhullError:
        raise DataError("the region of weights is flat: widen it, or drop the domains whose weight is fixed") from None
    return corners[np.isfinite(corners).all(axis=1)]


def _deepest_point(slopes: Array, offsets: Array) -> Array:
    norms = np.linalg.norm(slopes, axis=1, keepdims=True)
    dims = slopes.shape[1]
    solution = linprog(
        np.append(np.zeros(dims), -1.0),
        A_ub=np.hstack([slopes, norms]),
        b_ub=offsets,
        bounds=[(None, None)] * dims + [(0, None)],
    )
    return solution.x[:dims]
