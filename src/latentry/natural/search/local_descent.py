"""Local descent on the channel itself, for any number of distributions at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

__all__ = ["descend", "score_and_gradient"]

Array = NDArray[np.float64]
_TINY = 1e-300


def score_and_gradient(law: Array, channel: Array, weights: Sequence[float]) -> tuple[float, Array]:
    """Compute w_0 TC(X|Λ) + Σ_i w_i I(Λ; X_{−i}|X_i) and its derivative in K(λ|x).

    ∂/∂K(λ|x) = P(x) [w_0 ln Q/R + Σ_i w_i ln K(λ|x)/P(λ|x_i)], with R = P(Λ) Π_i P(X_i|Λ).

    Args:
        law: (|X_1|, ..., |X_n|) probabilities.
        channel: (|X_1|, ..., |X_n|, |Λ|), K(λ|x).
        weights: (w_0, w_1, ..., w_n).

    Returns:
        The score in nats, and its derivative of the shape of `channel`.
    """
    n = law.ndim
    joint = law[..., None] * channel
    mass = joint.sum(axis=tuple(range(n)), keepdims=True)
    log_channel = np.log(np.maximum(channel, _TINY))
    log_ratio = np.log(np.maximum(joint, _TINY)) + (n - 1) * np.log(np.maximum(mass, _TINY))
    total = weights[0] * log_ratio
    for i in range(n):
        others = tuple(a for a in range(n) if a != i)
        pair = joint.sum(axis=others, keepdims=True)
        log_pair = np.log(np.maximum(pair, _TINY))
        log_mass = np.log(np.maximum(pair.sum(axis=-1, keepdims=True), _TINY))
        total = total - weights[0] * log_pair + weights[i + 1] * (log_channel - log_pair + log_mass)
    return float((joint * total).sum()), law[..., None] * total


def descend(
    laws: Array, channel: Array, weights: Sequence[float], mixture: Array | None = None, steps: int = 500
) -> Array:
    """Minimise the largest score among the given distributions, smoothed, by L-BFGS on the logits of the channel.

    With one distribution this is plain descent; with several, ln Σ_r exp(t s_r)/t stands for max_r s_r.

    Args:
        laws: (k, |X_1|, ..., |X_n|) probabilities.
        channel: (|X_1|, ..., |X_n|, |Λ|), where the descent starts.
        weights: (w_0, w_1, ..., w_n).
        mixture: (m, k) mixtures of the distributions to score instead of themselves.
        steps: Most iterations.

    Returns:
        The channel reached, of the same shape.
    """
    shape, sharpness = channel.shape, 200.0
    tables = laws if mixture is None else np.tensordot(mixture, laws, axes=1)

    def objective(logits: Array) -> tuple[float, Array]:
        rows = _softmax(logits.reshape(shape))
        parts = [score_and_gradient(law, rows, weights) for law in tables]
        scores = np.array([s for s, _ in parts])
        tilt = np.exp(sharpness * (scores - scores.max()))
        value = scores.max() + np.log(tilt.sum()) / sharpness
        gradient = sum(t * g for t, (_, g) in zip(tilt / tilt.sum(), parts, strict=True))
        inner = (gradient * rows).sum(axis=-1, keepdims=True)
        return float(value), (rows * (gradient - inner)).ravel()

    start = np.log(np.maximum(channel, 1e-9)).ravel()
    options = {"maxiter": steps, "maxfun": 4 * steps, "ftol": 1e-15, "gtol": 1e-11, "maxcor": 30}
    return _softmax(minimize(objective, start, jac=True, method="L-BFGS-B", options=options).x.reshape(shape))


def _softmax(logits: Array) -> Array:
    raw: Array = np.exp(logits - logits.max(axis=-1, keepdims=True))
    total: Array = raw.sum(axis=-1, keepdims=True)
    return raw / total
