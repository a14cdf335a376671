"""Finite distributions and channels, checked at the door."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latentry.errors import DataError

__all__ = [
    "MAX_CELLS",
    "as_channel",
    "as_kernel",
    "as_law",
    "as_laws",
    "as_weights",
    "baseline_channels",
    "constant_channel",
    "copy_channel",
]

Array = NDArray[np.float64]

# Half a gigabyte of float64 for the joint table of domains, observables and latent.
MAX_CELLS = 2**26
_SUM_TOLERANCE = 1e-9


def as_law(table: ArrayLike, *, normalize: bool = False, name: str = "law") -> Array:
    """A table of probabilities, one axis per variable, as float64; counts are scaled if `normalize`.

    >>> as_law([[3, 1], [0, 4]], normalize=True)
    array([[0.375, 0.125],
           [0.   , 0.5  ]])
    """
    law = _numbers(table, name)
    if law.ndim == 0 or law.size == 0:
        raise DataError(f"{name} is an empty table; give one axis per variable")
    if law.size > MAX_CELLS:
        raise DataError(_too_large(name, law.size))
    if (law < 0).any():
        cell = _first_cell(law < 0)
        raise DataError(f"{name} has a negative entry {law[cell]:g} at cell {cell}; probabilities are ≥ 0")
    total = float(law.sum())
    if total == 0:
        raise DataError(f"{name} has no mass: every entry is zero")
    if not normalize and abs(total - 1.0) > _SUM_TOLERANCE:
        raise DataError(f"{name} sums to {total:.6g}, not 1; if these are counts, pass normalize=True")
    return law / total


def as_laws(tables: ArrayLike | Sequence[ArrayLike], *, normalize: bool = False) -> Array:
    """Distributions of several domains over the same observables, stacked: (k, |X_1|, ..., |X_n|)."""
    if not isinstance(tables, list | tuple) and np.ndim(cast("ArrayLike", tables)) == 0:
        raise DataError(f"laws={tables!r} is one number; give one table of probabilities per domain")
    rows = [_numbers(t, f"laws[{j}]") for j, t in enumerate(cast("Sequence[ArrayLike]", tables))]
    if not rows:
        raise DataError("laws is empty; give one table per domain")
    for j, row in enumerate(rows):
        if row.shape != rows[0].shape:
            raise DataError(f"laws[{j}] has shape {row.shape} but laws[0] has {rows[0].shape}")
    if rows[0].ndim < 2:
        raise DataError("laws needs at least two observables: shape (domains, |X_1|, |X_2|, ...)")
    return np.stack([as_law(row, normalize=normalize, name=f"laws[{j}]") for j, row in enumerate(rows)])


def as_channel(channel: ArrayLike, support: NDArray[np.bool_], *, name: str = "channel") -> Array:
    """K(λ|x) with shape support.shape + (|Λ|,), rows summing to one wherever an observable can occur.

    Rows outside the support are never used and may be anything (NaN, zeros); they become uniform.
    """
    table = as_kernel(channel, name)
    if table.shape[:-1] != support.shape:
        raise DataError(
            f"{name} has shape {table.shape}; expected {support.shape} + (|Λ|,): one row of "
            "probabilities over the latent for every cell of the observables"
        )
    if support.size * table.shape[-1] > MAX_CELLS:
        raise DataError(_too_large(name, support.size * table.shape[-1]))
    with np.errstate(invalid="ignore"):
        sums = table.sum(axis=-1)
    bad = support & ~((np.abs(sums - 1.0) <= _SUM_TOLERANCE) & (table >= 0).all(axis=-1))
    if bad.any():
        cell = _first_cell(bad)
        raise DataError(
            f"{name} is not a probability row at cell {cell}, which occurs in the data "
            f"(it is {np.round(table[cell], 6).tolist()}); define K(λ|x) on every cell with mass"
        )
    clean = np.where(support[..., None], table, 1.0 / table.shape[-1])
    return clean / clean.sum(axis=-1, keepdims=True)


def as_kernel(channel: ArrayLike, name: str = "channel") -> Array:
    """A channel as an array of numbers, NaN allowed."""
    try:
        return np.asarray(channel, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise DataError(f"{name} is not a table of numbers: {problem}") from None


def as_weights(weights: ArrayLike | None, k: int) -> Array:
    """Mixture weights over k domains; uniform by default."""
    if weights is None:
        return np.full(k, 1.0 / k)
    alpha = _numbers(weights, "weights")
    if alpha.shape != (k,):
        raise DataError(f"weights has shape {alpha.shape}; there are {k} domains")
    return as_law(alpha, name="weights")


def constant_channel(shape: Sequence[int]) -> Array:
    """The latent that knows nothing."""
    return np.ones((*shape, 1))


def copy_channel(shape: Sequence[int], axis: int) -> Array:
    """The latent that repeats one observable.

    >>> copy_channel((2, 2), 0)[1, 0]
    array([0., 1.])
    """
    rows = np.eye(shape[axis]).reshape([shape[axis] if a == axis else 1 for a in range(len(shape))] + [-1])
    return np.broadcast_to(rows, (*shape, shape[axis])).copy()


def baseline_channels(shape: Sequence[int], names: Sequence[str] | None = None) -> dict[str, Array]:
    """Latents that cost nothing to think of; a candidate must beat them."""
    labels = names or [f"X_{i + 1}" for i in range(len(shape))]
    copies = {f"copy of {label}": copy_channel(shape, i) for i, label in enumerate(labels)}
    return {"constant": constant_channel(shape), **copies}


def _numbers(table: ArrayLike, name: str) -> Array:
    try:
        array = np.asarray(table, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise DataError(f"{name} is not a table of numbers: {problem}") from None
    if not np.isfinite(array).all():
        cell = _first_cell(~np.isfinite(array))
        raise DataError(f"{name} has the entry {array[cell]} at cell {cell}; every entry must be finite")
    return array


def _first_cell(mask: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(mask)[0])


def _too_large(name: str, cells: int) -> str:
    return (
        f"{name} needs a table of {cells:,} cells, more than the {MAX_CELLS:,} of the exact path; "
        "merge levels, use fewer observables, or audit samples with latentry.natural.audit"
    )
