"""The least entropy of labels, alone or given other labels, that counts allow, at every sample size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latentry.natural.from_samples.divergence_ball import largest_divergence
from latentry.natural.from_samples.observables import Codes

__all__ = ["least_conditional_entropy", "least_entropy"]

Array = NDArray[np.float64]


def least_entropy(labels: Codes, values: int, delta: float) -> float:
    """Bound H(Λ) from below with confidence 1 − delta.

    Args:
        labels: Independent draws, 0, 1, ...
        values: How many there may be.
        delta: One minus the confidence.

    Returns:
        Nats.
    """
    counts = np.bincount(labels, minlength=values).astype(float)
    return max(0.0, -largest_divergence(counts, np.zeros(values), delta))


def least_conditional_entropy(labels: Codes, values: int, given: Codes, levels: int, delta: float) -> float:
    r"""Bound H(Λ|Y) from below with confidence 1 − delta.

    :math:`-H(\Lambda \mid Y) = \sum P \ln P - \sum P \ln P(y) \le \sum P \ln P - \sum P \ln r(y)` for any distribution r, here
    the counted one; the right side is bounded over the ball around the counts.

    >>> rng = np.random.default_rng(0)
    >>> y, noise = rng.integers(0, 2, 4000), rng.random(4000) < 0.11
    >>> 0.30 < least_conditional_entropy(np.where(noise, 1 - y, y), 2, y, 2, 0.05) < 0.347
    True

    Args:
        labels: Λ of each row, 0, 1, ...
        values: How many there may be.
        given: Y of each row, 0, 1, ...
        levels: How many there may be.
        delta: One minus the confidence.

    Returns:
        Nats.
    """
    counts = np.bincount(given * values + labels, minlength=levels * values).astype(float).reshape(levels, values)
    share = (counts.sum(axis=1) + 0.5) / (counts.sum() + 0.5 * levels)
    reference: Array = np.repeat(np.log(share), values)
    return max(0.0, -largest_divergence(counts.ravel(), reference, delta))
