"""Sentences for parameters that no generator can use."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from latentry.errors import DataError, nearest

__all__ = ["check_choice", "check_counts", "check_images", "check_positive", "check_probability", "check_seed"]


def check_counts(least: int = 1, **counts: object) -> None:
    """Check that numbers are whole and at least ``least``.

    Args:
        least: Smallest value.
        counts: By the name of the parameter.

    Raises:
        DataError: If one is not; it names the parameter.

    >>> check_counts(domains=2.5)
    Traceback (most recent call last):
    latentry.errors.DataError: domains=2.5: it is no count. Give a whole number of at least 1.
    """
    for name, value in counts.items():
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise DataError(f"{name}={value!r}: it is no count. Give a whole number of at least {least}.")


def check_probability(**values: object) -> None:
    """Check that numbers lie between 0 and 1.

    Args:
        values: By the name of the parameter.

    Raises:
        DataError: If one does not; it names the parameter.

    >>> check_probability(edges=2)
    Traceback (most recent call last):
    latentry.errors.DataError: edges=2: it is no probability. Give a number from 0 to 1.
    """
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 <= value <= 1:
            raise DataError(f"{name}={value!r}: it is no probability. Give a number from 0 to 1.")


def check_seed(seed: object) -> None:
    """Check that a seed is a whole number of at least 0.

    Args:
        seed: Of random numbers.

    Raises:
        DataError: If it is not.
    """
    check_counts(0, seed=seed)


def check_choice(name: str, value: object, options: Iterable[str]) -> None:
    """Check that a word is known.

    Args:
        name: Of the parameter.
        value: What was given.
        options: Known words.

    Raises:
        DataError: If it is not known; it names the nearest.
    """
    if value not in tuple(options):
        raise DataError(f"{name}={value!r} is not known{nearest(str(value), options)}")


def check_positive(name: str, value: object, *, zero: bool = False) -> None:
    """Check that a number is finite and above 0, or from 0 on.

    Args:
        name: Of the parameter.
        value: What was given.
        zero: Whether 0 will do.

    Raises:
        DataError: If it is not.
    """
    least = "of at least 0" if zero else "above 0"
    if isinstance(value, bool) or not isinstance(value, (int, float, np.floating, np.integer)):
        raise DataError(f"{name}={value!r}: it is no number. Give a finite number {least}.")
    if not math.isfinite(value) or value < 0 or (value == 0 and not zero):
        raise DataError(f"{name}={value!r}: it is out of range. Give a finite number {least}.")


def check_images(images: ArrayLike) -> np.ndarray:
    """Return square colour images (rows, size, size, 3) in double precision.

    Args:
        images: (rows, size, size, 3).

    Returns:
        The same in double precision.

    Raises:
        DataError: If they have another shape.
    """
    values = np.asarray(images, dtype=np.float64)
    if values.ndim != 4 or values.shape[1] != values.shape[2] or values.shape[3] != 3:
        raise DataError(f"images: they have shape {values.shape}. Give (rows, size, size, 3).")
    return values
