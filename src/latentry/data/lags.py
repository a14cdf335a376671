"""Sums of products of rows at all distances at once, and the least p-value over the distances."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["at_all_lags", "lagged_products", "least_over_lags"]

Array = NDArray[np.float64]
_FEWEST = 20  # pairs of rows at a lag, below which it is not looked at


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
