"""Affine and convolution layers whose first weights are drawn without compiling a program for each of their shapes.

Drawing each weight by `jax.random` compiles once a shape, which takes longer than the first epochs of a small fit. The same
numbers are computed here in NumPy: the generator is Threefry (Salmon et al., *Parallel random numbers: as easy as 1, 2, 3*,
2011), and the number at a place depends on the key and the place alone.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TypeVar

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, PRNGKeyArray

__all__ = ["convolution", "linear", "uniform"]

Layer = TypeVar("Layer", eqx.nn.Linear, eqx.nn.Conv)
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)


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
    keys = jax.random.split(key, 2)
    shapes = (blank.weight.shape, blank.bias.shape)
    weights = tuple(uniform(k, shape, -bound, bound) for k, shape in zip(keys, shapes, strict=True))
    drawn: Layer = eqx.tree_at(lambda layer: (layer.weight, layer.bias), blank, weights)
    return drawn


def uniform(key: PRNGKeyArray, shape: tuple[int, ...], low: float, high: float) -> Array:
    """Draw what ``jax.random.uniform(key, shape, minval=low, maxval=high)`` draws, to the last bit but one.

    Args:
        key: Of random numbers.
        shape: Of the array.
        low: Least value.
        high: Greatest value.

    Returns:
        The array, on the device.
    """
    unlike = isinstance(key, jax.core.Tracer) or jax.config.jax_enable_x64  # type: ignore[attr-defined]
    if unlike or str(jax.random.key_impl(key)) != "threefry2x32" or not jax.config.jax_threefry_partitionable:  # type: ignore[attr-defined]
        return jax.random.uniform(key, shape, minval=low, maxval=high)
    place = np.arange(math.prod(shape), dtype=np.uint64)
    first, second = np.asarray(jax.random.key_data(key))
    bits = np.bitwise_xor(
        *_threefry(first, second, (place >> np.uint64(32)).astype(np.uint32), place.astype(np.uint32))
    )
    mantissa = (bits >> np.uint32(9)) | np.uint32(0x3F800000)  # a float32 between 1 and 2
    unit = mantissa.view(np.float32) - np.float32(1)
    drawn = unit * np.float32(np.float32(high) - np.float32(low)) + np.float32(low)
    placed: Array = jax.device_put(np.maximum(np.float32(low), drawn).reshape(shape))
    return placed


def _threefry(
    first: np.uint32, second: np.uint32, left: np.ndarray, right: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Scramble pairs of 32-bit counters in twenty rounds (Threefry-2x32)."""
    keys = (first, second, first ^ second ^ _PARITY)
    left, right = left + keys[0], right + keys[1]
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            left = left + right
            right = left ^ ((right << np.uint32(rotation)) | (right >> np.uint32(32 - rotation)))
        left = left + keys[(group + 1) % 3]
        right = right + keys[(group + 2) % 3] + np.uint32(group + 1)
    return left, right
