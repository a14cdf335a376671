"""Whether neighbouring rows have the same label more often than rows in random order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["label_order_p_value"]

Codes = NDArray[np.int64]
_MANY = 50.0  # neighbours with one label, expected, from which on their number is normal


def label_order_p_value(labels: Codes, strata: Codes) -> float:
    """Compare the number of neighbours with the same label with its mean and variance over permutations (Moran 1948).

    All labels but the most frequent one count together, so that rare ones do no harm; only neighbours of one stratum are
    compared.

    >>> labels = np.repeat([0, 1, 2], 100)
    >>> shuffled = np.random.default_rng(0).permutation(labels)
    >>> strata = np.zeros(300, dtype=int)
    >>> label_order_p_value(labels, strata) < 1e-9 < label_order_p_value(shuffled, strata)
    True

    Args:
        labels: Codes (rows,).
        strata: Codes (rows,).

    Returns:
        The p-value of "not more often than by chance".
    """
    from scipy.stats import norm, poisson  # slow to load: only when it is asked for

    seen = mean = variance = 0.0
    for stratum in np.unique(strata):
        inside = labels[strata == stratum]
        if len(inside) > 3:
            counts = np.bincount(inside).astype(np.float64)
            here = _moments(counts)
            seen += float(((inside[1:] == inside[:-1]) & (inside[1:] != counts.argmax())).sum())
            mean, variance = mean + here[0], variance + here[1]
    if variance <= 0.0:
        return 1.0
    if mean < _MANY:
        return float(poisson.sf(seen - 1, mean))
    return float(norm.sf((seen - 0.5 - mean) / np.sqrt(variance)))


def _moments(counts: NDArray[np.float64]) -> tuple[float, float]:
    """Mean and variance of the number of neighbours with one label, over all orders of labels with these counts."""
    n, counts = counts.sum(), np.delete(counts, counts.argmax())
    two, three = counts * (counts - 1), counts * (counts - 1) * (counts - 2)
    four = two.sum() ** 2 - (two**2).sum() + (three * (counts - 3)).sum()
    mean = two.sum() / n
    touching = 2 * (n - 2) * three.sum() / (n * (n - 1) * (n - 2))
    apart = (n - 2) * (n - 3) * four / (n * (n - 1) * (n - 2) * (n - 3))
    return float(mean), float(mean + touching + apart - mean**2)
