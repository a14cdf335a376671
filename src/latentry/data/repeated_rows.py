"""Rows that are nearly the same: copies, and copies that were rounded or read again from a file with fewer digits."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from latentry.data.copies import copy_groups, dimension_of
from latentry.data.lazy_rows import blocks

if TYPE_CHECKING:
    from latentry.data.dataset import Dataset
    from latentry.data.standardiser import Standardiser

__all__ = ["Repeats", "near_rows", "numbers_of_rows", "repeated_rows", "sketches"]

Sketch = NDArray[np.float32]
_NUMBERS = 4  # of a sketch
_CLOSE = 0.05  # of the usual distance to the nearest neighbour: nearer than that is suspicious
_RARE, _AGAIN = 0.01, 0.1  # probability of a jump, and the fraction of rows, beyond those by chance, that have one
_PROBES = 2000  # rows that are looked at first
_TELLING = 0.2  # fraction of suspicious rows, beyond chance, above which they are copies
_FEWEST = 20  # rows by which anything can be told
_COLUMNS = 24  # of a modality that are compared


@dataclass(frozen=True)
class Repeats:
    """How many rows are copies of others.

    Args:
        copies: Rows that repeat another, exactly or nearly.
        rows: Looked at.
    """

    copies: int
    rows: int

    @property
    def fraction(self) -> float:
        """Return the fraction of rows that are copies."""
        return self.copies / max(self.rows, 1)

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
    those are twenty times nearer than that, they are the same rows. So are rows that were measured again, with some noise: by the
    jump between their nearest and second nearest neighbour, where a tenth more of them than of those have a rare one. All
    modalities that a row has are compared together, and ties, as rounded columns have them, count on both sides.

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
    usual, here = (tree.query(rows[_some(len(rows))], k=count)[0] for rows, count in ((known, 12), (mine, 11)))
    apart = usual[:, 1]
    close = _CLOSE * float(np.median(apart))
    if close > 0 and np.mean(here[:, 0] < close) - np.mean(apart < close) > _TELLING:
        distance, nearest = tree.query(mine)
        return np.where(distance < close, numbers[nearest], -1)
    dimension = dimension_of(usual)
    if np.mean(_jumps(here, dimension)) - np.mean(_jumps(usual[:, 1:], dimension)) <= _AGAIN:
        return found
    distance, nearest = tree.query(mine, k=2)
    return np.where(_jumps(distance, dimension), numbers[nearest[:, 0]], -1)


def _jumps(distances: np.ndarray, dimension: float) -> np.ndarray:
    """Say which rows have a nearest neighbour so near, beside the second nearest, as chance makes rarely."""
    ratio = np.divide(distances[:, 0], distances[:, 1], out=np.ones(len(distances)), where=distances[:, 1] > 0)
    return np.asarray(ratio**dimension < _RARE)


def _some(count: int) -> NDArray[np.int64]:
    """Return numbers of rows that are spread over all of them."""
    return np.linspace(0, count - 1, min(count, _PROBES)).astype(np.int64)


def numbers_of_rows(data: Dataset) -> NDArray[np.float64] | None:
    """Return the numbers of each row by which copies are known, at most 24 of each modality.

    Args:
        data: The rows.

    Returns:
        (rows, numbers), 0 where a modality is missing; None where all modalities are labels.
    """
    tables = []
    for name in data.names:
        values = data[name]
        width = int(np.prod(values.shape[1:], dtype=int))
        if np.dtype(values.dtype).kind not in "fiu" or (width == 1 and np.dtype(values.dtype).kind != "f"):
            continue
        some = np.linspace(0, width - 1, min(width, _COLUMNS)).astype(np.int64)
        tables.append(np.nan_to_num(np.asarray(values).reshape(len(data), -1)[:, some].astype(np.float64)))
    return np.hstack(tables) if tables else None


def repeated_rows(values: np.ndarray) -> Repeats:
    """Count rows that are copies of each other, exact or with a little noise; rounding alone is no copying.

    How copies are known is one thing (:func:`~latentry.data.copies.copy_groups`), what follows another: an estimate counts them
    once where they are more than chance allows, a verdict is left open where they are more than a fifth of the rows.

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
    codes = copy_groups(list(table.T))
    return Repeats(0 if codes is None else len(table) - len(np.unique(codes)), len(table))
