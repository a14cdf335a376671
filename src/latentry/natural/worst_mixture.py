"""The worst mixture, with a certificate on both sides.

Redundancy is concave in α: exponentiated ascent (Blahut 1972, Arimoto 1972), where at any α

    Σ_j α_j d_j(α) ≤ sup ε ≤ max_j d_j(α).

Mediation is a difference of concave functions. Singling out one observable s,

    M(α) = Σ_{i≠s} H_α(X_i|Λ) − H_α(X_{−s}|X_s, Λ),

and on a small simplex of mixtures the subtracted entropy is at least its chord; what remains is concave and
is bounded as above. Branch and bound bisects the longest edge until the two sides meet.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count

import numpy as np
from numpy.typing import NDArray

from latentry.evidence import Bound, Interval
from latentry.natural.mixtures import Family, Surprise
from latentry.natural.weight_regions import Region, simplex

__all__ = ["Supremum", "ascend", "worst_mediation", "worst_redundancy", "worst_score"]

Array = NDArray[np.float64]
_BATCH = 32
_FLOOR = 1e-15


@dataclass(frozen=True, eq=False)
class Supremum:
    """Where a worst case is (the worst known mixture) and how large it can be (both sides certified).

    `nodes` counts the simplices that a branch and bound looked at; an ascent needs none.
    """

    interval: Interval
    weights: Array
    nodes: int = 0

    @property
    def upper(self) -> Bound:
        """Return the certified upper bound of the supremum."""
        return self.interval.upper

    @property
    def lower(self) -> Bound:
        """Return a value that is reached, hence a lower bound of the supremum."""
        return self.interval.lower


def ascend(
    tangents: Callable[[Array], Array],
    start: Array,
    *,
    tolerance: float,
    steps: int,
    stop_below: float = -np.inf,
) -> tuple[Array, Array, Array]:
    """Maximise Σ_j β_j c_j(β) over a batch of simplices by β ← β e^{s c}/Z with adaptive steps s.

    Args:
        tangents: The function c, from points (..., m) to gradients (..., m).
        start: Points (..., m) inside the simplex.
        tolerance: Gap between value and upper bound at which to stop.
        steps: At most this many.
        stop_below: A member whose upper bound falls under it is left as it is.

    Returns:
        The points, their values, and max_j c_j there, the smallest seen: an upper bound of the maximum when the
        function is concave.
    """
    point = start
    gradient = tangents(point)
    value = (point * gradient).sum(axis=-1)
    ceiling = gradient.max(axis=-1)
    step = np.ones(point.shape[:-1])
    for _ in range(steps):
        if ((ceiling - value <= tolerance) | (ceiling <= stop_below)).all():
            break
        trial = _tilt(point, step[..., None] * gradient)
        trial_gradient = tangents(trial)
        trial_value = (trial * trial_gradient).sum(axis=-1)
        ceiling = np.minimum(ceiling, trial_gradient.max(axis=-1))
        better = trial_value >= value
        point = np.where(better[..., None], trial, point)
        gradient = np.where(better[..., None], trial_gradient, gradient)
        value = np.where(better, trial_value, value)
        step = np.where(better, step * 1.6, step * 0.4)
    return point, value, ceiling


def _tilt(point: Array, exponent: Array) -> Array:
    raw = point * np.exp(exponent - exponent.max(axis=-1, keepdims=True))
    kept: Array = np.maximum(raw / raw.sum(axis=-1, keepdims=True), _FLOOR)
    total: Array = kept.sum(axis=-1, keepdims=True)
    return kept / total


def worst_redundancy(
    family: Family,
    kept: Sequence[int],
    region: Region | None = None,
    *,
    tolerance: float = 1e-7,
    steps: int = 20_000,
    deterministic: bool = False,
) -> Supremum:
    """Bound the supremum over mixtures of I(Λ; X_rest|X_kept), or of H(Λ|X_kept) when `deterministic`.

    Cost: as many passes over the cells as the search takes steps; polynomial in the domains.

    Args:
        family: Distributions and the channel they share.
        kept: The kept observables.
        region: Mixtures that count; all by default.
        tolerance: Gap in nats at which the ascent stops.
        steps: At most this many steps of the ascent.
        deterministic: Whether to bound H(Λ|X_kept).

    Returns:
        Both bounds and the worst known mixture.
    """
    reach = _Reach.of(family, region)
    family, vertices = reach.family, reach.region.vertices
    guess = family.guess(kept).at(vertices)
    linear = 0.0 if deterministic else vertices @ family.channel_noise
    start = np.full(len(vertices), 1.0 / len(vertices))
    beta, value, ceiling = ascend(lambda b: guess.tangents(b) - linear, start, tolerance=tolerance, steps=steps)
    method = "exponentiated ascent with its dual bound"
    return _supremum(float(value), float(ceiling), method, reach.spread(beta @ vertices))


@dataclass(frozen=True, eq=False)
class _Reach:
    """The domains that have weight somewhere in the region; the others would only bring cells that never occur."""

    family: Family
    region: Region
    used: NDArray[np.bool_]

    @classmethod
    def of(cls, family: Family, region: Region | None) -> _Reach:
        """Leave out the domains without weight anywhere in the region."""
        area = region or simplex(family.domains)
        used = np.asarray((area.vertices > 0).any(axis=0))
        if used.all():
            return cls(family, area, used)
        planes = None if area.planes is None else area.planes[:, np.append(used, True)]
        return cls(Family(family.laws[used], family.channel), Region(area.vertices[:, used], area.name, planes), used)

    def spread(self, weights: Array) -> Array:
        """Return weights over all domains again."""
        full = np.zeros(self.used.size)
        full[self.used] = weights
        return full


def _supremum(low: float, high: float, method: str, weights: Array, nodes: int = 0) -> Supremum:
    rounding = 1e-12  # sums of float64 logarithms over the table
    low, high = max(low - rounding, 0.0), max(high + rounding, 0.0)
    interval = Interval(Bound(low, "lower", method=method), Bound(high, "upper", method=method))
    return Supremum(interval, weights, nodes)


@dataclass(frozen=True, eq=False)
class _Split:
    """w_0 M(α) + Σ_i w_i ε_i(α) = Σ rising − falling − linear·α, with as little as possible in `falling`."""

    rising: tuple[tuple[float, Surprise], ...]
    falling: Surprise
    weight: float
    linear: Array

    @classmethod
    def of(cls, family: Family, weights: Sequence[float]) -> _Split:
        """Single out the observable whose emission drifts most between domains."""
        n = family.observables
        centre = np.full(family.domains, 1.0 / family.domains)
        drift = [float(e.value(centre) - centre @ e.corners) for e in family.emission]
        single = int(np.argmax(drift))
        rest = [i for i in range(n) if i != single]
        emissions = [(weights[0], family.emission[i]) for i in rest]
        guesses = [(weights[i + 1], family.guess([i])) for i in range(n)]
        return cls(
            rising=tuple((w, s) for w, s in [*emissions, *guesses] if w > 0),
            falling=family.surprise(rest, [single, family.latent]),
            weight=weights[0],
            linear=sum(weights[1:]) * family.channel_noise,
        )

    def rising_gradient(self, points: Array) -> Array:
        """Compute the tangents of the concave part."""
        return sum(w * s.tangents(points) for w, s in self.rising) - self.linear

    def gradient(self, points: Array) -> Array:
        """Compute the tangents of the whole."""
        return self.rising_gradient(points) - self.weight * self.falling.tangents(points)

    def value(self, points: Array) -> Array:
        """Compute the score at mixtures (b, k)."""
        rising = sum(w * s.value(points) for w, s in self.rising)
        return rising - points @ self.linear - self.height(points)

    def height(self, points: Array) -> Array:
        """Compute the part that chords replace."""
        return self.weight * self.falling.value(points)


@dataclass
class _Search:
    """State of the branch and bound: a heap of simplices, the best mixture so far, and the count of nodes."""

    split: _Split
    tolerance: float
    best: float = -np.inf
    weights: Array = field(default_factory=lambda: np.empty(0))
    heap: list[tuple[float, int, Array, Array]] = field(default_factory=list)
    nodes: int = 0
    ids: count[int] = field(default_factory=count)

    def try_points(self, points: Array) -> None:
        """Keep the best of some mixtures (b, k) if it beats the best so far."""
        values = self.split.value(points)
        top = int(np.argmax(values))
        if values[top] > self.best:
            self.best, self.weights = float(values[top]), points[top]

    def add(self, corners: Array, chords: Array) -> None:
        """Bound simplices (b, m, k) whose corners have the heights `chords` (b, m)."""
        self.nodes += len(corners)
        points, uppers = self.relax(corners, chords)
        self.try_points(points)
        for corner, chord, upper in zip(corners, chords, uppers, strict=True):
            if upper > self.best + self.tolerance:
                heapq.heappush(self.heap, (-float(upper), next(self.ids), corner, chord))

    def relax(self, corners: Array, chords: Array) -> tuple[Array, Array]:
        """Maximise Σ rising − chord(falling), concave, on each simplex."""

        def tangents(beta: Array) -> Array:
            mixture = np.einsum("bm,bmk->bk", beta, corners)
            gradients = np.where(
                mixture > 0, self.split.rising_gradient(mixture), 0.0
            )  # no corner has weight there either
            along: Array = np.einsum("bk,bmk->bm", gradients, corners)
            return along - chords

        start = np.full(chords.shape, 1.0 / chords.shape[1])
        beta, _, ceiling = ascend(
            tangents,
            start,
            tolerance=self.tolerance / 4,
            steps=60,
            stop_below=self.best + self.tolerance,
        )
        return np.einsum("bm,bmk->bk", beta, corners), ceiling

    def bisect(self) -> None:
        """Split the most promising simplices across their longest edge."""
        taken = [heapq.heappop(self.heap) for _ in range(min(_BATCH, len(self.heap)))]
        taken = [node for node in taken if -node[0] > self.best + self.tolerance]
        if not taken:
            return
        edges = [_longest_edge(node[2]) for node in taken]
        middles = np.stack([(n[2][a] + n[2][b]) / 2 for n, (a, b) in zip(taken, edges, strict=True)])
        self.try_points(middles)
        heights = self.split.height(middles)
        children = [
            (_replaced(corner, end, middle), _replaced(chord, end, height))
            for (_, _, corner, chord), edge, middle, height in zip(taken, edges, middles, heights, strict=True)
            for end in edge
        ]
        self.add(np.stack([c for c, _ in children]), np.stack([h for _, h in children]))

    @property
    def ceiling(self) -> float:
        """Return the largest value that any remaining simplex allows."""
        return max(self.best + self.tolerance, -self.heap[0][0] if self.heap else -np.inf)


def worst_mediation(
    family: Family, region: Region | None = None, *, tolerance: float = 1e-5, nodes: int = 20_000
) -> Supremum:
    """Bound the supremum over mixtures of TC(X|Λ) by branch and bound.

    The bound is valid even if `nodes` runs out.

    Cost: a pass over the cells for each box of the search; boxes grow exponentially with the domains, up to its limit.

    Args:
        family: Distributions and the channel they share.
        region: Mixtures that count; all by default.
        tolerance: Gap in nats at which the search stops.
        nodes: Budget of simplices.

    Returns:
        Both bounds and the worst known mixture.
    """
    weights = [1.0] + [0.0] * family.observables
    return worst_score(family, weights, region, tolerance=tolerance, nodes=nodes)


def worst_score(
    family: Family,
    weights: Sequence[float],
    region: Region | None = None,
    *,
    tolerance: float = 1e-5,
    nodes: int = 20_000,
) -> Supremum:
    """Bound the supremum over mixtures of w_0 TC(X|Λ) + Σ_i w_i I(Λ; X_{−i}|X_i).

    Args:
        family: Distributions and the channel they share.
        weights: (w_0, w_1, ..., w_n).
        region: Mixtures that count; all by default.
        tolerance: Gap in nats at which the search stops.
        nodes: Budget of simplices.

    Returns:
        Both bounds and the worst known mixture.
    """
    reach = _Reach.of(family, region)
    area = reach.region
    search = _Search(_Split.of(reach.family, weights), tolerance)
    search.try_points(area.vertices)
    _climb(search, area)
    pieces = np.stack(area.triangulate())
    search.add(pieces, search.split.height(pieces))
    while search.heap and search.nodes < nodes:
        search.bisect()
    method = f"branch and bound, {search.nodes} nodes"
    return _supremum(search.best, search.ceiling, method, reach.spread(search.weights), search.nodes)


def _climb(search: _Search, area: Region) -> None:
    """A local ascent gives the branch and bound something to prune against."""
    vertices = area.vertices
    start = np.full((1, len(vertices)), 1.0 / len(vertices))
    beta, _, _ = ascend(lambda b: search.split.gradient(b @ vertices) @ vertices.T, start, tolerance=0.0, steps=100)
    search.try_points(beta @ vertices)


def _longest_edge(corners: Array) -> tuple[int, int]:
    lengths = np.linalg.norm(corners[:, None] - corners[None], axis=-1)
    a, b = np.unravel_index(int(np.argmax(lengths)), lengths.shape)
    return int(a), int(b)


def _replaced(rows: Array, index: int, row: Array | float) -> Array:
    changed = rows.copy()
    changed[index] = row
    return changed
