"""Observables of an audit: blocks of labels or numbers, from datasets, mappings and arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from latentry.data import LARGEST, Dataset, missing_entries, normal_scores, varying_columns
from latentry.errors import DataError, nearest
from latentry.streams import stream, stream_seed

__all__ = ["Block", "block_of", "check_kinds", "is_label", "named_columns", "one_of_each"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
Column = NDArray[Any]  # labels of any kind, or numbers
# Columns that learners see, that neighbours are sought in, that residual tests look at, and label values told apart.
_WIDE, _SUMMARY, _LOOKED, _COMMON = 30, 5, 24, 12
_TIED = 0.02  # of the rows with a value that others have too, from which on a column counts as rounded


@dataclass(frozen=True, eq=False)
class Block:
    """One observable: codes (rows,) with a number of levels, or numbers (rows, columns).

    Learners see `features`; tests see `summary` (nearest neighbours) and `looked` (residuals). All are functions of the block
    and of noise, so that a student of the features is a student of the block, and dependence of what tests see is
    dependence of the block (data processing).
    """

    name: str
    values: Column
    levels: int | None
    features: Array
    summary: Array
    looked: Array

    @property
    def discrete(self) -> bool:
        """Return whether the block is a label."""
        return self.levels is not None

    @property
    def shortened(self) -> bool:
        """Return whether nearest neighbours see less than the whole block."""
        return self.levels is None and bool(self.summary.shape[1] < self.values.shape[1])

    @property
    def narrowed(self) -> bool:
        """Return whether all tests see less than the whole block."""
        return self.levels is None and bool(self.values.shape[1] > _LOOKED)

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
        summary = np.eye(min(levels, _COMMON))[np.minimum(rank[codes], _COMMON - 1)]
        return cls(name, codes, levels, np.eye(levels)[codes], summary, summary)

    @classmethod
    def of_numbers(cls, name: str, values: Array, fit: Codes, seed: int) -> Block:
        """Build a block of numbers; of many columns, leading components of the fit rows and random directions are looked at.

        Constants become 0, whatever they are. Tests see columns whose equal values are set apart at random.

        Args:
            name: Of the block.
            values: (rows, columns).
            fit: Row numbers on which the components are learned.
            seed: Of the decomposition, the directions, and the noise.

        Returns:
            The block.
        """
        values = np.where(varying_columns(values), values, 0.0)
        apart = set_apart(values, stream(f"natural/ties of {name}", seed))
        if values.shape[1] <= _SUMMARY:
            return cls(name, values, None, values, apart, apart)
        features = _components(values, fit, _WIDE, seed) if values.shape[1] > _WIDE else values
        leading = _components(apart, fit, _LOOKED // 2, seed)
        looked = apart
        if values.shape[1] > _LOOKED:
            turn = stream(f"natural/directions of {name}", seed).standard_normal((values.shape[1], _LOOKED // 2))
            scaled = StandardScaler().fit(apart[fit]).transform(apart)
            looked = np.hstack([leading, scaled @ turn])
        return cls(name, values, None, features, leading[:, :_SUMMARY], looked)

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


def _components(values: Array, fit: Codes, most: int, seed: int) -> Array:
    """The leading components of the fit rows, for all rows; a column of zeros where nothing varies."""
    if not varying_columns(values[fit]).any():
        return np.zeros((len(values), 1))
    scale = StandardScaler().fit(values[fit])
    kept = min(most, values.shape[1], len(fit) - 1)
    axes = PCA(kept, random_state=stream_seed("natural/components", seed)).fit(scale.transform(values[fit]))
    turned: Array = axes.transform(scale.transform(values))
    return turned


def set_apart(values: Array, rng: np.random.Generator) -> Array:
    """Set equal values of a column apart at random, over the ranks that they share; columns without ties stay as they are.

    Rounded numbers less a function of z show z to the last digit, and so look dependent given z. The rounded value can be read
    back from its rank, so that no information is lost, and none is gained.

    >>> rounded = np.round(np.linspace(-1, 1, 100), 1)[:, None]
    >>> len(np.unique(set_apart(rounded, np.random.default_rng(0))))
    100

    Args:
        values: (rows, columns).
        rng: Source of the noise.

    Returns:
        (rows, columns); normal scores of the columns that have ties.
    """
    tied = [c for c in np.flatnonzero(varying_columns(values)) if _tied_fraction(values[:, c]) > _TIED]
    result = values.copy()
    if tied:
        result[:, tied] = normal_scores(values[:, tied], offset=0.0, ties=rng)
    return result


def _tied_fraction(column: Array) -> float:
    """How many of the rows have a value that another row has too."""
    counts = np.unique(column, return_counts=True)[1]
    return float(counts[counts > 1].sum() / len(column))


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
        Blocks by name, which blocks are complete in which rows (rows, blocks), and the domain labels.

    Raises:
        DataError: If a name is unknown, an array has no blocks, or lengths differ.
    """
    if isinstance(data, Dataset):
        chosen = list(data.names if blocks is None else blocks)
        unknown = [b for b in chosen if b not in data.names]
        if unknown:
            raise DataError(f"blocks: no modality is called {unknown[0]!r}{nearest(str(unknown[0]), data.names)}")
        present = np.column_stack([data.whole_rows(name) for name in chosen])
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
    whole = [~missing_entries(column).reshape(rows, -1).any(axis=1) for column in named.values()]
    return named, np.column_stack(whole) if whole else np.ones((rows, 0), dtype=bool), domain


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
        DataError: If a number is infinite, or its square would be.
    """
    values = np.asarray(column)[kept].reshape(len(kept), -1)
    values = values.astype(str) if values.dtype.kind == "O" else values
    if not label:
        if not np.isfinite(values).all():
            raise DataError(f"block {name!r}: has an infinite value. Drop its row, or mark it as missing (NaN).")
        if float(np.abs(values).max(initial=0.0)) > LARGEST:
            raise DataError(f"block {name!r}: numbers beyond {LARGEST:g}, whose squares overflow. Use other units.")
        return Block.of_numbers(name, values.astype(np.float64), fit, seed)
    codes = np.unique(values, axis=0, return_inverse=True)[1]
    return Block.of_labels(name, codes.ravel().astype(np.int64))


def one_of_each(rows: Codes, units: Codes, seed: int) -> Codes:
    """Draw one row of every unit at random: independent rows, where the rows of a unit are not.

    >>> len(one_of_each(np.arange(6), np.array([0, 0, 0, 1, 1, 2]), 0))
    3

    Args:
        rows: Row numbers.
        units: The unit of every row that there is.
        seed: Of the draw.

    Returns:
        Row numbers, in order.
    """
    order = stream("natural/one row of each unit", seed).permutation(rows)
    return np.sort(order[np.unique(units[order], return_index=True)[1]])
