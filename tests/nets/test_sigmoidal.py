"""Conditional sigmoidal flows: increasing, invertible, normalised, and different for each domain."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from latentry.nets import prior_for, sigmoidal_prior
from latentry.nets.sigmoidal import sigmoidal, sigmoidal_inverse

KEY = jax.random.key(0)


def prior(domains=3, *, continuous=False, size=2):
    base = prior_for("gaussian", size, domains=domains, continuous=continuous, hidden=(4,), key=KEY)
    made = sigmoidal_prior(base, domains=domains, continuous=continuous, width=5, hidden=(4,), key=jax.random.key(1))
    if not continuous:  # far from the identity
        wild = jax.random.normal(jax.random.key(2), made.shape.shape)
        made = jax.tree.map(lambda leaf: wild if leaf is made.shape else leaf, made)
    return made


@eqx.filter_jit  # one program rather than one for each operation
def log_densities(made, u, z):
    return jax.vmap(lambda value: made.log_density(value[None], u))(z)


def test_the_slope_is_that_of_autodiff_and_positive():
    parameters = jax.random.normal(KEY, (2, 3, 6))
    slope_of = jax.jit(jax.grad(lambda x: sigmoidal(x, parameters)[0]))
    for z in (-40.0, -3.0, 0.0, 0.5, 20.0):
        value, log_slope = sigmoidal(jnp.asarray(z), parameters)
        slope = slope_of(jnp.asarray(z))
        assert np.isfinite(value)
        assert log_slope == pytest.approx(float(np.log(slope)), abs=1e-3)


@pytest.mark.parametrize("y", [-5.0, -0.3, 0.0, 2.0, 6.0])
def test_the_inverse_undoes_the_flow(y):
    parameters = jax.random.normal(KEY, (2, 3, 6))
    found = sigmoidal_inverse(jnp.asarray(y), parameters)
    assert sigmoidal(found, parameters)[0] == pytest.approx(y, abs=1e-3)


@pytest.mark.parametrize("u", [0, 1, 2])
def test_densities_integrate_to_one_and_moments_are_theirs(u):
    made = prior(size=1)
    grid = np.linspace(-30, 30, 6001)
    density = np.exp(log_densities(made, jnp.asarray(u), jnp.asarray(grid)))
    assert np.trapezoid(density, grid) == pytest.approx(1, abs=1e-3)
    mean, deviation = eqx.filter_jit(made.moments)(jnp.asarray(u))
    assert mean[0] == pytest.approx(np.trapezoid(density * grid, grid), abs=0.01)
    assert deviation[0] == pytest.approx(np.sqrt(np.trapezoid(density * (grid - mean[0]) ** 2, grid)), rel=0.01)


def test_draws_have_the_law():
    """Kolmogorov and Smirnov against the numerically integrated law; fails by chance once in 10,000 keys."""
    made, u = prior(size=1), jnp.asarray(1)
    drawn = np.asarray(jax.jit(jax.vmap(lambda key: made.draw(u, key)[0]))(jax.random.split(jax.random.key(3), 4000)))
    grid = np.linspace(-30, 30, 6001)
    density = np.exp(log_densities(made, u, jnp.asarray(grid)))
    below = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(grid))])
    assert stats.kstest(drawn, lambda x: np.interp(x, grid, below)).pvalue > 1e-4


def test_domains_have_laws_of_their_own_and_u_may_be_continuous():
    made = prior()
    z = jnp.array([0.3, -0.2])
    assert len({round(float(made.log_density(z, jnp.asarray(u))), 4) for u in range(3)}) == 3
    smooth = prior(2, continuous=True)
    assert smooth.log_density(z, jnp.array([0.1, 0.2])) != smooth.log_density(z, jnp.array([2.0, -1.0]))


def test_it_starts_as_a_gaussian():
    base = prior_for("gaussian", 2, domains=2, continuous=False, hidden=(), key=KEY)
    made = sigmoidal_prior(base, domains=2, continuous=False, key=KEY)
    z = jnp.array([0.5, -1.0])
    assert made.log_density(z, jnp.asarray(0)) == pytest.approx(float(base.log_density(z, jnp.asarray(0))), abs=0.3)


def test_the_divergence_is_unbiased():
    """Mean over draws of log q − log p is the divergence: for a law equal to q it is 0 on average."""
    made, u = prior(size=1), jnp.asarray(0)
    mean, scale = jnp.array([0.2]), jnp.array([0.5])
    drawn = mean + scale * jax.random.normal(KEY, (20_000, 1))
    found = np.asarray(jax.jit(jax.vmap(lambda z: made.divergence(mean, scale, z, u)))(drawn))
    grid = np.linspace(-4, 4, 4001)
    log_p = np.asarray(log_densities(made, u, jnp.asarray(grid)))
    log_q = stats.norm.logpdf(grid, 0.2, 0.5)
    truth = np.trapezoid(np.exp(log_q) * (log_q - log_p), grid)
    assert abs(found.mean() - truth) < 5 * found.std() / np.sqrt(20_000) + 1e-3
