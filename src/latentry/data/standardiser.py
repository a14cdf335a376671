"""Shift and scale, kept so that they can be undone."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from latentry.data.inputs import RowIndex, StoredRows
from latentry.data.lazy_rows import LazyRows, blocks
from latentry.errors import DataWarning

if TYPE_CHECKING:
    from latentry.data.dataset import Dataset

__all__ = ["StandardisedRows", "Standardiser", "moments", "unit_columns"]


@dataclass(frozen=True, eq=False)
class Standardiser:
    r"""Per modality :math:`x \mapsto (x - m)/s`.

    Tables are scaled column by column; curves and images have one scale per channel,
    because a pixel that never changes is part of an image, not a column without information.
    """

    shift: dict[str, np.ndarray]
    scale: dict[str, np.ndarray]

    @classmethod
    def of(cls, data: Dataset, names: Iterable[str] | None = None) -> Standardiser:
        """Return the statistics of what was observed.

        Args:
            data: The rows.
            names: Of the modalities; all of them by default.

        Returns:
            Shift and scale of each.
        """
        shift, scale = {}, {}
        for name in data.names if names is None else names:
            shift[name], scale[name] = _statistics(data[name], data.observed[name])
            _warn_constant(data, name, scale[name])
            scale[name] = np.where(scale[name] > 0, scale[name], 1.0)
        return cls(shift, scale)

    def apply(self, name: str, values: np.ndarray) -> np.ndarray:
        """Standardise values, in the precision of training; a modality without statistics passes through.

        Args:
            name: Of the modality.
            values: In the units of the data, (rows, ...).

        Returns:
            Single precision, of the same shape.
        """
        if name not in self.shift:
            return values.astype(np.float32)
        out = np.empty(values.shape, dtype=np.float32)
        # piece by piece: doubles of everything at once would take many times the data
        for start, piece in blocks(values):
            out[start : start + len(piece)] = (piece.astype(np.float64) - self.shift[name]) / self.scale[name]
        return out

    def undo(self, name: str, values: np.ndarray) -> np.ndarray:
        """Return values in the units of the data.

        Args:
            name: Of the modality.
            values: Standardised, (rows, ...).

        Returns:
            An array of the same shape.
        """
        if name not in self.shift:
            return values
        return np.asarray(values * self.scale[name] + self.shift[name])

    def log_volume(self, name: str, shape: tuple[int, ...]) -> float:
        r"""Return :math:`\sum \log s`: what a log density loses on return to the units of the data.

        Args:
            name: Of the modality.
            shape: Of one row.

        Returns:
            Nats.
        """
        if name not in self.scale:
            return 0.0
        return float(np.log(np.broadcast_to(self.scale[name], shape)).sum())


def moments(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of each column, for numbers of any size.

    Differences are brought near 1 by a power of two before they are squared, so that no square under- or overflows.

    Args:
        values: (rows, columns).

    Returns:
        Means and deviations; the deviation of a column that never changes is 0.

    >>> moments(np.array([[1e-300, 2.0], [3e-300, 2.0]]))
    (array([2.e-300, 2.e+000]), array([1.e-300, 0.e+000]))
    """
    mean, near_one, exponent = _near_one(values)
    return mean, np.ldexp(np.sqrt(np.mean(near_one**2, axis=0)), exponent)


def _near_one(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means, differences from them in units of powers of two, and the exponents."""
    table = np.asarray(values, dtype=np.float64)
    low, high = table.min(axis=0), table.max(axis=0)
    mean, exponent = np.where(high > low, table.mean(axis=0), low), np.frexp(high - low)[1]
    return mean, np.ldexp(table - mean, -exponent), exponent


def unit_columns(values: np.ndarray) -> np.ndarray:
    """Return columns of mean 0 and deviation 1; zeros for a column that never changes.

    Args:
        values: (rows, columns), of any size.

    Returns:
        Double precision, of the same shape.
    """
    _, near_one, _ = _near_one(values)
    size = np.sqrt(np.mean(near_one**2, axis=0))
    unit: np.ndarray = near_one / np.where(size > 0, size, 1.0)
    return unit


class StandardisedRows(LazyRows):
    """Rows of an array that stays on disk, standardised as they are read."""

    def __init__(self, source: StoredRows, standardiser: Standardiser, name: str) -> None:
        self.source, self.standardiser, self.name = source, standardiser, name
        self.shape, self.dtype = tuple(source.shape), np.dtype(np.float32)

    def __getitem__(self, index: RowIndex) -> np.ndarray:
        return self.standardiser.apply(self.name, np.asarray(self.source[index]))


def _statistics(values: StoredRows, observed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    # Two passes in float64: the second about the mean, so that a large offset costs no digits.
    count, total, lowest, highest = np.float64(0), np.float64(0), np.inf, -np.inf
    for seen, known in _observed_cells(values, observed):
        count, total = count + known.sum(axis=0), total + np.where(known, seen, 0.0).sum(axis=0)
        lowest, highest = np.fmin(lowest, np.fmin.reduce(seen)), np.fmax(highest, np.fmax.reduce(seen))
    mean = np.asarray(total / count)
    # Squares of numbers near 1e-300 would be 0: a power of two, which rounds nothing, brings them near 1.
    exponent = np.frexp(highest - lowest)[1]
    square = np.zeros_like(mean)
    for seen, known in _observed_cells(values, observed):
        square = square + (np.where(known, np.ldexp(seen - mean, -exponent), 0.0) ** 2).sum(axis=0)
    # The mean of equal numbers may be off by one rounding: a constant column is known by its range.
    varies = highest > lowest
    return np.where(varies, mean, lowest), np.where(varies, np.ldexp(np.sqrt(square / count), exponent), 0.0)


def _observed_cells(values: StoredRows, observed: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield pieces of columns, and which of their cells were observed."""
    for start, piece in blocks(values):
        seen = _per_column(piece[observed[start : start + len(piece)]])
        if len(seen):
            yield seen, ~np.isnan(seen)


def _per_column(piece: np.ndarray) -> np.ndarray:
    piece = piece.astype(np.float64)
    if piece.ndim == 2:
        return piece
    channels = piece.shape[-1] if piece.shape[-1] <= 4 else 1
    return piece.reshape(-1, channels)


def _warn_constant(data: Dataset, name: str, scale: np.ndarray) -> None:
    constant = np.flatnonzero(np.atleast_1d(scale) == 0)
    if constant.size and data[name].ndim == 2:
        columns = data.columns.get(name)
        shown = ", ".join(repr(columns[i]) if columns else str(i) for i in constant[:5])
        more = f" and {constant.size - 5} more" if constant.size > 5 else ""
        warnings.warn(
            f"modality {name!r}: column {shown}{more} never changes and carries no information; consider leaving it out.",
            DataWarning,
            stacklevel=4,
        )
