"""AnnData (h5ad) and MuData (h5mu): one table per modality, annotations per row."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, cast

import numpy as np

from latentry.data.dataset import Dataset
from latentry.data.files.annotated import NAME, ORDER, from_anndata, from_mudata, survey_annotated
from latentry.data.files.h5_child import require_sound
from latentry.data.files.roles import GROUPS, TIME, Roles
from latentry.data.files.survey import Seen
from latentry.errors import DataError, MissingExtra

if TYPE_CHECKING:
    from anndata import AnnData


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


def claimed(path: Path, most: float) -> float:
    """Return nothing: a child process counts what it reads, and stops where it is too much."""
    _anndata()
    require_sound(path, most)
    return 0.0


def read(path: Path, roles: Roles) -> Dataset:
    """Read ``X`` of each modality, or what the roles name; the others are columns of ``obs``."""
    if path.suffix == ".h5ad":
        with _repeated_names():
            table = _anndata().read_h5ad(path)
        return from_anndata(table, roles)
    with _mudata() as library:
        return from_mudata(library.read_h5mu(path), roles)


def survey(path: Path, roles: Roles) -> list[Seen]:
    """Say which matrices there are, and how each column of ``obs`` would be read."""
    if path.suffix != ".h5ad":
        with _mudata() as library:
            return survey_annotated(library.read_h5mu(path), roles)
    with _repeated_names():
        return survey_annotated(_anndata().read_h5ad(path), roles)


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
        table.obs, table.uns[NAME] = annotations, data.names[0]
        table.write_h5ad(path)
        return
    with _mudata() as library:
        several = library.MuData(tables)
        several.obs = annotations.loc[several.obs_names]
        several.write(path)


def _annotations(data: Dataset) -> dict[str, np.ndarray]:
    columns: dict[str, np.ndarray] = {ORDER: np.arange(len(data))}
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
