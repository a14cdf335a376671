"""Apache Parquet tables."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, cast

import numpy as np

from latentry.data.dataset import Dataset
from latentry.data.files.roles import Roles
from latentry.data.files.table import from_columns, to_columns
from latentry.errors import DataError, MissingExtra

if TYPE_CHECKING:
    import pyarrow


def _library() -> ModuleType:
    try:
        import pyarrow as library
        import pyarrow.parquet
    except ImportError as problem:
        raise MissingExtra("pyarrow", "parquet", "a parquet file") from problem
    return cast(ModuleType, library)


def read(path: Path, roles: Roles) -> Dataset:
    """Read columns as from a csv file, with their own types; nulls are missing."""
    return from_columns(columns(path), roles)


def columns(path: Path) -> dict[str, np.ndarray]:
    """Read each column by its name."""
    arrow = _library()
    try:
        table = arrow.parquet.read_table(path)
    except arrow.ArrowException as problem:
        raise DataError(f"{path}: not a whole parquet file ({problem}). Write it again.") from problem
    return {name: _column(table[name]) for name in table.column_names}


def _column(chunked: pyarrow.ChunkedArray) -> np.ndarray:
    column: np.ndarray = chunked.to_numpy()
    if column.dtype != object or any(cell is None for cell in column):
        return column  # nulls stay None, and are missing
    return np.array([str(cell) for cell in column])


def write(data: Dataset, path: Path) -> None:
    """Write one row group."""
    arrow = _library()
    arrow.parquet.write_table(arrow.table({name: arrow.array(c) for name, c in to_columns(data).items()}), path)
