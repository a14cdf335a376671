"""Comma-separated values; empty cells and ``nan`` are missing."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np

from latentry.data.dataset import Dataset
from latentry.data.files.roles import Roles
from latentry.data.files.survey import Seen, survey_columns
from latentry.data.files.table import from_columns, to_columns
from latentry.errors import DataError

_WHOLE = re.compile(r"[+-]?(0|[1-9]\d{0,17})")
_NUMBER = re.compile(r"([+-]?(0|[1-9]\d*)?(\.\d*)?([eE][+-]?\d+)?|[+-]?(nan|inf|infinity))", re.IGNORECASE)


def claimed(path: Path, most: float) -> float:
    """Return ten times the size: cells are text before they are numbers."""
    return 10.0 * path.stat().st_size


def read(path: Path, roles: Roles) -> Dataset:
    """Read a table whose first line names the columns."""
    return from_columns(columns(path), roles)


def survey(path: Path, roles: Roles) -> list[Seen]:
    """Say how each column would be read."""
    return survey_columns(columns(path), roles)


def columns(path: Path) -> dict[str, np.ndarray]:
    """Read each column by its name: integers, numbers or text."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            lines = [line for line in csv.reader(file) if line]
    except (UnicodeDecodeError, csv.Error) as problem:
        raise DataError(f"{path}: not text in UTF-8 ({problem}). Save it as UTF-8.") from problem
    if len(lines) < 2:
        raise DataError(f"{path}: has no row. Give a first line with column names, and at least one row.")
    names, rows = lines[0], lines[1:]
    _check(path, names, rows)
    cells = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    return {name: np.array(column) if name == "@row" else _column(column) for name, column in cells.items()}


def _check(path: Path, names: list[str], rows: list[list[str]]) -> None:
    for number, row in enumerate(rows, start=2):
        if len(row) != len(names):
            raise DataError(
                f"{path}, line {number}: {len(row)} cells for {len(names)} columns. Give as many as there are columns."
            )
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{path}: two columns are called {twice!r}. Rename one.")


def _column(cells: list[str]) -> np.ndarray:
    """Read integers if all are, else numbers if all are, else text; what is empty is missing."""
    if all(_WHOLE.fullmatch(cell.strip()) for cell in cells):
        return np.array([int(cell) for cell in cells])
    # Codes such as 007 and 1_0 are text, although Python would read them as numbers.
    if all(_NUMBER.fullmatch(cell.strip()) for cell in cells):
        return np.array([float(cell) if cell.strip() else np.nan for cell in cells])
    if all(cell.strip() for cell in cells):
        return np.array(cells)
    return np.array([cell if cell.strip() else None for cell in cells], dtype=object)


def write(data: Dataset, path: Path) -> None:
    """Write a table whose numbers read back exactly."""
    table = to_columns(data)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*(column.tolist() for column in table.values()), strict=True))
