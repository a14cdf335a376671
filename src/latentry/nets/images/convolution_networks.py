"""Convolutional encoders and decoders for curves and images.

Rows come as they lie in the data, channels last: a curve is (length, channels), an image (height, width) or
(height, width, channels). Each layer halves or doubles the resolution until about four points are left per axis.
"""

from __future__ import annotations

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from latentry.nets.dense import Activation, Dense
from latentry.nets.images.convolution_steps import convolve, convolve_doubled
from latentry.nets.layers import convolution, linear

__all__ = ["ConvolutionDecoder", "ConvolutionEncoder", "spatial"]

_DOUBLINGS = 2  # of the channels: more would cost much on long curves and large images, and help little
_SMALLEST = 4  # points per axis where convolution ends and a dense layer takes over


def spatial(shape: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
    """Return the axes that convolution moves over, and the number of channels.

    Args:
        shape: Of a row.

    Returns:
        Sizes of the axes, and channels.

    >>> spatial((28, 28)), spatial((32, 32, 3)), spatial((100, 2))
    (((28, 28), 1), ((32, 32), 3), ((100,), 2))
    """
    if len(shape) == 2 and shape[-1] > 4:
        return shape, 1
    return shape[:-1], shape[-1]


def _sizes(axes: tuple[int, ...]) -> list[tuple[int, ...]]:
    sizes = [axes]
    while max(sizes[-1]) > _SMALLEST:
        sizes.append(tuple(-(-length // 2) if length > _SMALLEST else length for length in sizes[-1]))
    return sizes


def _strides(before: tuple[int, ...], after: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(1 if a == b else 2 for a, b in zip(before, after, strict=True))


class ConvolutionEncoder(eqx.Module):
    """Strided convolutions, then a dense layer.

    >>> net = ConvolutionEncoder((28, 28), 4, width=8, key=jax.random.key(0))
    >>> net(jnp.ones((28, 28))).shape
    (4,)
    """

    layers: tuple[eqx.nn.Conv, ...]
    head: Dense

    def __init__(self, shape: tuple[int, ...], outputs: int, *, width: int, key: PRNGKeyArray) -> None:
        axes, channels = spatial(shape)
        sizes = _sizes(axes)
        keys = jax.random.split(key, len(sizes))
        layers = []
        for level, (before, after) in enumerate(zip(sizes[:-1], sizes[1:], strict=True)):
            wide = width * 2 ** min(level, _DOUBLINGS)
            layers.append(convolution(len(axes), channels, wide, _strides(before, after), key=keys[level]))
            channels = wide
        self.layers = tuple(layers)
        self.head = Dense(channels * math.prod(sizes[-1]), outputs, (), key=keys[-1])

    def __call__(self, x: Float[Array, "..."]) -> Float[Array, " outputs"]:
        y = x[..., None] if spatial(x.shape)[0] == x.shape else x
        for layer in self.layers:
            y = jax.nn.gelu(convolve(y, layer.weight, layer.stride) + _bias(layer))
        return self.head(jnp.moveaxis(y, -1, 0).reshape(-1))

    def in_words(self) -> str:
        """Name the channels."""
        channels = [layer.out_channels for layer in self.layers]
        return f"convolutions, {_joined(channels)} channels, then {self.head.in_words()}"


class ConvolutionDecoder(eqx.Module):
    """A dense layer, convolutions on doubled grids (resized, not transposed: no checkerboards), a linear map of each point.

    >>> net = ConvolutionDecoder(2, (100, 2), parameters=1, width=8, key=jax.random.key(0))
    >>> net(jnp.ones(2)).shape
    (100, 2, 1)
    """

    head: Dense
    layers: tuple[eqx.nn.Conv, ...]
    last: eqx.nn.Linear
    sizes: tuple[tuple[int, ...], ...] = eqx.field(static=True)
    shape: tuple[int, ...] = eqx.field(static=True)
    parameters: int = eqx.field(static=True)
    activation: Activation = eqx.field(static=True)

    def __init__(
        self,
        inputs: int,
        shape: tuple[int, ...],
        *,
        parameters: int,
        width: int,
        key: PRNGKeyArray,
        activation: Activation = jax.nn.gelu,
    ) -> None:
        self.activation = activation
        axes, channels = spatial(shape)
        self.sizes = tuple(reversed(_sizes(axes)))
        self.shape, self.parameters = shape, parameters
        levels = len(self.sizes) - 1
        keys = jax.random.split(key, levels + 2)
        wide = [width * 2 ** min(max(levels - 1 - level, 0), _DOUBLINGS) for level in range(levels + 1)]
        self.head = Dense(inputs, wide[0] * math.prod(self.sizes[0]), (), key=keys[0])
        self.layers = tuple(
            convolution(len(axes), wide[level], wide[level + 1], key=keys[level + 1]) for level in range(levels)
        )
        self.last = linear(wide[-1], channels * parameters, key=keys[-1])

    def __call__(self, z: Float[Array, " inputs"]) -> Float[Array, "..."]:
        y = jnp.moveaxis(self.activation(self.head(z)).reshape(-1, *self.sizes[0]), 0, -1)
        for layer, size in zip(self.layers, self.sizes[1:], strict=True):
            y = self.activation(_convolve_resized(y, layer.weight, size) + _bias(layer))
        y = y @ self.last.weight.T + _bias(self.last)  # point by point: few outputs are slow to convolve
        return y.reshape(*self.shape, self.parameters)

    def in_words(self) -> str:
        """Name the channels."""
        channels = [layer.out_channels for layer in self.layers]
        return f"{self.head.in_words()}, then convolutions, {_joined(channels)} channels"


def _bias(layer: eqx.nn.Conv | eqx.nn.Linear) -> Array:
    assert layer.bias is not None
    return layer.bias.reshape(-1)


def _joined(numbers: list[int]) -> str:
    return " → ".join(map(str, numbers)) or "no"


def _convolve_resized(y: Array, weight: Array, size: tuple[int, ...]) -> Array:
    """Convolve on a larger grid, each point of which repeats the nearest point of the grid before."""
    before = y.shape[:-1]
    if all(after in (n, 2 * n) for n, after in zip(before, size, strict=True)):
        return convolve_doubled(y, weight, tuple(after != n for n, after in zip(before, size, strict=True)))
    return convolve(jax.image.resize(y, (*size, y.shape[-1]), "nearest"), weight)
