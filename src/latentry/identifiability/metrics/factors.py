"""True factors as scores need them: numbers, or codes of a few values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from latentry.errors import DataError

__all__ = ["Factor", "as_factors", "same_rows"]


class Factor(NamedTuple):
    """One true factor."""

    name: str
    values: np.ndarray
    discrete: bool


def as_factors(s: Any) -> tuple[Factor, ...]:
    """A mapping from name to values, or columns. Integers, booleans and strings are discrete, floats are not.

    >>> [(f.name, f.discrete) for f in as_factors({"size": [0.1, 0.7, 0.2], "shape": ["disc", "ring", "disc"]})]
    [('size', False), ('shape', True)]
    """
    if isinstance(s, Mapping):
        named = {str(name): np.asarray(values) for name, values in s.items()}
    else:
        table = np.asarray(s)
        table = table[:, None] if table.ndim == 1 else table
        if table.ndim != 2:
            raise DataError(f"s has shape {table.shape}: give one column per factor.")
        named = {f"s{i + 1}": table[:, i] for i in range(table.shape[1])}
    if not named:
        raise DataError("s has no factor.")
    return tuple(_factor(name, values) for name, values in named.items())


def _factor(name: str, values: np.ndarray) -> Factor:
    if values.ndim != 1:
        raise DataError(f"factor {name!r} has shape {values.shape}: give one value per row.")
    if values.dtype.kind in "biuU":
        return Factor(name, values, discrete=True)
    if values.dtype.kind != "f" or not np.isfinite(values).all():
        raise DataError(f"factor {name!r} must hold finite numbers, or labels.")
    return Factor(name, values.astype(np.float64), discrete=False)


def same_rows(z: np.ndarray, factors: tuple[Factor, ...], where: str = "") -> None:
    """As many rows of latents as of every factor, none of them constant."""
    for factor in factors:
        if len(factor.values) != len(z):
            raise DataError(f"{where}z has {len(z)} rows and factor {factor.name!r} has {len(factor.values)}.")
        if len(np.unique(factor.values)) < 2:
            raise DataError(f"{where}factor {factor.name!r} is constant: leave it out.")
