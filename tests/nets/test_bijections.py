import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from latentry.errors import DataError
from latentry.nets import Flow, prior_for
from latentry.nets.bijections import InvertibleLinear, Monotone

KEY = jax.random.key(3)


def bent(layer):
    """The same bijection away from its start, where everything is nearly the identity."""
    arrays, rest = eqx.partition(layer, eqx.is_inexact_array)
    leaves, structure = jax.tree.flatten(arrays)
    keys = jax.random.split(KEY, len(leaves))
    moved = [leaf + 0.5 * jax.random.normal(key, leaf.shape) for leaf, key in zip(leaves, keys, strict=True)]
    return eqx.combine(jax.tree.unflatten(structure, moved), rest)


BIJECTIONS = {
    "linear": lambda: bent(InvertibleLinear(3, key=KEY)),
    "monotone": lambda: bent(Monotone(3, components=5, key=KEY)),
    "flow": lambda: bent(Flow(3, blocks=2, components=4, key=KEY)),
}


@pytest.mark.parametrize("name", BIJECTIONS)
def test_inverse_and_log_determinant(name):
    layer = BIJECTIONS[name]()
    x = 2 * jax.random.normal(jax.random.key(1), (20, 3))
    y, log_det = jax.jit(jax.vmap(layer.forward))(x)
    assert np.allclose(jax.jit(jax.vmap(layer.inverse))(y), x, atol=2e-3)
    jacobian = jax.jit(jax.vmap(jax.jacfwd(lambda row: layer.forward(row)[0])))(x)
    assert np.allclose(log_det, jnp.linalg.slogdet(jacobian)[1], atol=1e-3)


def test_the_inverse_has_the_derivative_of_the_inverse():
    layer = BIJECTIONS["monotone"]()
    y = jnp.array([0.3, -4.0, 7.0])
    there = jax.jit(lambda y: jax.jacfwd(lambda row: layer.forward(row)[0])(layer.inverse(y)))(y)
    back = jax.jit(jax.jacfwd(layer.inverse))(y)
    assert np.allclose(there @ back, np.eye(3), atol=1e-4)
    # and in the parameters: f(f^-1(y)) = y whatever they are
    slope = eqx.filter_jit(eqx.filter_grad(lambda m: m.forward(m.inverse(y))[0].sum()))(layer)
    assert all(np.allclose(leaf, 0, atol=1e-4) for leaf in jax.tree.leaves(slope))


def test_far_away_points_come_back():
    layer = BIJECTIONS["monotone"]()
    x = jnp.array([1e4, -1e4, 0.0])
    assert np.allclose(layer.inverse(layer.forward(x)[0]), x, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("family", ["gaussian", "variance", "mean", "laplace"])
def test_priors_agree_with_scipy(family):
    prior = bent(prior_for(family, 2, domains=3, continuous=False, hidden=(), key=KEY))
    z, u = jnp.array([0.7, -1.1]), jnp.array(1)
    location, log_scale = prior.at(u)
    law = stats.laplace if family == "laplace" else stats.norm
    scale = np.exp(log_scale) / (np.sqrt(2) if family == "laplace" else 1)
    assert np.isclose(prior.log_density(z, u), law(location, scale).logpdf(z).sum(), atol=1e-5)
    drawn = jax.jit(jax.vmap(lambda key: prior.draw(u, key)))(jax.random.split(KEY, 4000))
    # six standard errors of a mean; the standard deviation to a tenth
    assert (np.abs(drawn.mean(axis=0) - location) < 6 * np.exp(log_scale) / np.sqrt(4000)).all()
    assert np.allclose(drawn.std(axis=0), np.exp(log_scale), rtol=0.1)


def test_what_does_not_change_with_the_domain_is_shared():
    settled = prior_for("variance", 2, domains=3, continuous=False, hidden=(), key=KEY)
    assert settled.location is None
    assert settled.still.shape == (2,)
    partly = prior_for("gaussian", 3, domains=4, continuous=False, hidden=(), key=KEY, moving=1)
    assert (partly.location.shape, partly.still.shape) == ((4, 1), (2,))
    assert prior_for("mean", 2, domains=3, continuous=False, hidden=(), key=KEY).log_scale.shape == (2,)
    with pytest.raises(DataError, match="did you mean 'variance'"):
        prior_for("varience", 2, domains=3, continuous=False, hidden=(), key=KEY)


def test_a_continuous_domain_has_a_network():
    prior = prior_for("gaussian", 2, domains=1, continuous=True, hidden=(4,), key=KEY)
    assert np.isfinite(prior.log_density(jnp.zeros(2), jnp.array([0.3])))
