"""Whether rows are jointly Gaussian: the assumption of a Gaussian certificate, tested."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import lognorm, normaltest

from latentry.data import varying_columns
from latentry.streams import stream

__all__ = ["normality_p_value"]

Array = NDArray[np.float64]
_MOST = 1000  # rows whose distances are all computed


def normality_p_value(table: Array, seed: int = 0) -> float:
    """Test joint normality by all distances (Henze and Zirkler 1990) and by skewness and kurtosis of each component.

    The first sees every departure given enough rows; the second uses all rows. Twice the smaller p-value is one.

    >>> rng = np.random.default_rng(0)
    >>> e = rng.standard_normal((600, 2))
    >>> normality_p_value(np.column_stack([e[:, 0], e[:, 0] ** 2 + e[:, 1]])) < 1e-6 < normality_p_value(e)
    True

    Args:
        table: (rows, columns).
        seed: Of the rows whose distances are computed.

    Returns:
        The p-value; 1 for constants.
    """
    white = _whitened(table[:, varying_columns(table)])
    if not white.shape[1]:
        return 1.0
    each = normaltest(white, axis=0).pvalue
    some = white[stream("natural/normality", seed).permutation(len(white))[:_MOST]]
    return float(min(1.0, 2.0 * min(white.shape[1] * each.min(), _distances_p_value(_whitened(some)))))


def _whitened(table: Array) -> Array:
    """Uncorrelated components of unit variance; directions that never vary are left out."""
    if not table.shape[1]:
        return table
    centred = (table - table.mean(axis=0)) / table.std(axis=0)
    strengths, axes = np.linalg.eigh(centred.T @ centred / len(table))
    kept = strengths > 1e-9 * strengths.max()
    white: Array = centred @ axes[:, kept] / np.sqrt(strengths[kept])
    return white


def _distances_p_value(white: Array) -> float:
    """Henze and Zirkler's statistic against the lognormal with its mean and variance."""
    n, d = white.shape
    beta = ((2 * d + 1) * n / 4) ** (1 / (d + 4)) / np.sqrt(2)
    square, b2 = (white**2).sum(axis=1), beta**2
    apart = np.maximum(square[:, None] + square - 2 * white @ white.T, 0.0)
    statistic = np.exp(-b2 / 2 * apart).sum() / n
    statistic -= 2 * (1 + b2) ** (-d / 2) * np.exp(-b2 / (2 * (1 + b2)) * square).sum()
    statistic += n * (1 + 2 * b2) ** (-d / 2)
    a, w = 1 + 2 * b2, (1 + b2) * (1 + 3 * b2)
    mean = 1 - a ** (-d / 2) * (1 + d * b2 / a + d * (d + 2) * b2**2 / (2 * a**2))
    variance = 2 * (1 + 4 * b2) ** (-d / 2) + 2 * a ** (-d) * (
        1 + 2 * d * b2**2 / a**2 + 3 * d * (d + 2) * b2**4 / (4 * a**4)
    )
    variance -= 4 * w ** (-d / 2) * (1 + 3 * d * b2**2 / (2 * w) + d * (d + 2) * b2**4 / (2 * w**2))
    spread = np.sqrt(np.log1p(variance / mean**2))
    return float(lognorm.sf(statistic, spread, scale=mean / np.sqrt(1 + variance / mean**2)))
