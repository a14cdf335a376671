"""Comma-separated values; empty cells are missing, and so are the marks that usually stand for one.

``NA``, ``N/A``, ``n/a``, ``#N/A``, ``<NA>``, ``NaN``, ``nan``, ``NULL`` and ``null`` are missing in every column; ``?``, ``-``,
``--``, ``.``, ``None`` and ``none`` where all other cells are numbers, truth values or dates, for among words they are words.
Among words, all of them are words in a column that is called domain, groups, factors or categories; so is what a fit knows as a
level of its column. Names of rows, and what we wrote (``@…``), are what they say.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import numpy as np

from latentry.data.cells import is_missing, raw_column
from latentry.data.dataset import Dataset
from latentry.data.files.roles import Roles
from latentry.data.files.survey import Seen, survey_columns
from latentry.data.files.table import from_columns, to_columns
from latentry.errors import DataError

_WHOLE = re.compile(r"[+-]?(0|[1-9]\d{0,17})")
_NUMBER = re.compile(
    r"([+-]?((0|[1-9]\d*)(\.\d*)?|\.\d+)(e[+-]?\d+)?|[+-]?(nan|inf|infinity))?", re.IGNORECASE
)  # or empty
_MISSING = frozenset(("NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null"))
_DOUBTFUL = frozenset(("?", "-", "--", ".", "None", "none"))


def claimed(path: Path, most: float) -> float:
    """Return ten times the size: cells are text before they are numbers."""
    return 10.0 * path.stat().st_size


def read(path: Path, roles: Roles) -> Dataset:
    """Read a table whose first line names the columns."""
    return from_columns(_columns(path, roles), roles)


def survey(path: Path, roles: Roles) -> list[Seen]:
    """Say how each column would be read, and which texts are missing cells."""
    cells = _cells(path)
    read = {name: _column(name, column, roles) for name, column in cells.items()}
    return [
        replace(part, holds=part.holds + _marked(read[part.name], cells[part.name]))
        for part in survey_columns(read, roles)
    ]


def columns(path: Path) -> dict[str, np.ndarray]:
    """Read each column by its name: integers, numbers or text."""
    return _columns(path, Roles())


def _columns(path: Path, roles: Roles) -> dict[str, np.ndarray]:
    return {name: _column(name, column, roles) for name, column in _cells(path).items()}


def _cells(path: Path) -> dict[str, list[str]]:
    """Read the text of each cell, by the name of its column."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            lines = [line for line in csv.reader(file) if line]
    except UnicodeDecodeError as problem:
        raise DataError(f"{path}: not text in UTF-8 ({problem}). Save it as UTF-8.") from problem
    except csv.Error as problem:
        raise DataError(
            f"{path}: cannot be divided into cells ({problem}). Look for a cell that is so long, or an open quotation mark."
        ) from problem
    if len(lines) < 2:
        raise DataError(f"{path}: has no row. Give a first line with column names, and at least one row.")
    names, rows = lines[0], lines[1:]
    _check(path, names, rows)
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def _check(path: Path, names: list[str], rows: list[list[str]]) -> None:
    for mark, word in ((";", "semicolons"), ("\t", "tabs")):
        if len(names) == 1 and mark in names[0] and all(mark in ",".join(row) for row in rows):
            raise DataError(
                f"{path}: cells are divided by {word}, it seems, as its first line is one name, {names[0]!r}. Save it with commas, "
                f"and with points in numbers; or read it with pandas.read_csv(..., sep={mark!r}) and pass the frame."
            )
    for number, row in enumerate(rows, start=2):
        if len(row) != len(names):
            raise DataError(
                f"{path}, line {number}: {len(row)} cells for {len(names)} columns. Give as many as there are columns."
            )
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{path}: two columns are called {twice!r}. Rename one.")


def _column(name: str, cells: list[str], roles: Roles) -> np.ndarray:
    """Read integers if all are, else numbers if all are, else text; what is missing is NaN, or None among text."""
    if name == "@row":
        return np.array(cells)
    if all(_WHOLE.fullmatch(cell.strip()) for cell in cells):
        return np.array([int(cell) for cell in cells])
    surely, perhaps = _marks(name, roles)
    plain = _without(cells, surely)
    sure = _without(plain, perhaps)
    # Codes such as 007 and 1_0 are text, although Python would read them as numbers.
    if any(sure) and all(_NUMBER.fullmatch(cell.strip()) for cell in sure) or not any(plain):
        return np.array([float(cell) if cell.strip() else np.nan for cell in sure])
    known = any(sure) and sure != plain and raw_column("", "", _text(sure)).kind != "category"
    return _text(sure if known else plain)


def _marks(name: str, roles: Roles) -> tuple[frozenset[str], frozenset[str]]:
    """Return texts that are missing cells of a column: whatever the others are, and where no other is a word."""
    if name in ("", roles.ids) or name.startswith("@"):
        return frozenset(), frozenset()
    levels = roles.levels(name)
    if name in (*roles.domain, roles.groups, *roles.factors, *roles.categories):
        return frozenset(), (_MISSING | _DOUBTFUL) - levels
    return _MISSING - levels, _DOUBTFUL - levels


def _text(cells: list[str]) -> np.ndarray:
    if all(cells):
        return np.array(cells)
    return np.array([cell or None for cell in cells], dtype=object)


def _without(cells: list[str], marks: Collection[str]) -> list[str]:
    """Return cells that are empty where nothing stands in them but one of some marks."""
    return ["" if not (text := cell.strip()) or text in marks else cell for cell in cells]


def _marked(read: np.ndarray, cells: list[str]) -> str:
    """Say which texts of a column are missing cells."""
    gone = {cell.strip() for cell, value in zip(cells, read.tolist(), strict=True) if is_missing(value)} - {""}
    return f" ({', '.join(sorted(gone))})" if gone else ""


def write(data: Dataset, path: Path) -> None:
    """Write a table whose numbers read back exactly."""
    table = to_columns(data)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*(column.tolist() for column in table.values()), strict=True))
