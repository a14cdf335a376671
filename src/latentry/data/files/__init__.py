"""Datasets in and out of files, one format per module."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from latentry.data.columns import Coding
from latentry.data.dataset import Dataset
from latentry.data.files import csv, h5ad, npy, npz, parquet, zarr
from latentry.data.files.limits import most_bytes, require_regular, require_room
from latentry.data.files.objects import read_object
from latentry.data.files.roles import Roles
from latentry.data.files.said_roles import said_roles
from latentry.data.files.survey import Seen
from latentry.errors import DataError, LatentryError, nearest
from latentry.whole_files import exchange, real_path, sync_folder, sync_tree

__all__ = ["FORMATS", "TABLES", "Seen", "read", "read_array", "read_columns", "survey", "write", "write_columns"]

_Result = TypeVar("_Result")


class Format(Protocol):
    """A module that reads and writes one kind of file."""

    def claimed(self, path: Path, most: float) -> float:
        """Return the bytes that reading takes, from what the file says of itself; refuse what it cannot hold."""

    def read(self, path: Path, roles: Roles) -> Dataset:
        """Read a file."""

    def write(self, data: Dataset, path: Path) -> None:
        """Write a file."""

    def survey(self, path: Path, roles: Roles) -> list[Seen]:
        """Say how each part of a file would be read."""


class Table(Protocol):
    """A module whose files are columns with names."""

    def columns(self, path: Path) -> dict[str, np.ndarray]:
        """Read each column by its name."""


FORMATS: Mapping[str, Format] = {
    ".npz": npz,
    ".npy": npy,
    ".csv": csv,
    ".parquet": parquet,
    ".zarr": zarr,
    ".h5ad": h5ad,
    ".h5mu": h5ad,
}
TABLES: Mapping[str, Table] = {".csv": csv, ".parquet": parquet}


def read(
    path: str | Path | object,
    domain: str | Iterable[str] | None = None,
    *,
    modalities: str | Iterable[str] | Mapping[str, str | Iterable[str]] | None = None,
    factors: str | Iterable[str] = (),
    groups: str | None = None,
    time: str | None = None,
    max_gb: float | None = None,
    ids: str | None = None,
    categories: str | Iterable[str] = (),
    drop: str | Iterable[str] = (),
    roles: str | Path | None = None,
    coding: Mapping[str, Sequence[Coding]] | None = None,
) -> Dataset:
    """Read a dataset from npz, npy, csv, parquet, zarr, h5ad or h5mu, or from a table in memory.

    Cost: linear in the bytes of the file; zarr arrays stay on disk.

    Args:
        path: The file; its ending names the format. Or a data frame, AnnData, MuData, or an array or dataset of xarray.
        domain: The array or column that says which domain a row comes from; several columns for a continuous one.
        modalities: The arrays to take as modalities (npz, zarr), or a mapping from modality to its columns. In AnnData a
            modality is also "layers/counts", "obsm/X_pca" or columns of obs; in MuData "rna/layers/counts".
        factors: Arrays or columns that hold true latent values.
        groups: The array or column that says which rows depend on each other: subject, plate, batch.
        time: The array or column of moments, where rows that are near in time depend on each other.
        max_gb: Gigabytes (10^9 bytes) that the file may expand to in memory; half of this machine's memory by default. Nothing
            is expanded of a file that claims more. Arrays of npy and zarr stay on disk and do not count.
        ids: The array or column that names the rows.
        categories: Columns of a table that hold labels, also where these are numbers.
        drop: Arrays or columns to leave out.
        roles: A toml file that says all this; by default the file data.toml in the same folder, if it names this file.
            What the call says counts more.
        coding: How columns that hold no numbers become numbers: `coding` of another dataset, so that both are read alike.

    A file that :meth:`latentry.Dataset.write` wrote says all this itself.

    Returns:
        The rows; arrays of npy and zarr files stay on disk.

    Raises:
        DataError: By file, and by column or row where there is one.
    """
    given = {
        "domain": domain, "modalities": modalities, "factors": factors, "groups": groups, "time": time, "ids": ids,
        "categories": categories, "drop": drop,
    }  # fmt: skip
    given = {name: value for name, value in given.items() if value is not None and value != ()}
    if not isinstance(path, (str, Path)):
        return read_object(path, Roles.of(**(said_roles(None, roles) | given), coding=coding))
    found = _existing(path)
    parts = Roles.of(**(said_roles(found, roles) | given), coding=coding)
    form = _format(found)
    return _explained(found, lambda: _within(found, max_gb, lambda: form.read(found, parts)))


def survey(path: str | Path, *, max_gb: float | None = None, **given: Any) -> list[Seen]:
    """Say how each column or array of a file would be read, without reading it as data.

    Args:
        path: The file; its ending names the format.
        max_gb: Gigabytes that the file may expand to, as in :func:`read`.
        given: Other arguments of :func:`read`.

    Returns:
        A line for each.

    Raises:
        DataError: By file.
    """
    found = _existing(path)
    roles = given.pop("roles", None)
    parts = Roles.of(**(said_roles(found, roles) | {name: value for name, value in given.items() if value}))
    form = _format(found)
    return _explained(found, lambda: _within(found, max_gb, lambda: form.survey(found, parts)))


def read_array(path: str | Path) -> np.ndarray:
    """Read the array of a npy file into memory, whatever its rank and type.

    Args:
        path: The file.

    Returns:
        The array.

    Raises:
        DataError: By file, for what is no whole npy file.
    """
    path = _existing(path)
    if path.suffix != ".npy":
        raise DataError(f"{path}: it is no npy file. Write one with numpy.save.")

    def whole() -> np.ndarray:
        array: np.ndarray = np.load(path, allow_pickle=False)
        return array

    return _explained(path, lambda: _within(path, None, whole))


def read_columns(path: str | Path, max_gb: float | None = None) -> dict[str, np.ndarray]:
    """Read the columns of a csv or parquet file, whatever they mean.

    Args:
        path: The file; its ending names the format.
        max_gb: Gigabytes that the file may expand to, as in :func:`read`.

    Returns:
        Columns (rows,) by name: integers, numbers, text, or objects with None where text is missing.

    Raises:
        DataError: By file, for what is no table.
    """
    path = _existing(path)
    _format(path)
    if path.suffix not in TABLES:
        raise DataError(f"{path}: it is no table. Give csv or parquet.")
    return _explained(path, lambda: _within(path, max_gb, lambda: TABLES[path.suffix].columns(path)))


def _within(path: Path, max_gb: float | None, reading: Callable[[], _Result]) -> _Result:
    """Return the result of reading a regular file that claims no more than it may."""
    most = most_bytes(max_gb)
    require_regular(path, folder=path.suffix == ".zarr")
    require_room(path, _format(path).claimed(path, most), most)
    return reading()


def _existing(path: str | Path) -> Path:
    if not Path(path).exists():
        raise DataError(f"{path}: it does not exist. Check the path.")
    return Path(path)


def _explained(path: Path, reading: Callable[[], _Result]) -> _Result:
    """Return the result of a reading; its problems are sentences that name the file."""
    try:
        return reading()
    except LatentryError as problem:
        if str(path) in str(problem) or isinstance(problem, ImportError):
            raise
        raise DataError(f"{path}: {problem}") from problem
    except Exception as problem:  # a damaged file may break its library anywhere
        raise DataError(
            f"{path}: cannot be read as {path.suffix[1:]} ({str(problem)[:500] or type(problem).__name__}); "
            "it may be cut short or of another kind. Write it again."
        ) from problem


def write(data: Dataset, path: str | Path) -> None:
    """Write a dataset; the file appears whole or not at all.

    Args:
        data: The rows.
        path: The file; its ending names the format.

    Raises:
        DataError: If the format cannot hold these data, or the file cannot be written.
    """
    path = real_path(path)
    form = _format(path)
    if path.is_dir() and not (form is zarr and zarr.is_store(path)):
        raise DataError(f"{path}: a folder of another kind; nothing was written. Choose another place.")
    _whole(path, lambda draft: form.write(data, draft))


def write_columns(columns: Mapping[str, Sequence[object]], path: str | Path) -> None:
    """Write a table of any columns as parquet; the file appears whole or not at all.

    Args:
        columns: By name, of equal length; None is missing.
        path: The file.

    Raises:
        DataError: If the file cannot be written.
    """
    _whole(real_path(path), lambda draft: parquet.write_columns(columns, draft))


def _whole(path: Path, writing: Callable[[Path], None]) -> None:
    """Write a draft beside a place, and move it there when it is whole."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as folder:
            draft = Path(folder) / path.name
            writing(draft)
            sync_tree(draft)
            _put(draft, path)
            sync_folder(path.parent)
    except LatentryError:
        raise
    except Exception as problem:
        raise DataError(f"{path}: could not be written ({problem}). Choose another place.") from problem


def _put(draft: Path, path: Path) -> None:
    """Move a draft into its place in one step; an earlier store takes the draft's place, and goes with its folder."""
    if not path.is_dir():
        draft.replace(path)
    elif not exchange(draft, path):  # a file system that cannot exchange two folders
        path.rename(draft.with_name("old"))
        draft.rename(path)


def _format(path: Path) -> Format:
    if path.suffix not in FORMATS:
        raise DataError(f"{path}: no format has the ending {path.suffix!r}{nearest(path.suffix, FORMATS)}")
    return FORMATS[path.suffix]
