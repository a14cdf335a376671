"""Datasets in and out of files, one format per module."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from latentry.data.dataset import Dataset
from latentry.data.files import csv, h5ad, npy, npz, parquet, zarr
from latentry.data.files.roles import Roles
from latentry.errors import DataError, LatentryError, nearest
from latentry.whole_files import exchange, real_path, sync_folder, sync_tree

__all__ = ["FORMATS", "TABLES", "read", "read_columns", "write"]

_Result = TypeVar("_Result")


class Format(Protocol):
    """A module that reads and writes one kind of file."""

    def read(self, path: Path, roles: Roles) -> Dataset:
        """Read a file."""

    def write(self, data: Dataset, path: Path) -> None:
        """Write a file."""


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
    path: str | Path,
    domain: str | Iterable[str] | None = None,
    *,
    modalities: Iterable[str] | Mapping[str, Iterable[str]] | None = None,
    factors: Iterable[str] = (),
    groups: str | None = None,
    time: str | None = None,
) -> Dataset:
    """Read a dataset from npz, npy, csv, parquet, zarr, h5ad or h5mu.

    Args:
        path: The file; its ending names the format.
        domain: The array or column that says which domain a row comes from; several columns for a continuous one.
        modalities: The arrays to take as modalities (npz, zarr), or for tables a mapping from modality to its columns.
        factors: Arrays or columns that hold true latent values.
        groups: The array or column that says which rows depend on each other: subject, plate, batch.
        time: The array or column of moments, where rows that are near in time depend on each other.

    A file that :meth:`latentry.Dataset.write` wrote says all this itself.

    Returns:
        The rows; arrays of npy and zarr files stay on disk.

    Raises:
        DataError: By file, and by column or row where there is one.
    """
    path = _existing(path)
    roles = Roles.of(domain, modalities, factors, groups, time)
    return _explained(path, lambda: _format(path).read(path, roles))


def read_columns(path: str | Path) -> dict[str, np.ndarray]:
    """Read the columns of a csv or parquet file, whatever they mean.

    Args:
        path: The file; its ending names the format.

    Returns:
        Columns (rows,) by name: integers, numbers, text, or objects with None where text is missing.

    Raises:
        DataError: By file, for what is no table.
    """
    path = _existing(path)
    _format(path)
    if path.suffix not in TABLES:
        raise DataError(f"{path}: it is no table. Give csv or parquet.")
    return _explained(path, lambda: TABLES[path.suffix].columns(path))


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
            f"{path}: cannot be read as {path.suffix[1:]} ({problem}); "
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
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as folder:
            draft = Path(folder) / path.name
            form.write(data, draft)
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
