"""The fraction of a variance that goes with a variable of few values, with an interval."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from scipy.stats import t as student_t

from latentry.streams import stream

__all__ = [
    "Fraction",
    "bins",
    "entropy_of",
    "explained",
    "jackknife_blocks",
    "jackknife_interval",
    "joint_counts",
    "plug_in",
    "shared_entropy",
]

_DRAWS = 20  # permutations, for what chance shares
_BLOCKS = 20  # of rows, each left out once
_BINS = 10  # of a continuous variable, with equally many rows


class Fraction(NamedTuple):
    """A number between 0 and 1, with a 95 % interval."""

    value: float
    low: float
    high: float


def bins(values: np.ndarray, count: int = _BINS) -> np.ndarray:
    """Return the number of each value's bin; bins hold equally many rows.

    >>> bins(np.array([0.1, 5.0, 2.0, 9.0]), 2)
    array([0, 1, 0, 1])

    Args:
        values: (rows,).
        count: Of bins, at most.

    Returns:
        Codes (rows,).
    """
    levels, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    if len(levels) <= count:
        return codes
    heavy = np.flatnonzero(counts * count > len(values))  # values so frequent that they fill a bin of their own
    result = np.full(len(values), -1)
    for number, level in enumerate(heavy):
        result[codes == level] = number
    rest = result < 0
    left = max(count - len(heavy), 2)
    edges = np.unique(np.quantile(values[rest], np.arange(1, left) / left))
    result[rest] = len(heavy) + np.searchsorted(edges, values[rest], side="left")
    return result


def jackknife_blocks(rows: int, units: np.ndarray | None, seed: int) -> np.ndarray:
    """Return the block of each row; rows of one group stay together.

    Args:
        rows: How many.
        units: The group of each row; None where rows stand alone.
        seed: Of the draw.

    Returns:
        Codes (rows,) below 20, or below the number of groups where that is less.
    """
    codes = np.arange(rows) if units is None else np.unique(units, return_inverse=True)[1]
    count = int(codes.max()) + 1
    return (stream("certificate/jackknife", seed).permutation(count) % min(_BLOCKS, count))[codes]


def explained(codes: np.ndarray, table: np.ndarray, blocks: np.ndarray) -> tuple[Fraction, list[Fraction]]:
    r"""Estimate the fraction of the variance of a table that goes with a variable, in all and column by column.

    .. math:: \epsilon^2 = 1 - \frac{SS_{within} / (n - k)}{SS_{total} / (n - 1)}

    which is zero on average where there is nothing and rows are independent (Kelley 1935). Intervals are by the jackknife over
    blocks of rows.

    >>> rng = np.random.default_rng(0)
    >>> node = rng.integers(0, 2, 2000)
    >>> table = np.column_stack([node + rng.normal(size=2000), rng.normal(size=2000)])
    >>> whole, columns = explained(node, table, np.arange(2000) % 20)
    >>> round(columns[0].value, 1), columns[1].low <= 0.0
    (0.2, True)

    Args:
        codes: The variable's value in each row, as whole numbers from 0.
        table: (rows, columns).
        blocks: The block of each row.

    Returns:
        The fraction of the whole table, and that of each column.
    """
    codes, blocks = (np.unique(one, return_inverse=True)[1] for one in (codes, blocks))
    centred = table - table.mean(axis=0)
    size, parts = int(codes.max()) + 1, int(blocks.max()) + 1
    if size > len(codes) / 2:  # nearly a value for each row: nothing can be said
        return Fraction(0.0, 0.0, 1.0), [Fraction(0.0, 0.0, 1.0)] * table.shape[1]
    cells = blocks * size + codes
    counts = np.bincount(cells, minlength=size * parts).astype(float).reshape(parts, size)
    rows = np.arange(len(codes))
    hot = csr_matrix((np.ones(len(codes)), (cells, rows)), shape=(size * parts, len(codes)))
    sums = (hot @ centred).reshape(parts, size, -1)
    squares = (hot @ centred**2).reshape(parts, size, -1).sum(axis=1)
    everything = _fractions(counts.sum(axis=0), sums.sum(axis=0), squares.sum(axis=0))
    without = [
        _fractions(counts.sum(axis=0) - counts[b], sums.sum(axis=0) - sums[b], squares.sum(axis=0) - squares[b])
        for b in range(parts)
    ]
    found = [jackknife_interval(everything[i], np.array([one[i] for one in without])) for i in range(len(everything))]
    return found[0], found[1:]


def _fractions(counts: np.ndarray, sums: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """Return the fraction of all columns together, then of each."""
    rows, present = counts.sum(), counts > 0
    total = squares - sums.sum(axis=0) ** 2 / rows
    within = squares - (sums[present] ** 2 / counts[present, None]).sum(axis=0)
    total, within = np.append(total.sum(), total), np.append(within.sum(), within)
    free = max(rows - present.sum(), 1.0)
    least = 1e-12 * max(float(squares.max(initial=0.0)), 1e-300)
    fraction: np.ndarray = np.where(total > least, 1 - (within / free) / np.maximum(total / (rows - 1), 1e-300), 0.0)
    return fraction


def jackknife_interval(value: float, without: np.ndarray) -> Fraction:
    """Return a number with its 95 % interval, from the numbers with one block left out each.

    Args:
        value: Of all rows.
        without: Of all rows but those of one block, for each block.

    Returns:
        Value and ends, between 0 and 1.
    """
    parts = len(without)
    if parts < 2:
        return Fraction(float(np.clip(value, 0, 1)), 0.0, 1.0)
    error = np.sqrt((parts - 1) / parts * ((without - without.mean()) ** 2).sum())
    half = student_t.ppf(0.975, parts - 1) * error
    low, middle, high = np.clip([value - half, value, value + half], 0.0, 1.0)
    return Fraction(float(middle), float(low), float(high))


def shared_entropy(a: np.ndarray, b: np.ndarray, blocks: np.ndarray, *, of_larger: bool = False) -> Fraction:
    """Estimate I(A; B) / min(H(A), H(B)): 1 where one is a function of the other, 0 where they are independent.

    Divided by the larger entropy it is 1 only where each is a function of the other.

    >>> coin = np.arange(4000) % 2
    >>> shared_entropy(coin, 1 - coin, np.arange(4000) // 2 % 20).value
    1.0

    Args:
        a: Codes (rows,).
        b: Codes (rows,).
        blocks: The block of each row, for the interval.
        of_larger: Whether to divide by the larger entropy.

    Returns:
        The fraction, adjusted for chance: 0 for what permuted rows share on average (Vinh, Epps and Bailey 2010).
    """
    a, b, blocks = (np.unique(one, return_inverse=True)[1] for one in (a, b, blocks))
    wide, parts = int(b.max()) + 1, int(blocks.max()) + 1
    size = (int(a.max()) + 1) * wide
    tables = np.bincount(blocks * size + a * wide + b, minlength=size * parts).reshape(parts, -1, wide).astype(float)
    whole = tables.sum(axis=0)
    chosen = max if of_larger else min
    rng = stream("certificate/chance", len(a))
    chance = float(np.mean([plug_in(joint_counts(a, b[rng.permutation(len(b))])) for _ in range(_DRAWS)]))
    without = np.array([_shared(whole - table, chosen, chance) for table in tables])
    return jackknife_interval(_shared(whole, chosen, chance), without)


def joint_counts(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Count how often values of two variables come together.

    Args:
        a: Codes (rows,).
        b: Codes (rows,).

    Returns:
        (values of a, values of b).

    >>> joint_counts(np.array([0, 1, 1]), np.array([0, 0, 1]))
    array([[1., 0.],
           [1., 1.]])
    """
    wide = int(b.max()) + 1
    return np.bincount(a * wide + b, minlength=(int(a.max()) + 1) * wide).reshape(-1, wide).astype(float)


def plug_in(table: np.ndarray) -> float:
    """Return the mutual information of two variables as frequencies have it: never below 0, above it by chance.

    Args:
        table: Counts, (values of one, values of the other).

    Returns:
        Nats.

    >>> plug_in(np.ones((2, 2)))
    0.0
    """
    rows = table.sum()
    return entropy_of(table.sum(axis=1) / rows) + entropy_of(table.sum(axis=0) / rows) - entropy_of(table / rows)


def _shared(table: np.ndarray, chosen: Callable[[list[float]], float], chance: float) -> float:
    rows = table.sum()
    sides = [entropy_of(table.sum(axis=1) / rows), entropy_of(table.sum(axis=0) / rows)]
    room = chosen(sides) - chance
    return 0.0 if min(sides) < 1e-9 or room < 1e-9 else (plug_in(table) - chance) / room


def entropy_of(distribution: np.ndarray) -> float:
    """Return the entropy of a distribution.

    Args:
        distribution: Probabilities, of any shape.

    Returns:
        Nats.

    >>> round(entropy_of(np.array([0.5, 0.5])), 4)
    0.6931
    """
    likely = distribution[distribution > 0]
    return float(-(likely * np.log(likely)).sum())
