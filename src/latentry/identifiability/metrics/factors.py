"""True factors as scores need them: numbers, or codes of a few values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from latentry.errors import DataError
from latentry.identifiability.metrics.matching import Columns

__all__ = ["Factor", "as_factors", "same_rows"]


class Factor(NamedTuple):
    """One true factor."""

    name: str
    values: np.ndarray
    discrete: bool


def as_factors(s: Columns) -> tuple[Factor, ...]:
    """Return factors by name. Integers, booleans and strings are discrete, floats are not.

    Args:
        s: A mapping from name to values (rows,), or columns (rows, factors).

    Returns:
        One factor for each name or column.

    Raises:
        DataError: If there is no factor, or its values are neither finite numbers nor labels.

    >>> [(f.name, f.discrete) for f in as_factors({"size": [0.1, 0.7, 0.2], "shape": ["disc", "ring", "disc"]})]
    [('size', False), ('shape', True)]
    """
    if isinstance(s, Mapping):
        named = {str(name): np.asarray(values) for name, values in s.items()}
    else:
        table = np.asarray(s)
        table = table[:, None] if table.ndim == 1 else table
        if table.ndim != 2:
            raise DataError(f"s has shape {table.shape}, not (rows, factors). Give one column per factor.")
        named = {f"s{i + 1}": table[:, i] for i in range(table.shape[1])}
    if not named:
        raise DataError("s has no factor. Give at least one.")
    return tuple(_factor(name, values) for name, values in named.items())


def _factor(name: str, values: np.ndarray) -> Factor:
    if values.ndim != 1:
        raise DataError(f"factor {name!r} has shape {values.shape}, not (rows,). Give one value per row.")
    if values.dtype.kind in "biuU":
        return Factor(name, values, discrete=True)
    if values.dtype.kind != "f" or not np.isfinite(values).all():
        raise DataError(f"factor {name!r} has values that are neither finite numbers nor labels. Leave them out.")
    return Factor(name, values.astype(np.float64), discrete=False)


def same_rows(z: np.ndarray, factors: tuple[Factor, ...], where: str = "") -> None:
    """Check that there are as many rows of latents as of every factor, and that no factor is constant.

    Args:
        z: Latents, (rows, latents).
        factors: The true factors.
        where: Name of the argument, for errors.

    Raises:
        DataError: If rows differ, or a factor is constant.
    """
    for factor in factors:
        if len(factor.values) != len(z):
            raise DataError(
                f"{where}z has {len(z)} rows and factor {factor.name!r} has {len(factor.values)}. Give the same rows."
            )
        if len(np.unique(factor.values)) < 2:
            raise DataError(f"{where}factor {factor.name!r} is constant. Leave it out.")
