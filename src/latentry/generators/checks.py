"""Sentences for parameters that no generator can use."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from latentry.errors import DataError, nearest

__all__ = ["check_choice", "check_counts", "check_images", "check_positive", "check_seed"]


def check_counts(least: int = 1, **counts: Any) -> None:
    """Whole numbers of at least ``least``.

    >>> check_counts(domains=2.5)
    Traceback (most recent call last):
    latentry.errors.DataError: domains = 2.5: give a whole number of at least 1.
    """
    for name, value in counts.items():
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not whole or value < least:
            raise DataError(f"{name} = {value!r}: give a whole number of at least {least}.")


def check_seed(seed: Any) -> None:
    """A seed is a whole number of at least 0."""
    check_counts(0, seed=seed)


def check_choice(name: str, value: Any, options: Iterable[str]) -> None:
    """One of a few words."""
    if value not in tuple(options):
        raise DataError(f"{name} = {value!r} is not known{nearest(str(value), options)}")


def check_positive(name: str, value: Any, *, zero: bool = False) -> None:
    """A finite number above 0, or from 0 on."""
    number = isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value < 0 or (value == 0 and not zero):
        raise DataError(f"{name} = {value!r}: give a finite number {'of at least' if zero else 'above'} 0.")


def check_images(images: Any) -> np.ndarray:
    """Return square colour images (rows, size, size, 3) in double precision."""
    values = np.asarray(images, dtype=np.float64)
    if values.ndim != 4 or values.shape[1] != values.shape[2] or values.shape[3] != 3:
        raise DataError(f"images has shape {values.shape}: give (rows, size, size, 3).")
    return values
