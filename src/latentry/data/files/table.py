"""Tables: how columns of a flat file become modalities and back.

A header cell is ``column`` or ``modality:column``; cells that begin with ``@`` play a part of their
own: ``@domain`` (or ``@domain:0``, ``@domain:1`` … when it has several columns), ``@groups``, ``@time``, ``@factor:name``,
``@row``.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from latentry.data.dataset import Dataset
from latentry.data.files.roles import GROUPS, TIME, Roles
from latentry.errors import DataError, nearest

__all__ = ["from_columns", "to_columns"]


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
    taken = {*domain, *factors.values(), groups_of, time, "@row"}
    groups = _groups([name for name in columns if name not in taken], roles, columns)
    values = {
        modality: np.column_stack([_numeric(name, columns[name]) for name in names])
        for modality, names in groups.items()
    }
    return Dataset(
        values,
        _domain([columns[name] for name in domain]),
        groups=columns.get(groups_of),
        time=columns.get(time),
        factors={name: columns[column] for name, column in factors.items()},
        rows=columns["@row"].tolist() if "@row" in columns else None,
        columns={modality: [name.split(":", 1)[-1] for name in names] for modality, names in groups.items()},
    )


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


def _numeric(name: str, column: np.ndarray) -> np.ndarray:
    if column.dtype.kind in "biuf":
        return column
    if column.dtype == object and any(cell is None for cell in column):
        row = next(i for i, cell in enumerate(column) if cell is None)
        raise DataError(f"column {name!r}: holds text and is empty at row {row}. Pass it as domain= or leave it out.")
    raise DataError(
        f"column {name!r}: holds text ({_first_text(column)}). Pass it as domain={name!r}, groups={name!r} or factors={name!r}, "
        "or name the columns to use in modalities=."
    )


def _first_text(column: np.ndarray) -> str:
    for row, cell in enumerate(column.tolist()):
        try:
            float(cell)
        except (TypeError, ValueError):
            return f"{cell!r} at row {row}"
    return "dates or other objects"


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
        columns["@row"] = np.array(data.rows)
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
