"""Columns that were given one by one: as one table, and in one order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw

from latentry.data.dataset import Dataset
from latentry.data.frames import aligned, as_frame
from latentry.errors import DataError

__all__ = ["beside_rows", "joined_columns", "paired_rows"]


def joined_columns(what: str, given: Any) -> Any:
    """Return a list of series or frames as one frame, rows paired by their index; anything else as it is.

    Args:
        what: A sentence is to call it.
        given: Rows of any kind, or columns one by one.

    Returns:
        A frame of the same library, with the index of the first part; or what was given.

    Raises:
        DataError: If the parts have not the same rows, or are of different libraries.

    >>> import pandas as pd
    >>> a, b = pd.Series([1, 2], index=["u", "v"]), pd.Series([20, 10], index=["v", "u"])
    >>> joined_columns("x", [a, b]).to_numpy().tolist()
    [[1, 10], [2, 20]]
    """
    if not isinstance(given, (list, tuple)) or not given or any(as_frame(what, part) is None for part in given):
        return given
    parts = {f"{what}[{place}]": part for place, part in enumerate(given)}
    ordered, _ = aligned(parts)
    tables: list[nw.DataFrame[Any]] = []
    for name, part in ordered.items():
        frame = as_frame(name, part)
        assert frame is not None  # each of them is one
        table = frame.to_frame() if isinstance(frame, nw.Series) else frame
        if tables and len(table) != len(tables[0]):
            raise DataError(f"{name}: has {len(table)} rows and {what}[0] has {len(tables[0])}. Give the same rows.")
        before = sum(earlier.shape[1] for earlier in tables)
        tables.append(table.rename({old: str(before + place) for place, old in enumerate(table.columns)}))
    if len({table.implementation for table in tables}) > 1:
        raise DataError(f"{what}: holds frames of different libraries. Give all of one.")
    return nw.concat(tables, how="horizontal").to_native()


def paired_rows(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return parts with their rows in the order of the first one that has an index; a part may be columns by name.

    Args:
        parts: By what a sentence is to call them.

    Returns:
        The same parts.

    Raises:
        DataError: If two parts have an index, and not the same rows.

    >>> import pandas as pd
    >>> z, size = pd.Series([1, 2], index=["u", "v"]), pd.Series([20, 10], index=["v", "u"])
    >>> paired_rows({"z": z, "s": {"size": size}})["s"]["size"].tolist()
    [10, 20]
    """
    named = {what: part for what, part in parts.items() if isinstance(part, Mapping)}
    flat: dict[str, Any] = {}
    for what, part in parts.items():
        flat |= {f"{what}[{key!r}]": column for key, column in part.items()} if what in named else {what: part}
    ordered, _ = aligned(flat)
    columns = {what: {key: ordered[f"{what}[{key!r}]"] for key in part} for what, part in named.items()}
    return {what: columns[what] if what in named else ordered[what] for what in parts}


def beside_rows(data: Any, **given: Any) -> tuple[Any, dict[str, Any]]:
    """Return rows, and what was given beside them in their order, where both have an index.

    Args:
        data: A Dataset, columns by name, or rows.
        given: One value for each row, by the name of the argument.

    Returns:
        The rows, and the same values.

    Raises:
        DataError: If an index names other rows.
    """
    if isinstance(data, Dataset):
        return data, {what: data.in_order(what, values) for what, values in given.items()}
    parts = paired_rows({"data": data, **given})
    return parts.pop("data"), parts
