"""The leading components of a modality: what audits of wide data look at instead of every pixel."""

from __future__ import annotations

import numpy as np
from sklearn.decomposition import PCA

from latentry.data import Dataset, column_scales, varying_columns
from latentry.streams import stream, stream_seed

__all__ = ["flat", "leading_columns", "is_label", "rows_in_words", "some_rows", "untied"]


def flat(values: np.ndarray) -> np.ndarray:
    """Return rows of numbers.

    Args:
        values: (rows, ...).

    Returns:
        (rows, numbers), float64.
    """
    return np.asarray(values, dtype=np.float64).reshape(len(values), -1)


def leading_columns(values: np.ndarray, columns: int, seed: int = 0) -> np.ndarray:
    """Return at most so many columns: the data's own, or their leading components, each column in units of its spread.

    Args:
        values: (rows, ...).
        columns: At most so many.
        seed: Of the randomised search for components.

    Returns:
        (rows, columns).

    >>> leading_columns(np.arange(12.0).reshape(4, 3), 2).shape
    (4, 2)
    """
    table = flat(values)
    if np.asarray(values).ndim == 2:  # an image's pixels share a unit, a table's columns do not
        table = (table - table.mean(axis=0)) / column_scales(table)
    kept = min(columns, table.shape[1], len(table) - 1)
    if table.shape[1] <= columns:
        return table
    if not varying_columns(table).any():
        return table[:, :kept]
    solver = "randomized" if table.shape[1] > 50 else "auto"
    components: np.ndarray = PCA(
        kept, random_state=stream_seed("certificate/components", seed), svd_solver=solver
    ).fit_transform(table)
    return components


def untied(columns: np.ndarray, seed: int = 0) -> np.ndarray:
    """Set equal numbers of each column apart at random, by less than the smallest step between different ones.

    Neighbour counts take repeated numbers for information; no order of different numbers changes, so that nothing is lost.

    Args:
        columns: (rows, columns).
        seed: Of the steps.

    Returns:
        (rows, columns).

    >>> table = untied(np.array([[1.0], [1.0], [2.0]]))
    >>> len(np.unique(table)), bool(table[2] > table[:2].max())
    (3, True)
    """
    rng, result = stream("certificate/ties", seed), np.array(columns, dtype=np.float64)
    for column in result.T:
        levels = np.unique(column)
        if 1 < len(levels) < len(column):
            column += np.diff(levels).min() * rng.uniform(-0.49, 0.49, len(column))
    return result


def some_rows(count: int, most: int, seed: int = 0) -> np.ndarray:
    """Draw at most so many rows at random.

    Args:
        count: Of all rows.
        most: Rows to draw.
        seed: Of the draw.

    Returns:
        Numbers of rows, ascending.
    """
    return np.sort(stream("certificate/rows", seed).permutation(count)[:most])


def rows_in_words(used: int, count: int) -> str:
    """Say how many of how many rows were looked at.

    Args:
        used: Rows that were.
        count: All rows.

    Returns:
        A phrase.

    >>> rows_in_words(4000, 1_000_000), rows_in_words(300, 300)
    ('4,000 of 1,000,000 rows, drawn at random', 'all 300 rows')
    """
    return f"{used:,} of {count:,} rows, drawn at random" if used < count else f"all {count:,} rows"


def is_label(data: Dataset, name: str) -> bool:
    """Return whether a modality is one column of whole numbers, text or truth values.

    Args:
        data: The rows.
        name: Of the modality.

    Returns:
        True or False.
    """
    values = data[name]
    return np.dtype(values.dtype).kind in "iubU" and int(np.prod(values.shape[1:], dtype=int)) == 1
