"""Datasets in and out of files, one format per module."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from latentry.data.dataset import Dataset
from latentry.data.files import csv, h5ad, npy, npz, parquet, zarr
from latentry.data.files.roles import Roles
from latentry.errors import DataError, LatentryError, nearest

__all__ = ["FORMATS", "read", "read_columns", "write"]

FORMATS: Mapping[str, Any] = {
    ".npz": npz,
    ".npy": npy,
    ".csv": csv,
    ".parquet": parquet,
    ".zarr": zarr,
    ".h5ad": h5ad,
    ".h5mu": h5ad,
}


def read(
    path: str | Path,
    domain: str | Iterable[str] | None = None,
    *,
    modalities: Iterable[str] | Mapping[str, Iterable[str]] | None = None,
    factors: Iterable[str] = (),
) -> Dataset:
    """Read a dataset from npz, npy, csv, parquet, zarr, h5ad or h5mu.

    Args:
        path: The file; its ending names the format.
        domain: The array or column that says which domain a row comes from; several columns for a continuous one.
        modalities: The arrays to take as modalities (npz, zarr), or for tables a mapping from modality to its columns.
        factors: Arrays or columns that hold true latent values.

    A file that :meth:`latentry.Dataset.write` wrote says all this itself.
    """
    path = Path(path)
    if not path.exists():
        raise DataError(f"{path} does not exist.")
    roles = Roles.of(domain, modalities, factors)
    return _explained(path, lambda: _format(path).read(path, roles))


def read_columns(path: str | Path) -> dict[str, Any]:
    """The columns of a csv or parquet file, by name, whatever they mean."""
    path = Path(path)
    if not path.exists():
        raise DataError(f"{path} does not exist.")
    form = _format(path)
    if not hasattr(form, "columns"):
        raise DataError(f"{path} is no table: give csv or parquet.")
    return _explained(path, lambda: form.columns(path))


def _explained(path: Path, reading: Callable[[], Any]) -> Any:
    """The result of a reading; its problems as sentences that name the file."""
    try:
        return reading()
    except LatentryError as problem:
        if str(path) in str(problem) or isinstance(problem, ImportError):
            raise
        raise DataError(f"{path}: {problem}") from problem
    except Exception as problem:  # a damaged file may break its library anywhere
        raise DataError(
            f"{path} cannot be read as {path.suffix[1:]} ({problem}): "
            "it may be cut short or of another kind; write it again."
        ) from problem


def write(data: Dataset, path: str | Path) -> None:
    """Write a dataset; the file appears whole or not at all."""
    path = Path(path).absolute()
    form = _format(path)
    if path.is_dir() and not (form is zarr and zarr.is_store(path)):
        raise DataError(f"{path} is a folder of another kind: choose another place, nothing was written.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as folder:
            draft, old = Path(folder) / path.name, Path(folder) / "old"
            form.write(data, draft)
            if path.is_dir():
                path.rename(old)  # a folder cannot be replaced in one step; this one goes with the temporary folder
            draft.replace(path)
    except LatentryError:
        raise
    except Exception as problem:
        raise DataError(f"{path} could not be written: {problem}.") from problem


def _format(path: Path) -> Any:
    if path.suffix not in FORMATS:
        raise DataError(f"{path} has the ending {path.suffix!r}{nearest(path.suffix, FORMATS)}")
    return FORMATS[path.suffix]
