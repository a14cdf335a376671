"""Rows of xarray and AnnData that are one part among others: what names them, and the numbers that they hold."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from latentry.data.inputs import kind_of
from latentry.errors import DataError

__all__ = ["AnnotatedRows", "annotated_columns", "annotated_labels", "annotated_rows", "columns_of_variable", "rows_at"]

_WHOLE = re.compile(r"0|[1-9][0-9]{0,17}")


class AnnotatedRows(NamedTuple):
    """Numbers, and the names of their columns."""

    values: np.ndarray
    columns: tuple[str, ...] | None


def annotated_labels(raw: object) -> Sequence[Hashable] | None:
    """Return what names the rows of a table of another library.

    Args:
        raw: Anything.

    Returns:
        The coordinate of the first dimension of a DataArray, obs_names of AnnData; None where there is none. AnnData keeps all
        names as text: names that are all whole numbers are numbers again, unless they are too long for one.
    """
    kind, table = kind_of(raw), cast(Any, raw)
    if kind == "xarray.DataArray":
        return cast(Sequence[Hashable], table.indexes.get(table.dims[0]) if table.dims else None)
    if kind != "anndata.AnnData":
        return None
    names = list(map(str, table.obs_names))
    counted = all(_WHOLE.fullmatch(name) for name in names)
    return [int(name) for name in names] if counted else names


def rows_at(raw: object, places: Sequence[int]) -> object:
    """Return some rows of a DataArray, of AnnData or of an array.

    Args:
        raw: The rows.
        places: Numbers of rows.

    Returns:
        An object of the same kind.
    """
    return cast(Any, raw)[places]


def annotated_rows(name: str, raw: object) -> AnnotatedRows | None:
    """Return a table of another library as numbers; None for anything else.

    Args:
        name: Of the modality.
        raw: Anything.

    Returns:
        Numbers, and names of columns where there are some.

    Raises:
        DataError: For AnnData without X, and for what holds several tables.
    """
    kind, table = kind_of(raw), cast(Any, raw)
    if kind == "anndata.AnnData":
        if table.X is None:
            raise DataError(f"modality {name!r}: X of the AnnData is empty. Pass a layer or an obsm: its array.")
        dense = table.X.toarray() if hasattr(table.X, "toarray") else table.X
        return AnnotatedRows(np.asarray(dense), tuple(map(str, table.var_names)))
    if kind == "xarray.DataArray":
        if table.ndim == 1:
            return AnnotatedRows(np.asarray(table.values)[:, None], (str(table.name or "value"),))
        return AnnotatedRows(np.asarray(table.values), columns_of_variable(table))
    if kind:
        raise DataError(
            f"modality {name!r}: {kind} holds several tables. Pass one of them, or the whole alone: lt.read(it, modalities=...)."
        )
    return None


def annotated_columns(raw: object) -> tuple[str, ...] | None:
    """Return the names of the columns of a DataArray or of AnnData, without its numbers.

    Args:
        raw: Anything.

    Returns:
        Names; None where there are none.
    """
    kind, table = kind_of(raw), cast(Any, raw)
    if kind == "anndata.AnnData":
        return tuple(map(str, table.var_names))
    return columns_of_variable(table) if kind == "xarray.DataArray" else None


def columns_of_variable(variable: Any) -> tuple[str, ...] | None:
    """Return the names of the columns of a table of xarray, where its second dimension has them.

    Args:
        variable: A DataArray.

    Returns:
        Names, or None.
    """
    if variable.ndim != 2 or variable.dims[1] not in variable.coords:
        return None
    return tuple(map(str, variable.coords[variable.dims[1]].values.tolist()))
