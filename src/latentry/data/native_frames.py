"""Numbers as data frames, with the columns that they were made of."""

from __future__ import annotations

from collections.abc import Sequence
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
    native = _in_form(frame.with_columns(*dates), raws, library)
    return native.set_axis(list(rows), axis=0) if library == "pandas" and rows is not None else native


def _cells(raw: RawColumn) -> np.ndarray:
    """Return the cells of a column as a library of frames takes them."""
    if raw.kind == "boolean" or _is_whole(raw):
        known = ~np.isnan(raw.cells)
        typed = np.where(known, raw.cells, 0).astype(bool if raw.kind == "boolean" else np.int64)
        if known.all():
            return typed
        cells = typed.astype(object)
        cells[~known] = None
        return cells
    return raw.cells


def _is_whole(raw: RawColumn) -> bool:
    """Return whether a column of whole numbers still holds some: what a model expects of them may be fractions."""
    if raw.kind != "number" or raw.form is None or "Int" not in raw.form:
        return False
    seen = raw.cells[~np.isnan(raw.cells)]
    bounds = np.iinfo(raw.form.lower())
    within = bool((seen >= bounds.min).all() and (seen <= bounds.max).all() and (np.abs(seen) < 2**53).all())
    return bool((seen == np.round(seen)).all()) and within


def _in_form(frame: nw.DataFrame[Any], raws: Sequence[RawColumn], library: str) -> Any:
    """Return a native frame whose columns have the types that they came with, where their cells still fit these."""
    casts = {raw.name: form for raw in raws if (form := _cast(raw, frame[raw.name].dtype, library)) is not None}
    native = frame.with_columns(*(nw.col(name).cast(form) for name, form in casts.items())).to_native()
    if library != "pandas":
        return native
    for raw in raws:
        if raw.kind == "category" and raw.form is not None:
            typed = native[raw.name].astype("category")
            native[raw.name] = typed.cat.set_categories(list(raw.levels or ()), ordered=raw.form == "ordered")
        elif _is_whole(raw) and np.isnan(raw.cells).any():
            native[raw.name] = native[raw.name].astype(raw.form)
    return native


def _cast(raw: RawColumn, now: object, library: str) -> Any:
    """Return the type that a column is to have, where narwhals can give it; None where it stays as it is."""
    if raw.form is None:
        return None
    if raw.kind in ("date", "duration"):
        micro = raw.cells.astype(np.int64)[~np.isnat(raw.cells)]
        if (raw.form == "ns" and (np.abs(micro) >= _NANO).any()) or (raw.form == "s" and library == "polars"):
            return None  # too far for nanoseconds; a unit that polars lacks
        unit = cast(Any, raw.form)
        return nw.Datetime(unit, raw.zone) if raw.kind == "date" else nw.Duration(unit)
    if raw.kind == "category":
        levels = [level for level in raw.levels or () if isinstance(level, str)]
        if library == "pandas" or len(levels) < len(raw.levels or ()):
            return None
        return nw.Enum(levels) if raw.form == "ordered" else nw.Categorical
    if raw.kind != "number" or (raw.form != "Float32" and not _is_whole(raw)):
        return None
    if raw.form == "Float32" and (np.abs(raw.cells[np.isfinite(raw.cells)]) > np.finfo(np.float32).max).any():
        return None
    return (
        None if library == "pandas" and raw.form != "Float32" and np.isnan(raw.cells).any() else getattr(nw, raw.form)
    )


_NANO = 2**63 // 1000  # microseconds that nanoseconds can count
