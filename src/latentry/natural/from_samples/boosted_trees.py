"""Boosted trees with one leaf value for each of several outputs, for some thousand rows.

All outputs (columns of numbers, or probabilities of labels) are learned by the same trees, on columns that are cut into
few levels once: a tree asks only for the order of a column, and twenty quantiles carry nearly all that so few rows hold. The
sums on which splits are chosen are matrix products, which run outside the interpreter and side by side. Rows with the same
levels in all columns, of which labels make many, end in the same leaf of every tree and are added up beforehand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from latentry.data import column_scales

__all__ = ["tree_labels", "tree_numbers"]

Array = NDArray[np.float64]
Floats = NDArray[np.float32]
Codes = NDArray[np.int64]
Guess = Callable[[Array], Array]
_LEVELS, _ROUNDS, _RATE, _DEPTH = 20, 40, 0.25, 3
_MORE, _MOST = 10, 100  # rounds for each further column of numbers, and at most
_FEWEST = 20  # rows of a leaf
_STEP = 4.0  # the most that a leaf may change a logarithm


@dataclass(frozen=True, eq=False)
class _Tree:
    """The column and the level at which each node of each depth cuts, and the values of the leaves (leaves, outputs)."""

    columns: tuple[Codes, ...]
    levels: tuple[Codes, ...]
    values: Array

    def leaves(self, codes: Codes) -> Codes:
        """Find the leaf of each row."""
        rows, leaf = np.arange(len(codes)), np.zeros(len(codes), dtype=np.int64)
        for column, level in zip(self.columns, self.levels, strict=True):
            leaf = 2 * leaf + (codes[rows, column[leaf]] > level[leaf])
        return leaf


class _Grower:
    """Grows trees on cells of rows: `below` (cells, columns × cuts) says whether a cell lies at or under a level."""

    def __init__(self, codes: Codes, counts: Codes) -> None:
        self.codes, self.counts = codes, counts
        below = (codes[:, :, None] <= np.arange(_LEVELS - 1)).reshape(len(codes), -1)
        parting = np.flatnonzero(~below.all(axis=0))  # labels have few cuts that leave rows on both sides
        self.cuts = parting if 0 < 2 * len(parting) < below.shape[1] else np.arange(below.shape[1])
        self.below: Floats = below[:, self.cuts].astype(np.float32, order="C")

    def grow(self, pulls: Array, weights: Array) -> _Tree:
        """Grow the tree that follows the pulls (cells, outputs); a leaf is the sum of its pulls over that of its weights."""
        leaf = np.zeros(len(self.codes), dtype=np.int64)
        rows, columns, levels = np.arange(len(leaf)), [], []
        sums = np.column_stack([pulls, self.counts]).astype(np.float32)
        low = (self.below.T @ sums)[:, None]
        for depth in range(_DEPTH):
            low = low if depth == 0 else self._children(leaf, sums, low)
            column, level = self._best_cuts(low, _per_leaf(leaf, sums, 2**depth))
            leaf = 2 * leaf + (self.codes[rows, column[leaf]] > level[leaf])
            columns.append(column)
            levels.append(level)
        leaves = 2**_DEPTH
        values = _per_leaf(leaf, pulls, leaves) / (_per_leaf(leaf, weights, leaves) + 1e-6)
        return _Tree(tuple(columns), tuple(levels), np.clip(values, -_STEP, _STEP))

    def _children(self, leaf: Codes, sums: Floats, parents: Floats) -> Floats:
        """Sums under each cut (cuts, leaves, outputs): of each pair one is computed, the other is what it leaves."""
        inside = (leaf[:, None] == np.arange(0, 2 * parents.shape[1], 2)).astype(np.float32)
        parted = (inside[:, :, None] * sums[:, None, :]).reshape(len(leaf), -1)
        first = (self.below.T @ parted).reshape(parents.shape)
        return np.stack([first, parents - first], axis=2).reshape(len(first), -1, parents.shape[2])

    def _best_cuts(self, low: Floats, total: Array) -> tuple[Codes, Codes]:
        """Column and level of the cut that explains most of each leaf; where none leaves rows enough, one that cuts nothing."""
        high = total.astype(np.float32) - low
        gain = _explained(low) + _explained(high)
        gain[(low[..., -1] < _FEWEST) | (high[..., -1] < _FEWEST)] = -1.0
        best = gain.argmax(axis=0)
        column, level = np.divmod(self.cuts[best], _LEVELS - 1)
        return column, np.where(gain[best, np.arange(len(best))] > 0, level, _LEVELS - 1)


def _explained(sums: Floats) -> Floats:
    explained: Floats = (sums[..., :-1] ** 2).sum(axis=-1) / np.maximum(sums[..., -1], 1.0)
    return explained


def _per_leaf(leaf: Codes, values: Array | Floats, leaves: int) -> Array:
    return np.stack([np.bincount(leaf, column, minlength=leaves) for column in values.T], axis=1)


def quantile_cuts(x: Array) -> Callable[[Array], Codes]:
    """Cut each column between its quantiles in these rows."""
    # From the smallest value on, so that a rare small value is kept apart from the others as well as a rare large one.
    edges = [np.unique(column) for column in np.quantile(x, np.arange(_LEVELS - 1) / (_LEVELS - 1), axis=0).T]

    def cut(rows: Array) -> Codes:
        values = [np.searchsorted(edge, column) for edge, column in zip(edges, rows.T, strict=True)]
        return np.column_stack(values).astype(np.int64)

    return cut


def _cells(codes: Codes) -> tuple[Codes, Codes]:
    """Rows that no tree can tell apart, put together where that leaves at most half as many, and the cell of each row."""
    cells, where = np.unique(codes.astype(np.uint8), axis=0, return_inverse=True)
    if 2 * len(cells) > len(codes):
        return codes, np.arange(len(codes))
    return cells.astype(np.int64), where.reshape(-1)


def _boosted(
    x: Array, target: Array, start: Array, follow: Callable[[Array], tuple[Array, Array]], rounds: int
) -> Guess:
    """Sum of trees, each of which pulls what the scores so far predict towards the target, with weights of their own."""
    cut = quantile_cuts(x)
    codes, where = _cells(cut(x))
    counts, wanted = np.bincount(where)[:, None], _per_leaf(where, target, len(codes))
    grower = _Grower(codes, counts)
    scores, trees = np.tile(start, (len(codes), 1)), []
    for _ in range(rounds):
        predicted, weights = follow(scores)
        tree = grower.grow(wanted - counts * predicted, counts * weights)
        scores += _RATE * tree.values[tree.leaves(codes)]
        trees.append(tree)

    def guess(rows: Array) -> Array:
        codes, where = _cells(cut(rows))
        return (start + _RATE * sum(tree.values[tree.leaves(codes)] for tree in trees))[where]

    return guess


def tree_numbers(x: Array, y: Array) -> Guess:
    """Fit numbers (rows, outputs), each in units of its spread.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.random((400, 2))
    >>> y = (x > 0.5) * 1.0
    >>> bool(np.abs(tree_numbers(x, y)(x) - y).mean() < 0.05)
    True

    Args:
        x: Features (rows, columns).
        y: Targets (rows, outputs).

    Returns:
        The prediction (n, outputs) as a function of features (n, columns).
    """
    centre, scale = y.mean(axis=0), column_scales(y)
    target, one = (y - centre) / scale, np.ones((1, 1))
    rounds = min(_ROUNDS + _MORE * (y.shape[1] - 1), _MOST)  # columns that have nothing in common take turns
    scores = _boosted(x, target, np.zeros(y.shape[1]), lambda now: (now, one), rounds)
    return lambda rows: centre + scale * scores(rows)


def tree_labels(x: Array, truth: Array) -> Guess:
    """Fit probabilities (rows, values): certain ones, which are labels, or others.

    >>> x = np.arange(100.0)[:, None]
    >>> truth = np.eye(2)[(x[:, 0] > 30).astype(int)]
    >>> bool(np.abs(tree_labels(x, truth)(x) - truth).mean() < 0.02)
    True

    Args:
        x: Features (rows, columns).
        truth: Probabilities (rows, values).

    Returns:
        The predicted probabilities (n, values) as a function of features (n, columns).
    """

    def follow(scores: Array) -> tuple[Array, Array]:
        now = softmax(scores, axis=1)
        return now, now * (1.0 - now) + 1e-3

    scores = _boosted(x, truth, np.log(np.maximum(truth.mean(axis=0), 1e-4)), follow, _ROUNDS)
    return lambda rows: softmax(scores(rows), axis=1)
