"""Columns as they came, before they are numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

__all__ = ["Kind", "RawColumn", "RawTable"]

Kind: TypeAlias = Literal["number", "boolean", "category", "date", "duration"]


@dataclass(frozen=True)
class RawColumn:
    """A column as it came: of numbers, truth values (numbers too), labels, dates or durations.

    Args:
        name: Of the column.
        kind: Of its cells.
        cells: (rows,); NaN, NaT or None where one is missing. Labels are objects, dates in microseconds.
        levels: Categories that were declared, in their order.
        zone: Time zone of the dates, which are in UTC.
        form: Its type in the frame that it came from, where another says less: "Int8", "Float32", "category", "ordered", "ns".
    """

    name: str
    kind: Kind
    cells: np.ndarray
    levels: tuple[str | int, ...] | None = None
    zone: str | None = None
    form: str | None = None


@dataclass(frozen=True)
class RawTable:
    """Columns as they came, of the same rows."""

    columns: tuple[RawColumn, ...]

    def __len__(self) -> int:
        return len(self.columns[0].cells) if self.columns else 0
