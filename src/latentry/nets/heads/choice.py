"""The head of a name."""

from __future__ import annotations

import math

import jax
import numpy as np
from jaxtyping import Array

from latentry.errors import DataError, nearest
from latentry.nets.heads.bernoulli import Bernoulli
from latentry.nets.heads.categorical import Categorical
from latentry.nets.heads.concrete import Concrete
from latentry.nets.heads.counts import NegativeBinomial, Poisson
from latentry.nets.heads.gaussian import Gaussian
from latentry.nets.heads.head import Head

__all__ = ["DISCRETE", "HEADS", "head_for"]

HEADS = ("gaussian", "bernoulli", "categorical", "poisson", "negative_binomial", "concrete")
DISCRETE = frozenset({"bernoulli", "categorical", "poisson", "negative_binomial"})


def head_for(
    name: str, shape: tuple[int, ...], *, levels: int = 0, scale: float | None = None, temperature: float = 0.5
) -> Head:
    """Return the head of that name for rows of a shape.

    Args:
        name: One of ``HEADS``.
        shape: Of a row.
        levels: Of "categorical".
        scale: Fixes the standard deviation of "gaussian"; None learns it.
        temperature: Of "concrete".

    Returns:
        The head.

    Raises:
        DataError: If the name is not known.
    """
    if name == "gaussian":
        # A learned scale starts below the data's own spread: at the spread, a latent may look not worth its cost.
        return Gaussian(_constants(shape, -1.0 if scale is None else math.log(scale)), learned=scale is None)
    if name == "categorical":
        return Categorical(levels)
    if name == "concrete":
        return Concrete(temperature)
    if name == "negative_binomial":
        return NegativeBinomial(_constants(shape, 0.0))
    if name in HEADS:
        return {"bernoulli": Bernoulli, "poisson": Poisson}[name]()
    raise DataError(f"likelihood={name!r} is not known{nearest(name, HEADS)}")


def _constants(shape: tuple[int, ...], value: float) -> Array:
    """One for each column of a table, or for each channel of curves and images."""
    columns = shape if len(shape) == 1 else shape[-1:] if shape[-1] <= 4 else ()
    start: Array = jax.device_put(np.full(columns, value, dtype=np.float32))
    return start
