"""Variables of which some columns are numbers and others are labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from latentry.data import RawColumn, as_frame, frame_columns, raw_column
from latentry.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["MixedColumns", "mixed_columns"]

Array = np.ndarray
_DAY = np.timedelta64(1, "D") / np.timedelta64(1, "us")


class MixedColumns(NamedTuple):
    """Columns of numbers, and the labels of each row beside them."""

    numbers: Array  # (rows, columns), of which there may be none
    labels: Array | None  # (rows, columns) of text


def mixed_columns(values: ArrayLike, name: str) -> MixedColumns | None:
    """Return the columns of a table that holds more than numbers, or more than labels.

    Numbers, dates and durations (in days) are numbers; categories, text and truth values are labels.

    Args:
        values: A data frame, a series, or rows of objects.
        name: Of the variable.

    Returns:
        Its columns; None where all are of one plain kind, which the type of the array says as well.

    Raises:
        DataError: By column and row, where a cell is missing.

    >>> parts = mixed_columns([["f", 1.5], ["m", 2.5]], "x")
    >>> parts.numbers.tolist(), parts.labels.tolist()
    ([[1.5], [2.5]], [['f'], ['m']])
    """
    raws = _raw_columns(values, name)
    kinds = {raw.kind for raw in raws}
    if kinds in (set(), {"number"}, {"boolean"}) or (kinds == {"category"} and not _declared(raws)):
        return None
    for raw in raws:
        _refuse_missing(raw, name)
    labels = [raw.cells.astype(str) for raw in raws if raw.kind in ("category", "boolean")]
    numbers = [_as_numbers(raw) for raw in raws if raw.kind not in ("category", "boolean")]
    rows = len(raws[0].cells)
    return MixedColumns(
        np.column_stack(numbers) if numbers else np.empty((rows, 0)), np.column_stack(labels) if labels else None
    )


def _raw_columns(values: ArrayLike, name: str) -> tuple[RawColumn, ...]:
    frame = as_frame(name, values)
    if frame is not None:
        return frame_columns(name, frame)
    try:
        rows = np.asarray(values, dtype=object) if isinstance(values, (list, tuple)) else np.asarray(values)
    except ValueError:
        return ()
    if rows.dtype != object or rows.ndim != 2 or not rows.size:
        return ()
    if not any(isinstance(cell, (str, bool, np.bool_)) for cell in rows[0]):
        return ()  # numbers, or what has a sentence of its own
    return tuple(raw_column(name, str(place), column) for place, column in enumerate(rows.T))


def _declared(raws: Sequence[RawColumn]) -> bool:
    """Return whether some labels were declared to be such: categories, which may look like numbers."""
    return any(raw.levels is not None for raw in raws)


def _refuse_missing(raw: RawColumn, name: str) -> None:
    missing = np.array([cell is None or bool(cell != cell) for cell in raw.cells.tolist()])
    if raw.kind in ("date", "duration"):
        missing = np.isnat(raw.cells)
    if missing.any():
        raise DataError(
            f"{name}: column {raw.name!r} is missing at row {int(missing.argmax())} ({missing.sum()} such cells). "
            "Drop these rows in every variable."
        )
    text = raw.kind == "category" and raw.levels is None
    if text and (number := next((cell for cell in raw.cells.tolist() if _reads_as_number(cell)), None)) is not None:
        raise DataError(
            f"{name}: column {raw.name!r} holds text that reads as a number ({number!r}). Convert it to numbers, or in a frame to "
            "categories with astype('category')."
        )


def _reads_as_number(cell: object) -> bool:
    try:
        float(str(cell))
    except ValueError:
        return False
    return True


def _as_numbers(raw: RawColumn) -> Array:
    if raw.kind == "number":
        return raw.cells.astype(np.float64)
    spans = raw.cells - raw.cells.min() if raw.kind == "date" else raw.cells
    days: Array = spans.astype("timedelta64[us]").astype(np.float64) / _DAY
    return days
