"""Observables of an audit: blocks of labels or numbers, from datasets, mappings and arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from latentry.data import Dataset, missing_entries
from latentry.errors import DataError, nearest

__all__ = ["Block", "block_of", "check_kinds", "is_label", "named_columns"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
# Columns that learners see, columns that tests see, and label values that tests tell apart.
_WIDE, _SUMMARY, _COMMON = 30, 5, 12


@dataclass(frozen=True, eq=False)
class Block:
    """One observable: codes (rows,) with a number of levels, or numbers (rows, columns).

    Learners see `features`; tests see `summary`. Both are functions of the block, so that a student of the features
    is a student of the block, and dependence of the summary is dependence of the block (data processing).
    """

    name: str
    values: NDArray[Any]
    levels: int | None
    features: Array
    summary: Array

    @property
    def discrete(self) -> bool:
        """Whether the block is a label."""
        return self.levels is not None

    @property
    def shortened(self) -> bool:
        """Whether tests see less than the whole block."""
        return self.summary.shape[1] < self.features.shape[1]

    @classmethod
    def of_labels(cls, name: str, codes: Codes) -> Block:
        """A block of codes 0, 1, ...; rare ones share a column of the summary."""
        levels = int(codes.max()) + 1
        order = np.argsort(-np.bincount(codes, minlength=levels), kind="stable")
        rank = np.empty(levels, dtype=np.int64)
        rank[order] = np.arange(levels)
        return cls(
            name,
            codes,
            levels,
            np.eye(levels)[codes],
            np.eye(min(levels, _COMMON))[np.minimum(rank[codes], _COMMON - 1)],
        )

    @classmethod
    def of_numbers(cls, name: str, values: Array, fit: Codes, seed: int) -> Block:
        """A block of numbers; many columns become the leading components of the fit rows."""
        if values.shape[1] <= _SUMMARY:
            return cls(name, values, None, values, values)
        scale = StandardScaler().fit(values[fit])
        kept = min(_WIDE, values.shape[1], len(fit) - 1)
        turned = PCA(kept, random_state=seed).fit(scale.transform(values[fit])).transform(scale.transform(values))
        return cls(name, values, None, turned if values.shape[1] > _WIDE else values, turned[:, :_SUMMARY])

    def reordered(self, order: Codes, fit: Codes, seed: int) -> Block:
        """The same block with its rows in another order; components are those of the rows that fit then."""
        if self.levels is not None:
            return Block.of_labels(self.name, self.values[order])
        return Block.of_numbers(self.name, self.values[order], fit, seed)


def named_columns(
    data: Any, blocks: Any, domain: ArrayLike | None
) -> tuple[dict[str, Any], NDArray[np.bool_], ArrayLike | None]:
    """Named blocks, which rows are complete, and the domain labels."""
    if isinstance(data, Dataset):
        chosen = list(data.names if blocks is None else blocks)
        unknown = [b for b in chosen if b not in data.names]
        if unknown:
            raise DataError(f"blocks: no modality is called {unknown[0]!r}{nearest(str(unknown[0]), data.names)}")
        present = np.all([data.observed[name] for name in chosen], axis=0)
        labels = data.domain.as_labels() if domain is None and data.domain is not None else domain
        return {name: data.values[name] for name in chosen}, present, labels
    if isinstance(data, Mapping):
        unknown = [b for b in blocks or () if b not in data]
        if unknown:
            raise DataError(f"blocks: no column is called {unknown[0]!r}{nearest(str(unknown[0]), map(str, data))}")
        named = {str(k): np.asarray(v) for k, v in data.items() if blocks is None or k in blocks}
    else:
        table = np.asarray(data)
        if table.ndim != 2 or not isinstance(blocks, Mapping):
            raise DataError("an array needs blocks={'name': [columns], ...} and the shape (rows, columns)")
        named = {str(name): table[:, list(columns)] for name, columns in blocks.items()}
    lengths = {name: len(column) for name, column in named.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(f"the blocks have different numbers of rows: {lengths}")
    rows = next(iter(lengths.values()), 0)
    present = np.ones(rows, dtype=bool)
    for column in named.values():
        present &= ~missing_entries(column).reshape(rows, -1).any(axis=1)
    return named, present, domain


def check_kinds(named: Mapping[str, Any], labels: Sequence[str], numbers: Sequence[str]) -> None:
    """Refuse names of blocks that do not exist, that are both labels and numbers, or that hold text as numbers."""
    for argument, names in (("labels", labels), ("numbers", numbers)):
        unknown = [name for name in names if name not in named]
        if unknown:
            raise DataError(f"{argument}: no block is called {unknown[0]!r}{nearest(str(unknown[0]), named)}")
    both = [name for name in labels if name in numbers]
    if both:
        raise DataError(f"block {both[0]!r} is named in labels and in numbers; it is one or the other")
    wordy = [name for name in numbers if np.asarray(named[name]).dtype.kind not in "fiub"]
    if wordy:
        raise DataError(f"numbers: block {wordy[0]!r} holds text")


def is_label(name: str, column: Any, labels: Sequence[str], numbers: Sequence[str]) -> bool:
    """Text and whole numbers are labels unless said otherwise, other numbers are not."""
    return name in labels or (name not in numbers and np.asarray(column).dtype.kind != "f")


def block_of(name: str, column: Any, kept: Codes, *, label: bool, fit: Codes, seed: int) -> Block:
    """Return the block of one column: its labels as codes, or its numbers."""
    values = np.asarray(column)[kept].reshape(len(kept), -1)
    values = values.astype(str) if values.dtype.kind == "O" else values
    if not label:
        if not np.isfinite(values).all():
            raise DataError(f"block {name!r} has an infinite value")
        return Block.of_numbers(name, values.astype(np.float64), fit, seed)
    codes = np.unique(values, axis=0, return_inverse=True)[1]
    return Block.of_labels(name, codes.ravel().astype(np.int64))
