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
    """Return a table of probabilities, one axis per variable, as float64.

    Cost: linear in the cells of the table.

    >>> as_law([[3, 1], [0, 4]], normalize=True)
    array([[0.375, 0.125],
           [0.   , 0.5  ]])

    Args:
        table: Probabilities that sum to one, or counts with `normalize`.
        normalize: Whether to divide by the sum.
        name: What errors call the table.

    Returns:
        The table, of the same shape, with sum one.

    Raises:
        DataError: If the table is empty, too large, not finite, negative somewhere, without mass, or does not sum to
            one.
    """
    law = _numbers(table, name)
    if law.ndim == 0 or law.size == 0:
        raise DataError(f"{name}: is an empty table. Give one axis per variable.")
    if law.size > MAX_CELLS:
        raise DataError(_too_large(name, law.size))
    if (law < 0).any():
        cell = _first_cell(law < 0)
        raise DataError(f"{name}: has a negative entry {law[cell]:g} at cell {cell}. Give probabilities ≥ 0.")
    total = float(law.sum())
    if total == 0:
        raise DataError(f"{name}: has no mass, every entry is zero. Give probabilities that sum to 1.")
    if not normalize and abs(total - 1.0) > _SUM_TOLERANCE:
        raise DataError(f"{name}: sums to {total:.6g}, not 1. If these are counts, pass normalize=True.")
    return law / total


def as_laws(tables: ArrayLike | Sequence[ArrayLike], *, normalize: bool = False) -> Array:
    """Stack the distributions of several domains over the same observables.

    Cost: linear in the cells of the table.

    Args:
        tables: One table of probabilities per domain, all of one shape with at least one axis per observable.
        normalize: Whether to divide each table by its sum.

    Returns:
        An array (k, |X_1|, ..., |X_n|).

    Raises:
        DataError: If there is no table, shapes differ, or a table is not a distribution.
    """
    if not isinstance(tables, list | tuple) and np.ndim(cast("ArrayLike", tables)) == 0:
        raise DataError(f"laws={tables!r}: is one number. Give one table of probabilities per domain.")
    rows = [_numbers(t, f"laws[{j}]") for j, t in enumerate(cast("Sequence[ArrayLike]", tables))]
    if not rows:
        raise DataError("laws: is empty. Give one table per domain.")
    for j, row in enumerate(rows):
        if row.shape != rows[0].shape:
            raise DataError(
                f"laws[{j}]: has shape {row.shape}, but laws[0] has {rows[0].shape}. Give all domains the same observables."
            )
    if rows[0].ndim < 2:
        raise DataError("laws: needs at least two observables. Give the shape (domains, |X_1|, |X_2|, ...).")
    return np.stack([as_law(row, normalize=normalize, name=f"laws[{j}]") for j, row in enumerate(rows)])


def as_channel(channel: ArrayLike, support: NDArray[np.bool_], *, name: str = "channel") -> Array:
    """Check a channel K(λ|x) whose rows sum to one wherever an observable can occur.

    Rows outside the support are never used and may be anything (NaN, zeros); they become uniform.

    Cost: linear in the cells of the table.

    Args:
        channel: (|X_1|, ..., |X_n|, |Λ|) probabilities.
        support: (|X_1|, ..., |X_n|), True for cells with mass.
        name: What errors call the channel.

    Returns:
        The channel as float64, of shape support.shape + (|Λ|,).

    Raises:
        DataError: If the shape does not fit, the table is too large, or a row with mass is no distribution.
    """
    table = as_kernel(channel, name)
    if table.shape[:-1] != support.shape:
        raise DataError(
            f"{name}: has shape {table.shape}; expected {support.shape} + (|Λ|,). Give one row of "
            "probabilities over the latent for every cell of the observables."
        )
    if support.size * table.shape[-1] > MAX_CELLS:
        raise DataError(_too_large(name, support.size * table.shape[-1]))
    with np.errstate(invalid="ignore"):
        sums = table.sum(axis=-1)
    bad = support & ~((np.abs(sums - 1.0) <= _SUM_TOLERANCE) & (table >= 0).all(axis=-1))
    if bad.any():
        cell = _first_cell(bad)
        raise DataError(
            f"{name}: is not a probability row at cell {cell}, which occurs in the data "
            f"(it is {np.round(table[cell], 6).tolist()}). Define K(λ|x) on every cell with mass."
        )
    clean: Array = np.where(support[..., None], table, 1.0 / table.shape[-1])
    total: Array = clean.sum(axis=-1, keepdims=True)
    return clean / total


def as_kernel(channel: ArrayLike, name: str = "channel") -> Array:
    """Return a channel as an array of numbers, NaN allowed.

    Args:
        channel: A table of numbers.
        name: What errors call the channel.

    Returns:
        The table as float64.

    Raises:
        DataError: If it does not hold numbers.
    """
    try:
        return np.asarray(channel, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise DataError(f"{name}: is not a table of numbers ({problem}). Give an array of probabilities.") from None


def as_weights(weights: ArrayLike | None, k: int) -> Array:
    """Check mixture weights over k domains; uniform by default.

    Args:
        weights: (k,) numbers ≥ 0 with sum one, or None.
        k: Number of domains.

    Returns:
        The weights (k,) as float64.

    Raises:
        DataError: If there are not k of them, or they are no distribution.
    """
    if weights is None:
        return np.full(k, 1.0 / k)
    alpha = _numbers(weights, "weights")
    if alpha.shape != (k,):
        raise DataError(f"weights: has shape {alpha.shape}; there are {k} domains. Give one weight per domain.")
    return as_law(alpha, name="weights")


def constant_channel(shape: Sequence[int]) -> Array:
    """Return the channel of the constant latent, which carries no information.

    Cost: linear in the cells of the table.

    Args:
        shape: Number of values of each observable.

    Returns:
        Ones of shape (*shape, 1).
    """
    return np.ones((*shape, 1))


def copy_channel(shape: Sequence[int], axis: int) -> Array:
    """Return the channel of the latent that repeats one observable.

    Cost: linear in the cells of the table.

    >>> copy_channel((2, 2), 0)[1, 0]
    array([0., 1.])

    Args:
        shape: Number of values of each observable.
        axis: The observable to repeat.

    Returns:
        Zeros and ones of shape (*shape, shape[axis]).
    """
    rows = np.eye(shape[axis]).reshape([shape[axis] if a == axis else 1 for a in range(len(shape))] + [-1])
    return np.broadcast_to(rows, (*shape, shape[axis])).copy()


def baseline_channels(shape: Sequence[int], names: Sequence[str] | None = None) -> dict[str, Array]:
    """List the trivial latents that a candidate must beat: the constant and a copy of each observable.

    Args:
        shape: Number of values of each observable.
        names: Of the observables; X_1, X_2, ... by default.

    Returns:
        Channels by name.
    """
    labels = names or [f"X_{i + 1}" for i in range(len(shape))]
    copies = {f"copy of {label}": copy_channel(shape, i) for i, label in enumerate(labels)}
    return {"constant": constant_channel(shape), **copies}


def _numbers(table: ArrayLike, name: str) -> Array:
    try:
        array = np.asarray(table, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise DataError(f"{name}: is not a table of numbers ({problem}). Give an array of probabilities.") from None
    if not np.isfinite(array).all():
        cell = _first_cell(~np.isfinite(array))
        raise DataError(f"{name}: has the entry {array[cell]} at cell {cell}. Every entry must be finite.")
    return array


def _first_cell(mask: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(mask)[0])


def _too_large(name: str, cells: int) -> str:
    return (
        f"{name}: needs a table of {cells:,} cells, more than the {MAX_CELLS:,} of the exact path. "
        "Merge levels, use fewer observables, or audit samples with latentry.natural.audit."
    )
