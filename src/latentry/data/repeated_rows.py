"""Rows that are nearly the same: copies, and copies that were rounded or read again from a file with fewer digits."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from latentry.data.lazy_rows import blocks

if TYPE_CHECKING:
    from latentry.data.dataset import Dataset
    from latentry.data.standardiser import Standardiser

__all__ = ["Repeats", "near_rows", "repeated_rows", "sketches"]

Sketch = NDArray[np.float32]
_NUMBERS = 4  # of a sketch
_CLOSE = 0.05  # of the usual distance to the nearest neighbour: nearer than that is suspicious
_PROBES = 2000  # rows that are looked at first
_TELLING = 0.2  # fraction of suspicious rows, beyond chance, above which they are copies
_FEWEST = 20  # rows by which anything can be told
_NEIGHBOURS = 20
_COPY = 0.003  # of the distance to the 20th neighbour: nearer than that, a row is a copy
_DISTINCT = 0.9  # fraction of distinct numbers in a column that was not rounded


@dataclass(frozen=True)
class Repeats:
    """How many rows are copies of others.

    Args:
        exact: Rows that equal an earlier one, although their columns were not rounded.
        near: Rows that have a neighbour far nearer than rows usually have.
        rows: Looked at.
    """

    exact: int
    near: int
    rows: int

    @property
    def fraction(self) -> float:
        """Return the fraction of rows that are copies."""
        return max(self.exact, self.near) / max(self.rows, 1)

    @property
    def telling(self) -> bool:
        """Return whether rows repeat each other more than chance allows."""
        return self.fraction > _TELLING


def sketches(data: Dataset, statistics: Standardiser | None = None) -> dict[str, Sketch]:
    """Return a few random projections of each row, for each modality: rows that are nearly equal have nearly equal ones.

    Args:
        data: The rows.
        statistics: By which columns are scaled; by default as they are.

    Returns:
        (rows, numbers) for each modality; NaN where it is missing.
    """
    return {name: _sketch(data, name, statistics) for name in data.names}


def _sketch(data: Dataset, name: str, statistics: Standardiser | None) -> Sketch:
    result = np.full((len(data), _NUMBERS), np.nan, dtype=np.float32)
    directions: np.ndarray | None = None
    for start, piece in blocks(data[name]):
        scaled = piece if statistics is None else statistics.apply(name, piece)
        flat = np.asarray(scaled, dtype=np.float64).reshape(len(piece), -1)
        directions = _directions(name, flat.shape[1]) if directions is None else directions
        result[start : start + len(piece)] = np.nan_to_num(flat) @ directions
    result[~np.asarray(data.observed[name])] = np.nan
    return result


def _directions(name: str, width: int) -> np.ndarray:
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[8:16], "little")
    drawn = np.random.default_rng(seed).normal(size=(width, _NUMBERS))
    # One column is its own sketch: further projections would say the same.
    return np.eye(1, _NUMBERS) if width == 1 else drawn / np.sqrt(width)


def near_rows(ours: Mapping[str, Sketch], theirs: Mapping[str, Sketch]) -> NDArray[np.int64]:
    """Find the rows that are copies of rows of another data set, even if they were rounded.

    A row of its own has its nearest neighbour there about as far away as those have theirs. Where a fifth more of the rows than of
    those are twenty times nearer than that, they are the same rows. All modalities that a row has are compared together, and
    ties, as rounded columns have them, count on both sides.

    Args:
        ours: Sketches of the rows, by modality.
        theirs: Sketches of the other rows.

    Returns:
        For each of our rows the number of the row there that it is a copy of; -1 where it is none.
    """
    names = [name for name in ours if name in theirs]
    found = np.full(len(next(iter(ours.values()))), -1)
    if not names:
        return found
    seen = np.column_stack([np.isfinite(ours[name][:, 0]) for name in names])
    for pattern in np.unique(seen, axis=0):
        which = [name for name, there in zip(names, pattern, strict=True) if there]
        rows = np.flatnonzero((seen == pattern).all(axis=1))
        if which:
            found[rows] = _near(
                np.hstack([ours[name][rows] for name in which]), np.hstack([theirs[name] for name in which])
            )
    return found


def _near(mine: Sketch, others: Sketch) -> NDArray[np.int64]:
    numbers = np.flatnonzero(np.isfinite(others).all(axis=1))
    found, known = np.full(len(mine), -1), others[numbers]
    if len(mine) < _FEWEST or len(known) < _FEWEST:
        return found
    from scipy.spatial import cKDTree  # slow to load: only when it is asked for

    tree = cKDTree(known)
    apart = tree.query(known[_some(len(known))], k=2)[0][:, 1]
    close = _CLOSE * float(np.median(apart))
    by_chance = float(np.mean(apart < close))
    if close <= 0 or np.mean(tree.query(mine[_some(len(mine))])[0] < close) - by_chance <= _TELLING:
        return found
    distance, nearest = tree.query(mine)
    return np.where(distance < close, numbers[nearest], -1)


def _some(count: int) -> NDArray[np.int64]:
    """Return numbers of rows that are spread over all of them."""
    return np.linspace(0, count - 1, min(count, _PROBES)).astype(np.int64)


def repeated_rows(values: np.ndarray) -> Repeats:
    """Count rows that are copies of each other, exact or with a little noise; rounding alone is no copying.

    Args:
        values: Numbers, (rows, columns).

    Returns:
        How many.

    >>> rng = np.random.default_rng(0)
    >>> table = rng.normal(size=(300, 3))
    >>> repeated_rows(table).telling, repeated_rows(np.repeat(table, 3, axis=0)).telling, repeated_rows(table.round(1)).telling
    (False, True, False)
    """
    table = np.asarray(values, dtype=np.float64).reshape(len(values), -1)
    distinct = np.unique(table, axis=0)
    if len(distinct) < 3 * _NEIGHBOURS:
        return Repeats(0, 0, len(table))
    unrounded = max(len(np.unique(column)) for column in distinct.T) >= _DISTINCT * len(distinct)
    exact = len(table) - len(distinct) if unrounded else 0
    return Repeats(exact, _near_copies(distinct) if unrounded else 0, len(table))


def _near_copies(distinct: np.ndarray) -> int:
    from scipy.spatial import cKDTree

    spread = distinct.std(axis=0)
    table = distinct[:, spread > 0] / spread[spread > 0]
    distance = cKDTree(table).query(table[_some(len(table))], k=_NEIGHBOURS + 1)[0]
    return int(np.mean(distance[:, 1] < _COPY * distance[:, -1]) * len(table))
