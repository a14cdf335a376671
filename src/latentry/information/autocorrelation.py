"""How far rows in a given order depend on those before them.

The covariance of two series is inflated by :math:`1 + 2 Σ_k ρ_x(k) ρ_y(k)` (Bartlett 1935): only memory that both
variables have makes an estimate of their dependence too sure. Memory is measured on ranks, on their distance from the
middle (spreads that change slowly), and on which label it is, if it is common: two rows of a rare label are perfectly correlated at
the lag between them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from latentry.information.blocks import Block
from latentry.information.questions import Question

__all__ = ["Memory", "decorrelation_length", "memory_in_row_order"]

Array = np.ndarray
NEGLIGIBLE = 0.05  # product of two autocorrelations that inflates no variance by more than a tenth or so
LEVEL = 0.001  # of the test whether a block has any memory
MOST_COLUMNS = 20  # of a block that are looked at
FEWEST_ROWS = 50
FEWEST_PAIRS = 10  # of rows of one label at any lag, expected: fewer have no normal distribution


def decorrelation_length(question: Question) -> int:
    """Return how many rows apart x and y may be taken for independent of what they were.

    Args:
        question: Variables, rows in the order of time.

    Returns:
        At least 1.

    >>> rng = np.random.default_rng(0)
    >>> free, slow = rng.standard_normal((400, 1)), np.cumsum(rng.standard_normal((400, 1)), axis=0)
    >>> decorrelation_length(Question(Block("x", free), Block("y", slow)))
    1
    """
    return _length(_memory(_features(question.x)), _memory(_features(question.y)), question.x.n)


@dataclass(frozen=True)
class Memory:
    """What was found in the given order of the rows: how long they depend on each other, and the column that they are sorted by."""

    length: int
    strength: float
    sorted_by: str | None = None


def memory_in_row_order(question: Question) -> Memory:
    """Look for rows that resemble those before them, in x and in y at the same distance.

    Rows sorted by a label are compared within the label. Rows sorted by numbers cannot be judged.

    Args:
        question: Variables.

    Returns:
        A length of 1 if nothing was found.

    >>> rng = np.random.default_rng(0)
    >>> walks = np.cumsum(rng.standard_normal((2, 400, 1)), axis=1)
    >>> memory_in_row_order(Question(*(Block(name, w) for name, w in zip("xy", walks)))).length > 20
    True
    """
    if question.x.n < FEWEST_ROWS:
        return Memory(1, 0.0)
    for block in question.blocks:
        for column in block.values.T:
            if _is_sorted(column):
                return _within_sorted(question, block, column)
    return _judged(_features(question.x), _features(question.y))


def _is_sorted(column: Array) -> bool:
    steps = np.diff(column)
    return bool(np.all(steps >= 0) or np.all(steps <= 0)) and bool(np.any(steps != 0))


def _within_sorted(question: Question, block: Block, column: Array) -> Memory:
    values, runs = np.unique(column, return_inverse=True)
    if len(values) > len(column) / 20:
        return Memory(1, 0.0, f"a column of {block.name}")
    other = question.y if block is question.x else question.x
    features = _features(other)
    sizes = np.bincount(runs)
    centred = features - np.stack([np.bincount(runs, f) for f in features.T], axis=1)[runs] / sizes[runs, None]
    still = np.ones((1, 1))  # the sorted variable does not change within a run: memory of 1
    return _judged(centred, still)


def _judged(left: Array, right: Array) -> Memory:
    n = len(left)
    memory = [np.ones((1, n // 4)) if len(f) == 1 else _memory(f) for f in (left, right)]
    bars = [stats.norm.isf(LEVEL / (2 * m.size)) / np.sqrt(n) for m in memory]
    both = np.logical_and(*(m.max(axis=0) > min(bar, 1.0) - 1e-12 for m, bar in zip(memory, bars, strict=True)))
    if not np.any(both):
        return Memory(1, 0.0)
    return Memory(_length(memory[0], memory[1], n), float(np.sqrt(memory[0][:, 0].max() * memory[1][:, 0].max())))


def _features(block: Block) -> Array:
    """Columns whose memory is looked at: ranks, and indicators of common labels or distances from the middle."""
    if block.discrete:
        sizes = np.bincount(block.values[:, 0])
        order = np.argsort(sizes)[::-1][:MOST_COLUMNS]
        common = order[sizes[order] ** 2 >= FEWEST_PAIRS * block.n]
        return np.hstack([stats.rankdata(block.values, axis=0), block.values == common])
    some = np.unique(np.linspace(0, block.d - 1, min(block.d, MOST_COLUMNS)).astype(int))
    ranks = stats.rankdata(block.values[:, some], axis=0)
    return np.hstack([ranks, np.abs(ranks - (block.n + 1) / 2)])


def _memory(features: Array) -> Array:
    """|autocorrelation| of each column at lags 1 to n/4."""
    n = len(features)
    centred = features - features.mean(axis=0)
    size = np.sum(centred**2, axis=0)
    spectrum = np.fft.rfft(centred, n=1 << int(np.ceil(np.log2(1.25 * n))), axis=0)
    products = np.fft.irfft(np.abs(spectrum) ** 2, axis=0)[1 : max(n // 4, 1) + 1]
    return np.abs(products / np.where(size > 0, size, 1.0)).T


def _length(left: Array, right: Array, n: int) -> int:
    """One more than the last lag at which both remember, beyond the noise that autocorrelations of slow series have."""
    a, b = left.max(axis=0), right.max(axis=0)
    first = int(np.argmax(a * b <= NEGLIGIBLE)) if np.any(a * b <= NEGLIGIBLE) else len(a)
    noise = [3 * np.sqrt((1 + 2 * np.sum(m[:first] ** 2)) / n) for m in (a, b)]
    beyond = (a * b > NEGLIGIBLE) & (a > noise[0]) & (b > noise[1])
    beyond[:first] = True
    lags = np.flatnonzero(beyond)
    return int(lags[-1]) + 2 if len(lags) else 1
