"""Whether rows are alike at some distance in their order: sums over all distances at once, and a test for labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["label_order_p_value", "lagged_products", "least_over_lags"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
_FEWEST = 20  # pairs of rows at a lag, below which it is not looked at
_MANY = 50.0  # pairs with one label, expected, from which on their number is normal
_LEVELS = 30  # the most frequent labels, which are looked at beyond neighbours


def at_all_lags(table: Array) -> Array:
    r"""Return :math:`\sum_t a_t a_{t+k}` of each column for k = 0, 1, …, by Fourier transform.

    Args:
        table: (rows, columns).

    Returns:
        (lags, columns), as many lags as rows.

    >>> at_all_lags(np.array([[1.0], [2.0], [3.0]])).round(6).ravel().tolist()
    [14.0, 8.0, 3.0]
    """
    from scipy.fft import irfft, next_fast_len, rfft  # slow to load: only when it is asked for

    rows = len(table)
    length = next_fast_len(2 * rows, real=True)
    products: Array = irfft(np.abs(rfft(table, length, axis=0)) ** 2, length, axis=0)[:rows]
    return products


def lagged_products(table: Array, level: NDArray[np.int64]) -> tuple[Array, Array]:
    """Return the sums of products of rows at each lag within strata, and how many pairs there are.

    Args:
        table: (rows, columns).
        level: The stratum of each row, from 0; lags do not reach over its borders.

    Returns:
        (lags, columns) and (lags,).
    """
    counts = np.bincount(level)
    longest = int(counts.max())
    sums, pairs = np.zeros((longest, table.shape[1])), np.zeros(longest)
    for stratum in np.flatnonzero(counts):
        inside = table[level == stratum]
        sums[: len(inside)] += at_all_lags(inside)
        pairs[: len(inside)] += np.arange(len(inside), 0, -1)
    return sums, pairs


def least_over_lags(p_values: Array, pairs: Array) -> float:
    """Combine the p-values of all lags: half of the level for neighbours, half for all other lags together (Bonferroni).

    Most dependence is between neighbours, and looking farther must not hide it.

    Args:
        p_values: Of lags 1, 2, …, (lags,).
        pairs: Pairs of rows at each.

    Returns:
        A p-value.

    >>> least_over_lags(np.array([0.01, 0.5, 0.2]), np.full(3, 100.0)), least_over_lags(np.array([0.5, 1e-6]), np.full(2, 100.0))
    (0.02, 2e-06)
    """
    far = p_values[1:][pairs[1:] >= _FEWEST]
    others = float(far.min()) * len(far) if len(far) else 1.0
    return min(1.0, 2 * min(float(p_values[0]), others)) if len(far) else min(1.0, float(p_values[0]))


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
