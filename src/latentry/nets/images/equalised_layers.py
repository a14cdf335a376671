"""Layers whose weights are scaled when they are used, so that one learning rate suits them all."""

from __future__ import annotations

import functools
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

__all__ = ["EqualConvolution", "EqualLinear", "convolve", "double", "drawn", "halve", "leaky"]

_LEAK = 0.2


def drawn(key: PRNGKeyArray, *shape: int) -> Array:
    """Draw standard normal weights, in NumPy: there is no program to be compiled for each shape.

    Args:
        key: Of random numbers.
        shape: Of the weights.

    Returns:
        Weights.
    """
    rng = np.random.default_rng(np.asarray(jax.random.key_data(key)))
    return jnp.asarray(rng.standard_normal(shape, dtype=np.float32))


def leaky(x: Array) -> Array:
    """Apply a leaky rectifier that keeps the second moment of a standard normal about 1.

    Args:
        x: Of any shape.

    Returns:
        The same shape.
    """
    return math.sqrt(2.0) * jax.nn.leaky_relu(x, _LEAK)


def convolve(x: Float[Array, "rows h w a"], weight: Float[Array, "k k a b"]) -> Float[Array, "rows h w b"]:
    """Convolve and keep the size; the weight takes the image's precision.

    Args:
        x: Images.
        weight: Kernel, inputs, outputs.

    Returns:
        Images.
    """
    return jax.lax.conv_general_dilated(
        x, weight.astype(x.dtype), (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def double(x: Float[Array, "rows h w c"]) -> Float[Array, "rows H W c"]:
    """Double the resolution: pixels repeated and smoothed with (1, 2, 1)/4, the border held.

    Args:
        x: Images.

    Returns:
        Images of twice the height and width.

    >>> double(jnp.array([0.0, 4.0]).reshape(1, 1, 2, 1))[0, 0, :, 0].tolist()
    [0.0, 1.0, 3.0, 4.0]
    """
    return _doubled(_doubled(x, 1), 2)


def _doubled(x: Array, axis: int) -> Array:
    """Add up shifted arrays: a product with a matrix of zeros and quarters takes longer."""
    size = x.shape[axis]
    part = functools.partial(jax.lax.slice_in_dim, x, axis=axis)
    before = jnp.concatenate([part(0, 1), part(0, size - 1)], axis)
    after = jnp.concatenate([part(1, size), part(size - 1, size)], axis)
    pairs = jnp.stack([0.75 * x + 0.25 * before, 0.75 * x + 0.25 * after], axis + 1)
    return pairs.reshape(*x.shape[:axis], 2 * size, *x.shape[axis + 1 :])


def halve(x: Float[Array, "rows h w c"]) -> Float[Array, "rows H W c"]:
    """Halve the resolution: means of 2 × 2 pixels.

    Args:
        x: Images of even height and width.

    Returns:
        Images of half the height and width.

    >>> halve(jnp.arange(4.0).reshape(1, 2, 2, 1)).item()
    1.5
    """
    rows, height, width, channels = x.shape
    pairs = x.reshape(rows, height // 2, 2 * width * channels)  # two rows of pixels side by side: slices, no reduction
    added = (pairs[..., : width * channels] + pairs[..., width * channels :]).reshape(rows, height // 2, width // 2, -1)
    return 0.25 * (added[..., :channels] + added[..., channels:])


class EqualLinear(eqx.Module):
    r""":math:`x \mapsto \lambda(W x/\sqrt n + b)` with W standard normal at the start.

    ``pace`` λ multiplies what the optimiser sees: a network with 0.1 learns ten times more slowly (Karras et al.,
    *Progressive growing of GANs*, 2018). Rows are whole batches.

    >>> EqualLinear(3, 2, key=jax.random.key(0))(jnp.ones((5, 3))).shape
    (5, 2)
    """

    weight: Float[Array, "a b"]
    bias: Float[Array, " b"]
    gain: float = eqx.field(static=True)
    pace: float = eqx.field(static=True)

    def __init__(self, inputs: int, outputs: int, *, key: PRNGKeyArray, bias: float = 0.0, pace: float = 1.0) -> None:
        self.weight = drawn(key, inputs, outputs) / pace
        self.bias = jnp.full(outputs, bias / pace)
        self.gain, self.pace = pace / math.sqrt(inputs), pace

    def __call__(self, x: Float[Array, "rows a"]) -> Float[Array, "rows b"]:
        return x @ (self.gain * self.weight) + self.pace * self.bias


class EqualConvolution(eqx.Module):
    """A convolution with such weights.

    >>> EqualConvolution(3, 8, 3, key=jax.random.key(0))(jnp.ones((2, 4, 4, 3))).shape
    (2, 4, 4, 8)
    """

    weight: Float[Array, "k k a b"]
    bias: Float[Array, " b"] | None
    gain: float = eqx.field(static=True)

    def __init__(self, inputs: int, outputs: int, width: int, *, key: PRNGKeyArray, bias: bool = True) -> None:
        self.weight = drawn(key, width, width, inputs, outputs)
        self.bias = jnp.zeros(outputs) if bias else None
        self.gain = 1 / math.sqrt(inputs * width**2)

    def __call__(self, x: Float[Array, "rows h w a"]) -> Float[Array, "rows h w b"]:
        convolved = convolve(x, self.gain * self.weight)
        return convolved if self.bias is None else convolved + self.bias.astype(x.dtype)
