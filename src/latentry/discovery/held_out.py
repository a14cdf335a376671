"""Rows that no fit saw: one part set aside, or every row once."""

from __future__ import annotations

import numpy as np

from latentry.data import Dataset

__all__ = ["ENOUGH", "parts", "some_rows"]

ENOUGH = 500  # rows set aside that decide alone; with fewer, every row is set aside once


def parts(data: Dataset, folds: int, seed: int, fraction: float = 0.2) -> list[tuple[Dataset, np.ndarray]]:
    """Return pairs of rows to fit and numbers of the rows to score; rows of one group stay together.

    Args:
        data: All rows.
        folds: How often; 1 sets one part aside.
        seed: Of the split.
        fraction: Of the rows that one part holds, where there is one.

    Returns:
        As many pairs as folds.

    >>> rows = Dataset(np.zeros((20, 1)))
    >>> [(len(fitted), len(scored)) for fitted, scored in parts(rows, 4, seed=0)]
    [(15, 5), (15, 5), (15, 5), (15, 5)]
    """
    if folds == 1:
        kept, aside = data.split_rows(1 - fraction, fraction, seed=seed)
        return [(data.take(kept), aside)]
    dealt = data.split_rows(*[1 / folds] * folds, seed=seed)
    everything = np.arange(len(data))
    return [(data.take(np.setdiff1d(everything, aside)), aside) for aside in dealt]


def some_rows(data: Dataset, most: int, seed: int) -> Dataset:
    """Return rows that have every modality, at most so many of them, drawn from all domains alike.

    Args:
        data: All rows.
        most: How many may be taken.
        seed: Of the draw.

    Returns:
        The rows.
    """
    whole = np.logical_and.reduce([data.observed[name] for name in data.names])
    rows = data if whole.all() else data.take(whole)
    return rows if len(rows) <= most else rows.split(most / len(rows), seed=seed)[0]
