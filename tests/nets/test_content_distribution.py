import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from latentry.nets import ContentDistribution

STILL = jnp.array([True, False, True, True])


@pytest.fixture(scope="module")
def law():
    """With weights as after training: it starts as the identity."""
    blank = ContentDistribution(4, layers=3, key=jax.random.key(0), width=8)
    weight = jax.random.normal(jax.random.key(1), blank.layers.last.weight.shape)
    return eqx.tree_at(lambda one: one.layers.last.weight, blank, 2 * weight)


def test_it_starts_as_independent_normal_noise():
    law, noise = ContentDistribution(5, layers=4, key=jax.random.key(0)), jax.random.normal(jax.random.key(1), (7, 5))
    assert np.array_equal(law(noise, jnp.ones(5, bool)), noise)
    wanted = -0.5 * (np.asarray(noise) ** 2 + np.log(2 * np.pi)).sum(1)
    assert np.allclose(law.log_density(noise, jnp.ones(5, bool)), wanted, atol=1e-5)
    none = ContentDistribution(5, layers=0, key=jax.random.key(0))
    assert np.array_equal(none(noise, jnp.ones(5, bool)), noise)
    assert np.allclose(none.log_density(noise, jnp.ones(5, bool)), wanted, atol=1e-5)


def test_the_way_back_and_its_determinant(law):
    noise = jax.random.normal(jax.random.key(2), (6, 4))
    codes = law(noise, STILL)
    back, log_det = law.noise(codes, STILL)
    assert np.allclose(back, noise, atol=1e-4)
    assert np.abs(codes - noise).max() > 0.5
    slopes = jax.vmap(jax.jacobian(lambda one: law(one[None], STILL)[0]))(noise)
    assert np.allclose(log_det, -jnp.linalg.slogdet(slopes)[1], atol=1e-4)
    normal = -0.5 * (np.asarray(noise) ** 2 + np.log(2 * np.pi)).sum(1)
    assert np.allclose(law.log_density(codes, STILL), normal + log_det, atol=1e-4)


def test_latents_that_change_are_independent_of_the_others(law):
    slopes = np.asarray(jax.jacobian(lambda one: law(one[None], STILL)[0])(jnp.array([0.3, -1.0, 0.5, 2.0])))
    changing = np.flatnonzero(~np.asarray(STILL))
    assert np.array_equal(slopes[changing], np.eye(4)[changing])
    assert np.array_equal(slopes[:, changing], np.eye(4)[:, changing])
    others = np.delete(np.delete(slopes, 1, 0), 1, 1)
    assert (np.abs(others - np.diag(np.diag(others))) > 1e-3).any()


@pytest.mark.parametrize("seed", range(4))
def test_each_part_is_halved(seed):
    given = np.asarray(ContentDistribution(10, layers=5, first=4, key=jax.random.key(seed)).given)
    assert given.shape == (5, 10)
    assert (given[:, :4].sum(1) == 2).all()
    assert (given[:, 4:].sum(1) == 3).all()
    assert (given[0] == ~given[1]).all()


@pytest.mark.long
def test_it_learns_a_law_in_clusters():
    """Two latents on a ring of three clumps: no product of laws of single latents has them."""
    rng = np.random.default_rng(0)
    angles = 2 * np.pi * rng.integers(3, size=4096) / 3
    codes = np.stack([np.cos(angles), np.sin(angles)], 1) * 1.3 + 0.2 * rng.normal(size=(4096, 2))
    law, both = ContentDistribution(2, layers=6, key=jax.random.key(0), width=32), jnp.ones(2, bool)
    way = optax.adam(1e-2)
    state = way.init(eqx.filter(law, eqx.is_inexact_array))

    @eqx.filter_jit
    def step(law, state, rows):
        slope = eqx.filter_grad(lambda one: -one.log_density(rows, both).mean())(law)
        change, state = way.update(slope, state)
        return eqx.apply_updates(law, change), state

    for _ in range(400):
        law, state = step(law, state, jnp.asarray(codes[rng.integers(4096, size=256)], jnp.float32))
    made = np.asarray(law(jax.random.normal(jax.random.key(1), (4000, 2)), both))

    def hollow(points):
        return (np.hypot(*points.T) < 0.6).mean()

    shuffled = np.stack([rng.permutation(column) for column in codes.T], 1)
    assert hollow(codes) < 0.01
    assert hollow(shuffled) > 0.05
    assert hollow(made) < 0.5 * hollow(shuffled)
