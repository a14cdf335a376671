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
    """Sorted row indices of each part; what the fractions leave goes to no part.

    Every stratum is dealt out in the same proportions; whole groups move together.
    """
    shares = _shares(fractions)
    units = np.arange(count) if group is None else _groups(group, count)
    stratum = np.zeros(count, dtype=np.int64) if strata is None else strata
    rng = np.random.default_rng(seed)
    # A group may span strata: it is dealt with the stratum of its first row.
    leaders, leader_of = np.unique(units, return_index=True)
    dealt = np.empty(len(leaders), dtype=np.int64)
    owed = np.zeros(len(shares))
    for label in np.unique(stratum[leader_of]):
        members = np.flatnonzero(stratum[leader_of] == label)
        sizes = _deal(len(members), shares * len(members) + owed)
        # What rounding denied a part in one stratum it gets in the next: many small strata add up.
        owed = shares * len(members) + owed - sizes
        dealt[rng.permutation(members)] = np.repeat(np.arange(len(shares)), sizes)
    part = dealt[np.searchsorted(leaders, units)]
    rows = tuple(np.flatnonzero(part == index) for index in range(len(fractions)))
    for index, chosen in enumerate(rows):
        if chosen.size == 0:
            what = "rows" if group is None else "groups"
            raise DataError(f"part {index} of the split (fraction {fractions[index]}) got no row: too few {what}.")
    return rows


def _shares(fractions: Sequence[float]) -> np.ndarray:
    shares = np.asarray(fractions, dtype=float)
    if shares.size < 1 or not (shares > 0).all() or shares.sum() > 1 + 1e-9:
        raise DataError(f"split fractions {tuple(fractions)} must be positive and sum to at most 1.")
    return np.append(shares, max(0.0, 1 - shares.sum()))


def _deal(count: int, wanted: np.ndarray) -> np.ndarray:
    """Whole sizes that sum to ``count``, as near to what is wanted as can be."""
    sizes = np.floor(np.maximum(wanted, 0)).astype(int)
    while sizes.sum() != count:
        step = 1 if sizes.sum() < count else -1
        gain = np.where(sizes + step >= 0, step * (wanted - sizes), -np.inf)
        sizes[int(np.argmax(gain))] += step
    return sizes


def _groups(group: Any, count: int) -> np.ndarray:
    array = np.asarray(group)
    if array.shape != (count,):
        raise DataError(f"group has shape {array.shape} for {count} rows: give one group label per row.")
    return np.unique(array, return_inverse=True)[1]
