"""Random numbers: a stream of its own for every purpose.

A generator seeded by the seed alone gives the same numbers to everyone who uses that seed: a test that shuffles by
``default_rng(0)`` repeats the draws of data that were made with ``default_rng(0)``, and finds dependence where there is none.
"""

from __future__ import annotations

import hashlib
from numbers import Integral

import numpy as np

from latentry.errors import DataError

__all__ = ["stream", "stream_seed"]


def stream(purpose: str, seed: int) -> np.random.Generator:
    """Return the generator of a purpose: independent of those of other purposes and of ``default_rng(seed)``.

    Args:
        purpose: What the numbers are for, such as "information/permutations".
        seed: The caller's seed.

    Returns:
        A new generator, the same for the same purpose and seed.

    Raises:
        DataError: If the seed is no whole number of at least 0.

    >>> a, b = stream("shuffles", 0), stream("folds", 0)
    >>> bool(a.random() == stream("shuffles", 0).random()), bool(a.random() == b.random())
    (True, False)
    """
    return np.random.default_rng(_words(purpose, seed))


def stream_seed(purpose: str, seed: int) -> int:
    """Return the seed of a purpose, for generators that take one number, such as the keys of JAX.

    Args:
        purpose: What the numbers are for.
        seed: The caller's seed.

    Returns:
        A number from 0 to 2³¹ − 1.

    Raises:
        DataError: If the seed is no whole number of at least 0.

    >>> stream_seed("critic", 0) == stream_seed("critic", 0), stream_seed("critic", 0) == stream_seed("flow", 0)
    (True, False)
    """
    return int(np.random.SeedSequence(_words(purpose, seed)).generate_state(1)[0] >> 1)


def _words(purpose: str, seed: int) -> list[int]:
    """Return the entropy: four numbers from the purpose, then the seed."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise DataError(f"seed={seed!r}: it is no whole number of at least 0. Give one, for instance 0.")
    digest = hashlib.sha256(purpose.encode()).digest()
    return [*(int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4)), int(seed)]
