"""Dependence that sits in pairs of columns: found by tables of ranks, measured pair by pair.

Where the columns of x are independent of each other, I(X; Y) ≥ Σ_j I(X_j; Y_π(j)) for any pairing π, and each term is
measured nearly without bias however many columns there are. Where they are not, the largest single pair is a lower bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import optimize, stats

from latentry.information.ksg import ksg_local
from latentry.information.ranks import uniforms

__all__ = ["Pairs", "dependent_pairs", "pair_terms"]

Array = np.ndarray
BOXES = 8
LEVEL = 0.001  # that any pair of independent columns is taken for dependent
FEWEST_ROWS = 200


@dataclass(frozen=True)
class Pairs:
    """Pairs of columns (of x, of y) that depend on each other, the strongest first, and whether their information adds up."""

    columns: tuple[tuple[int, int], ...]
    adds_up: bool
    p_value: float

    @property
    def measured(self) -> tuple[tuple[int, int], ...]:
        """Return the pairs whose information may be summed."""
        return self.columns if self.adds_up else self.columns[:1]


def dependent_pairs(x: Array, y: Array) -> Pairs:
    """Find pairs of columns that depend on each other, no column twice.

    A table of 8 × 8 boxes of ranks for each pair, its χ² with a Bonferroni bar over all pairs.

    Args:
        x: Rows.
        y: Rows.

    Returns:
        The pairs, and the smallest corrected p-value.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-1, 1, (500, 3))
    >>> y = np.sin(6 * x[:, ::-1]) + 0.3 * rng.standard_normal((500, 3))
    >>> found = dependent_pairs(x, y)
    >>> sorted(found.columns), found.adds_up
    ([(0, 2), (1, 1), (2, 0)], True)
    """
    if len(x) < FEWEST_ROWS:
        return Pairs((), adds_up=False, p_value=1.0)
    left, right = _boxes(x), _boxes(y)
    strength = _chi_square(left, right)
    bar = stats.chi2.isf(LEVEL / strength.size, (BOXES - 1) ** 2)
    rows, columns = optimize.linear_sum_assignment(-strength)
    chosen = sorted(
        ((i, j) for i, j in zip(rows.tolist(), columns.tolist(), strict=True) if strength[i, j] > bar),
        key=lambda pair: -strength[pair],
    )
    p_value = min(1.0, strength.size * float(stats.chi2.sf(strength.max(), (BOXES - 1) ** 2)))
    adds_up = _independent(left, [i for i, _ in chosen]) or _independent(right, [j for _, j in chosen])
    return Pairs(tuple(chosen), adds_up, p_value)


def _boxes(x: Array) -> Array:
    """Indicators of the box of each value: (columns, rows, boxes)."""
    box = np.minimum((uniforms(x) * BOXES).astype(int), BOXES - 1)
    return np.asarray(box.T[:, :, None] == np.arange(BOXES), dtype=np.float32)


def _chi_square(left: Array, right: Array) -> Array:
    n = left.shape[1]
    a, b = (np.moveaxis(v, 1, 0).reshape(n, -1) for v in (left, right))
    seen = (a.T @ b).astype(np.float64)
    expected = np.outer(a.sum(axis=0), b.sum(axis=0)) / n
    terms = np.divide((seen - expected) ** 2, expected, out=np.zeros_like(seen), where=expected > 0)
    return np.asarray(terms.reshape(len(left), BOXES, len(right), BOXES).sum(axis=(1, 3)))


def _independent(boxes: Array, chosen: list[int]) -> bool:
    """Whether no pair among these columns is found dependent."""
    if len(chosen) < 2:
        return True
    strength = _chi_square(boxes[chosen], boxes[chosen])[np.triu_indices(len(chosen), 1)]
    return bool(strength.max() <= stats.chi2.isf(0.01 / strength.size, (BOXES - 1) ** 2))


def pair_terms(x: Array, y: Array, pairs: Pairs, k: int) -> Array:
    """Return contributions of every row, summed over pairs.

    Args:
        x: Rows.
        y: Rows.
        pairs: Columns.
        k: Neighbours.

    Returns:
        Nats for each row.
    """
    return np.asarray(np.sum([ksg_local(x[:, [i]], y[:, [j]], k=k) for i, j in pairs.measured], axis=0))
