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
Column = NDArray[Any]  # labels of any kind, or numbers
# Columns that learners see, columns that tests see, and label values that tests tell apart.
_WIDE, _SUMMARY, _COMMON = 30, 5, 12


@dataclass(frozen=True, eq=False)
class Block:
    """One observable: codes (rows,) with a number of levels, or numbers (rows, columns).

    Learners see `features`; tests see `summary`. Both are functions of the block, so that a student of the features
    is a student of the block, and dependence of the summary is dependence of the block (data processing).
    """

    name: str
    values: Column
    levels: int | None
    features: Array
    summary: Array

    @property
    def discrete(self) -> bool:
        """Return whether the block is a label."""
        return self.levels is not None

    @property
    def shortened(self) -> bool:
        """Return whether tests see less than the whole block."""
        return bool(self.summary.shape[1] < self.features.shape[1])

    @classmethod
    def of_labels(cls, name: str, codes: Codes) -> Block:
        """Build a block of codes 0, 1, ...; rare ones have one column of the summary together.

        Args:
            name: Of the block.
            codes: (rows,).

        Returns:
            The block.
        """
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
        """Build a block of numbers; many columns become the leading components of the fit rows.

        Args:
            name: Of the block.
            values: (rows, columns).
            fit: Row numbers on which the components are learned.
            seed: Of the decomposition.

        Returns:
            The block.
        """
        if values.shape[1] <= _SUMMARY:
            return cls(name, values, None, values, values)
        scale = StandardScaler().fit(values[fit])
        kept = min(_WIDE, values.shape[1], len(fit) - 1)
        turned = PCA(kept, random_state=seed).fit(scale.transform(values[fit])).transform(scale.transform(values))
        return cls(name, values, None, turned if values.shape[1] > _WIDE else values, turned[:, :_SUMMARY])

    def reordered(self, order: Codes, fit: Codes, seed: int) -> Block:
        """Return the same block with its rows in another order.

        Args:
            order: Row numbers.
            fit: Row numbers, in the new order, on which the components are learned.
            seed: Of the decomposition.

        Returns:
            The block.
        """
        if self.levels is not None:
            return Block.of_labels(self.name, self.values[order])
        return Block.of_numbers(self.name, self.values[order], fit, seed)


def named_columns(
    data: Dataset | Mapping[str, ArrayLike] | ArrayLike,
    blocks: Mapping[str, Sequence[int]] | Sequence[str] | None,
    domain: ArrayLike | None,
) -> tuple[dict[str, Column], NDArray[np.bool_], ArrayLike | None]:
    """Gather named blocks, find complete rows, and read the domain labels.

    Args:
        data: A Dataset, a mapping from name to column(s), or an array (rows, columns).
        blocks: Names to take, or columns of an array by name.
        domain: One label per row; a Dataset brings its own.

    Returns:
        Blocks by name, which rows are complete (rows,), and the domain labels.

    Raises:
        DataError: If a name is unknown, an array has no blocks, or lengths differ.
    """
    if isinstance(data, Dataset):
        chosen = list(data.names if blocks is None else blocks)
        unknown = [b for b in chosen if b not in data.names]
        if unknown:
            raise DataError(f"blocks: no modality is called {unknown[0]!r}{nearest(str(unknown[0]), data.names)}")
        present = np.all([data.observed[name] for name in chosen], axis=0)
        labels = data.domain.as_labels() if domain is None and data.domain is not None else domain
        return {name: np.asarray(data.values[name]) for name in chosen}, present, labels
    if isinstance(data, Mapping):
        unknown = [b for b in blocks or () if b not in data]
        if unknown:
            raise DataError(f"blocks: no column is called {unknown[0]!r}{nearest(str(unknown[0]), map(str, data))}")
        named = {str(k): np.asarray(v) for k, v in data.items() if blocks is None or k in blocks}
    else:
        table = np.asarray(data)
        if table.ndim != 2 or not isinstance(blocks, Mapping):
            raise DataError(
                f"blocks={blocks!r}: an array of shape {table.shape} is no table of named blocks. "
                "Give the shape (rows, columns) and blocks={'name': [columns], ...}."
            )
        named = {str(name): table[:, list(columns)] for name, columns in blocks.items()}
    lengths = {name: len(column) for name, column in named.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(f"blocks: have different numbers of rows, {lengths}. Give one value per row in each.")
    rows = next(iter(lengths.values()), 0)
    present = np.ones(rows, dtype=bool)
    for column in named.values():
        present &= ~missing_entries(column).reshape(rows, -1).any(axis=1)
    return named, present, domain


def check_kinds(named: Mapping[str, Column], labels: Sequence[str], numbers: Sequence[str]) -> None:
    """Refuse names of blocks that do not exist, that are both labels and numbers, or that hold text as numbers.

    Args:
        named: Blocks by name.
        labels: Names of blocks that are labels.
        numbers: Names of blocks that are measurements.

    Raises:
        DataError: If a name is unknown, given as both, or holds text as numbers.
    """
    for argument, names in (("labels", labels), ("numbers", numbers)):
        unknown = [name for name in names if name not in named]
        if unknown:
            raise DataError(f"{argument}: no block is called {unknown[0]!r}{nearest(str(unknown[0]), named)}")
    both = [name for name in labels if name in numbers]
    if both:
        raise DataError(f"block {both[0]!r}: is named in labels and in numbers. Name it in one of them.")
    wordy = [name for name in numbers if np.asarray(named[name]).dtype.kind not in "fiub"]
    if wordy:
        raise DataError(f"numbers: block {wordy[0]!r} holds text. Take it out of numbers.")


def is_label(name: str, column: Column, labels: Sequence[str], numbers: Sequence[str]) -> bool:
    """Return whether a block holds labels: text and whole numbers do unless said otherwise, other numbers do not.

    Args:
        name: Of the block.
        column: Its values.
        labels: Names of blocks that are labels.
        numbers: Names of blocks that are measurements.

    Returns:
        True for labels.
    """
    return name in labels or (name not in numbers and np.asarray(column).dtype.kind != "f")


def block_of(name: str, column: Column, kept: Codes, *, label: bool, fit: Codes, seed: int) -> Block:
    """Return the block of one column: its labels as codes, or its numbers.

    Args:
        name: Of the block.
        column: Values of all rows.
        kept: Row numbers of the complete rows.
        label: Whether they are labels.
        fit: Row numbers, among the kept, on which components are learned.
        seed: Of the decomposition.

    Returns:
        The block.

    Raises:
        DataError: If a number is infinite.
    """
    values = np.asarray(column)[kept].reshape(len(kept), -1)
    values = values.astype(str) if values.dtype.kind == "O" else values
    if not label:
        if not np.isfinite(values).all():
            raise DataError(f"block {name!r}: has an infinite value. Drop its row, or mark it as missing (NaN).")
        return Block.of_numbers(name, values.astype(np.float64), fit, seed)
    codes = np.unique(values, axis=0, return_inverse=True)[1]
    return Block.of_labels(name, codes.ravel().astype(np.int64))
