"""Is there dependence that an answer near zero has missed? Several tests on some of the rows.

Distance correlation (Székely, Rizzo and Bakirov, Ann. Statist. 35, 2007), HSIC with Gaussian kernels of two widths (Gretton et
al., ALT 2005), both by permutation, and tables of ranks of single columns (`column_pairs.py`).
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist, squareform

from latentry.information.column_pairs import dependent_pairs
from latentry.streams import stream

__all__ = ["hidden_dependence"]

Array = np.ndarray
MOST_ROWS = 200
PERMUTATIONS = 199
LEVEL = 0.005  # of each of three statistics: the least p-value that 199 permutations can show


def hidden_dependence(x: Array, y: Array, seed: int) -> str | None:
    """Name the test that finds x and y dependent, if any does; at most one in sixty independent pairs is found so.

    Args:
        x: Normal scores.
        y: Normal scores.
        seed: Of the rows and the permutations.

    Returns:
        The name of a test with its p-value, or None.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((400, 3))
    >>> hidden_dependence(x, rng.standard_normal((400, 3)), 0), hidden_dependence(x, x**2, 0) is None
    (None, False)
    """
    pairs = dependent_pairs(x, y)
    if pairs.columns:
        i, j = pairs.columns[0]
        return f"ranks of column {i} of x and column {j} of y, p = {pairs.p_value:.1g}"
    rng = stream("information/dependence tests", seed)
    some = rng.permutation(len(x))[:MOST_ROWS]
    left, right = _kernels(x[some]), _kernels(y[some])
    orders = [rng.permutation(len(some)) for _ in range(PERMUTATIONS)]
    for name in left:
        a, b = left[name], right[name]
        seen = np.sum(a * b)
        p_value = (1 + sum(np.sum(a * b[np.ix_(order, order)]) >= seen for order in orders)) / (1 + PERMUTATIONS)
        if p_value <= LEVEL:
            return f"{name}, p = {p_value:.1g}"
    return None


def _kernels(x: Array) -> dict[str, Array]:
    distance = squareform(pdist(x)).astype(np.float32)
    width = np.median(distance)
    return {
        "distance correlation": _centred(-distance),
        "HSIC": _centred(np.exp(-0.5 * (distance / width) ** 2)),
        "HSIC with a narrow kernel": _centred(np.exp(-0.5 * (3 * distance / width) ** 2)),
    }


def _centred(kernel: Array) -> Array:
    return np.asarray(kernel - kernel.mean(axis=0) - kernel.mean(axis=1)[:, None] + kernel.mean())
