"""Apache Parquet tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, cast

import numpy as np

from latentry.data.dataset import Dataset
from latentry.data.files.checksums import digest, require_same
from latentry.data.files.roles import Roles
from latentry.data.files.survey import Seen, survey_columns
from latentry.data.files.table import from_columns, to_columns
from latentry.errors import DataError, MissingExtra

if TYPE_CHECKING:
    import pyarrow


_CONTENT = b"latentry content"  # a checksum of all columns


def _library() -> ModuleType:
    try:
        import pyarrow as library
        import pyarrow.parquet
    except ImportError as problem:
        raise MissingExtra("pyarrow", "parquet", "a parquet file") from problem
    return cast(ModuleType, library)


def claimed(path: Path, most: float) -> float:
    """Return the bytes of all columns: eight for each cell, or what the file says of them if that is more."""
    arrow = _library()
    about = arrow.parquet.read_metadata(path)
    groups = [about.row_group(i) for i in range(about.num_row_groups)]
    cells = max(about.num_rows, sum(group.num_rows for group in groups)) * about.num_columns
    return float(max(8 * cells, sum(group.total_byte_size for group in groups)))


def read(path: Path, roles: Roles) -> Dataset:
    """Read columns as from a csv file, with their own types; nulls are missing."""
    return from_columns(columns(path), roles)


def survey(path: Path, roles: Roles) -> list[Seen]:
    """Say how each column would be read."""
    return survey_columns(columns(path), roles)


def columns(path: Path) -> dict[str, np.ndarray]:
    """Read each column by its name."""
    arrow = _library()
    try:
        with open(path, "rb") as file:  # the file itself, never a folder of parts
            table = arrow.parquet.read_table(file, page_checksum_verification=True)
    except arrow.ArrowException as problem:
        raise DataError(f"{path}: not a whole parquet file ({problem}). Write it again.") from problem
    if len(set(table.column_names)) < len(table.column_names):
        raise DataError(f"{path}: two columns have the same name. Rename one.")
    columns = {name: _column(table[name]) for name in table.column_names}
    stored = (table.schema.metadata or {}).get(_CONTENT)
    if stored is not None:
        require_same(digest(columns), stored.decode("ascii", "replace"), str(path))
    return columns


def _column(chunked: pyarrow.ChunkedArray) -> np.ndarray:
    column: np.ndarray = chunked.to_numpy()
    if column.dtype == object and all(isinstance(cell, str) for cell in column):
        return np.array(column.tolist())
    return column  # nulls stay None, and are missing


def write(data: Dataset, path: Path) -> None:
    """Write one row group."""
    arrow = _library()
    table = arrow.table({name: arrow.array(c) for name, c in to_columns(data).items()})
    content = digest({name: _column(table[name]) for name in table.column_names})
    marked = table.replace_schema_metadata({_CONTENT: content})
    arrow.parquet.write_table(marked, path, write_page_checksum=True)


def write_columns(columns: Mapping[str, Sequence[object]], path: Path) -> None:
    """Write a table of any columns; None is missing."""
    arrow = _library()
    arrow.parquet.write_table(arrow.table({name: arrow.array(list(column)) for name, column in columns.items()}), path)
