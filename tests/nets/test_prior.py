"""Laws of latents, against quadrature and against draws."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from latentry.nets import FAMILIES, prior_for

GRID = np.linspace(-30, 30, 6001)


def prior(family, seed=0, **changes):
    settings = {"domains": 3, "continuous": False, "hidden": (4,), "statistics": 5} | changes
    made = prior_for(family, 1, **settings, key=jax.random.key(seed))
    leaves, tree = jax.tree.flatten(made)
    keys = jax.random.split(jax.random.key(seed + 1), len(leaves))
    return jax.tree.unflatten(
        tree, [leaf + jax.random.normal(k, leaf.shape) for leaf, k in zip(leaves, keys, strict=True)]
    )


ZERO, ONE, TWO = (jnp.asarray(u) for u in range(3))


@eqx.filter_jit  # one program rather than one for each operation
def log_densities(law, u, z):
    return jax.vmap(lambda row: law.log_density(row, u))(z)


@eqx.filter_jit
def draws(law, u, keys):
    return jax.vmap(lambda key: law.draw(u, key))(keys)


def density(law, u, grid=GRID):
    return np.exp(log_densities(law, u, jnp.asarray(grid[:, None], jnp.float32)))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("u", [ZERO, TWO], ids=["0", "2"])
def test_densities_integrate_to_one_and_their_moments_are_as_stated(family, u):
    law = prior(family)
    found, step = density(law, u), GRID[1] - GRID[0]
    assert abs(found.sum() * step - 1) < 2e-3
    mean, scale = eqx.filter_jit(law.moments)(u)
    centre = (found * GRID).sum() * step
    assert abs(float(mean[0]) - centre) < 5e-3
    assert abs(float(scale[0]) ** 2 - (found * (GRID - centre) ** 2).sum() * step) < 2e-2 * float(scale[0]) ** 2


@pytest.mark.parametrize("log_scale", [-3.0, 1.0, 4.0])
def test_further_statistics_are_normalised_however_wide_the_latent(log_scale):
    law = prior("exponential", seed=2)
    law = eqx.tree_at(lambda tree: (tree.log_scale, tree.tilt), law, (jnp.full((3, 1), log_scale), 3 * law.tilt))
    fine = np.linspace(-40, 40, 80001)
    found = density(law, ONE, fine)
    assert abs(found.sum() * (fine[1] - fine[0]) - 1) < 5e-3


@pytest.mark.parametrize("family", ["gaussian", "laplace", "exponential"])
def test_draws_follow_the_density(family):
    """Kolmogorov–Smirnov at 4000 draws; a right sampler fails once in a thousand seeds."""
    law = prior(family, seed=3)
    drawn = draws(law, ONE, jax.random.split(jax.random.key(0), 4000))
    below = np.cumsum(density(law, ONE)) * (GRID[1] - GRID[0])
    assert stats.kstest(np.asarray(drawn)[:, 0], lambda z: np.interp(z, GRID, below)).pvalue > 1e-3


@pytest.mark.parametrize("family", ["gaussian", "variance", "mean"])
def test_the_divergence_in_closed_form_is_the_mean_of_one_draw(family):
    law, mean, scale = prior(family), jnp.array([0.3]), jnp.array([0.7])
    exact = law.divergence(mean, scale, mean, ONE)
    step = GRID[1] - GRID[0]
    q = stats.norm(0.3, 0.7)
    log_p = log_densities(law, ONE, jnp.asarray(GRID[:, None], jnp.float32))
    assert abs(float(exact) - (q.pdf(GRID) * (q.logpdf(GRID) - np.asarray(log_p))).sum() * step) < 1e-3


def test_other_families_take_the_divergence_from_the_draw():
    law, mean, scale = prior("exponential"), jnp.array([0.3]), jnp.array([0.7])
    drawn = jnp.array([1.1])
    expected = stats.norm(0.3, 0.7).logpdf(1.1) - float(law.log_density(drawn, ONE))
    assert abs(float(law.divergence(mean, scale, drawn, ONE)) - expected) < 1e-5


def test_only_what_the_family_says_changes_with_the_domain():
    for family, (moves, stretches, *_) in FAMILIES.items():
        law = prior(family)
        (a, b), (c, d) = law.at(ZERO), law.at(ONE)
        assert (a != c).any() == moves, family
        assert (b != d).any() == stretches, family


def test_natural_parameters_are_the_slopes_of_the_log_density_in_the_statistics():
    """Log densities of two domains differ by the difference of natural parameters times the statistics, and a constant."""
    law = prior("exponential")
    (one, _), (two, _) = law.natural(ZERO), law.natural(ONE)
    z = jnp.linspace(-2, 2, 9)[:, None]
    gap = log_densities(law, ZERO, z) - log_densities(law, ONE, z)
    statistics = jnp.column_stack([z, z**2, law.statistics_of(z[:, 0])])
    assert jnp.ptp(gap - statistics @ (one - two)[0]) < 1e-3


def test_the_covariance_of_the_statistics_is_that_of_draws():
    law = prior("exponential", seed=5)
    _, fisher = law.natural(TWO)
    drawn = draws(law, TWO, jax.random.split(jax.random.key(1), 20000))[:, 0]
    statistics = np.column_stack([drawn, drawn**2, law.statistics_of(drawn)])
    assert np.allclose(np.cov(statistics.T), fisher[0], atol=0.05 * np.abs(fisher).max())


def test_a_network_may_stand_for_the_table():
    law = prior("gaussian", table=False)
    assert law.at(jnp.asarray(1))[0].shape == (1,)
    assert (law.at(jnp.asarray(0))[0] != law.at(jnp.asarray(1))[0]).all()
