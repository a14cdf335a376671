"""Tables of other libraries in memory: data frames, AnnData, MuData and xarray, known by their type and never imported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import narwhals as nw
import numpy as np

from latentry.data.annotated_rows import columns_of_variable
from latentry.data.cells import raw_column, row_names
from latentry.data.columns import as_category
from latentry.data.dataset import Dataset
from latentry.data.files.annotated import from_anndata, from_mudata
from latentry.data.files.roles import Roles
from latentry.data.frames import aligned, as_frame, frame_columns
from latentry.data.inputs import is_annotated, kind_of
from latentry.data.raw_columns import RawTable
from latentry.errors import DataError, nearest

if TYPE_CHECKING:
    import xarray

__all__ = ["read_object"]


def read_object(found: object, roles: Roles) -> Dataset:
    """Return what another library holds in memory as a dataset.

    Args:
        found: A data frame, AnnData, MuData, or a DataArray or Dataset of xarray.
        roles: What the call said of it.

    Returns:
        The rows.

    Raises:
        DataError: By name, for what is not there; and for anything else.
    """
    if is_annotated(found):
        data: Dataset = _ANNOTATED[kind_of(found)](cast(Any, found), roles)
        return data
    frame = as_frame("data", found)
    if isinstance(frame, nw.DataFrame):
        return _from_frame(frame, roles)
    raise DataError(
        f"path={type(found).__name__}: neither a file nor a table. Give a path, a data frame, AnnData, MuData or xarray; arrays "
        "go into lt.Dataset."
    )


def _from_frame(frame: nw.DataFrame[Any], roles: Roles) -> Dataset:
    places = {str(name): place for place, name in enumerate(frame.columns)}
    roles.check(places, "column")
    values = {name: np.asarray(frame[:, places[name]].to_native()) for name in roles.taken}
    columns = [values[name] for name in roles.domain]
    left = [name for name in places if name not in roles.taken]
    chosen = {"x": left} if roles.modalities is None else {n: list(c) or [n] for n, c in roles.modalities.items()}
    return Dataset(
        {name: _table(frame, name, names, places, roles) for name, names in chosen.items()},
        None if not columns else columns[0] if len(columns) == 1 else np.column_stack(columns).astype(float),
        groups=None if roles.groups is None else values[roles.groups],
        time=None if roles.time is None else values[roles.time],
        factors={name: values[name] for name in roles.factors},
        rows=_rows(frame) if roles.ids is None else row_names(values[roles.ids]),
        coding=roles.coding,
    )


def _table(
    frame: nw.DataFrame[Any], modality: str, names: list[str], places: Mapping[str, int], roles: Roles
) -> RawTable:
    for name in names:
        if name not in places:
            raise DataError(f"modalities[{modality!r}]: there is no column {name!r}{nearest(name, places)}")
    if not names:
        raise DataError("modalities: no column is left to be data. Name fewer columns as domain or factors.")
    raws = frame_columns(f"modality {modality!r}", frame[:, [places[name] for name in names]])
    return RawTable(tuple(as_category(raw) if raw.name in roles.categories else raw for raw in raws))


def _rows(frame: nw.DataFrame[Any]) -> tuple[str, ...] | None:
    """Return the names of the rows of a pandas frame, unless its index only counts them."""
    return aligned({"data": frame.to_native()})[1]


def _from_array(array: xarray.DataArray, roles: Roles) -> Dataset:
    name = roles.only(str(array.name) if array.name else "x")
    return _of_variables({name: array}, dict(array.coords), str(array.dims[0]), roles)


def _from_dataset(several: xarray.Dataset, roles: Roles) -> Dataset:
    wide = [variable for variable in several.data_vars.values() if variable.ndim > 1] or [*several.data_vars.values()]
    if not wide:
        raise DataError("data: an xarray Dataset without variables. Give at least one.")
    shared = [dim for dim in wide[0].dims if all(dim in variable.dims for variable in several.data_vars.values())]
    if not shared:
        raise DataError(
            "data: the variables of the xarray Dataset have no dimension in common. Give them one for the rows."
        )
    return _of_variables(dict(several.data_vars), dict(several.coords), str(shared[0]), roles)


def _of_variables(variables: Mapping[Any, Any], coordinates: Mapping[Any, Any], dim: str, roles: Roles) -> Dataset:
    """Return variables along a dimension as modalities; those that are flat are columns of one table."""
    flat = {str(n): v for n, v in {**coordinates, **variables}.items() if v.dims == (dim,)}
    roles.check([*flat, *map(str, variables)], "variable")
    left = {str(n): v.transpose(dim, ...) for n, v in variables.items() if str(n) not in roles.taken}
    blocks: dict[str, Any] = {name: variable.values for name, variable in left.items() if variable.ndim > 1}
    table = [raw_column("modality 'x'", name, left[name].values) for name in left if left[name].ndim == 1]
    if table:
        blocks["x"] = RawTable(tuple(as_category(raw) if raw.name in roles.categories else raw for raw in table))
    values = {name: variable.values for name, variable in flat.items()}
    index = None if roles.ids is None else values[roles.ids]
    if index is None and dim in flat and not np.array_equal(values[dim], np.arange(len(values[dim]))):
        index = values[dim]
    columns = [values[name] for name in roles.domain]
    data = Dataset(
        blocks,
        None if not columns else columns[0] if len(columns) == 1 else np.column_stack(columns).astype(float),
        groups=None if roles.groups is None else values[roles.groups],
        time=None if roles.time is None else values[roles.time],
        factors={name: values[name] for name in roles.factors},
        rows=None if index is None else [str(name) for name in index.tolist()],
        columns={
            name: named for name, variable in left.items() if (named := columns_of_variable(variable)) is not None
        },
        coding=roles.coding,
    )
    return data if roles.modalities is None else data.regrouped(roles.modalities)


_ANNOTATED: Mapping[str, Any] = {
    "anndata.AnnData": from_anndata,
    "mudata.MuData": from_mudata,
    "xarray.DataArray": _from_array,
    "xarray.Dataset": _from_dataset,
}
