"""AnnData and MuData, from a file or in memory: what stands for each row in ``obs``, and which matrices are modalities.

A modality is ``X``, ``layers/counts``, ``obsm/X_pca``, some of the variables, or columns of ``obs`` (``obs/age``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from latentry.data.cells import is_missing, row_names
from latentry.data.columns import as_category
from latentry.data.dataset import Dataset
from latentry.data.files.roles import GROUPS, TIME, Roles
from latentry.data.files.survey import Seen, holds, options
from latentry.data.frames import as_frame, frame_columns
from latentry.data.inputs import kind_of
from latentry.data.raw_columns import RawTable
from latentry.errors import DataError, nearest

if TYPE_CHECKING:
    import mudata
    import pandas
    from anndata import AnnData

__all__ = ["NAME", "ORDER", "from_anndata", "from_mudata", "survey_annotated"]

ORDER, NAME = "@order", "latentry_modality"
_MATRICES = ("layers", "obsm")

Matrix: TypeAlias = "tuple[np.ndarray | RawTable, tuple[str, ...] | None]"


def from_anndata(table: AnnData, roles: Roles) -> Dataset:
    """Return one annotated table as a dataset.

    Args:
        table: Rows and variables.
        roles: What the call said of them.

    Returns:
        The rows.

    Raises:
        DataError: By name, for what is not there.
    """
    name = str(table.uns.get(NAME, "x"))
    chosen = {name: ()} if roles.modalities is None else dict(roles.modalities)
    _check(roles, table.obs, table.var_names)
    matrices = {name: _matrix(table, name, columns, roles) for name, columns in chosen.items()}
    return _dataset(matrices, table.obs_names, table.obs, roles)


def from_mudata(several: mudata.MuData, roles: Roles) -> Dataset:
    """Return several annotated tables, of which rows may be missing, as a dataset.

    Args:
        several: Tables by modality.
        roles: What the call said of them.

    Returns:
        The rows.

    Raises:
        DataError: By name, for what is not there.
    """
    annotations = _annotations_of(several)
    _check(roles, annotations, several.var_names)
    chosen = dict.fromkeys(several.mod, ()) if roles.modalities is None else dict(roles.modalities)
    matrices = {}
    for name, columns in chosen.items():
        table, within = _table_of(several, name, columns)
        matrices[name] = _spread(_matrix(table, name, within, roles), table.obs_names, several.obs_names)
    return _dataset(matrices, several.obs_names, annotations, roles)


def survey_annotated(found: AnnData | mudata.MuData, roles: Roles) -> list[Seen]:
    """Say which matrices there are, and how the columns of ``obs`` would be read.

    Args:
        found: One table, or several.
        roles: What the call said of them.

    Returns:
        A line for each.
    """
    several = kind_of(found) == "mudata.MuData"
    tables = found.mod.items() if several else [("x", found)]
    seen = [one for name, table in tables for one in _matrices_of(name, table, f"{name}/" if several else "")]
    annotations = _annotations_of(found) if several else found.obs
    for column in annotations.columns:
        values = _annotation(annotations[[column]])
        part = roles.part(column) or "an annotation, which nothing reads"
        seen.append(Seen(f"obs/{column}", holds(values), part, options(column)))
    return seen


def _matrices_of(name: str, table: AnnData, prefix: str) -> list[Seen]:
    """Return what could be a modality."""
    seen = []
    if table.X is not None:
        seen.append(Seen(f"{prefix}X", f"{table.n_obs} rows of {table.n_vars}", f"modality {name}", ""))
    for kind in _MATRICES:
        for key, stored in getattr(table, kind).items():
            change = f"--modality {key.removeprefix('X_')}={prefix}{kind}/{key}"
            seen.append(Seen(f"{prefix}{kind}/{key}", f"{table.n_obs} rows of {stored.shape[1]}", "not read", change))
    return seen


def _check(roles: Roles, annotations: pandas.DataFrame, variables: Sequence[str]) -> None:
    roles.check([*annotations.columns, *(name for name in roles.drop if name in variables)], "obs column")


def _table_of(several: mudata.MuData, name: str, columns: tuple[str, ...]) -> tuple[AnnData, tuple[str, ...]]:
    """Return the table that a modality is made of, and what of it: ``rna/layers/counts`` names both."""
    first = columns[0].partition("/")[0] if columns else name
    if first in several.mod and columns:
        return several.mod[first], tuple(column.partition("/")[2] for column in columns if "/" in column)
    if name not in several.mod:
        raise DataError(f"modalities={name!r}: there is no such modality{nearest(name, several.mod)}")
    return several.mod[name], columns


def _matrix(table: AnnData, name: str, columns: tuple[str, ...], roles: Roles) -> Matrix:
    """Return the numbers that a modality is made of, and the names of their columns."""
    for kind in _MATRICES:
        known = getattr(table, kind)
        asked = [column.removeprefix(f"{kind}/") for column in columns if column.startswith(f"{kind}/")]
        if asked or (not columns and name in known):
            return _stored(table, kind, asked[0] if asked else name, name)
    where = [column.removeprefix("obs/") for column in columns]
    if columns and columns != ("X",) and not all(column in table.var_names for column in columns):
        lost = next((column for column in where if column not in table.obs.columns), None)
        if lost is not None:
            known = ["X", *(f"{kind}/{key}" for kind in _MATRICES for key in getattr(table, kind)), *table.obs.columns]
            known += get_close_matches(lost, table.var_names, n=3)
            raise DataError(
                f"modalities[{name!r}]: there is no variable, layer, obsm or obs column {lost!r}{nearest(lost, known)}"
            )
        return _of_annotations(table.obs[where], name, roles), None
    if table.X is None:
        raise DataError(
            f"modality {name!r}: X is empty. Name a layer or an obsm, as in modalities={{{name!r}: 'obsm/X_pca'}}."
        )
    variables = [column for column in (columns or table.var_names) if column != "X" and column not in roles.drop]
    if columns in ((), ("X",)) and not roles.drop:
        return _dense(table.X), tuple(map(str, table.var_names))
    chosen = [table.var_names.get_loc(column) for column in variables or table.var_names]
    return _dense(table.X)[:, chosen], tuple(map(str, variables))


def _stored(table: AnnData, kind: str, key: str, name: str) -> Matrix:
    stored = getattr(table, kind)
    if key not in stored:
        raise DataError(f"modalities[{name!r}]: there is no {kind}/{key}{nearest(key, stored)}")
    if kind == "layers":
        return _dense(stored[key]), tuple(map(str, table.var_names))
    frame = as_frame(f"modality {name!r}", stored[key])
    if frame is not None:
        return RawTable(frame_columns(f"modality {name!r}", frame)), None
    return _dense(stored[key]), None


def _of_annotations(frame: pandas.DataFrame, name: str, roles: Roles) -> RawTable:
    found = as_frame(name, frame)
    assert found is not None
    raws = frame_columns(f"modality {name!r}", found)
    return RawTable(tuple(as_category(raw) if raw.name in roles.categories else raw for raw in raws))


def _dense(values: object) -> np.ndarray:
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values)


def _spread(matrix: Matrix, own: pandas.Index, rows: pandas.Index) -> Matrix:
    """Return a table with all rows; those that it lacks are missing."""
    dense, columns = matrix
    if own.equals(rows):
        return matrix  # also where names repeat, which is common in files of the field
    place: np.ndarray = own.get_indexer(rows)
    if isinstance(dense, RawTable):
        raise DataError("modalities: columns of obs of a modality that lacks rows. Take them from the common obs.")
    if (place >= 0).all():
        return np.asarray(dense[place]), columns
    wide = np.full((len(rows), dense.shape[1]), np.nan, dtype=np.result_type(dense.dtype, np.float32))
    wide[place >= 0] = dense[place[place >= 0]]
    return wide, columns


def _annotations_of(several: mudata.MuData) -> pandas.DataFrame:
    """Return the columns of the common ``obs``, and of the modalities' own where the common one lacks them."""
    frame = several.obs.copy()
    for table in several.mod.values():
        for column in table.obs.columns:
            if column not in several.obs.columns:
                own = table.obs[column].reindex(frame.index)
                frame[column] = frame[column].where(frame[column].notna(), own) if column in frame else own
    return frame


def _dataset(
    matrices: Mapping[str, Matrix], rows: pandas.Index, annotations: pandas.DataFrame, roles: Roles
) -> Dataset:
    names = list(rows) if roles.ids is None else row_names(annotations[roles.ids].to_numpy(dtype=object))
    domain = list(roles.domain) or [c for c in annotations.columns if c == "@domain" or c.startswith("@domain:")]
    factors = {c: c for c in roles.factors} | {
        c.removeprefix("@factor:"): c for c in annotations.columns if c.startswith("@factor:")
    }
    grouped, timed = (name or key for name, key in ((roles.groups, GROUPS), (roles.time, TIME)))
    data = Dataset(
        {name: values for name, (values, _) in matrices.items()},
        _annotation(annotations[domain]) if domain else None,
        groups=_annotation(annotations[[grouped]]) if grouped in annotations else None,
        time=_annotation(annotations[[timed]]) if timed in annotations else None,
        factors={name: _annotation(annotations[[column]]) for name, column in factors.items()},
        rows=names,
        columns={name: columns for name, (_, columns) in matrices.items() if columns is not None},
        coding=roles.coding,
    )
    # MuData puts rows that a modality lacks last
    return data.take(np.argsort(annotations[ORDER].to_numpy())) if ORDER in annotations else data


def _annotation(frame: pandas.DataFrame) -> np.ndarray:
    values: np.ndarray = frame.to_numpy()[:, 0] if frame.shape[1] == 1 else frame.to_numpy(dtype=float)
    if values.dtype != object or any(map(is_missing, values.ravel().tolist())):
        return values  # what is missing is reported by row
    return np.array(values.tolist())
