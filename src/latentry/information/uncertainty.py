"""Intervals by subsampling, p-values by permutation.

Subsampling (Holmes and Nemenman, Phys. Rev. E 100, 022404, 2019): the variance of the estimate falls as 1/n, so its
value on disjoint parts of the rows tells the variance on all of them. Unlike the bootstrap it repeats no row, which
neighbour counts could not bear. The interval is about sampling error only: it does not know the bias of the
estimator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy import special, stats
from scipy.spatial import cKDTree

from latentry.errors import DataError
from latentry.streams import stream

__all__ = [
    "PermutationTest",
    "local_permutation",
    "noncentrality",
    "permutation_p_value",
    "stratified_permutation",
    "subsampling_error",
]

Array = np.ndarray
PARTS = 10
ROUNDS = 3


def subsampling_error(
    value_of: Callable[[Array], float], n: int, seed: int = 0, smallest: int = 30
) -> tuple[float, float]:
    """Estimate the standard error of value_of(all rows), and the degrees of freedom behind it.

    Args:
        value_of: Value on some row numbers.
        n: Rows.
        seed: Of the parts.
        smallest: Rows of a part, at least.

    Returns:
        Standard error and degrees of freedom; NaN if there are too few rows.

    >>> rows = np.random.default_rng(0).standard_normal(10_000)
    >>> error, freedom = subsampling_error(lambda i: rows[i].mean(), 10_000)
    >>> bool(0.006 < error < 0.015), freedom  # σ / √n is 0.01
    (True, 9.0)
    """
    parts = min(PARTS, n // smallest)
    if parts < 2:
        return np.nan, np.nan
    variances, rng = [], stream("information/subsamples", seed)
    for _ in range(ROUNDS):
        values = [value_of(part) for part in np.array_split(rng.permutation(n), parts)]
        if not np.isfinite(values).all():
            return np.nan, np.nan
        variances.append(np.var(values, ddof=1) / parts)
    return float(np.sqrt(np.mean(variances))), float(parts - 1)


def check_confidence(confidence: float | None) -> None:
    """Refuse what is no fraction; None is for no interval."""
    if confidence is not None and not (isinstance(confidence, Real) and 0 < confidence < 1):
        raise DataError(f"confidence={confidence!r}: it must lie between 0 and 1. Give a fraction, for instance 0.95.")


def interval(value: float, error: float, confidence: float, freedom: float = np.inf) -> tuple[float, float]:
    """Return the ends value ± t·error.

    >>> [round(end, 2) for end in interval(1.0, 0.1, 0.95)]
    [0.8, 1.2]
    """
    reach = stats.norm.ppf((1 + confidence) / 2) if np.isinf(freedom) else stats.t.ppf((1 + confidence) / 2, freedom)
    return float(value - reach * error), float(value + reach * error)


def noncentrality(statistic: float, freedom: int, probability: float) -> float:
    """Return the noncentrality of a χ² at which the statistic is the quantile of a probability; 0 if it is below that at 0.

    At 1 − δ it is a lower confidence bound of the noncentrality at level δ, at δ an upper one.

    Cost: constant.

    Args:
        statistic: Of the χ².
        freedom: Degrees of freedom.
        probability: Of the quantile.

    Returns:
        The noncentrality.

    >>> noncentrality(3.0, 4, 0.95), round(noncentrality(30.0, 4, 0.95), 2)
    (0.0, 12.18)
    """
    if stats.chi2.cdf(statistic, freedom) <= probability:
        return 0.0
    return float(special.chndtrinc(statistic, freedom, probability))


@dataclass(frozen=True)
class PermutationTest:
    """How often the statistic was as large with the rows of y shuffled."""

    statistic: float
    p_value: float
    permutations: int
    kind: str

    def __str__(self) -> str:
        return f"statistic {self.statistic:.4g}, p = {self.p_value:.3g} ({self.kind}, {self.permutations} permutations)"


def permutation_p_value(observed: float, shuffled: Array) -> float:
    """Return (1 + b) / (1 + B), b the shuffled values that reach the observed one: never zero, exact under independence.

    Args:
        observed: The statistic.
        shuffled: B statistics of shuffled rows.

    Returns:
        The p-value.

    >>> permutation_p_value(3.0, np.array([1.0, 2.0, 4.0]))
    0.5
    """
    return float((1 + np.sum(np.asarray(shuffled) >= observed)) / (1 + len(shuffled)))


def stratified_permutation(labels: Array, rng: np.random.Generator) -> Array:
    """Shuffle row numbers among rows with the same label: exact, whatever the distribution within a label.

    Args:
        labels: Of each row.
        rng: Source of random numbers.

    Returns:
        Row numbers.

    >>> stratified_permutation(np.array([0, 1, 1]), np.random.default_rng(0))[0].item()
    0
    """
    order, chosen = np.lexsort((rng.random(len(labels)), labels)), np.empty(len(labels), dtype=np.int64)
    chosen[np.argsort(labels, kind="stable")] = order
    return chosen


def local_permutation(given: Array, rng: np.random.Generator, neighbours: int = 5) -> Array:
    """Shuffle row numbers among rows with similar z, each used once where possible (Runge, AISTATS 2018).

    The size of a column of z decides what is similar: normalise first. Rows with the same z are near each other in an order
    that chance decides, so that all of them take part.

    Args:
        given: Rows of z, normalised.
        rng: Source of random numbers.
        neighbours: Rows that count as similar.

    Returns:
        Row numbers.

    >>> z = np.array([[0.0], [0.1], [9.0], [9.1]])
    >>> sorted(local_permutation(z, np.random.default_rng(0), neighbours=2)[:2].tolist())
    [0, 1]
    """
    size = np.max(np.abs(given), initial=0.0)
    apart = given + 1e-9 * size * rng.uniform(-1, 1, given.shape)  # breaks ties, and nothing else
    near = cKDTree(apart).query(apart, k=np.arange(1, min(neighbours, len(given)) + 1), p=np.inf)[1]
    near = rng.permuted(near, axis=1)
    used, chosen = np.zeros(len(given), dtype=bool), np.empty(len(given), dtype=np.int64)
    for row in rng.permutation(len(given)):
        free = near[row][~used[near[row]]]
        chosen[row] = free[0] if len(free) else near[row][0]
        used[chosen[row]] = True
    return chosen
