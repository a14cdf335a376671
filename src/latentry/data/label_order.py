"""Whether rows have the same label at some distance more often than rows in random order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latentry.data.lags import at_all_lags, least_over_lags

__all__ = ["label_order_p_value"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
_MANY = 50.0  # pairs with one label, expected, from which on their number is normal
_LEVELS = 30  # the most frequent labels, which are looked at beyond neighbours


def label_order_p_value(labels: Codes, strata: Codes) -> float:
    """Compare the number of rows with the same label, at each lag, with its mean and variance over permutations (Moran 1948).

    All labels but the most frequent one count together, so that rare ones do no harm; only rows of one stratum are compared.
    Neighbours have half of the level, all other lags up to half of the rows the other half.

    >>> labels = np.repeat([0, 1, 2], 100)
    >>> shuffled = np.random.default_rng(0).permutation(labels)
    >>> strata = np.zeros(300, dtype=int)
    >>> label_order_p_value(labels, strata) < 1e-9 < label_order_p_value(shuffled, strata)
    True
    >>> label_order_p_value(np.tile([0, 1, 2], 100), strata) < 1e-9  # every third row
    True

    Args:
        labels: Codes (rows,).
        strata: Codes (rows,).

    Returns:
        The p-value of "not more often than by chance".
    """
    parts = [labels[strata == stratum] for stratum in np.unique(strata)]
    longest = max(len(part) for part in parts) // 2
    if longest < 1:
        return 1.0
    totals = np.zeros((4, longest))
    for part in parts:
        if len(part) > 3:
            counted = _counted(part)
            totals[:, : counted.shape[1]] += counted
    seen, mean, variance, pairs = totals
    return least_over_lags(_tails(seen, mean, variance), pairs)


def _tails(seen: Array, mean: Array, variance: Array) -> Array:
    from scipy.stats import norm, poisson  # slow to load: only when it is asked for

    spread = np.sqrt(np.maximum(variance, 1e-300))
    z = (seen - 0.5 - mean) / spread
    # Numbers of rare pairs are skewed, as those of a binomial distribution: the first term of Edgeworth's series.
    skewness = np.maximum(2 * variance / np.maximum(mean, 1e-300) - 1, 0.0) / spread
    normal = norm.sf(z) + norm.pdf(z) * np.maximum(z**2 - 1, 0.0) * skewness / 6
    tails = np.where(mean < _MANY, poisson.sf(seen - 1, mean), np.minimum(normal, 1.0))
    return np.where(variance > 0, tails, 1.0)


def _counted(labels: Codes) -> Array:
    """Return the pairs with one label at each lag, their mean and variance, and all pairs: (4, lags).

    Neighbours are compared in all labels, rows farther apart in the most frequent ones.
    """
    n, lags = len(labels), np.arange(1, len(labels) // 2 + 1)
    counts = np.bincount(labels).astype(np.float64)
    rest = np.argsort(-counts, kind="stable")[1:]
    some = rest[:_LEVELS]
    seen = np.round(at_all_lags((labels[:, None] == some).astype(np.float64)).sum(axis=1))[lags]
    moments = np.array(_moments(counts[some], n, lags))
    seen[0] = ((labels[1:] == labels[:-1]) & (labels[1:] != counts.argmax())).sum()
    moments[:, 0] = np.array(_moments(counts[rest], n, lags[:1]))[:, 0]
    return np.array([seen, *moments, n - lags])


def _moments(counts: Array, n: int, lags: Codes) -> tuple[Array, Array]:
    """Mean and variance of the number of pairs with one label at each lag, over all orders of labels with these counts."""
    two, three = counts * (counts - 1), counts * (counts - 1) * (counts - 2)
    four = two.sum() ** 2 - (two**2).sum() + (three * (counts - 3)).sum()
    pairs, touching = (n - lags).astype(np.float64), (n - 2 * lags).astype(np.float64)
    mean = pairs * two.sum() / (n * (n - 1))
    apart = (pairs * (pairs - 1) - 2 * touching) * four / (n * (n - 1.0) * (n - 2) * (n - 3))
    return mean, mean + 2 * touching * three.sum() / (n * (n - 1.0) * (n - 2)) + apart - mean**2
