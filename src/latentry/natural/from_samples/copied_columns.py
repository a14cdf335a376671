"""Columns that are in two observables, as they are or in other units: these observables share them by construction."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from latentry.data import unit_columns, varying_columns
from latentry.natural.from_samples.observables import Codes, Column

__all__ = ["copied_columns"]

Array = NDArray[np.float64]
_SAME = 1e-9  # of the variance that may differ between copies
_MOST = 60  # columns of an observable that are looked at


def copied_columns(named: Mapping[str, Column], kept: Codes, labels: Mapping[str, bool]) -> tuple[str, ...]:
    """Say which observables hold copies of each other's columns: the same labels under any names, or a + b·numbers.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((50, 3))
    >>> copied_columns({"a": x[:, :2], "b": -2 * x[:, 1:] + 1}, np.arange(50), {"a": False, "b": False})
    ('a and b share 1 of their columns, which is redundant by construction',)

    Args:
        named: Observables by name.
        kept: Row numbers to look at.
        labels: Which observables hold labels.

    Returns:
        A phrase for each pair of observables that share columns.
    """
    found = []
    for first, second in combinations(named, 2):
        if labels[first] != labels[second]:
            continue
        a, b = (np.asarray(named[name])[kept].reshape(len(kept), -1)[:, :_MOST] for name in (first, second))
        same = _same_labels(a, b) if labels[first] else _same_numbers(a.astype(np.float64), b.astype(np.float64))
        if same:
            found.append(f"{first} and {second} share {same} of their columns, which is redundant by construction")
    return tuple(found)


def _same_numbers(a: Array, b: Array) -> int:
    """How many columns of one are affine functions of a column of the other."""
    close = np.abs(_standard(a).T @ _standard(b)) > 1.0 - _SAME
    return int(close.any(axis=1).sum()) if close.size else 0


def _standard(values: Array) -> Array:
    """Varying columns, centred, of unit length."""
    unit: Array = unit_columns(values[:, varying_columns(values)]) / np.sqrt(len(values))
    return unit


def _same_labels(a: Column, b: Column) -> int:
    """How many columns of one are a column of the other, whatever the names of the labels."""
    left, right = ([_codes(column) for column in side.T] for side in (a, b))
    return sum(any(_one_to_one(x, y) for y in right) for x in left)


def _codes(column: Column) -> Codes:
    plain = column.astype(str) if column.dtype.kind == "O" else column
    return np.asarray(np.unique(plain, return_inverse=True)[1].ravel(), dtype=np.int64)


def _one_to_one(x: Codes, y: Codes) -> bool:
    levels = int(x.max()) + 1
    return levels > 1 and levels == int(y.max()) + 1 == len(np.unique(x * levels + y))
