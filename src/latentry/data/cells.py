"""What kind of column cells make: numbers, truth values, labels, dates or durations."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from numbers import Real

import numpy as np

from latentry.data.raw_columns import RawColumn
from latentry.errors import DataError

__all__ = ["is_missing", "raw_column", "reads_as_number", "row_names"]

_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?(Z|[+-]\d\d:?\d\d)?")
_NUMBER = re.compile(r"[+-]?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_TRUTH = {"true": 1.0, "false": 0.0}


def is_missing(cell: object) -> bool:
    """Return whether a cell says that nothing is there: None, NaN, NaT or NA.

    Args:
        cell: Of any kind.

    Returns:
        Its truth.
    """
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(cell, (float, np.floating, np.datetime64, np.timedelta64)) and bool(cell != cell)


def reads_as_number(cell: object) -> bool:
    """Return whether text is a number; codes such as 007 are none.

    Args:
        cell: Of any kind.

    Returns:
        Its truth.

    >>> [reads_as_number(text) for text in ("1.5", " 2e3", "007", "1,5", "")]
    [True, True, False, False, False]
    """
    return isinstance(cell, str) and _NUMBER.fullmatch(cell.strip()) is not None


def row_names(ids: np.ndarray) -> list[str]:
    """Return names of rows as text; whole numbers stay whole, also where they were read as fractions.

    Args:
        ids: One for each row.

    Returns:
        Names.

    Raises:
        DataError: Where a row has none, by number.
    """
    gone = np.flatnonzero([is_missing(name) for name in ids.tolist()])
    if len(gone):
        raise DataError(f"ids: missing at row {gone[0]}. Give every row a name.")
    whole = ids.dtype.kind == "f" and (ids == np.round(ids)).all()
    return [str(name) for name in (ids.astype(np.int64) if whole else ids).tolist()]


def raw_column(where: str, name: str, cells: np.ndarray) -> RawColumn:
    """Return cells as a column of one kind.

    Args:
        where: What a sentence is to call their table, such as "modality 'x'".
        name: Of the column.
        cells: (rows,), of any type.

    Returns:
        The column.

    Raises:
        DataError: For cells of several kinds, and of a kind that means nothing here.

    >>> raw_column("", "a", np.array([True, None], dtype=object)).cells, raw_column("", "a", np.array(["2024-03-31"])).kind
    (array([ 1., nan]), 'date')
    """
    kind = cells.dtype.kind
    if kind in "iuf":
        return RawColumn(name, "number", cells)
    if kind == "b":
        return RawColumn(name, "boolean", cells)
    if kind == "M":
        return RawColumn(name, "date", cells.astype("datetime64[us]"))
    if kind == "m":
        return RawColumn(name, "duration", cells.astype("timedelta64[us]"))
    if kind not in "OUST":
        raise DataError(f"{where}: column {name!r} holds {cells.dtype} values, which are no numbers. Leave it out.")
    return _of_objects(where, name, [None if is_missing(cell) else cell for cell in cells.tolist()])


def _of_objects(where: str, name: str, cells: list[object]) -> RawColumn:
    present = [cell for cell in cells if cell is not None]
    if all(isinstance(cell, (bool, np.bool_)) for cell in present):  # also where nothing is there
        return RawColumn(name, "boolean" if present else "number", _floats(cells))
    if all(isinstance(cell, (Real, Decimal)) and not isinstance(cell, (bool, np.bool_)) for cell in present):
        return RawColumn(name, "number", _floats(cells))
    if all(isinstance(cell, str) for cell in present):
        return _of_text(name, [None if cell is None or not str(cell).strip() else str(cell) for cell in cells])
    if all(isinstance(cell, (date, np.datetime64)) for cell in present):
        return RawColumn(name, "date", _moments(cells))
    if all(isinstance(cell, (timedelta, np.timedelta64)) for cell in present):
        return RawColumn(name, "duration", np.array(cells, dtype="timedelta64[us]"))
    kinds = sorted({type(cell).__name__ for cell in present})
    first = next(row for row, cell in enumerate(cells) if cell is not None and type(cell).__name__ == kinds[-1])
    what = "mixes " + " and ".join(kinds) if len(kinds) > 1 else f"holds {kinds[0]} values"
    raise DataError(
        f"{where}: column {name!r} {what} ({cells[first]!r} at row {first}). Give it one kind: numbers, true and false, text, or "
        "dates; or leave it out."
    )


def _of_text(name: str, cells: list[str | None]) -> RawColumn:
    """Return text as dates or truth values where every cell is one, else as labels."""
    present = [cell.strip() for cell in cells if cell is not None]
    if present and all(cell.lower() in _TRUTH for cell in present):
        return RawColumn(
            name, "boolean", _floats([None if cell is None else _TRUTH[cell.strip().lower()] for cell in cells])
        )
    if present and all(_DATE.fullmatch(cell) for cell in present):
        try:
            moments = [None if cell is None else datetime.fromisoformat(cell.strip()) for cell in cells]
        except ValueError:  # such as the 30th of February
            moments = []
        if moments:
            return RawColumn(name, "date", _moments(moments))
    return RawColumn(name, "category", np.array(cells, dtype=object))


def _floats(cells: list[object] | list[float | None]) -> np.ndarray:
    return np.array([np.nan if cell is None else float(cell) for cell in cells])  # type: ignore[arg-type]


def _moments(cells: list[object] | list[datetime | None]) -> np.ndarray:
    """Return dates in UTC, without saying so: NumPy knows no time zones."""
    return np.array([np.datetime64("NaT") if cell is None else _plain(cell) for cell in cells], dtype="datetime64[us]")


def _plain(cell: object) -> object:
    if isinstance(cell, datetime) and cell.tzinfo is not None:
        return np.datetime64(cell.astimezone(UTC).replace(tzinfo=None), "us")
    return np.datetime64(cell, "us")  # type: ignore[call-overload]
