"""A number for each row that is the same wherever the row stands, and differs for other rows: which rows were seen before?"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from latentry.data.lazy_rows import blocks

if TYPE_CHECKING:
    from latentry.data.dataset import Dataset

__all__ = ["row_marks"]

Marks = NDArray[np.uint64]

_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


def row_marks(data: Dataset, names: Iterable[str]) -> Marks:
    """Return a 64-bit mark of each row's values, in double precision, over these modalities in the order of their names.

    Neither the domain nor the order of rows or modalities matters. Two different rows have the same mark by chance once in 2⁶⁴.

    Args:
        data: The rows.
        names: Of the modalities that count.

    Returns:
        Marks, (rows,).

    >>> from latentry.data import Dataset
    >>> rows = Dataset({"x": np.arange(6.0).reshape(3, 2)})
    >>> marks = row_marks(rows, ["x"])
    >>> (row_marks(rows.take([2, 0]), ["x"]) == marks[[2, 0]]).tolist()
    [True, True]
    """
    total = np.zeros(len(data), dtype=np.uint64)
    for name in sorted(names):
        marks = np.zeros(len(data), dtype=np.uint64)
        for start, piece in blocks(data[name]):
            marks[start : start + len(piece)] = _marks(piece, name)
        marks[~np.asarray(data.observed[name])] = np.uint64(1)
        total = total * _MIX + marks
    return total


def _marks(piece: np.ndarray, name: str) -> Marks:
    flat = piece.astype(np.float64).reshape(len(piece), -1) + 0.0  # -0 is 0
    flat[np.isnan(flat)] = np.nan  # a missing cell, which is no zero, has the same bits in every file
    bits = flat.view(np.uint64)
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
    odd = np.random.default_rng(seed).integers(0, 2**63, bits.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    bits = (bits ^ (bits >> _SHIFT)) * _MIX  # low bits of round numbers are all zero
    total: Marks = ((bits ^ (bits >> _SHIFT)) * odd).sum(axis=1, dtype=np.uint64)
    mixed: Marks = (total ^ (total >> _SHIFT)) * _MIX
    result: Marks = mixed ^ (mixed >> _SHIFT)
    return result
