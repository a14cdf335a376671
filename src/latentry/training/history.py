"""What happened, epoch by epoch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import SupportsIndex, overload

import numpy as np

from latentry.errors import DataError, nearest

__all__ = ["Cell", "History", "Row", "epochs_of", "from_plain", "to_plain", "without_nan"]

Cell = str | int | float | None  # None stands for NaN in files
Row = Mapping[str, Cell]


class History(Sequence[Row]):
    """A table with a row per epoch: restart, phase, epoch, loss, its parts, and the held-out loss.

    >>> history = History([{"epoch": 1, "loss": 2.0}, {"epoch": 2, "loss": 1.5}])
    >>> history["loss"]
    array([2. , 1.5])
    >>> print(history)
    epoch      loss
        1         2
        2       1.5
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = tuple(dict(row) for row in rows)

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns, in order of appearance."""
        return tuple(dict.fromkeys(name for row in self._rows for name in row))

    @overload
    def __getitem__(self, key: str) -> np.ndarray: ...
    @overload
    def __getitem__(self, key: SupportsIndex) -> Row: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, key: str | SupportsIndex | slice) -> np.ndarray | Row | tuple[Row, ...]:
        if not isinstance(key, str):
            return self._rows[key]
        if key not in self.columns:
            raise DataError(f"column={key!r}: the history has no such column{nearest(key, self.columns)}")
        return np.array([row.get(key, math.nan) for row in self._rows])

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __eq__(self, other: object) -> bool:
        # repr is exact for floats, and lets nan equal nan
        return isinstance(other, History) and repr(self._rows) == repr(other._rows)

    def __str__(self) -> str:
        lines = [self.columns, *([_cell(row.get(name)) for name in self.columns] for row in self._rows)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        widths = [w if i == 0 else max(w, 9) for i, w in enumerate(widths)]
        return "\n".join(" ".join(cell.rjust(w) for cell, w in zip(line, widths, strict=True)) for line in lines)

    def __repr__(self) -> str:
        return f"History({len(self)} epochs: {', '.join(self.columns)})"


def epochs_of(history: Sequence[Row]) -> dict[int, int]:
    """Count the epochs of each restart.

    >>> epochs_of([{"restart": 0, "phase": "fit", "epoch": 1}, {"restart": 0, "phase": "fit", "epoch": 2}])
    {0: 2}

    Args:
        history: Rows with restart, phase and epoch.

    Returns:
        Epochs over all phases, by restart.
    """
    last = {(row["restart"], row["phase"]): row["epoch"] for row in history}
    counts: dict[int, int] = {}
    for (restart, _), epoch in last.items():
        counts[int(restart or 0)] = counts.get(int(restart or 0), 0) + int(epoch or 0)
    return counts


def without_nan(row: Row) -> dict[str, Cell]:
    """Return the same row as JSON has it: None for NaN, and words for infinities.

    Args:
        row: Of a history.

    Returns:
        A new dictionary.
    """
    return {name: to_plain(value) for name, value in row.items()}


def to_plain(value: Cell) -> Cell:
    """Return a cell as JSON has it.

    Args:
        value: Of a row.

    Returns:
        None for NaN, and "inf" or "-inf" for infinities.

    >>> to_plain(-math.inf), to_plain(math.nan), to_plain(0.5)
    ('-inf', None, 0.5)
    """
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return None if math.isnan(value) else str(value)


def from_plain(value: Cell) -> Cell:
    """Return the cell that :func:`to_plain` wrote.

    Args:
        value: Of a file.

    Returns:
        A number for None and for words that are infinities.
    """
    if value is None or value in ("inf", "-inf"):
        return math.nan if value is None else float(value)
    return value


def _cell(value: Cell) -> str:
    return f"{value:.5g}" if isinstance(value, float) else "" if value is None else str(value)
