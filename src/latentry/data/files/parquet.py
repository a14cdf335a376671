"""Apache Parquet tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from latentry.data.dataset import Dataset
from latentry.data.files.roles import Roles
from latentry.data.files.table import from_columns, to_columns
from latentry.errors import DataError, MissingExtra


def _library() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as problem:
        raise MissingExtra("pyarrow", "parquet", "a parquet file") from problem
    return pyarrow


def read(path: Path, roles: Roles) -> Dataset:
    """Columns as in a csv file, with their own types; nulls are missing."""
    return from_columns(columns(path), roles)


def columns(path: Path) -> dict[str, np.ndarray]:
    """Each column by its name."""
    arrow = _library()
    try:
        table = arrow.parquet.read_table(path)
    except arrow.ArrowException as problem:
        raise DataError(f"{path} is not a whole parquet file ({problem}): write it again.") from problem
    return {name: _column(table[name]) for name in table.column_names}


def _column(chunked: Any) -> np.ndarray:
    column = chunked.to_numpy()
    if column.dtype != object or any(cell is None for cell in column):
        return column  # nulls stay None, and are missing
    return np.array([str(cell) for cell in column])


def write(data: Dataset, path: Path) -> None:
    """One row group."""
    arrow = _library()
    arrow.parquet.write_table(arrow.table({name: arrow.array(c) for name, c in to_columns(data).items()}), path)
