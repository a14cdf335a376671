"""Disjoint parts of the rows, stratified and grouped."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from latentry.data.inputs import LabelsLike
from latentry.data.row_dependence import group_labels
from latentry.errors import DataError

__all__ = ["split_rows"]


def split_rows(
    count: int, fractions: Sequence[float], strata: np.ndarray | None, group: LabelsLike | None, seed: int
) -> tuple[np.ndarray, ...]:
    """Return the rows of disjoint parts; what the fractions leave goes to no part.

    Every stratum is dealt out in the same proportions; whole groups move together.

    Args:
        count: Number of rows.
        fractions: Of the rows, one for each part.
        strata: A whole number for each row, or None for a single stratum.
        group: A label for each row, whose rows stay together; None lets each row go by itself.
        seed: Of the draws.

    Returns:
        Numbers of rows, ascending, for each part.

    Raises:
        DataError: For fractions that sum to more than 1, and for a part that would get no row.
    """
    parts = _with_rest(fractions)
    units = np.arange(count) if group is None else _groups(group, count)
    stratum = np.zeros(count, dtype=np.int64) if strata is None else strata
    rng = np.random.default_rng(seed)
    # A group may span strata: it is dealt with the stratum of its first row.
    leaders, leader_of = np.unique(units, return_index=True)
    dealt = np.empty(len(leaders), dtype=np.int64)
    owed = np.zeros(len(parts))
    for label in np.unique(stratum[leader_of]):
        members = np.flatnonzero(stratum[leader_of] == label)
        sizes = _deal(len(members), parts * len(members) + owed)
        # What rounding denied a part in one stratum it gets in the next: many small strata add up.
        owed = parts * len(members) + owed - sizes
        dealt[rng.permutation(members)] = np.repeat(np.arange(len(parts)), sizes)
    part = dealt[np.searchsorted(leaders, units)]
    rows = tuple(np.flatnonzero(part == index) for index in range(len(fractions)))
    for index, chosen in enumerate(rows):
        if chosen.size == 0:
            what = "rows" if group is None else f"than {len(leaders)} groups (blocks of time, where a time was given)"
            raise DataError(
                f"fractions={tuple(fractions)}: part {index} got no row. Give it a larger fraction, or more {what}."
            )
    return rows


def _with_rest(fractions: Sequence[float]) -> np.ndarray:
    parts = np.asarray(fractions, dtype=float)
    if parts.size < 1 or not (parts > 0).all() or parts.sum() > 1 + 1e-9:
        raise DataError(
            f"fractions={tuple(fractions)}: no parts of a whole. Give positive numbers that sum to at most 1."
        )
    return np.append(parts, max(0.0, 1 - parts.sum()))


def _deal(count: int, wanted: np.ndarray) -> np.ndarray:
    """Return whole sizes that sum to ``count``, as near to what is wanted as can be."""
    sizes: np.ndarray = np.floor(np.maximum(wanted, 0)).astype(int)
    while sizes.sum() != count:
        step = 1 if sizes.sum() < count else -1
        gain = np.where(sizes + step >= 0, step * (wanted - sizes), -np.inf)
        sizes[int(np.argmax(gain))] += step
    return sizes


def _groups(group: LabelsLike, count: int) -> np.ndarray:
    return np.asarray(np.unique(group_labels(group, count), return_inverse=True)[1])
