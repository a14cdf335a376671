"""Shift and scale, kept so that they can be undone."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from latentry.data.lazy_rows import LazyRows, blocks
from latentry.errors import DataWarning

if TYPE_CHECKING:
    from latentry.data.dataset import Dataset

__all__ = ["StandardisedRows", "Standardiser"]


@dataclass(frozen=True, eq=False)
class Standardiser:
    r"""Per modality :math:`x \mapsto (x - m)/s`.

    Tables are scaled column by column; curves and images have one scale per channel,
    because a pixel that never changes is part of a picture, not a column without information.
    """

    shift: dict[str, np.ndarray]
    scale: dict[str, np.ndarray]

    @classmethod
    def of(cls, data: Dataset, names: Iterable[str] | None = None) -> Standardiser:
        """Statistics of the observed rows of the named modalities (all of them by default)."""
        shift, scale = {}, {}
        for name in data.names if names is None else names:
            shift[name], scale[name] = _statistics(data[name], data.observed[name])
            _warn_constant(data, name, scale[name])
            scale[name] = np.where(scale[name] > 0, scale[name], 1.0)
        return cls(shift, scale)

    def apply(self, name: str, values: np.ndarray) -> np.ndarray:
        """Standardised values, in the precision of training; a modality without statistics passes through."""
        if name not in self.shift:
            return values.astype(np.float32)
        out = np.empty(values.shape, dtype=np.float32)
        for start, piece in blocks(
            values
        ):  # piece by piece: doubles of everything at once would take many times the data
            out[start : start + len(piece)] = (piece.astype(np.float64) - self.shift[name]) / self.scale[name]
        return out

    def undo(self, name: str, values: np.ndarray) -> np.ndarray:
        """Back to the data's own units."""
        if name not in self.shift:
            return values
        return values * self.scale[name] + self.shift[name]

    def log_volume(self, name: str, shape: tuple[int, ...]) -> float:
        r""":math:`\sum \log s`: what a log density loses on the way back to the data's units."""
        if name not in self.scale:
            return 0.0
        return float(np.log(np.broadcast_to(self.scale[name], shape)).sum())


class StandardisedRows(LazyRows):
    """Rows of an array that stays on disk, standardised as they are read."""

    def __init__(self, source: Any, standardiser: Standardiser, name: str) -> None:
        self.source, self.standardiser, self.name = source, standardiser, name
        self.shape, self.dtype = tuple(source.shape), np.dtype(np.float32)

    def __getitem__(self, index: Any) -> np.ndarray:
        return self.standardiser.apply(self.name, np.asarray(self.source[index]))


def _statistics(values: Any, observed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    # Two passes in float64: the second about the mean, so that a large offset costs no digits.
    count, total, lowest, highest = 0, 0.0, np.inf, -np.inf
    for start, piece in blocks(values):
        seen = _per_column(piece[observed[start : start + len(piece)]])
        if len(seen):
            count, total = count + len(seen), total + seen.sum(axis=0)
            lowest, highest = np.minimum(lowest, seen.min(axis=0)), np.maximum(highest, seen.max(axis=0))
    mean = np.asarray(total / count)
    square = np.zeros_like(mean)
    for start, piece in blocks(values):
        seen = _per_column(piece[observed[start : start + len(piece)]])
        square = square + ((seen - mean) ** 2).sum(axis=0)
    # The mean of equal numbers may be off by one rounding: a constant column is told by its range.
    varies = highest > lowest
    return np.where(varies, mean, lowest), np.where(varies, np.sqrt(square / count), 0.0)


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
