"""The best latent of a finite distribution by the naturality score, with a certified gap."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import nnls

from latentry.errors import DataError
from latentry.evidence import Bound
from latentry.natural.distributions import as_law, baseline_channels
from latentry.natural.entropies import entropy
from latentry.natural.naturality_errors import latent_joint, redundancy_error, weighted_score
from latentry.natural.search.envelope import channel_of, concave_envelope
from latentry.natural.search.partitions import EXHAUSTIVE, Cells, best_partition, grow_partition
from latentry.natural.search.pricing import MAX_OBSERVABLES, NaturalComponents
from latentry.natural.search.result import FoundLatent

__all__ = ["MAX_SUPPORT", "as_score_weights", "baseline_scores", "search"]

Array = NDArray[np.float64]
# Column generation solves a linear programme with this many rows, and K has as many columns at most.
MAX_SUPPORT = 256
_ROUNDING = 1e-12


def search(
    law: ArrayLike,
    weights: Sequence[float] | None = None,
    *,
    deterministic: bool = False,
    tolerance: float = 1e-6,
    nodes: int = 200_000,
    rounds: int = 300,
    seed: int = 0,
) -> FoundLatent:
    """Find the latent with the smallest w_0 TC(X|Λ) + Σ_i w_i I(Λ; X_{−i}|X_i), and bound what any latent can reach.

    The score is Ψ(p) − Σ_v π_v Φ(q_v) over the component distributions q_v of the latent, so that the best one is a
    concave envelope: column generation finds it, and a global bound on the prices certifies it. The three
    noisy copies below show that the bit which generated them is not their best natural latent.

    Cost: at most ``rounds`` rounds of |X| · |Λ| each, and ``nodes`` boxes for the bound, which grow exponentially with the cells.

    >>> from latentry.generators import noisy_copies
    >>> copies = noisy_copies(3, flip=0.05)
    >>> best = search(copies.laws[0], tolerance=1e-4)
    >>> round(best.score.value, 3), best.gap < 1e-4, round(weighted_score(copies.laws[0], copies.channel), 3)
    (0.396, True, 0.507)

    Args:
        law: Probabilities, one axis per observable.
        weights: (w_0, w_1, ..., w_n): mediation, then the redundancy of each observable; all one by default.
        deterministic: Only functions of X, scored by w_0 TC(X|Λ) + Σ_i w_i H(Λ|X_i); exact up to 14 cells.
        tolerance: The gap, in nats, at which the search stops.
        nodes: Budget of the global bound; the result says the gap that was reached.
        rounds: Budget of column generation.
        seed: Of the starting points.

    Returns:
        The channel, its score and a lower bound on the score of any latent.

    Raises:
        DataError: If the weights do not fit, or there are too many cells or observables for the exact search.
    """
    table = as_law(law)
    w = as_score_weights(weights, table.ndim)
    support = int((table > 0).sum())
    if support > MAX_SUPPORT and not deterministic:
        raise DataError(
            f"law: has {support} cells with mass, more than the {MAX_SUPPORT} of the exact search. "
            "Merge levels, or use deterministic=True."
        )
    if deterministic:
        return _search_partitions(table, w)
    if table.ndim > MAX_OBSERVABLES:
        raise DataError(
            f"law: has {table.ndim} observables, more than the {MAX_OBSERVABLES} of the exact search. "
            "Join some of them into one axis, or use deterministic=True."
        )
    pricing = NaturalComponents(table.shape, w, (table > 0).ravel())
    envelope = concave_envelope(table, pricing, tolerance=tolerance / 2, rounds=rounds, nodes=nodes, seed=seed)
    channel = _simplest(table, envelope.channel(table.shape), w, pricing, tolerance / 4)
    lower = max(0.0, _ceiling(table, w) - envelope.upper - _rounding(w))
    return _scored(table, channel, w, lower, envelope.method)


def as_score_weights(weights: Sequence[float] | None, n: int) -> tuple[float, ...]:
    """Check the weights of mediation and of each redundancy; the redundancies must not all vanish.

    Args:
        weights: (w_0, w_1, ..., w_n), or None for ones.
        n: Number of observables.

    Returns:
        The weights as floats.

    Raises:
        DataError: If there are fewer than two observables, not n + 1 weights, or weights that are negative or not
            finite.
    """
    if n < 2:
        raise DataError(
            f"law: has {n} axis; a natural latent needs at least two observables. Give one axis per observable."
        )
    try:
        w = tuple(float(x) for x in weights) if weights is not None else (1.0,) * (n + 1)
    except (TypeError, ValueError):
        raise DataError(
            f"weights={weights!r}: are not numbers. Give one for mediation, then one per observable."
        ) from None
    if len(w) != n + 1:
        raise DataError(
            f"weights={list(w)}: has {len(w)} entries; expected {n + 1}. Give one for mediation, then one per observable."
        )
    if min(w) < 0 or not np.isfinite(w).all() or sum(w[1:]) == 0:
        raise DataError(f"weights={list(w)}: must be finite and ≥ 0. Give at least one redundancy a positive weight.")
    return w


def _ceiling(law: Array, w: tuple[float, ...]) -> float:
    """Ψ(p) = (Σ_i w_i) H(p) − Σ_i w_i H(p_i)."""
    return sum(w[1:]) * entropy(law) - sum(w[i + 1] * entropy(law, [i]) for i in range(law.ndim))


def _simplest(law: Array, channel: Array, w: tuple[float, ...], pricing: NaturalComponents, slack: float) -> Array:
    """Components that are almost the same are merged, as long as the score does not mind."""
    limit = weighted_score(law, channel, w) + slack
    while True:
        masses = (law[..., None] * channel).reshape(law.size, -1).T
        proportions = masses.sum(axis=1)
        components, _ = pricing.refine(law.ravel(), masses / proportions[:, None], proportions)
        simpler = _refined(law, components)
        if weighted_score(law, simpler, w) > limit:
            return channel
        if simpler.shape[-1] >= channel.shape[-1]:
            return simpler
        channel = simpler


def _refined(law: Array, components: Array) -> Array:
    """The channel whose component distributions are given: weights by least squares on p = Σ π q, traces dropped."""
    proportions, _ = nnls(components.T, law.ravel())
    kept = proportions > 1e-6
    return channel_of(components[kept] * proportions[kept, None], law.shape)


def _rounding(w: tuple[float, ...]) -> float:
    """Error of sums of float64 logarithms, in the units of the score."""
    return _ROUNDING * max(1.0, sum(w))


def _scored(law: Array, channel: Array, w: tuple[float, ...], lower: float, method: str) -> FoundLatent:
    score = weighted_score(law, channel, w)
    return FoundLatent(
        channel=channel,
        score=Bound(score, method="finite distribution", tolerance=_rounding(w)),
        lower=Bound(min(lower, score), "lower", method=method),
        latent_entropy=_latent_entropy(law, channel),
        baselines=baseline_scores(law, w),
        method=method,
    )


def _latent_entropy(law: Array, channel: Array) -> Bound:
    return Bound(entropy(latent_joint(law, channel), [law.ndim]), method="finite distribution", tolerance=_ROUNDING)


def baseline_scores(law: Array, w: tuple[float, ...]) -> dict[str, float]:
    """Score the constant latent and a copy of each observable.

    Args:
        law: Probabilities, one axis per observable.
        w: (w_0, w_1, ..., w_n).

    Returns:
        Nats by name.
    """
    return {name: weighted_score(law, channel, w) for name, channel in baseline_channels(law.shape).items()}


def _search_partitions(law: Array, w: tuple[float, ...]) -> FoundLatent:
    cells = Cells.of(law)
    cost = partial(cells.natural_cost, weights=w)
    size = len(cells.mass)
    exhaustive = size <= EXHAUSTIVE
    if exhaustive:
        labels = best_partition(cost, size)
    else:
        copies = [np.unique(cells.place[:, i], return_inverse=True)[1] for i in range(law.ndim)]
        labels = grow_partition(cost, [np.zeros(size, dtype=np.int64), *copies])
    channel = cells.channel(labels)
    score = _deterministic_score(law, channel, w)
    method = f"all partitions of {size} cells" if exhaustive else f"merging and moving {size} cells"
    lower = max(0.0, score - _rounding(w)) if exhaustive else _stochastic_floor(law, w)
    return FoundLatent(
        channel=channel,
        score=Bound(score, method="finite distribution", tolerance=_rounding(w)),
        lower=Bound(min(score, lower), "lower", method=method),
        latent_entropy=_latent_entropy(law, channel),
        baselines={name: _deterministic_score(law, k, w) for name, k in baseline_channels(law.shape).items()},
        method=method,
    )


def _stochastic_floor(law: Array, w: tuple[float, ...]) -> float:
    """No function of X beats the best latent of any kind."""
    few = int((law > 0).sum()) <= MAX_SUPPORT and law.ndim <= MAX_OBSERVABLES
    return search(law, w, tolerance=1e-4).lower.value if few else 0.0


def _deterministic_score(law: Array, channel: Array, w: tuple[float, ...]) -> float:
    mediation = weighted_score(law, channel, [w[0], *([0.0] * law.ndim)])
    guesses = [redundancy_error(law, channel, i, deterministic=True) for i in range(law.ndim)]
    return mediation + sum(a * g for a, g in zip(w[1:], guesses, strict=True))
