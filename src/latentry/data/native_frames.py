"""Numbers as data frames, with the columns that they were made of."""

from __future__ import annotations

from typing import Any, cast

import narwhals as nw
import numpy as np

from latentry.data.columns import Coding, decoded
from latentry.data.layout import Layout
from latentry.data.raw_columns import RawColumn
from latentry.errors import DataError

__all__ = ["as_native_frame"]


def as_native_frame(layout: Layout, named: tuple[str, ...] | None, name: str, table: np.ndarray, library: str) -> Any:
    """Return numbers as a data frame.

    Args:
        layout: Knows the columns of the modality.
        named: Names of rows, which count where there are as many.
        name: Of the modality.
        table: Rows of numbers, as the modality has them.
        library: Of the frame.

    Returns:
        A frame of that library.

    Raises:
        DataError: For numbers of another shape, and a library that is not there.
    """
    if table.ndim != 2 or table.shape[1:] != layout.shape(name):
        raise DataError(
            f"values of shape {table.shape}: not rows of {name!r}, which have the shape {layout.shape(name)}. Give a table."
        )
    names = dict(layout.columns).get(name) or tuple(f"{name}{place}" for place in range(table.shape[1]))
    rules = dict(layout.coding).get(name) or tuple(Coding(column, "number") for column in names)
    raws = decoded(table, rules)
    columns = {raw.name: _cells(raw) for raw in raws}
    rows = named if named is not None and len(table) == len(named) else None
    if library != "pandas" and rows is not None:
        columns = {"row": np.array(rows, dtype=object), **columns}
    cells = {name: part.tolist() if part.dtype == object else part for name, part in columns.items()}
    try:
        frame = nw.from_dict(cells, backend=cast(Any, library))
    except (ImportError, ValueError, TypeError):
        raise DataError(
            f"library={library!r}: is not installed, or makes no data frames. Give pandas or polars."
        ) from None
    zones = {raw.name: raw.zone for raw in raws if raw.zone is not None}
    dates = [nw.col(name).dt.replace_time_zone("UTC").dt.convert_time_zone(zone) for name, zone in zones.items()]
    native = frame.with_columns(*dates).to_native()
    return native.set_axis(list(rows), axis=0) if library == "pandas" and rows is not None else native


def _cells(raw: RawColumn) -> np.ndarray:
    """Return the cells of a column as a library of frames takes them."""
    if raw.kind != "boolean":
        return raw.cells
    if np.isnan(raw.cells).any():
        return np.array([None if np.isnan(cell) else bool(cell) for cell in raw.cells], dtype=object)
    return raw.cells.astype(bool)
