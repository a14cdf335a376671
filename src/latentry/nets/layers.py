"""Affine and convolution layers whose first weights are drawn without compiling a program for each of their shapes.

Drawing each weight by `jax.random` compiles once a shape, which takes longer than the first epochs of a small fit. The same
numbers are computed here in NumPy.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TypeVar

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from latentry.random_keys import bits, is_concrete_threefry, split

__all__ = ["convolution", "linear", "uniform"]

Layer = TypeVar("Layer", eqx.nn.Linear, eqx.nn.Conv)


def linear(inputs: int, outputs: int, *, key: PRNGKeyArray) -> eqx.nn.Linear:
    """Build an affine layer with Equinox's own initial weights.

    Args:
        inputs: How many.
        outputs: How many.
        key: Of random numbers.

    Returns:
        The layer.

    >>> layer = linear(3, 2, key=jax.random.key(0))
    >>> bool(np.allclose(layer.weight, eqx.nn.Linear(3, 2, key=jax.random.key(0)).weight, atol=1e-7))
    True
    """
    blank = _blank_linear(inputs, outputs, wide=jax.config.jax_enable_x64)  # type: ignore[attr-defined]
    return _drawn(blank, 1 / math.sqrt(inputs), key)


@lru_cache(maxsize=256)
def _blank_linear(inputs: int, outputs: int, *, wide: bool) -> eqx.nn.Linear:
    """Trace Equinox's layer once for a shape; ``wide`` separates 64-bit numbers."""
    blank: eqx.nn.Linear = eqx.filter_eval_shape(eqx.nn.Linear, inputs, outputs, key=jax.eval_shape(jax.random.key, 0))
    return blank


def convolution(
    axes: int, inputs: int, outputs: int, strides: tuple[int, ...] | int = 1, *, key: PRNGKeyArray
) -> eqx.nn.Conv:
    """Build a convolution of 3 points along each axis, padded by one, with Equinox's own initial weights.

    Args:
        axes: Of the grid.
        inputs: Channels.
        outputs: Channels.
        strides: Along each axis.
        key: Of random numbers.

    Returns:
        The layer.
    """
    blank: eqx.nn.Conv = eqx.filter_eval_shape(eqx.nn.Conv, axes, inputs, outputs, 3, strides, padding=1, key=key)
    return _drawn(blank, 1 / math.sqrt(inputs * 3**axes), key)


def _drawn(blank: Layer, bound: float, key: PRNGKeyArray) -> Layer:
    assert blank.bias is not None
    keys = split(key)
    shapes = (blank.weight.shape, blank.bias.shape)
    weights = tuple(uniform(k, shape, -bound, bound) for k, shape in zip(keys, shapes, strict=True))
    drawn: Layer = eqx.tree_at(lambda layer: (layer.weight, layer.bias), blank, weights)
    return drawn


def uniform(key: PRNGKeyArray, shape: tuple[int, ...], low: float, high: float) -> Array:
    """Draw what ``jax.random.uniform(key, shape, minval=low, maxval=high)`` draws, to the last bit.

    Where a compiled program does not round product and sum at once, the last bit may differ.

    Args:
        key: Of random numbers.
        shape: Of the array.
        low: Least value.
        high: Greatest value.

    Returns:
        The array, on the device.
    """
    if jax.config.jax_enable_x64 or not is_concrete_threefry(key):  # type: ignore[attr-defined]
        return jax.random.uniform(key, shape, minval=low, maxval=high)
    drawn_bits = np.bitwise_xor(*bits(key, math.prod(shape)))
    mantissa = (drawn_bits >> np.uint32(9)) | np.uint32(0x3F800000)  # a float32 between 1 and 2
    unit = mantissa.view(np.float32) - np.float32(1)
    span, least = np.float64(np.float32(high) - np.float32(low)), np.float64(np.float32(low))
    drawn = (unit.astype(np.float64) * span + least).astype(np.float32)  # rounded once, as compiled programs do
    placed: Array = jax.device_put(np.maximum(np.float32(low), drawn).reshape(shape))
    return placed
