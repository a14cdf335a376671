"""Latents with causes that domains cut: the density is that of a normal with the covariance of the causal model."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import multivariate_normal

from latentry.nets import targeted_prior

TARGETS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 1]], dtype=bool)
PARENTS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0]], dtype=bool)


@pytest.fixture(scope="module")
def prior():
    """All arrays drawn, also those that no domain or arrow uses."""
    plain = targeted_prior(TARGETS, PARENTS, jax.random.key(0))
    keys = iter(jax.random.split(jax.random.key(1), 5))
    return jax.tree.map(lambda a: 0.7 * jax.random.normal(next(keys), a.shape) if eqx.is_array(a) else a, plain)


def expected(prior, domain):
    """Mean and covariance by solving the equations of the domain."""
    cut = TARGETS[domain]
    weights = np.where(PARENTS & ~cut[:, None], np.asarray(prior.weights, float), 0.0)
    location = np.where(cut, prior.location[domain], prior.base).astype(float)
    scale = np.exp(np.where(cut, prior.log_scale[domain], prior.log_base)).astype(float)
    mixing = np.linalg.inv(np.eye(3) - weights)
    return mixing @ location, mixing @ np.diag(scale**2) @ mixing.T


@pytest.mark.parametrize("domain", range(3))
def test_density_moments_and_draws_are_those_of_the_equations(prior, domain):
    mean, covariance = expected(prior, domain)
    points = np.random.default_rng(0).normal(size=(5, 3))
    found = [float(prior.log_density(jnp.asarray(z), jnp.asarray(domain))) for z in points]
    np.testing.assert_allclose(found, multivariate_normal.logpdf(points, mean, covariance), rtol=1e-4)
    moments = prior.moments(jnp.asarray(domain))
    np.testing.assert_allclose(moments[0], mean, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(moments[1], np.sqrt(np.diag(covariance)), rtol=1e-4)
    drawn = jax.vmap(lambda key: prior.draw(jnp.asarray(domain), key))(jax.random.split(jax.random.key(2), 20_000))
    np.testing.assert_allclose(np.cov(np.asarray(drawn).T), covariance, rtol=0.1, atol=0.03)


def test_own_parts_are_standard_normals(prior):
    drawn = jax.vmap(lambda key: prior.draw(jnp.asarray(2), key))(jax.random.split(jax.random.key(3), 20_000))
    own = np.asarray(jax.vmap(lambda z: prior.own_parts(z, jnp.asarray(2)))(drawn))
    np.testing.assert_allclose(own.mean(axis=0), 0.0, atol=0.03)
    np.testing.assert_allclose(np.cov(own.T), np.eye(3), atol=0.05)
    still = np.asarray(jax.vmap(prior.untargeted_parts)(drawn))
    np.testing.assert_allclose(still[:, 0], own[:, 0], atol=1e-5)  # this domain leaves the first latent as it is
    assert np.abs(still[:, 1:] - own[:, 1:]).mean() > 0.1


def test_what_a_domain_does_not_target_has_no_gradient(prior):
    slope = jax.grad(lambda p: p.log_density(jnp.ones(3), jnp.asarray(1)), allow_int=True)(
        eqx.filter(prior, eqx.is_array)
    )
    assert (np.asarray(slope.location) != 0).tolist() == [[False] * 3, [True, False, False], [False] * 3]
    assert (np.asarray(slope.weights) != 0).tolist() == PARENTS.tolist()


def test_one_draw_estimates_the_divergence(prior):
    mean, scale = jnp.array([0.3, -0.2, 0.1]), jnp.array([0.5, 0.4, 0.3])
    noise = jax.random.normal(jax.random.key(4), (20_000, 3))
    found = jax.vmap(lambda e: prior.divergence(mean, scale, mean + scale * e, jnp.asarray(0)))(noise).mean()
    centre, covariance = expected(prior, 0)
    gap = np.asarray(mean) - centre
    exact = 0.5 * (
        np.trace(np.linalg.solve(covariance, np.diag(np.asarray(scale) ** 2)))
        + gap @ np.linalg.solve(covariance, gap) - 3
        + np.linalg.slogdet(covariance)[1] - 2 * np.log(np.asarray(scale)).sum()
    )  # fmt: skip
    assert float(found) == pytest.approx(exact, rel=0.03)
