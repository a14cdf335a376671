"""Tests that can refute conditional independence; none of them can certify it.

No test is valid for all continuous laws and has power against any (Shah and Peters 2020), so two families are
used: products of regression residuals, and nearest-neighbour information against permutations. p-values of
permutation tests are (1 + b)/(1 + B).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.stats import norm

from latentry.information.ksg import ksg_local
from latentry.natural.sampled.intervals import discrete_ratio
from latentry.natural.sampled.regression import Smoother

__all__ = ["Refutation", "neighbour_test", "permutation_test", "residual_power", "residual_test"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
_NEIGHBOUR_ROWS = 800


@dataclass(frozen=True)
class Refutation:
    """A test of independence given the latent: its name, p-value, the size it saw, its error, and rows used."""

    name: str
    p_value: float
    size: float
    rows: int
    error: float = np.inf

    def lower(self, delta: float) -> float:
        """The size less its sampling error: a lower bound for many rows when the estimator does not overshoot."""
        return max(0.0, self.size - float(norm.isf(delta)) * self.error)


def permutation_test(blocks: list[Codes], given: Codes, *, draws: int = 199, seed: int = 0) -> Refutation:
    """Likelihood-ratio statistic of codes against permutations inside each stratum of `given`.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.integers(0, 2, 300)
    >>> permutation_test([x, x], np.zeros(300, dtype=int)).p_value
    0.005
    """
    rng = np.random.default_rng(seed)
    seen = discrete_ratio(blocks, given)
    beaten = 0
    for _ in range(draws):
        shuffled = [blocks[0], *(_permute_within(block, given, rng) for block in blocks[1:])]
        beaten += discrete_ratio(shuffled, given).value >= seen.value - 1e-12
    return Refutation("stratified permutation", (1 + beaten) / (1 + draws), seen.corrected, len(given))


def _permute_within(block: NDArray, given: Codes, rng: np.random.Generator) -> NDArray:
    order = np.lexsort((rng.random(len(given)), given))
    result = np.empty_like(block)
    result[np.argsort(given, kind="stable")] = block[order]
    return result


def residual_test(x: Array, y: Array, z: Array, *, seed: int = 0) -> Refutation:
    """Generalised covariance measure (Shah and Peters 2020): do the residuals of x and y on z correlate?

    The largest of all pairs of columns counts, with a Bonferroni correction; see `regression` for the regressions.
    """
    p, rho = Smoother.of(z, seed).p_value(x, y)
    return Refutation("regression residuals", p, -0.5 * float(np.log1p(-(min(rho, 0.999999) ** 2))), len(x))


def residual_power(rows: int, epsilon: float, delta: float) -> float:
    """Power of the residual test against jointly Gaussian residuals with conditional information epsilon."""
    rho = np.sqrt(-np.expm1(-2.0 * epsilon))
    # The product of two unit normals with correlation ρ has mean ρ and variance 1 + ρ².
    shift = np.sqrt(rows) * rho / np.sqrt(1 + rho**2)
    cut = norm.isf(delta / 2)
    return float(norm.sf(cut - shift) + norm.cdf(-cut - shift))


def neighbour_test(
    x: Array, y: Array, z: Array, *, strata: Codes | None = None, draws: int = 99, k: int = 5, seed: int = 0
) -> Refutation:
    """Nearest-neighbour conditional information against permutations that keep z (Runge 2018).

    With `strata` (a discrete latent) rows are permuted inside each value; otherwise x moves between rows whose z
    are neighbours. Given z, subtracting a function of z changes no information, so residuals are used: what
    is left varies little between neighbours. At most 800 rows enter, drawn at random.
    """
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(x))[:_NEIGHBOUR_ROWS]
    if strata is None:
        smoother = Smoother.of(z, seed)
        x, y = smoother.residuals(x), smoother.residuals(y)
    u, v, w = (_ranks(part[rows], rng) for part in (x, y, z))
    inside = None if strata is None else strata[rows]
    near = cKDTree(w).query(w, min(8, len(rows)))[1]
    local = _information(u, v, w, inside, k)
    seen, error = float(local.mean()), float(local.std() / np.sqrt(len(local)))
    beaten = 0
    for _ in range(draws):
        order = _permutation(len(rows), inside, near, rng)
        beaten += _information(u[order], v, w, inside, k).mean() >= seen
    return Refutation("nearest neighbours", (1 + beaten) / (1 + draws), max(0.0, seen), len(rows), error)


def _ranks(rows: Array, rng: np.random.Generator) -> Array:
    """Each column by its rank, so that the statistic does not depend on units.

    Ties are broken at random, column by column: broken by row number in two columns of labels, they would depend
    on each other through it.
    """
    return np.column_stack([_scores(column, rng) for column in rows.T])


def _scores(column: Array, rng: np.random.Generator) -> Array:
    ranks = np.empty(len(column))
    ranks[np.lexsort((rng.random(len(column)), column))] = np.arange(1, len(column) + 1)
    return norm.ppf(ranks / (len(column) + 1))


def _information(u: Array, v: Array, w: Array, strata: Codes | None, k: int) -> Array:
    """The contribution of every row to the conditional information."""
    if strata is None:
        return ksg_local(u, v, w, k=k)
    local = np.zeros(len(u))
    for value in np.unique(strata):
        inside = strata == value
        if inside.sum() > 2 * k:
            local[inside] = ksg_local(u[inside], v[inside], k=k)
    return local


def _permutation(n: int, strata: Codes | None, near: Codes, rng: np.random.Generator) -> Codes:
    """Rows to take x from: within a stratum, or among the unused neighbours of each row."""
    if strata is not None:
        return _permute_within(np.arange(n), strata, rng)
    order, used = np.empty(n, dtype=np.int64), np.zeros(n, dtype=bool)
    for row in rng.permutation(n):
        free = near[row][~used[near[row]]]
        order[row] = rng.choice(free) if len(free) else rng.choice(near[row])
        used[order[row]] = True
    return order
