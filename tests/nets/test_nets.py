import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from latentry.errors import DataError
from latentry.nets import decoder_for, encoder_for, product_of_experts

KEY = jax.random.key(0)
SHAPES = [(5,), (1,), (28, 28), (31, 17), (32, 32, 3), (100, 1), (7, 2), (3, 3, 1)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_shape_has_an_encoder_and_a_decoder(shape):
    encoder = encoder_for(shape, 6, hidden=(16,), architecture="auto", key=KEY)
    decoder = decoder_for(3, shape, parameters=2, hidden=(16,), architecture="auto", key=KEY)
    assert eqx.filter_eval_shape(encoder, jnp.zeros(shape)).shape == (6,)
    assert eqx.filter_eval_shape(decoder, jnp.zeros(3)).shape == (*shape, 2)


@pytest.mark.parametrize("shape", [(12, 12), (20, 2)], ids=str)
def test_every_parameter_matters(shape):
    net = encoder_for(shape, 4, hidden=(16,), architecture="auto", key=KEY)
    slope = eqx.filter_jit(eqx.filter_grad(lambda n: (n(jax.random.normal(KEY, shape)) ** 2).sum()))(net)
    assert all((leaf != 0).any() for leaf in jax.tree.leaves(slope))


def test_networks_of_ones_own_are_checked():
    def broken(shape, outputs, key):
        return eqx.nn.Linear(shape[0], outputs + 1, key=key)

    with pytest.raises(DataError, match=r"broken: .* shape \(5,\) .* must give \(4,\)"):
        encoder_for((3,), 4, hidden=(), architecture=broken, key=KEY)
    with pytest.raises(DataError, match=r"must take \(shape, outputs, key\)"):
        encoder_for((3,), 4, hidden=(), architecture=lambda shape: None, key=KEY)
    with pytest.raises(DataError, match="did you mean 'convolution'"):
        encoder_for((3, 3), 4, hidden=(), architecture="convolutions", key=KEY)
    with pytest.raises(DataError, match="no axis to convolve"):
        encoder_for((3,), 4, hidden=(), architecture="convolution", key=KEY)


def test_product_of_experts_is_the_product_of_densities():
    rng = np.random.default_rng(0)
    means = {name: jnp.asarray(rng.normal(size=(2, 1)), jnp.float32) for name in "ab"}
    logs = {name: jnp.asarray(rng.normal(size=(2, 1)), jnp.float32) for name in "ab"}
    observed = {"a": jnp.array([1.0, 1.0]), "b": jnp.array([1.0, 0.0])}
    mean, scale = product_of_experts(means, logs, observed)
    grid = np.linspace(-10, 10, 20001)
    for row in range(2):
        log = -0.5 * grid**2
        for name in "ab":
            log = log - 0.5 * observed[name][row] * ((grid - means[name][row, 0]) / np.exp(logs[name][row, 0])) ** 2
        density = np.exp(log - log.max())
        density /= density.sum()
        want = (grid * density).sum()
        assert np.isclose(mean[row, 0], want, atol=1e-4)
        assert np.isclose(scale[row, 0], np.sqrt(((grid - want) ** 2 * density).sum()), atol=1e-4)
