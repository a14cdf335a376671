"""Single cells that were not measured: NaN in a row of which other cells were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from latentry.data.inputs import StoredRows
from latentry.data.lazy_rows import blocks
from latentry.errors import DataError

if TYPE_CHECKING:
    from latentry.data.dataset import Dataset

__all__ = ["cells_observed", "place_in_row", "refuse_missing_cells", "whole_rows"]


def cells_observed(values: StoredRows, observed: np.ndarray) -> np.ndarray:
    """Return which cells were observed.

    Args:
        values: Of a modality, (rows, ...); NaN where a cell is missing.
        observed: Which rows were, (rows,).

    Returns:
        Booleans of the shape of the values; False in rows that are missing.
    """
    known = np.empty(values.shape, dtype=bool)
    for start, piece in blocks(values):
        known[start : start + len(piece)] = ~np.isnan(piece)
    known[~observed] = False
    return known


def whole_rows(values: StoredRows, observed: np.ndarray) -> np.ndarray:
    """Return which rows were observed in every cell.

    Args:
        values: Of a modality, (rows, ...); NaN where a cell is missing.
        observed: Which rows were observed in some cell, (rows,).

    Returns:
        Booleans, (rows,).
    """
    whole = observed.copy()
    for start, piece in blocks(values):
        whole[start : start + len(piece)] &= ~np.isnan(piece.reshape(len(piece), -1)).any(axis=1)
    return whole


def refuse_missing_cells(data: Dataset, who: str) -> None:
    """Refuse data of which single cells are missing.

    Args:
        data: The rows.
        who: Needs every cell.

    Raises:
        DataError: That names the first missing cell, and says how many there are.
    """
    for name in data.partial:
        known = cells_observed(data[name], data.observed[name])
        gone = ~known & data.observed[name].reshape(-1, *(1,) * (known.ndim - 1))
        if gone.any():
            raise DataError(_sentence(data, name, gone.reshape(len(gone), -1), who))


def _sentence(data: Dataset, name: str, gone: np.ndarray, who: str) -> str:
    row, entry = map(int, np.argwhere(gone)[0])
    place = place_in_row(data[name].shape[1:], entry, data.columns.get(name))
    called = "" if data.rows is None else f" ({data.rows[row]!r})"
    count, rows = int(gone.sum()), int(gone.any(axis=1).sum())
    cells = "cell is" if count == 1 else "cells are"
    return (
        f"modality {name!r}: NaN at row {row}{called}, {place}; {count} {cells} missing in {rows} row{'s' * (rows > 1)}. "
        f"{who} needs every cell of a row that was observed: fill them, take data.complete_rows(), leave the column out, or put "
        "columns that are missing in different rows into modalities of their own (in a csv file by header cells such as "
        "body:height, blood:sodium). (Input X must not contain NaN or infinity.)"
    )


def place_in_row(shape: tuple[int, ...], entry: int, columns: Sequence[str] | None) -> str:
    """Name a place in a row.

    Args:
        shape: Of a row.
        entry: Number of the cell, counted along the row.
        columns: Names of the columns of a table.

    Returns:
        Words, such as "column 'height'".

    >>> place_in_row((2,), 1, ("mass", "height")), place_in_row((3, 4), 5, None)
    ("column 'height'", 'entry (1, 1)')
    """
    if len(shape) == 1:
        return f"column {columns[entry]!r}" if columns else f"column {entry}"
    return f"entry {tuple(int(i) for i in np.unravel_index(entry, shape))}"
