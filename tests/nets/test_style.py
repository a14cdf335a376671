import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from latentry.nets import DomainFlow, EqualLinear, Synthesis, resolutions
from latentry.nets.images import augmentation
from latentry.nets.images.equalised_layers import double, halve
from latentry.nets.images.residual_networks import batch_deviation
from latentry.nets.images.style_synthesis import ModulatedConvolution

# One program rather than one for each operation.
augment = jax.jit(augmentation.augment, static_argnums=2)
run = eqx.filter_jit(lambda net, *inputs: net(*inputs))


def kernel_per_row(layer, x, w):
    """The published form: each row has a kernel of its own, scaled and normalised before it is used."""
    made = []
    for row, scales in zip(np.asarray(x), np.asarray(layer.style(w)), strict=True):
        kernel = layer.gain * np.asarray(layer.weight) * scales[:, None]
        if layer.normalised:
            kernel = kernel / np.sqrt((kernel**2).sum((0, 1, 2)) + 1e-8)
        wide = np.pad(row, ((1, 1), (1, 1), (0, 0))) if kernel.shape[0] == 3 else row
        found = np.zeros((*row.shape[:2], kernel.shape[3]))
        for i in range(kernel.shape[0]):
            for j in range(kernel.shape[1]):
                found += wide[i : i + row.shape[0], j : j + row.shape[1]] @ kernel[i, j]
        made.append(found)
    return np.stack(made)


@pytest.mark.parametrize(("width", "normalised"), [(3, True), (3, False), (1, True)])
def test_one_kernel_with_scaled_channels_is_a_kernel_for_each_row(width, normalised, rng):
    layer = ModulatedConvolution(3, 5, width, 4, key=jax.random.key(0), normalised=normalised)
    x = jnp.asarray(rng.normal(size=(4, 6, 6, 3)), jnp.float32)
    w = jnp.asarray(rng.normal(size=(4, 4)), jnp.float32)
    assert np.allclose(run(layer, x, w), kernel_per_row(layer, x, w), atol=1e-5)


def test_outputs_have_unit_variance_whatever_the_style():
    """Mean square over 2 · 16 · 400 outputs of standard normal inputs; borders see fewer inputs, so the middle is read."""
    layer = ModulatedConvolution(8, 16, 3, 4, key=jax.random.key(0))
    x = jax.random.normal(jax.random.key(1), (2, 22, 22, 8))
    out = run(layer, x, 30 * jax.random.normal(jax.random.key(2), (2, 4)))[:, 1:-1, 1:-1]
    assert abs(float((out**2).mean()) - 1) < 0.1


def test_doubling_is_linear_interpolation_and_keeps_what_is_flat(rng):
    x = jnp.asarray(rng.normal(size=(2, 4, 4, 3)), jnp.float32)
    assert np.allclose(run(double, x), jax.image.resize(x, (2, 8, 8, 3), "linear"), atol=1e-5)
    flat = jnp.full((1, 4, 4, 1), 0.3)
    assert np.allclose(run(lambda x: halve(double(x)), flat), flat, atol=1e-6)


def test_a_slow_layer_starts_alike_and_learns_slowly():
    fast, slow = (EqualLinear(5, 3, key=jax.random.key(0), pace=pace) for pace in (1.0, 0.01))
    x = jnp.ones((2, 5))
    assert np.allclose(fast(x), slow(x), atol=1e-5)
    gradients = [jax.grad(lambda w, at=net: jnp.sum(x @ (at.gain * w)))(net.weight) for net in (fast, slow)]
    assert np.allclose(gradients[1], 0.01 * gradients[0])


def test_deviation_within_groups(rng):
    x = jnp.asarray(rng.normal(size=(8, 3, 3, 2)), jnp.float32)
    groups = np.asarray(x).reshape(4, 2, 3, 3, 2)  # rows 0, 2, 4, 6 and 1, 3, 5, 7
    wanted = groups.std(0).mean((1, 2, 3))
    found = batch_deviation(x)[..., 2]
    assert np.allclose(found, np.tile(wanted, 4)[:, None, None], atol=1e-4)
    assert batch_deviation(x[:5]).shape == (5, 3, 3, 3)  # five rows: one group at a time


def test_sizes_that_doubling_reaches():
    assert [n for n in range(8, 65) if resolutions(n)] == [8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64]


def test_pictures_start_within_their_range():
    styles = jax.random.normal(jax.random.key(1), (64, 16))
    for seed in range(5):
        net = Synthesis(28, 3, width=8, style=16, most=32, key=jax.random.key(seed))
        assert 0.01 < np.std(run(net, styles)) < 1


def test_without_noise_the_picture_follows_from_the_style():
    net = Synthesis(8, 3, width=2, style=4, most=4, key=jax.random.key(0))
    loud = jax.tree_util.tree_map_with_path(
        lambda path, leaf: leaf + 1.0 if "strength" in jax.tree_util.keystr(path) else leaf, net
    )
    w = jnp.ones((2, 4))
    assert np.array_equal(run(loud, w), run(net, w))
    assert not np.allclose(run(loud, w, loud.noise(2, jax.random.key(1))), run(net, w))


@pytest.fixture(scope="module")
def flow():
    plain = DomainFlow(5, style=3, domains=2, key=jax.random.key(0))
    return jax.tree_util.tree_map_with_path(
        lambda path, leaf: jnp.array([0.7, 0.09, 3.0]) if "importance" in jax.tree_util.keystr(path) else leaf, plain
    )


def test_the_domain_moves_what_the_mask_lets_it(flow, rng):
    noise = jnp.asarray(rng.normal(size=(50, 5)), jnp.float32)
    first, second = (run(flow, noise, jnp.full(50, code)) for code in (0, 1))
    moved = np.abs(first - second).max(0) > 1e-3
    assert moved.tolist() == [True, False, True, False, False]
    assert flow.marked().tolist() == [True, False, True]
    assert flow.mask().tolist() == pytest.approx([0.7, 0, 1])
    assert np.array_equal(first[:, 3:], noise[:, 3:])
    assert np.array_equal(first[:, 1], noise[:, 1])


def test_each_latent_increases_with_its_own_noise_alone(flow, rng):
    noise, code = jnp.asarray(rng.normal(size=5), jnp.float32), jnp.array([1])
    jacobian = jax.jit(jax.jacfwd(lambda e: flow(e[None], code)[0]))(noise)
    assert np.allclose(jacobian, np.diag(np.diag(jacobian)))
    assert (np.diag(jacobian) > 0).all()
    assert np.allclose(np.diag(jacobian), flow.with_derivatives(noise[None], code)[1][0], atol=1e-5)


def test_augmentations(rng):
    x = jnp.asarray(rng.normal(size=(6, 8, 8, 3)), jnp.float32)
    key, always = jax.random.key(0), jnp.float32(1.0)
    assert np.allclose(augment(x, always, ("flip",), key), x[:, :, ::-1], atol=1e-5)
    grey = jnp.broadcast_to(x[..., :1], x.shape)
    assert np.allclose(augment(grey, always, ("hue",), key), grey, atol=1e-5)
    turned = augment(x, always, ("hue",), key)
    assert np.allclose((turned**2).sum(-1), (x**2).sum(-1), atol=1e-4)  # colours are turned, not stretched
    flat = jnp.full((4, 8, 8, 1), 0.5)
    assert np.allclose(augment(flat, always, ("shift", "scale"), key), 0.5, atol=1e-6)


def test_rotation(rng):
    """By a quarter turn it is exact, in one sense; a disc looks the same at any angle."""
    x = jnp.asarray(rng.normal(size=(2, 8, 8, 3)), jnp.float32)
    turned = augmentation.rotate(x, jnp.array([[0.25, 0.0], [0.5, 0.0]]))
    assert np.allclose(turned[0], np.rot90(x[0], axes=(1, 0)), atol=1e-4)
    assert np.allclose(turned[1], np.rot90(x[1], 2), atol=1e-4)
    down, across = np.mgrid[:16, :16] - 7.5
    disc = jnp.asarray(np.exp(-(down**2 + across**2) / 18), jnp.float32)[None, :, :, None]
    assert np.allclose(augment(disc, jnp.float32(1.0), ("rotate",), jax.random.key(0)), disc, atol=0.02)


def test_a_shift_moves_the_centre_of_mass():
    """A dot in the middle moves by at most an eighth of the size, differently in each row."""
    x = jnp.zeros((64, 16, 16, 1)).at[:, 7:9, 7:9].set(1.0)
    moved = augment(x, jnp.float32(1.0), ("shift",), jax.random.key(0))[..., 0]
    place = np.arange(16) - 7.5
    centres = np.stack([(moved.sum(2) @ place), (moved.sum(1) @ place)], 1) / 4
    assert np.abs(centres).max() < 2.01
    assert centres.std(0).min() > 0.7  # uniform on ±2: 1.15


def test_half_of_the_rows_at_half_the_probability(rng):
    x = jnp.asarray(rng.normal(size=(400, 4, 4, 1)), jnp.float32)
    changed = np.abs(augment(x, jnp.float32(0.5), ("flip",), jax.random.key(0)) - x).max((1, 2, 3)) > 1e-6
    assert 150 < changed.sum() < 250  # five standard deviations
