"""Tables: how columns of a flat file become modalities and back.

A header cell is ``column`` or ``modality:column``; cells that begin with ``@`` play a part of their
own: ``@domain`` (or ``@domain:0``, ``@domain:1`` … when it has several columns), ``@groups``, ``@time``, ``@factor:name``,
``@row``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from latentry.data.cells import raw_column, row_names
from latentry.data.columns import as_category
from latentry.data.dataset import Dataset
from latentry.data.files.roles import GROUPS, TIME, Roles
from latentry.data.raw_columns import RawTable
from latentry.errors import DataError, nearest

__all__ = ["counts_rows", "from_columns", "names_of_rows", "to_columns"]

ROW, PANDAS_INDEX = "@row", "__index_level_0__"  # the second as parquet files of pandas have it


def from_columns(columns: Mapping[str, np.ndarray], roles: Roles) -> Dataset:
    """Return a dataset of named columns of numbers or strings.

    Args:
        columns: Each (rows,), by its header.
        roles: What the call said of them.

    Returns:
        The rows.

    Raises:
        DataError: By column, for text that is to be data.
    """
    roles.check(columns, "column")
    domain = list(roles.domain) or [name for name in columns if name == "@domain" or name.startswith("@domain:")]
    factors = {name: name for name in roles.factors}
    factors |= {name.removeprefix("@factor:"): name for name in columns if name.startswith("@factor:")}
    groups_of, time = (name or key for name, key in ((roles.groups, GROUPS), (roles.time, TIME)))
    ids = roles.ids or names_of_rows(columns)
    taken = {*domain, *factors.values(), groups_of, time, ids, *roles.drop}
    groups = _groups([name for name in columns if name not in taken], roles, columns)
    return Dataset(
        {modality: _raw_table(modality, names, columns, roles) for modality, names in groups.items()},
        _domain([columns[name] for name in domain]),
        groups=columns.get(groups_of),
        time=columns.get(time),
        factors={name: columns[column] for name, column in factors.items()},
        rows=None if ids is None else _row_names(columns[ids], given=ids == roles.ids),
        coding=roles.coding,
    )


def names_of_rows(columns: Mapping[str, np.ndarray]) -> str | None:
    """Return the column that names the rows, where nobody says which.

    Args:
        columns: By their headers.

    Returns:
        Our own, or an index as pandas writes it; None where there is neither.
    """
    if ROW in columns:
        return ROW
    first = next(iter(columns), None)
    return first if first == "" else PANDAS_INDEX if PANDAS_INDEX in columns else None


def _row_names(ids: np.ndarray, *, given: bool) -> list[str] | None:
    """Return names of rows; None where an index that nobody asked for only counts them."""
    return None if not given and counts_rows(ids) else row_names(ids)


def counts_rows(ids: np.ndarray) -> bool:
    """Return whether names of rows only count them, as the index of pandas does that nobody chose.

    Args:
        ids: One for each row.

    Returns:
        Its truth.
    """
    return ids.dtype.kind in "iu" and np.array_equal(ids, np.arange(len(ids)))


def _raw_table(modality: str, names: list[str], columns: Mapping[str, np.ndarray], roles: Roles) -> RawTable:
    where = f"modality {modality!r}"
    raws = [raw_column(where, name, columns[name]) for name in names]
    raws = [as_category(raw) if raw.name in roles.categories else raw for raw in raws]
    return RawTable(tuple(replace(raw, name=raw.name.split(":", 1)[-1]) for raw in raws))


def _groups(names: list[str], roles: Roles, columns: Mapping[str, np.ndarray]) -> dict[str, list[str]]:
    if roles.modalities is not None:
        return {modality: _named(modality, chosen, columns) for modality, chosen in roles.modalities.items()}
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(name.split(":", 1)[0] if ":" in name else "x", []).append(name)
    if not groups:
        raise DataError("modalities: no column is left to be data. Name fewer columns as domain or factors.")
    return groups


def _named(modality: str, chosen: tuple[str, ...], columns: Mapping[str, np.ndarray]) -> list[str]:
    """Return the columns of a modality: those chosen, with or without its prefix, or all that carry its name."""
    if not chosen:
        own = [name for name in columns if name.startswith(modality + ":")]
        chosen = tuple(own) if own else (modality,)
    wanted = [f"{modality}:{name}" if f"{modality}:{name}" in columns else name for name in chosen]
    for name in wanted:
        if name not in columns:
            raise DataError(f"modalities[{modality!r}]: there is no column {name!r}{nearest(name, columns)}")
    return wanted


def _domain(columns: list[np.ndarray]) -> np.ndarray | None:
    if not columns:
        return None
    return columns[0] if len(columns) == 1 else np.column_stack([column.astype(float) for column in columns])


def to_columns(data: Dataset) -> dict[str, np.ndarray]:
    """Return named columns; a modality of higher rank has no place in a table.

    Args:
        data: The rows.

    Returns:
        Each (rows,), by its header.

    Raises:
        DataError: By modality or factor, for rows that are not flat.
    """
    columns: dict[str, np.ndarray] = {}
    if data.rows is not None:
        columns[ROW] = np.array(data.rows)
    for modality in data.names:
        columns |= _modality_columns(data, modality)
    if data.domain is not None:
        columns |= _domain_columns(data)
    columns |= {name: part for name, part in ((GROUPS, data.groups), (TIME, data.time)) if part is not None}
    for name, factor in data.factors.items():
        if factor.ndim != 1:
            raise DataError(
                f"factor {name!r}: has several columns, but a table holds one per factor. Write npz or zarr."
            )
        columns["@factor:" + name] = factor
    return columns


def _modality_columns(data: Dataset, modality: str) -> dict[str, np.ndarray]:
    array = np.asarray(data[modality])
    if array.ndim != 2:
        raise DataError(
            f"modality {modality!r}: rows of shape {array.shape[1:]}; a table cannot hold it. Write npz or zarr."
        )
    missing = ~data.observed[modality]
    if missing.any():
        array = array.astype(float)
        array[missing] = np.nan
    names = data.columns.get(modality) or tuple(map(str, range(array.shape[1])))
    odd = any(":" in name or name.startswith("@") for name in names)  # would read as something else
    prefix = "" if data.names == ("x",) and not odd else modality + ":"
    array = array.astype(int) if array.dtype == bool else array
    return {prefix + name: array[:, i] for i, name in enumerate(names)}


def _domain_columns(data: Dataset) -> dict[str, np.ndarray]:
    domain = data.domain
    assert domain is not None
    if not domain.is_continuous:
        return {"@domain": domain.as_labels()}
    if domain.size == 1:
        return {"@domain": domain.values[:, 0]}
    return {f"@domain:{i}": domain.values[:, i] for i in range(domain.size)}
