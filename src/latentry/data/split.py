"""Disjoint parts of the rows, stratified and grouped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from latentry.errors import DataError

__all__ = ["split_rows"]


def split_rows(
    count: int, fractions: Sequence[float], strata: np.ndarray | None, group: Any, seed: int
) -> tuple[np.ndarray, ...]:
    """Sorted row indices of each part.

    Every stratum is dealt out in the same proportions; whole groups move together.
    """
    shares = _shares(fractions)
    units = np.arange(count) if group is None else _groups(group, count)
    stratum = np.zeros(count, dtype=np.int64) if strata is None else strata
    rng = np.random.default_rng(seed)
    part = np.empty(count, dtype=np.int64)
    # A group may span strata: it is dealt with the stratum of its first row.
    leaders, leader_of = np.unique(units, return_index=True)
    dealt = np.empty(len(leaders), dtype=np.int64)
    for label in np.unique(stratum[leader_of]):
        members = np.flatnonzero(stratum[leader_of] == label)
        dealt[rng.permutation(members)] = _deal(len(members), shares, rng)
    part = dealt[np.searchsorted(leaders, units)]
    rows = tuple(np.flatnonzero(part == index) for index in range(len(shares)))
    for index, chosen in enumerate(rows):
        if chosen.size == 0:
            what = "rows" if group is None else "groups"
            raise DataError(f"part {index} of the split (fraction {fractions[index]}) got no row: too few {what}.")
    return rows


def _shares(fractions: Sequence[float]) -> np.ndarray:
    shares = np.asarray(fractions, dtype=float)
    if shares.size < 1 or (shares <= 0).any() or shares.sum() > 1 + 1e-9:
        raise DataError(f"split fractions {tuple(fractions)} must be positive and sum to at most 1.")
    rest = 1 - shares.sum()
    return np.append(shares, rest) if rest > 1e-9 else shares


def _deal(count: int, shares: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    exact = shares * count
    sizes = np.floor(exact).astype(int)
    left = count - sizes.sum()
    # What rounding leaves goes to the largest remainders, ties by lot, so that small strata are not all cut alike.
    sizes[np.lexsort((rng.random(len(shares)), -(exact - sizes)))[:left]] += 1
    return np.repeat(np.arange(len(shares)), sizes)


def _groups(group: Any, count: int) -> np.ndarray:
    array = np.asarray(group)
    if array.shape != (count,):
        raise DataError(f"group has shape {array.shape} for {count} rows: give one group label per row.")
    return np.unique(array, return_inverse=True)[1]
