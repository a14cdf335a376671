"""Convolutions against Equinox's own, and doubled grids against repeated ones."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from latentry.nets import ConvolutionDecoder, ConvolutionEncoder
from latentry.nets.images.convolution_networks import spatial
from latentry.nets.images.convolution_steps import convolve, convolve_doubled
from latentry.nets.layers import convolution, linear, uniform

KEY = jax.random.key(3)
SHAPES = [(28, 28), (24, 24, 3), (100, 2), (4, 30), (5, 16, 2), (9, 9), (1, 40), (6, 8, 10, 2)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_an_encoder_computes_equinox_convolutions(shape):
    @eqx.filter_jit  # one program rather than one for each operation
    def both(net, row):
        y = row[None] if spatial(shape)[0] == shape else jnp.moveaxis(row, -1, 0)
        for layer in net.layers:
            y = jax.nn.gelu(layer(y))
        return net(row), net.head(y.reshape(-1))

    ours, theirs = both(ConvolutionEncoder(shape, 4, width=4, key=KEY), jax.random.normal(KEY, shape))
    assert np.allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_decoder_convolves_repeated_points(shape):
    @eqx.filter_jit
    def both(net, z):
        y = jax.nn.gelu(net.head(z)).reshape(-1, *net.sizes[0])
        for layer, size in zip(net.layers, net.sizes[1:], strict=True):
            y = jax.nn.gelu(layer(jax.image.resize(y, (y.shape[0], *size), "nearest")))
        points = jnp.moveaxis(y, 0, -1).reshape(-1, y.shape[0])
        return net(z), jax.vmap(net.last)(points).reshape(*shape, 2)

    ours, theirs = both(ConvolutionDecoder(3, shape, parameters=2, width=4, key=KEY), jnp.array([0.3, -1.0, 2.0]))
    assert np.allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize("doubled", [(True, True), (True, False), (False, True), (False, False)])
def test_a_doubled_grid_is_a_repeated_one(doubled):
    row, weight = jax.random.normal(KEY, (5, 3, 2)), jax.random.normal(KEY, (4, 2, 3, 3))
    repeated = row
    for axis, double in enumerate(doubled):
        repeated = jnp.repeat(repeated, 2 if double else 1, axis)
    assert np.allclose(convolve_doubled(row, weight, doubled), convolve(repeated, weight), atol=1e-4)


def test_gradients_of_a_doubled_grid_are_those_of_a_repeated_one():
    row, weight = jax.random.normal(KEY, (4, 4, 2)), jax.random.normal(KEY, (3, 2, 3, 3))
    plain = lambda x, w: (convolve(jnp.repeat(jnp.repeat(x, 2, 0), 2, 1), w) ** 3).sum()  # noqa: E731
    doubled = lambda x, w: (convolve_doubled(x, w, (True, True)) ** 3).sum()  # noqa: E731
    slopes = (jax.jit(jax.grad(loss, (0, 1)))(row, weight) for loss in (plain, doubled))
    for one, two in zip(*slopes, strict=True):
        assert np.allclose(one, two, rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("shape", [(), (3,), (5, 7), (64, 32, 3, 3)], ids=str)
def test_numbers_drawn_here_are_those_of_jax(shape):
    key = jax.random.fold_in(KEY, 5)
    assert np.allclose(
        uniform(key, shape, -0.3, 0.3), jax.random.uniform(key, shape, minval=-0.3, maxval=0.3), atol=1e-7
    )


def test_keys_that_are_traced_or_of_another_kind_draw_too():
    stacked = eqx.filter_vmap(lambda key: linear(3, 2, key=key))(jax.random.split(KEY, 4))
    assert np.allclose(stacked.weight[1], linear(3, 2, key=jax.random.split(KEY, 4)[1]).weight, atol=1e-7)
    other = jax.random.key(0, impl="rbg")
    assert np.allclose(uniform(other, (4,), 0.0, 1.0), jax.random.uniform(other, (4,)))


def test_layers_are_equinox_layers():
    for ours, theirs in (
        (linear(3, 2, key=KEY), eqx.nn.Linear(3, 2, key=KEY)),
        (convolution(2, 3, 4, (2, 1), key=KEY), eqx.nn.Conv(2, 3, 4, 3, (2, 1), padding=1, key=KEY)),
    ):
        assert jax.tree.structure(ours) == jax.tree.structure(theirs)
        assert all(np.allclose(a, b, atol=1e-7) for a, b in zip(*map(jax.tree.leaves, (ours, theirs)), strict=True))
