"""One latent for several domains: the smallest score at its own worst mixture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latentry.errors import DataError
from latentry.evidence.bound import Bound
from latentry.natural.entropies import entropy
from latentry.natural.laws import as_laws, baseline_channels
from latentry.natural.mixtures import Family
from latentry.natural.optimum.polish import descend
from latentry.natural.optimum.result import FoundLatent
from latentry.natural.optimum.search import as_score_weights, search
from latentry.natural.regions import Region, simplex
from latentry.natural.suprema import Supremum, worst_score

__all__ = ["search_shared"]

Array = NDArray[np.float64]


def search_shared(
    laws: ArrayLike,
    weights: Sequence[float] | None = None,
    *,
    region: Region | None = None,
    tolerance: float = 1e-4,
    rounds: int = 8,
) -> FoundLatent:
    """The latent whose score at the worst mixture is smallest, among those a cutting-plane descent finds.

    Mixtures at which the current latent is worst are collected; the latent descends on the largest score over
    them; its own worst case is then certified by branch and bound. The lower bound is the best score of any
    latent at one of those mixtures alone, so the gap is honest but need not close.

    >>> from latentry.generators.finite_laws import planted_natural
    >>> found = search_shared(planted_natural(domains=2).laws)
    >>> found.score.direction, found.score.value < 1e-3
    ('upper', True)

    Args:
        laws: (k, |X_1|, ..., |X_n|), one law per domain.
        weights: as in `search`.
        region: mixtures that count; all by default.
        tolerance: of the worst case and of each search, in nats.
        rounds: of cutting planes.
    """
    tables = as_laws(laws)
    k = len(tables)
    if k < 2:
        raise DataError("search_shared needs the laws of at least two domains; for one law use search")
    w = as_score_weights(weights, tables.ndim - 1)
    area = region or simplex(k)
    mixtures = np.vstack([area.vertices.mean(axis=0), area.vertices[: 2 * k]])
    single = [search(np.tensordot(a, tables, axes=1), w, tolerance=tolerance) for a in mixtures]
    channels = [*baseline_channels(tables.shape[1:]).values(), *(found.channel for found in single)]
    judged = [(worst_score(Family(tables, c), w, area, tolerance=tolerance), c) for c in channels]
    worst, channel = min(judged, key=lambda pair: pair[0].upper.value)
    for _ in range(rounds):
        mixtures = np.vstack([mixtures, worst.weights])
        step = descend(tables, _wider(channel, channels), w, mixtures)
        trial = worst_score(Family(tables, step), w, area, tolerance=tolerance)
        mixtures = np.vstack([mixtures, trial.weights])
        if trial.upper.value >= worst.upper.value - tolerance / 10:
            break
        worst, channel = trial, step
    floor = max([f.lower.value for f in single], default=0.0)
    at_worst = search(np.tensordot(worst.weights, tables, axes=1), w, tolerance=tolerance).lower.value
    return _result(tables, channel, worst, max(floor, at_worst), area, w)


def _wider(channel: Array, others: list[Array]) -> Array:
    """Give the descent as many latent values as any candidate has; the new ones start almost unused."""
    room = max(c.shape[-1] for c in others) - channel.shape[-1]
    if room <= 0:
        return channel
    extra = np.random.default_rng(0).dirichlet(np.ones(room), size=channel.shape[:-1])
    return np.concatenate([0.98 * channel, 0.02 * extra], axis=-1)


def _result(
    tables: Array, channel: Array, worst: Supremum, floor: float, area: Region, w: tuple[float, ...]
) -> FoundLatent:
    pooled = np.tensordot(area.vertices.mean(axis=0), tables, axes=1)
    spread = entropy(pooled[..., None] * channel, [pooled.ndim])
    baselines = {
        name: worst_score(Family(tables, c), w, area).upper.value
        for name, c in baseline_channels(tables.shape[1:]).items()
    }
    method = f"cutting planes over {area.name}"
    return FoundLatent(
        channel=channel,
        score=worst.upper,
        lower=Bound(min(floor, worst.upper.value), "lower", method="best latent of single mixtures"),
        latent_entropy=Bound(spread, method="finite law", tolerance=1e-12),
        baselines=baselines,
        method=method,
    )
