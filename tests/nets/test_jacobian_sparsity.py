"""The sparsity term: exact derivatives, units, estimates, gradients."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import latentry as lt
from latentry.nets import Dense, SparsityTerm, jacobians, penalty, strengths

KEY = jax.random.key(0)


@pytest.fixture(scope="module")
def net():
    return Dense(3, 5, (8,), key=KEY)


@pytest.fixture(scope="module")
def points():
    return jax.random.normal(jax.random.key(1), (6, 3))


@pytest.mark.parametrize("directions", [None, 1, 2, 7])
def test_jacobians_are_those_of_autodiff_however_they_are_batched(net, points, directions):
    found = jacobians(jax.vmap(net), points, directions=directions)
    assert found.shape == (6, 5, 3)
    assert np.allclose(found, jax.vmap(jax.jacrev(net))(points), atol=1e-5)


@pytest.mark.parametrize("derivative", ["exact", "random", "differences"])
def test_the_perturbation_reaches_the_decoder(derivative, points):
    """A linear decoder with one slope: every form must see that slope, and see it change."""
    term = SparsityTerm(derivative=derivative, directions=3)
    for slope in (1.0, 4.0):
        found = term(lambda z, slope=slope: slope * z[:, :1], points, jnp.ones(3), jnp.ones(1), KEY)
        assert found == pytest.approx(slope, rel=1e-3)


@pytest.mark.parametrize("kind", ["l1", "l2", "capped"])
@pytest.mark.parametrize("derivative", ["exact", "random", "differences"])
def test_units_do_not_matter(net, points, kind, derivative):
    """Latent j in other units, data in other units: the same penalty."""
    units, scale = jnp.array([0.01, 1.0, 300.0]), jnp.array([10.0, 0.1, 1.0, 5.0, 2.0])
    term = SparsityTerm(kind=kind, derivative=derivative, directions=3)
    plain = term(jax.vmap(net), points, jnp.ones(3), jnp.ones(5), KEY)
    other = term(lambda z: scale * jax.vmap(net)(z / units), points * units, units, scale, KEY)
    assert other == pytest.approx(float(plain), rel=2e-3)


def test_random_axes_are_unbiased(net, points):
    exact = SparsityTerm()(jax.vmap(net), points, jnp.ones(3), jnp.ones(5), KEY)
    term = SparsityTerm(derivative="random")
    drawn = jax.vmap(lambda key: term(jax.vmap(net), points, jnp.ones(3), jnp.ones(5), key))(
        jax.random.split(KEY, 4000)
    )
    assert abs(drawn.mean() - exact) < 5 * drawn.std() / np.sqrt(4000)  # once in 1.7 million
    assert drawn.std() > 0


def test_differences_approach_the_derivative(net, points):
    at = {
        step: float(
            SparsityTerm(derivative="differences", directions=3, step=step)(
                jax.vmap(net), points, jnp.ones(3), jnp.ones(5), KEY
            )
        )
        for step in (0.1, 0.01)
    }
    exact = float(SparsityTerm()(jax.vmap(net), points, jnp.ones(3), jnp.ones(5), KEY))
    assert abs(at[0.01] - exact) < abs(at[0.1] - exact) / 3


def test_penalties_by_hand():
    strength = jnp.array([[[0.05, 2.0], [0.0, 0.3]], [[0.1, 0.0], [0.0, 0.0]]])
    assert penalty(strength, "l1", 0.1) == pytest.approx((2.35 + 0.1) / 2)
    assert penalty(strength, "l2", 0.1) == pytest.approx((0.0025 + 4 + 0.09 + 0.01) / 2)
    assert penalty(strength, "capped", 0.1) == pytest.approx((0.5 + 1 + 1 + 1) / 2)


def test_the_gradient_is_that_of_differences(points):
    """Of the penalty in the decoder's weights, in double precision: nested derivatives are right."""
    with jax.enable_x64():
        weights = jax.random.normal(KEY, (3, 4), jnp.float64)
        rows = jnp.asarray(np.asarray(points), jnp.float64)

        @jax.jit
        def loss(weights):
            def decode(z):
                return jnp.tanh(z @ weights) + z @ weights**3

            return SparsityTerm()(decode, rows, rows.std(axis=0), jnp.ones(4), KEY)

        found = jax.jit(jax.grad(loss))(weights)
        for i, j in ((0, 0), (1, 3), (2, 2)):
            step = jnp.zeros((3, 4)).at[i, j].set(1e-6)
            assert found[i, j] == pytest.approx(float(loss(weights + step) - loss(weights - step)) / 2e-6, rel=1e-5)


def test_strengths_of_a_linear_map_are_standardised_slopes(rng):
    z = rng.normal(size=(1000, 2)) * [3.0, 0.5]
    slopes = np.array([[1.0, 0.0], [2.0, -4.0]])
    x = z @ slopes.T
    found = strengths(jnp.asarray(slopes)[None], jnp.asarray(z.std(axis=0)), jnp.asarray(x.std(axis=0)))[0]
    assert found[0].tolist() == pytest.approx([1, 0])
    assert (found[1] ** 2).sum() == pytest.approx(1, abs=0.2)  # shares of the variance, but for sampled correlation


@pytest.mark.parametrize(("name", "value"), [("kind", "l3"), ("derivative", "exat")])
def test_bad_parameters(name, value):
    with pytest.raises(lt.DataError, match=f"{name}='{value}' is not known"):
        SparsityTerm(**{name: value})
