"""Mediation and redundancy errors of one latent over one finite distribution.

A latent Λ with channel K(λ|x) is natural over X = (X_1, ..., X_n) when it mediates (the X_i are independent
given Λ) and is redundant (each X_i alone says what X says about Λ); Wentworth and Lorell, arXiv 2509.03780.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latentry.errors import DataError
from latentry.natural.distributions import as_channel, as_law
from latentry.natural.entropies import (
    Divergence,
    conditional_entropy,
    divergence,
    marginal,
    mutual_information,
    total_correlation,
)

__all__ = ["latent_joint", "mediation_error", "redundancy_error", "weighted_score"]

Array = NDArray[np.float64]


def latent_joint(law: ArrayLike, channel: ArrayLike) -> Array:
    """Compute Q(x, λ) = P(x) K(λ|x), the latent on the last axis.

    Args:
        law: (|X_1|, ..., |X_n|) probabilities.
        channel: (|X_1|, ..., |X_n|, |Λ|), K(λ|x).

    Returns:
        Probabilities (|X_1|, ..., |X_n|, |Λ|).
    """
    table = as_law(law)
    return table[..., None] * as_channel(channel, table > 0)


def mediation_error(law: ArrayLike, channel: ArrayLike, *, kind: Divergence = "kl") -> float:
    """Compute D(P[Λ, X] ‖ P[Λ] Π_i P[X_i|Λ]); for `kl` it is TC(X|Λ) = Σ_i H(X_i|Λ) − H(X|Λ).

    Cost: linear in the cells |X_1| ⋯ |X_n| · |Λ|.

    >>> copies = np.diag([0.5, 0.5])
    >>> mediation_error(copies, np.eye(2)[:, None, :].repeat(2, axis=1))  # Λ = X_1
    0.0

    Args:
        law: (|X_1|, ..., |X_n|) probabilities.
        channel: (|X_1|, ..., |X_n|, |Λ|), K(λ|x).
        kind: The divergence: `kl`, `js` or `tv`.

    Returns:
        The error, ≥ 0; nats for `kl` and `js`.
    """
    joint = latent_joint(law, channel)
    if kind == "kl":
        return max(0.0, total_correlation(joint, given=[joint.ndim - 1]))
    return divergence(joint, _mediated(joint), kind)


def _mediated(joint: Array) -> Array:
    """P[Λ] Π_i P[X_i|Λ]."""
    latent = joint.ndim - 1
    mass = marginal(joint, [latent])
    result = np.broadcast_to(mass, joint.shape)
    safe = np.where(mass > 0, mass, 1.0)
    for i in range(latent):
        conditional = marginal(joint, [i, latent]) / safe
        result = result * _spread(conditional, i, joint.ndim)
    return result


def _spread(conditional: Array, axis: int, ndim: int) -> Array:
    """Put a (|X_i|, |Λ|) table on axes `axis` and the last of an `ndim`-dimensional array."""
    shape = [1] * ndim
    shape[axis], shape[-1] = conditional.shape
    return conditional.reshape(shape)


def redundancy_error(
    law: ArrayLike,
    channel: ArrayLike,
    kept: int | Sequence[int],
    *,
    kind: Divergence = "kl",
    deterministic: bool = False,
) -> float:
    """Compute D(P[Λ, X] ‖ P[X] P[Λ|X_kept]); for `kl` it is I(Λ; X_rest | X_kept).

    One kept observable is strong redundancy; all but one is weak; `deterministic` gives H(Λ|X_kept).

    Cost: linear in the cells |X_1| ⋯ |X_n| · |Λ|.

    >>> fair = np.full((2, 2), 0.25)
    >>> first = np.eye(2)[:, None, :].repeat(2, axis=1)  # Λ = X_1 cannot be read off X_2
    >>> redundancy_error(fair, first, 0), round(redundancy_error(fair, first, 1), 6)
    (0.0, 0.693147)

    Args:
        law: (|X_1|, ..., |X_n|) probabilities.
        channel: (|X_1|, ..., |X_n|, |Λ|), K(λ|x).
        kept: The observable or observables from which Λ is read.
        kind: The divergence: `kl`, `js` or `tv`.
        deterministic: Whether to return H(Λ|X_kept) instead.

    Returns:
        The error, ≥ 0; nats for `kl` and `js`.

    Raises:
        DataError: If `kept` names none, all or unknown observables.
    """
    joint = latent_joint(law, channel)
    latent = joint.ndim - 1
    keep = [kept] if isinstance(kept, int | np.integer) else list(kept)
    if not keep or not set(keep) < set(range(latent)):
        raise DataError(
            f"kept={keep}: is not a proper subset of the observables. Name some, not all, of 0 to {latent - 1}."
        )
    rest = [i for i in range(latent) if i not in keep]
    if deterministic:
        return max(0.0, conditional_entropy(joint, [latent], keep))
    if kind == "kl":
        return max(0.0, mutual_information(joint, [latent], rest, keep))
    pair = marginal(joint, [*keep, latent])
    base = pair.sum(axis=-1, keepdims=True)
    guess = np.divide(pair, base, out=np.zeros_like(pair), where=base > 0)
    shape = [joint.shape[a] if a in keep or a == latent else 1 for a in range(joint.ndim)]
    return divergence(joint, joint.sum(axis=-1, keepdims=True) * guess.reshape(shape), kind)


def weighted_score(law: ArrayLike, channel: ArrayLike, weights: Sequence[float] | None = None) -> float:
    """Compute w_0 TC(X|Λ) + Σ_i w_i I(Λ; X_{−i}|X_i), the score that `search` minimises.

    Cost: one pass over the cells |X_1| ⋯ |X_n| · |Λ| for each observable.

    Args:
        law: (|X_1|, ..., |X_n|) probabilities.
        channel: (|X_1|, ..., |X_n|, |Λ|), K(λ|x).
        weights: (w_0, w_1, ..., w_n); all one by default.

    Returns:
        Nats, ≥ 0.

    Raises:
        DataError: If there are not n + 1 weights.
    """
    n = as_law(law).ndim
    w = [1.0] * (n + 1) if weights is None else list(weights)
    if len(w) != n + 1:
        raise DataError(
            f"weights={w}: has {len(w)} entries; expected {n + 1}. Give one for mediation, then one per observable."
        )
    redundancy = sum(w[i + 1] * redundancy_error(law, channel, i) for i in range(n))
    return w[0] * mediation_error(law, channel) + redundancy
