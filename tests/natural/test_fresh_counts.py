"""Bounds of a divergence by counts of fresh rows: coverage, tightness, and the estimate behind them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import exp1, rel_entr
from scipy.stats import binom, poisson

from latentry.natural.from_samples.fresh_counts import Fresh, cell_costs, cell_estimates, fresh_rows


def fresh_of(p, reference, rows, seed):
    rng = np.random.default_rng(seed)
    places = rng.choice(p.size, rows, p=p)
    _, fresh, mean = fresh_rows(np.arange(rows), rng)
    return Fresh(np.bincount(places[fresh], minlength=p.size).astype(float), mean, rows, np.log(reference))


def test_estimate_has_the_stated_mean():
    """E f = μ ln(μ/ρ) − μ + ρ + μ E₁(μ), for centres below, at and above the mean."""
    counts = np.arange(400.0)
    for mu in (0.05, 0.7, 4.0, 60.0):
        for rho in (0.3 * mu, mu, 2.0 * mu):
            expected = (poisson.pmf(counts, mu) * cell_estimates(counts, np.array(rho))).sum()
            assert expected == pytest.approx(mu * np.log(mu / rho) - mu + rho + mu * exp1(mu), abs=1e-9)


def test_costs_are_exact():
    """ψ(μ) against a sum over all counts."""
    grid, rho, kappa = np.array([[0.0, 2.0, 9.0], [80.0, 100.0, 140.0]]), np.array([0.4, 110.0]), 0.3
    counts = np.arange(600.0)
    for row, centre, costs in zip(grid, rho, cell_costs(grid, rho, kappa), strict=True):
        for mu, cost in zip(row, costs, strict=True):
            whole = (poisson.pmf(counts, mu) * np.exp(-kappa * cell_estimates(counts, np.array(centre)))).sum()
            assert cost == pytest.approx(-np.log(whole), abs=1e-9)


@pytest.mark.parametrize(("cells", "rows", "bend"), [(4, 60, 0.0), (12, 200, 0.8), (40, 300, 0.3)])
def test_divergence_is_covered(cells, rows, bend):
    """70 runs at level 0.2, uneven cells, a reference that is off by `bend`; fails once in a million."""
    missed = 0
    for seed in range(70):
        rng = np.random.default_rng([cells, seed])
        p = rng.dirichlet(np.full(cells, 0.5)) * 0.99 + 0.01 / cells
        reference = p * np.exp(bend * rng.standard_normal(cells))
        reference /= reference.sum()
        bound = fresh_of(p, reference, rows, seed).largest_divergence(np.log(reference), 0.2)
        missed += bound < rel_entr(p, reference).sum()
    assert missed <= binom.isf(1e-6, 70, 0.2)


def test_bound_is_tight_where_the_reference_is_right():
    """216 even cells, 4,000 rows: the ball would add more than 0.2 nats, the estimate about √(cells)/rows."""
    p = np.full(216, 1 / 216)
    bound = fresh_of(p, p, 4000, 0).largest_divergence(np.log(p), 0.05)
    assert 0.0 < bound < 0.03


def test_a_large_divergence_is_seen():
    """A reference with ten times too little mass in half of the cells is never bounded near zero."""
    p = np.full(20, 0.05)
    reference = np.where(np.arange(20) < 10, 0.1, 1.0)
    reference /= reference.sum()
    truth = rel_entr(p, reference).sum()
    bounds = [fresh_of(p, reference, 500, seed).largest_divergence(np.log(reference), 0.05) for seed in range(10)]
    assert truth < np.median(bounds) < truth + 0.4


def test_too_few_rows_allow_no_bound():
    p = np.array([0.5, 0.5])
    assert fresh_of(p, p, 2, 0).largest_divergence(np.log(p), 0.05) == np.inf
