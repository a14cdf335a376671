"""Columns of a file (one row per cell, or one row per observation) as distributions and a channel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latentry.errors import DataError
from latentry.natural.distributions import MAX_CELLS
from latentry.natural.entropies import mutual_information

__all__ = ["Tables", "from_columns"]

Array = NDArray[np.float64]


_COUNTED = (
    "These are counts of {} rows: the errors are exact for the table, not for the distribution it was drawn from; "
    "audit the rows for that."
)
_SHIFTING = (
    "The domains disagree about K(λ|x), which they should share: I(Λ; domain|X) = {:.3g} nats; the pooled one was used."
)


@dataclass(frozen=True, eq=False)
class Tables:
    """What the columns say.

    Args:
        laws: (k, |X_1|, ..., |X_n|), one per domain.
        channel: (|X_1|, ..., |X_n|, |Λ|), pooled over the domains; NaN where no row falls.
        weights: Fraction of each domain in the rows.
        observables: Levels of each observable, by name.
        latents: Levels of the latent.
        domains: Levels of the domain.
        rows: Total count when the file holds counts; None for probabilities.
        channel_drift: I(Λ; J|X) in nats: how far the domains disagree about the channel they should share.
    """

    laws: Array
    channel: Array
    weights: Array
    observables: Mapping[str, tuple[str, ...]]
    latents: tuple[str, ...]
    domains: tuple[str, ...]
    rows: int | None
    channel_drift: float

    @property
    def notes(self) -> tuple[str, ...]:
        """Say what a reader of exact errors from this table should know."""
        counted = () if self.rows is None else (_COUNTED.format(self.rows),)
        shifting = () if self.channel_drift < 0.01 else (_SHIFTING.format(self.channel_drift),)
        return (*counted, *shifting)


def from_columns(
    observables: Mapping[str, ArrayLike],
    latent: ArrayLike,
    *,
    domain: ArrayLike | None = None,
    mass: ArrayLike | None = None,
) -> Tables:
    """Count columns of labels into distributions and a channel.

    Without `mass`, every row is one observation. With it, a row is a cell: whole numbers are counts, anything
    else probabilities that sum to one in each domain (or over all domains).

    Cost: linear in the rows, and in the cells of the table, the product of the numbers of values.

    >>> t = from_columns({"A": ["x", "x", "y"], "B": [0, 1, 1]}, ["u", "u", "v"])
    >>> t.laws.shape, t.channel.shape, t.latents, t.rows
    ((1, 2, 2), (2, 2, 2), ('u', 'v'), 3)

    Args:
        observables: One column of labels per observable, by name.
        latent: One label per row.
        domain: One label per row; one domain by default.
        mass: Count or probability of each row; one observation per row by default.

    Returns:
        Distributions, channel, weights and the levels of every column.

    Raises:
        DataError: If there are fewer than two observables, a column is empty somewhere or of another length, the mass
            is neither counts nor probabilities, or the table is too large.
    """
    if len(observables) < 2:
        raise DataError(
            f"observables={list(observables)}: a natural latent needs at least two observables. Name another column."
        )
    rows = len(np.asarray(latent))
    coded = {name: _levels(column, name, rows) for name, column in observables.items()}
    hidden = _levels(latent, "latent", rows)
    place = _levels(np.zeros(rows, dtype=int) if domain is None else domain, "domain", rows)
    heaps, total = _masses(mass, rows, place)
    shape = [len(place[0]), *(len(levels) for levels, _ in coded.values()), len(hidden[0])]
    if int(np.prod(shape)) > MAX_CELLS:
        raise DataError(
            f"observables: the columns need a table of {int(np.prod(shape)):,} cells, more than {MAX_CELLS:,}. "
            "Merge levels, or audit the rows with latentry.natural.audit."
        )
    table = np.zeros(shape)
    np.add.at(table, (place[1], *(codes for _, codes in coded.values()), hidden[1]), heaps)
    return _split(table, coded, hidden[0], place[0], total)


def _levels(column: ArrayLike, name: str, rows: int) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    values = np.asarray(column)
    if values.ndim != 1 or len(values) != rows:
        raise DataError(
            f"column {name!r}: has shape {values.shape}; the latent has {rows} rows. Give one label per row."
        )
    if not rows:
        raise DataError(f"column {name!r}: the table has no rows. Give at least one.")
    empty = [row for row, value in enumerate(values.tolist()) if value is None or value != value]
    if empty:
        raise DataError(f"column {name!r}: is empty in row {empty[0]}. Fill it in, or leave the row out.")
    values = values.astype(str) if values.dtype.kind == "O" else values
    levels, codes = np.unique(values, return_inverse=True)
    return tuple(str(level) for level in levels), codes


def _masses(
    mass: ArrayLike | None, rows: int, place: tuple[tuple[str, ...], NDArray[np.intp]]
) -> tuple[Array, int | None]:
    if mass is None:
        return np.ones(rows), rows
    heaps = np.asarray(mass, dtype=np.float64)
    if heaps.shape != (rows,):
        raise DataError(f"mass: has shape {heaps.shape}; there are {rows} rows. Give one number per row.")
    if not np.isfinite(heaps).all() or (heaps < 0).any():
        row = int(np.flatnonzero(~(heaps >= 0) | ~np.isfinite(heaps))[0])
        raise DataError(
            f"mass={heaps[row]} in row {row}: counts and probabilities are finite and ≥ 0. Correct the row."
        )
    sums = np.bincount(place[1], weights=heaps)
    if (sums == 0).any():
        raise DataError(f"domain {place[0][int(np.argmin(sums))]!r}: has no mass. Leave it out.")
    certain = bool((sums == 1).all())  # a distribution of certainties in each domain looks like counts
    if np.array_equal(heaps, np.round(heaps)) and heaps.sum() > 1.5 and not certain:
        return heaps, int(heaps.sum())
    if np.allclose(sums, 1.0, atol=1e-6) or np.isclose(sums.sum(), 1.0, atol=1e-6):
        return heaps, None
    raise DataError(
        f"mass: sums to {sums[0]:.6g} in domain {place[0][0]!r}. Give counts (whole numbers) or "
        "probabilities (sum 1 in each domain, or over all)."
    )


def _split(
    table: Array,
    coded: Mapping[str, tuple[tuple[str, ...], NDArray[np.intp]]],
    latents: tuple[str, ...],
    domains: tuple[str, ...],
    total: int | None,
) -> Tables:
    cells = table.sum(axis=-1)
    totals = cells.reshape(len(cells), -1).sum(axis=1)
    pooled = table.sum(axis=0)
    with np.errstate(invalid="ignore"):
        channel = pooled / pooled.sum(axis=-1, keepdims=True)
    last = table.ndim - 1
    drift = mutual_information(table / table.sum(), [0], [last], list(range(1, last)))
    return Tables(
        laws=cells / totals.reshape([-1] + [1] * (cells.ndim - 1)),
        channel=channel,
        weights=totals / totals.sum(),
        observables={name: levels for name, (levels, _) in coded.items()},
        latents=latents,
        domains=domains,
        rows=total,
        channel_drift=max(0.0, drift),
    )
