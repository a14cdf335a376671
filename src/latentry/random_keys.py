"""Keys of random numbers, computed in NumPy: JAX compiles a program for each number of keys that are split off.

The generator is Threefry (Salmon et al., *Parallel random numbers: as easy as 1, 2, 3*, 2011): the number at a place depends on the
key and the place alone. Keys are JAX's own, to the last bit; keys of another generator, and keys that are traced, are left to JAX.
"""

from __future__ import annotations

from typing import TypeGuard

import jax
import numpy as np
from jaxtyping import PRNGKeyArray

__all__ = ["bits", "fold_in", "is_concrete_threefry", "split"]

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)


def is_concrete_threefry(key: PRNGKeyArray) -> TypeGuard[PRNGKeyArray]:
    """Say whether a key is a single one of JAX's default generator, and known now.

    Args:
        key: Of random numbers.

    Returns:
        False for traced keys, several keys, and other generators.
    """
    if isinstance(key, jax.core.Tracer) or key.shape or not jax.config.jax_threefry_partitionable:  # type: ignore[attr-defined]
        return False
    return str(jax.random.key_impl(key)) == "threefry2x32"


def split(key: PRNGKeyArray, count: int = 2) -> tuple[PRNGKeyArray, ...]:
    """Return what ``jax.random.split(key, count)`` returns, one by one.

    Args:
        key: Of random numbers.
        count: How many keys.

    Returns:
        So many keys.

    >>> [bool(a == b) for a, b in zip(split(jax.random.key(3), 2), jax.random.split(jax.random.key(3), 2))]
    [True, True]
    """
    if not is_concrete_threefry(key):
        return tuple(jax.random.split(key, count))
    left, right = bits(key, count)
    return tuple(_key(a, b) for a, b in zip(left, right, strict=True))


def fold_in(key: PRNGKeyArray, number: int) -> PRNGKeyArray:
    """Return what ``jax.random.fold_in(key, number)`` returns.

    Args:
        key: Of random numbers.
        number: At least 0, below 2³².

    Returns:
        A key.

    >>> bool(fold_in(jax.random.key(3), 5) == jax.random.fold_in(jax.random.key(3), 5))
    True
    """
    if not is_concrete_threefry(key):
        return jax.random.fold_in(key, number)
    left, right = _threefry(*_words(key), np.zeros(1, np.uint32), np.array([number], np.uint32))
    return _key(left[0], right[0])


def bits(key: PRNGKeyArray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw two random 32-bit numbers for each of so many places.

    Args:
        key: A concrete key of Threefry.
        count: How many places.

    Returns:
        Two arrays.
    """
    place = np.arange(count, dtype=np.uint64)
    high, low = (place >> np.uint64(32)).astype(np.uint32), place.astype(np.uint32)
    return _threefry(*_words(key), high, low)


def _words(key: PRNGKeyArray) -> tuple[np.uint32, np.uint32]:
    first, second = np.asarray(jax.random.key_data(key))
    return first, second


def _key(left: np.uint32, right: np.uint32) -> PRNGKeyArray:
    words = jax.device_put(np.array([left, right], np.uint32))
    key: PRNGKeyArray = jax.random.wrap_key_data(words, impl="threefry2x32")
    return key


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
