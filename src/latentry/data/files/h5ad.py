"""AnnData (h5ad) and MuData (h5mu): one table per modality, annotations per row."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from latentry.data.dataset import Dataset
from latentry.data.files.roles import Roles
from latentry.errors import DataError, MissingExtra

_ORDER = "@order"


def _anndata() -> Any:
    try:
        import anndata
    except ImportError as problem:
        raise MissingExtra("anndata", "h5ad", "an h5ad file") from problem
    return anndata


@contextmanager
def _mudata() -> Iterator[Any]:
    try:
        import mudata as library
    except ImportError as problem:
        raise MissingExtra("mudata", "h5mu", "an h5mu file") from problem
    with library.set_options(pull_on_update=False), warnings.catch_warnings():
        # Two modalities may well have a column of the same name.
        warnings.filterwarnings("ignore", message="var_names are not unique")
        yield library


def read(path: Path, roles: Roles) -> Dataset:
    """``X`` of each modality; ``domain`` and ``factors`` are columns of ``obs``."""
    if path.suffix == ".h5ad":
        table = _anndata().read_h5ad(path)
        return _dataset({"x": table}, table.obs_names, table.obs, roles)
    with _mudata() as library:
        several = library.read_h5mu(path)
    chosen = {
        name: table for name, table in several.mod.items() if roles.modalities is None or name in roles.modalities
    }
    if not chosen:
        raise DataError(f"{path} has modalities {', '.join(several.mod)}, none of which was asked for.")
    return _dataset(chosen, several.obs_names, several.obs, roles)


def _dataset(tables: Mapping[str, Any], rows: Any, annotations: Any, roles: Roles) -> Dataset:
    roles.check(annotations.columns, "obs column")
    if _ORDER in annotations:  # MuData puts rows that a modality lacks last
        rows = rows[np.argsort(annotations[_ORDER].to_numpy())]
        annotations = annotations.loc[rows]
    domain = list(roles.domain) or [c for c in annotations.columns if c == "@domain" or c.startswith("@domain:")]
    factors = {c: c for c in roles.factors} | {
        c.removeprefix("@factor:"): c for c in annotations.columns if c.startswith("@factor:")
    }
    return Dataset(
        {name: _values(table, rows) for name, table in tables.items()},
        _annotation(annotations[domain]) if domain else None,
        factors={name: _annotation(annotations[[column]]) for name, column in factors.items()},
        rows=list(rows),
        columns={name: list(table.var_names) for name, table in tables.items()},
    )


def _values(table: Any, rows: Any) -> np.ndarray:
    dense = table.X.toarray() if hasattr(table.X, "toarray") else np.asarray(table.X)
    place = table.obs_names.get_indexer(rows)
    if (place >= 0).all():
        return dense[place]
    spread = np.full((len(rows), dense.shape[1]), np.nan, dtype=np.result_type(dense.dtype, np.float32))
    spread[place >= 0] = dense[place[place >= 0]]
    return spread


def _annotation(frame: Any) -> np.ndarray:
    values = frame.to_numpy()[:, 0] if frame.shape[1] == 1 else frame.to_numpy(dtype=float)
    return np.array(values.tolist()) if values.dtype == object else values


def write(data: Dataset, path: Path) -> None:
    """One AnnData per modality, holding its observed rows; missing rows are absent there."""
    anndata = _anndata()
    import pandas

    names = list(data.rows) if data.rows is not None else [str(i) for i in range(len(data))]
    annotations = pandas.DataFrame(_annotations(data), index=names)
    tables = {name: _table(anndata, data, name, names) for name in data.names}
    if path.suffix == ".h5ad":
        if len(tables) > 1 or not data.observed[data.names[0]].all():
            raise DataError(f"{path.name}: h5ad holds one modality without holes; write h5mu instead.")
        table = tables[data.names[0]]
        table.obs = annotations
        table.write_h5ad(path)
        return
    with _mudata() as library:
        several = library.MuData(tables)
        several.obs = annotations.loc[several.obs_names]
        several.write(path)


def _annotations(data: Dataset) -> dict[str, Any]:
    found: dict[str, Any] = {_ORDER: np.arange(len(data))}
    if data.domain is not None and not data.domain.is_continuous:
        found["@domain"] = data.domain.as_labels()
    elif data.domain is not None:
        found |= {f"@domain:{i}": data.domain.values[:, i] for i in range(data.domain.size)}
    return found | {"@factor:" + name: factor for name, factor in data.factors.items()}


def _table(anndata: Any, data: Dataset, name: str, rows: list[str]) -> Any:
    array, observed = np.asarray(data[name]), data.observed[name]
    if array.ndim != 2:
        raise DataError(
            f"modality {name!r} has rows of shape {array.shape[1:]}: h5ad and h5mu hold tables; write npz or zarr."
        )
    columns = data.columns.get(name) or tuple(map(str, range(array.shape[1])))
    table = anndata.AnnData(array[observed])
    table.obs_names = [row for row, seen in zip(rows, observed, strict=True) if seen]
    table.var_names = list(columns)
    return table
