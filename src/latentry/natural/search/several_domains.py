"""One latent for several domains: the smallest score at its own worst mixture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latentry.errors import DataError
from latentry.evidence import Bound
from latentry.natural.distributions import as_laws, baseline_channels
from latentry.natural.entropies import entropy
from latentry.natural.mixtures import Family
from latentry.natural.search.local_descent import descend, score_and_gradient
from latentry.natural.search.one_distribution import as_score_weights, search
from latentry.natural.search.result import FoundLatent
from latentry.natural.weight_regions import Region, simplex
from latentry.natural.worst_mixture import Supremum, worst_score

__all__ = ["search_shared"]

Array = NDArray[np.float64]


def search_shared(
    laws: ArrayLike,
    weights: Sequence[float] | None = None,
    *,
    region: Region | None = None,
    tolerance: float = 1e-4,
    rounds: int = 16,
    seed: int = 0,
) -> FoundLatent:
    """Find a latent for several domains whose score at its own worst mixture is small, by cutting planes.

    Mixtures at which the current latent is worst are collected; the latent descends on the largest score over
    them; its own worst case is then certified by branch and bound. The lower bound is the best score of any
    latent at one of those mixtures alone, so the gap is honest but need not close.

    Cost: a :func:`search` and a worst mixture for each cutting plane.

    >>> from latentry.generators import planted_natural
    >>> best = search_shared(planted_natural(domains=2).laws)
    >>> best.score.direction, best.score.value < 1e-3
    ('upper', True)

    Args:
        laws: (k, |X_1|, ..., |X_n|), one distribution per domain.
        weights: As in `search`.
        region: Mixtures that count; all by default.
        tolerance: Of the worst case and of each search, in nats.
        rounds: Of cutting planes; half of them start from the best latent so far, half at random.
        seed: Of the random starts.

    Returns:
        The channel, the certified upper bound of its worst score, and a lower bound on that of any latent.

    Raises:
        DataError: If there are fewer than two domains, or the tables or weights do not fit.
    """
    tables = as_laws(laws)
    k = len(tables)
    if k < 2:
        raise DataError(
            "laws: search_shared needs the distributions of at least two domains. For one distribution use search."
        )
    w = as_score_weights(weights, tables.ndim - 1)
    area = region or simplex(k)
    rng = np.random.default_rng(seed)
    mixtures = np.vstack([area.vertices.mean(axis=0), area.vertices[: 2 * k]])
    single = [search(np.tensordot(a, tables, axes=1), w, tolerance=tolerance) for a in mixtures]
    channels = [*baseline_channels(tables.shape[1:]).values(), *(best.channel for best in single)]
    judged = [(worst_score(Family(tables, c), w, area, tolerance=tolerance), c) for c in channels]
    worst, channel = min(judged, key=lambda pair: pair[0].upper.value)
    floor = max(f.lower.value for f in single)
    spread = rng.dirichlet(np.ones(len(area.vertices)), size=3 * k) @ area.vertices
    mixtures = np.vstack([mixtures, spread, *(judge.weights for judge, _ in judged)])
    for turn in range(rounds):
        if worst.upper.value - floor <= 2 * tolerance:
            break
        # Every other descent leaves the best latent for a random one: the score has many valleys.
        start = _wider(channel, channels) if turn % 2 == 0 else _random(channels, rng)
        step = descend(tables, start, w, mixtures)
        trial = worst_score(Family(tables, step), w, area, tolerance=tolerance)
        mixtures = np.vstack([mixtures, trial.weights])
        if trial.upper.value < worst.upper.value:
            worst, channel = trial, step
    floor = max(floor, *(_floor(tables, a, w, tolerance) for a in _hardest(tables, channel, w, mixtures, worst)))
    return _result(tables, channel, worst, floor, area, w)


def _floor(tables: Array, mixture: Array, w: tuple[float, ...], tolerance: float) -> float:
    return search(np.tensordot(mixture, tables, axes=1), w, tolerance=tolerance).lower.value


def _hardest(tables: Array, channel: Array, w: tuple[float, ...], mixtures: Array, worst: Supremum) -> Array:
    """The worst mixture and the three of those visited at which the latent scores highest."""
    scores = [score_and_gradient(np.tensordot(a, tables, axes=1), channel, w)[0] for a in mixtures]
    return np.vstack([worst.weights, mixtures[np.argsort(scores)[-3:]]])


def _random(others: list[Array], rng: np.random.Generator) -> Array:
    """A channel with as many latent values as any candidate has."""
    values = max(2, *(c.shape[-1] for c in others))
    return rng.dirichlet(np.full(values, 0.5), size=others[0].shape[:-1])


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
        latent_entropy=Bound(spread, method="finite distribution", tolerance=1e-12),
        baselines=baselines,
        method=method,
    )
