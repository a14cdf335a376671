"""Is there dependence that an answer near zero has missed? Several tests on some of the rows.

Distance correlation (Székely, Rizzo and Bakirov, Ann. Statist. 35, 2007), HSIC with Gaussian kernels of two widths (Gretton et
al., ALT 2005), both by permutation, and tables of ranks of single columns (`column_pairs.py`).
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist, squareform

from latentry.information.column_pairs import dependent_pairs
from latentry.information.uncertainty import permutation_p_value
from latentry.streams import stream
from latentry.threads import single_threaded

__all__ = ["hidden_dependence"]

Array = np.ndarray
MOST_ROWS = 200
MOST_IN_TABLES = 200_000  # rows of the tables of ranks, taken evenly: their boxes take 64 bytes a number
PERMUTATIONS = 199
RANK = 40  # of the kernels: a test by permutation is as right with part of a kernel
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
    every = -(-len(x) // MOST_IN_TABLES)
    pairs = dependent_pairs(x[::every], y[::every])
    if pairs.columns:
        i, j = pairs.columns[0]
        return f"ranks of column {i} of x and column {j} of y, p = {pairs.p_value:.1g}"
    rng = stream("information/dependence tests", seed)
    some = rng.permutation(len(x))[:MOST_ROWS]
    left, right = _kernels(x[some]), _kernels(y[some])
    orders = [rng.permutation(len(some)) for _ in range(PERMUTATIONS)]
    for name in left:
        with single_threaded():
            a, b = _factor(left[name]), _factor(right[name])
        shuffled = np.array([np.sum((a.T @ b[order]) ** 2) for order in orders])
        p_value = permutation_p_value(float(np.sum((a.T @ b) ** 2)), shuffled)
        if p_value <= LEVEL:
            return f"{name}, p = {p_value:.1g}"
    return None


def _kernels(x: Array) -> dict[str, Array]:
    distance = squareform(pdist(x))
    width = np.median(distance)
    return {
        "distance correlation": _centred(-distance),
        "HSIC": _centred(np.exp(-0.5 * (distance / width) ** 2)),
        "HSIC with a narrow kernel": _centred(np.exp(-0.5 * (3 * distance / width) ** 2)),
    }


def _factor(kernel: Array) -> Array:
    """Columns f with f fᵀ the kernel, but for its smallest eigenvalues: the sum of K_ij L_ij is then that of (fᵀ g)²."""
    values, vectors = np.linalg.eigh(kernel)
    return np.asarray(vectors[:, -RANK:] * np.sqrt(np.clip(values[-RANK:], 0, None)))


def _centred(kernel: Array) -> Array:
    return np.asarray(kernel - kernel.mean(axis=0) - kernel.mean(axis=1)[:, None] + kernel.mean())
