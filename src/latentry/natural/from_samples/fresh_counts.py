"""The largest divergence of a table from a reference that fresh counts allow, at every sample size.

A ball around the counts must allow for the sampling error of every cell at once, which adds about (cells − 1)/n nats. An
estimate of the divergence itself errs by √cells/n only. Let the number of fresh rows be Poisson with mean m, so that the
counts N_x are independent with means μ_x = m P(x). For a centre ρ_x = m r(x) fixed without these rows,

    f_x(N) = N (digamma(N) − ln ρ_x) − N + ρ_x,   E f_x = μ_x ln(μ_x/ρ_x) − μ_x + ρ_x + μ_x E₁(μ_x),

estimates m D(P‖r), a little too high in rare cells. By Markov's inequality, whatever κ > 0,

    Σ_x ψ_x(μ_x) ≤ κ Σ_x f_x(N_x) + ln(1/δ),   ψ_x(μ) = −ln E_μ exp(−κ f_x(N)),

holds with probability 1 − δ. The largest divergence over all μ in this set is bounded by its Lagrangian dual, which needs
one maximum per cell, found on a grid between limits of the single cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import digamma, gammaln, logsumexp, xlogy
from scipy.stats import chi2, poisson

__all__ = ["Fresh", "cell_costs", "cell_estimates", "fresh_rows"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
_FRESH = 2 / 3  # of the rows
_POINTS = 64  # of the grid of each cell
_LIMITS = 0.05  # part of δ for the limits of single cells
_CAUTION = 0.45  # of the κ that is best where all cells are well filled; less is better where some are rare
_WIDE = 9.0  # spreads beyond which a Poisson count is left out of a sum: less than 1e-15


def fresh_rows(rows: Codes, rng: np.random.Generator) -> tuple[Codes, Codes, float]:
    """Split rows at random into those that fit a reference and a Poisson number of fresh ones.

    >>> fit, fresh, mean = fresh_rows(np.arange(100), np.random.default_rng(0))
    >>> len(fit) + len(fresh), round(mean)
    (100, 67)

    Args:
        rows: Row numbers.
        rng: Source of randomness.

    Returns:
        Rows that fit, fresh rows, and the mean of the number of fresh ones.
    """
    mean = _FRESH * len(rows)
    order = rng.permutation(rows)
    fresh = min(int(rng.poisson(mean)), len(rows))
    return order[fresh:], order[:fresh], mean


@dataclass(frozen=True, eq=False)
class Fresh:
    """Counts of a Poisson number of rows, and a centre that was fixed without them.

    Args:
        counts: Fresh rows in each cell, (s,).
        mean: Expected number of fresh rows.
        most: Rows from which they were drawn: the number is cut off there.
        centre: ln r(x) of each cell up to a constant, from other rows.
    """

    counts: Array
    mean: float
    most: int
    centre: Array

    def largest_divergence(self, reference: Array, delta: float) -> float:
        """Bound Σ P ln P − Σ P a from above with confidence 1 − delta, for all a at once.

        Args:
            reference: a(x) for each cell; finite. It may depend on all rows.
            delta: One minus the confidence.

        Returns:
            Nats; infinite where so few rows allow no bound.
        """
        delta = delta - float(poisson.sf(self.most, self.mean))
        if delta <= 0:
            return float("inf")
        goal = float(np.log(1.0 / (delta * (1 - _LIMITS))))
        rho = self.mean * np.exp(self.centre - logsumexp(self.centre))
        kappa = _exponent(rho, goal)
        grid = _grid(self.counts, delta * _LIMITS, self.mean)
        allowed = _Allowed(
            grid, cell_costs(grid, rho, kappa), kappa * float(cell_estimates(self.counts, rho).sum()) + goal, kappa
        )
        return allowed.largest(reference, rho) / self.mean


@dataclass(frozen=True, eq=False)
class _Allowed:
    """Means on a grid for each cell, what each costs, and what may be spent in all."""

    grid: Array
    costs: Array
    budget: float
    kappa: float

    def largest(self, reference: Array, rho: Array) -> float:
        """The dual of the largest Σ μ ln(μ/m) − Σ μ a with Σ μ = m = Σ ρ; any multipliers give a bound."""
        mean = float(rho.sum())
        gains = xlogy(self.grid, self.grid / mean) - self.grid * reference[:, None]

        def dual(multipliers: Array) -> float:
            price, shift = float(np.exp(multipliers[0])), float(multipliers[1])
            values = gains - price * self.costs + shift * self.grid
            return float(_tops(values).sum() + price * self.budget - shift * mean)

        # At the centre the divergence and the estimate fall together: price 1/κ, and no force on any cell.
        shift = float((rho * (reference - np.log(rho / mean))).sum() / mean) - 1.0
        start = [-np.log(self.kappa), shift]
        return float(minimize(dual, start, method="Nelder-Mead", options={"maxiter": 300, "fatol": 1e-3}).fun)


def _exponent(rho: Array, goal: float) -> float:
    """κ that would be best for a normal estimate with this variance under the centre, less for caution."""
    variance = float(np.minimum(0.5, rho * np.log(rho + 1e-9) ** 2).sum())
    return _CAUTION * min(1.0, float(np.sqrt(2.0 * goal / max(variance, 0.5))))


def cell_estimates(counts: Array, rho: Array) -> Array:
    """Compute f_x(N) for counts and centres that broadcast.

    Args:
        counts: N.
        rho: Centres.

    Returns:
        One number for each.
    """
    logs = np.where(counts > 0, digamma(np.maximum(counts, 1.0)), 0.0) - np.log(rho)
    estimate: Array = counts * logs - counts + rho
    return estimate


def _grid(counts: Array, delta: float, most: float) -> Array:
    """Means between the exact limits of each single cell (Garwood 1936), all at once with probability 1 − delta, (s, points)."""
    part = delta / (2 * len(counts))
    low = np.where(counts > 0, chi2.ppf(part, 2 * np.maximum(counts, 1)) / 2, 0.0)
    high = np.minimum(chi2.ppf(1 - part, 2 * counts + 2) / 2, most)
    grid: Array = low[:, None] + (high - low)[:, None] * np.linspace(0.0, 1.0, _POINTS)
    return grid


def cell_costs(grid: Array, rho: Array, kappa: float) -> Array:
    """Compute ψ_x(μ) on the grid; cells that need similarly many terms are summed together.

    Args:
        grid: Means of each cell, (cells, points).
        rho: Centres, (cells,).
        kappa: κ.

    Returns:
        (cells, points).
    """
    low, high = np.minimum(grid[:, 0], rho), np.maximum(grid[:, -1], rho)
    first = np.maximum(0.0, np.floor(low - _WIDE * np.sqrt(low) - 5.0))
    last = np.ceil(high + _WIDE * np.sqrt(high) + 25.0)
    sizes = 2 ** np.ceil(np.log2(last - first + 1)).astype(int)
    costs = np.empty_like(grid)
    for size in np.unique(sizes):
        cells = np.flatnonzero(sizes == size)
        for some in np.array_split(cells, 1 + len(cells) * int(size) // 20_000):
            counts = first[some, None] + np.arange(size)
            weights = -kappa * cell_estimates(counts, rho[some, None]) - gammaln(counts + 1)
            logs = weights[:, None, :] + counts[:, None, :] * np.log(np.maximum(grid[some], 1e-300))[..., None]
            costs[some] = grid[some] - logsumexp(logs, axis=2)
    return costs


def _tops(values: Array) -> Array:
    """The largest value of each row, plus what a parabola may rise above the grid."""
    place = values.argmax(axis=1)
    inner = np.clip(place, 1, values.shape[1] - 2)
    cell = np.arange(len(values))
    bend = values[cell, inner - 1] - 2 * values[cell, inner] + values[cell, inner + 1]
    tops: Array = values[cell, place] + np.abs(bend) / 8
    return tops
