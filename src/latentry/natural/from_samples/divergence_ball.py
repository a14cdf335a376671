"""How far the true distribution of a table can be from its counts, and the largest divergence it can then have.

With N independent rows over s cells, P(D(P̂‖P) ≥ t) ≤ e^{−Nt} (eNt/(s−1))^{s−1} for Nt > s − 1 (Agrawal 2020):
a ball around P̂ that holds P with probability 1 − δ at every sample size. Over that ball the maximum of

    Σ_x P(x) ln P(x) − Σ_x P(x) a(x)

(a divergence from any fixed reference) is bounded by its Lagrangian dual, whose inner problem is separable:
one scalar maximum per cell. Every pair of multipliers gives a valid bound; the best pair a tight one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize
from scipy.special import lambertw, xlogy

__all__ = ["largest_divergence", "radius"]

Array = NDArray[np.float64]


def radius(rows: int, cells: int, delta: float) -> float:
    """Compute the t of the ball D(P̂‖P) ≤ t that holds the true distribution with probability 1 − delta.

    >>> round(1000 * radius(10_000, 8, 0.05), 2)
    1.56

    Args:
        rows: Number of independent rows.
        cells: Number of cells.
        delta: One minus the confidence.

    Returns:
        Nats.
    """
    free = cells - 1
    if free == 0:
        return 0.0
    goal = np.log(1.0 / delta)

    def excess(scaled: float) -> float:
        return float(scaled - free * (1.0 + np.log(scaled / free)) - goal)

    return float(brentq(excess, free * (1 + 1e-12), 10 * (free + goal) + 10)) / rows


def largest_divergence(counts: Array, reference: Array, delta: float) -> float:
    """Bound Σ P ln P − Σ P a from above over the distributions that the counts allow, with confidence 1 − delta.

    Args:
        counts: Rows in each cell, (s,); cells that cannot occur must be left out.
        reference: a(x) = ln r(x) for each cell; finite.
        delta: One minus the confidence.

    Returns:
        Nats.
    """
    n = float(counts.sum())
    p_hat = counts / n
    t = radius(int(n), len(counts), delta)
    low, high = _marginal_limits(p_hat, t)
    spread = t - float(xlogy(p_hat, p_hat).sum())  # t + H(P̂)

    def dual(multipliers: Array) -> float:
        mu, nu = float(np.exp(multipliers[0])), float(multipliers[1])
        return float(_best_per_cell(p_hat, reference + nu, mu, low, high).sum() + mu * spread + nu)

    here = float((xlogy(p_hat, p_hat) - p_hat * reference).sum())
    mu = 1.0 + np.sqrt(max(here, 0.0) / max(t, 1e-12))
    best = minimize(dual, [np.log(mu), mu + 1.0 + here], method="Nelder-Mead", options={"maxiter": 300, "fatol": 1e-9})
    return float(best.fun)


def _best_per_cell(p_hat: Array, coefficient: Array, mu: float, low: Array, high: Array) -> Array:
    """Largest value over low ≤ p ≤ high of p ln p − a p + μ p̂ ln p.

    The function is concave up to μ p̂ and convex beyond, so the maximum is at an end or at the one stationary
    point of the concave part, p = μ p̂ / y with y − ln y = a − 1 − ln(μ p̂), y ≥ 1.
    """
    seen = p_hat > 0
    scaled = np.where(seen, mu * p_hat, 1.0)
    level = coefficient - 1.0 - np.log(scaled)
    y = np.where(level > 1.0, -lambertw(-np.exp(-np.maximum(level, 1.0)), -1).real, 1.0)
    # Beyond e^{-700} the Lambert function underflows; there y − ln y ≈ level.
    y = np.where(level > 500.0, level + np.log(np.maximum(level, 1.0)), y)
    inner = np.clip(np.where(seen, scaled / y, low), low, high)
    candidates = np.stack([low, inner, high])
    weight = np.where(seen, mu * p_hat, 0.0)
    values = xlogy(candidates, candidates) - coefficient * candidates + xlogy(weight, candidates)
    largest: Array = values.max(axis=0)
    return largest


def _marginal_limits(p_hat: Array, t: float) -> tuple[Array, Array]:
    """The smallest and largest probability of each cell inside the ball: d(p̂‖p) ≤ t for two-valued distributions."""

    def distance(p: Array) -> Array:
        rest = 1.0 - p_hat
        nats: Array = xlogy(p_hat, p_hat) + xlogy(rest, rest) - xlogy(p_hat, p) - xlogy(rest, 1.0 - p)
        return nats

    def bisect(inside: Array, outside: Array) -> Array:
        for _ in range(60):
            middle = (inside + outside) / 2
            near = distance(middle) <= t
            inside, outside = np.where(near, middle, inside), np.where(near, outside, middle)
        return outside

    tiny = 1e-300
    return bisect(p_hat, np.full_like(p_hat, tiny)), np.minimum(bisect(p_hat, np.full_like(p_hat, 1.0 - 1e-16)), 1.0)
