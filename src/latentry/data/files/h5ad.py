"""AnnData (h5ad) and MuData (h5mu): one table per modality, annotations per row."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, cast

import numpy as np

from latentry.data.dataset import Dataset
from latentry.data.files.roles import GROUPS, TIME, Roles
from latentry.errors import DataError, MissingExtra, nearest

if TYPE_CHECKING:
    import mudata
    import pandas
    from anndata import AnnData

_ORDER, _NAME = "@order", "latentry_modality"


def _anndata() -> ModuleType:
    try:
        import anndata as library
    except ImportError as problem:
        raise MissingExtra("anndata", "h5ad", "an h5ad file") from problem
    return cast(ModuleType, library)


@contextmanager
def _mudata() -> Iterator[ModuleType]:
    try:
        import mudata as library
    except ImportError as problem:
        raise MissingExtra("mudata", "h5mu", "an h5mu file") from problem
    with library.set_options(pull_on_update=False), warnings.catch_warnings():
        # Two modalities may well have a column of the same name.
        warnings.filterwarnings("ignore", message="var_names are not unique")
        yield library


@contextmanager
def _repeated_names() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*names are not unique")
        yield


def read(path: Path, roles: Roles) -> Dataset:
    """Read ``X`` of each modality; ``domain`` and ``factors`` are columns of ``obs``."""
    if path.suffix == ".h5ad":
        with _repeated_names():
            table = _anndata().read_h5ad(path)
        return _dataset({roles.only(str(table.uns.get(_NAME, "x"))): table}, table.obs_names, table.obs, roles)
    with _mudata() as library:
        several = library.read_h5mu(path)
    for name in roles.modalities or ():
        if name not in several.mod:
            raise DataError(f"modalities={name!r}: there is no such modality{nearest(name, several.mod)}")
    chosen = {
        name: table for name, table in several.mod.items() if roles.modalities is None or name in roles.modalities
    }
    return _dataset(chosen, several.obs_names, _annotations_of(several), roles)


def _annotations_of(several: mudata.MuData) -> pandas.DataFrame:
    """Return the columns of the common ``obs``, and of the modalities' own where the common one lacks them."""
    frame = several.obs.copy()
    for table in several.mod.values():
        for column in table.obs.columns:
            if column not in several.obs.columns:
                own = table.obs[column].reindex(frame.index)
                frame[column] = frame[column].where(frame[column].notna(), own) if column in frame else own
    return frame


def _dataset(tables: Mapping[str, AnnData], rows: pandas.Index, annotations: pandas.DataFrame, roles: Roles) -> Dataset:
    roles.check(annotations.columns, "obs column")
    if _ORDER in annotations:  # MuData puts rows that a modality lacks last
        order = np.argsort(annotations[_ORDER].to_numpy())
        rows, annotations = rows[order], annotations.iloc[order]
    domain = list(roles.domain) or [c for c in annotations.columns if c == "@domain" or c.startswith("@domain:")]
    factors = {c: c for c in roles.factors} | {
        c.removeprefix("@factor:"): c for c in annotations.columns if c.startswith("@factor:")
    }
    grouped, timed = (name or key for name, key in ((roles.groups, GROUPS), (roles.time, TIME)))
    return Dataset(
        {name: _values(table, rows) for name, table in tables.items()},
        _annotation(annotations[domain]) if domain else None,
        groups=_annotation(annotations[[grouped]]) if grouped in annotations else None,
        time=_annotation(annotations[[timed]]) if timed in annotations else None,
        factors={name: _annotation(annotations[[column]]) for name, column in factors.items()},
        rows=list(rows),
        columns={name: list(table.var_names) for name, table in tables.items()},
    )


def _values(table: AnnData, rows: pandas.Index) -> np.ndarray:
    dense: np.ndarray = table.X.toarray() if hasattr(table.X, "toarray") else np.asarray(table.X)
    if table.obs_names.equals(rows):
        return dense  # also where names repeat, which is common in files of the field
    place: np.ndarray = table.obs_names.get_indexer(rows)
    if (place >= 0).all():
        return np.asarray(dense[place])
    spread = np.full((len(rows), dense.shape[1]), np.nan, dtype=np.result_type(dense.dtype, np.float32))
    spread[place >= 0] = dense[place[place >= 0]]
    return spread


def _annotation(frame: pandas.DataFrame) -> np.ndarray:
    values: np.ndarray = frame.to_numpy()[:, 0] if frame.shape[1] == 1 else frame.to_numpy(dtype=float)
    if values.dtype != object or any(value is None or value != value for value in values.ravel().tolist()):
        return values  # what is missing is reported by row
    return np.array(values.tolist())


def write(data: Dataset, path: Path) -> None:
    """Write one AnnData per modality, holding its observed rows; missing rows are absent there."""
    anndata = _anndata()
    with _repeated_names():
        _write(anndata, data, path)


def _write(anndata: ModuleType, data: Dataset, path: Path) -> None:
    import pandas

    names = list(data.rows) if data.rows is not None else [str(i) for i in range(len(data))]
    if path.suffix == ".h5mu" and len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"rows: two rows are called {twice!r}, but h5mu joins modalities by row name. Rename one.")
    annotations = pandas.DataFrame(_annotations(data), index=names)
    tables = {name: _table(anndata, data, name, names) for name in data.names}
    if path.suffix == ".h5ad":
        if len(tables) > 1 or not data.observed[data.names[0]].all():
            raise DataError(f"{path.name}: h5ad holds one modality without holes. Write h5mu instead.")
        table = tables[data.names[0]]
        table.obs, table.uns[_NAME] = annotations, data.names[0]
        table.write_h5ad(path)
        return
    with _mudata() as library:
        several = library.MuData(tables)
        several.obs = annotations.loc[several.obs_names]
        several.write(path)


def _annotations(data: Dataset) -> dict[str, np.ndarray]:
    columns: dict[str, np.ndarray] = {_ORDER: np.arange(len(data))}
    if data.domain is not None and not data.domain.is_continuous:
        columns["@domain"] = data.domain.as_labels()
    elif data.domain is not None:
        columns |= {f"@domain:{i}": data.domain.values[:, i] for i in range(data.domain.size)}
    columns |= {name: part for name, part in ((GROUPS, data.groups), (TIME, data.time)) if part is not None}
    for name, factor in data.factors.items():
        if factor.ndim != 1:
            raise DataError(
                f"factor {name!r}: has several columns, but h5ad and h5mu hold one per factor. Write npz or zarr."
            )
        columns["@factor:" + name] = factor
    return columns


def _table(anndata: ModuleType, data: Dataset, name: str, rows: list[str]) -> AnnData:
    array, observed = np.asarray(data[name]), data.observed[name]
    if array.ndim != 2:
        raise DataError(
            f"modality {name!r}: rows of shape {array.shape[1:]}, but h5ad and h5mu hold tables. Write npz or zarr."
        )
    columns = data.columns.get(name) or tuple(map(str, range(array.shape[1])))
    table = anndata.AnnData(array[observed])
    table.obs_names = [row for row, seen in zip(rows, observed, strict=True) if seen]
    table.var_names = list(columns)
    return table
