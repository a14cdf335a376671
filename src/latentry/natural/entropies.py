"""Exact information measures of finite distributions: arrays of probabilities with one axis per variable, in nats."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import rel_entr

from latentry.errors import DataError, nearest

__all__ = [
    "Divergence",
    "conditional_entropy",
    "divergence",
    "dual_total_correlation",
    "entropy",
    "marginal",
    "mutual_information",
    "total_correlation",
]

Array = NDArray[np.float64]
Axes = Sequence[int]
Divergence = Literal["kl", "js", "tv"]
_PIECE, _FLOOR = 1 << 15, 1e-300


def marginal(law: Array, axes: Axes) -> Array:
    """Sum a distribution over all axes but the given ones, in one pass over the table (none for all axes).

    Cost: linear in the cells of the table.

    >>> marginal(np.array([[0.1, 0.2], [0.3, 0.4]]), [1])
    array([0.4, 0.6])

    Args:
        law: Probabilities, one axis per variable.
        axes: The axes to keep.

    Returns:
        The distribution of the kept variables, in increasing order of axis.

    Raises:
        DataError: If an axis does not exist.
    """
    kept = set(axes)
    if not kept <= set(range(law.ndim)):
        raise DataError(
            f"axis {min(kept - set(range(law.ndim)))} does not exist. The distribution has axes 0 to {law.ndim - 1}."
        )
    if len(kept) == law.ndim:
        return law
    runs = [(keep, list(run)) for keep, run in groupby(range(law.ndim), key=lambda a: a in kept)]
    # Neighbouring axes that are kept or summed together are merged, so that the sum runs over few long axes.
    merged = law.reshape([int(np.prod([law.shape[a] for a in run])) for _, run in runs])
    summed = merged.sum(axis=tuple(i for i, (keep, _) in enumerate(runs) if not keep))
    result: Array = summed.reshape([law.shape[a] for a in sorted(kept)])
    return result


def entropy(law: Array, axes: Axes | None = None) -> float:
    """Compute H(X_axes) = −Σ p ln p in nats, with 0 ln 0 = 0.

    Cost: linear in the cells of the table.

    >>> round(entropy(np.array([0.5, 0.5])), 6)
    0.693147

    Args:
        law: Probabilities, one axis per variable.
        axes: The variables; all by default.

    Returns:
        Nats, ≥ 0 for a distribution.
    """
    table = np.ascontiguousarray(law if axes is None else marginal(law, axes), dtype=np.float64).reshape(-1)
    # A logarithm and a dot product on pieces that stay in the cache; below the floor p ln p is zero anyway.
    logs = np.empty(min(table.size, _PIECE))
    total = 0.0
    for start in range(0, table.size, _PIECE):
        piece = table[start : start + _PIECE]
        part = logs[: piece.size]
        np.log(np.maximum(piece, _FLOOR, out=part), out=part)
        total -= float(piece @ part)
    return total + 0.0


def conditional_entropy(law: Array, axes: Axes, given: Axes = ()) -> float:
    """Compute H(X_axes | X_given) = H(X_axes, X_given) − H(X_given) in nats.

    Cost: linear in the cells of the table.

    Args:
        law: Probabilities, one axis per variable.
        axes: The variables.
        given: The condition; none by default.

    Returns:
        Nats.
    """
    both = marginal(law, [*axes, *given])
    kept = sorted({*axes, *given})
    return entropy(both) - entropy(both, [kept.index(g) for g in given])


def mutual_information(law: Array, a: Axes, b: Axes, given: Axes = ()) -> float:
    """Compute I(X_a; X_b | X_given) = H(a, c) + H(b, c) − H(a, b, c) − H(c) in nats.

    Cost: linear in the cells of the table.

    >>> xor = np.zeros((2, 2, 2)); xor[0, 0, 0] = xor[0, 1, 1] = xor[1, 0, 1] = xor[1, 1, 0] = 0.25
    >>> mutual_information(xor, [0], [1]), round(mutual_information(xor, [0], [1], given=[2]), 6)
    (0.0, 0.693147)

    Args:
        law: Probabilities, one axis per variable.
        a: Axes of the first block.
        b: Axes of the second block.
        given: Axes of the condition; none by default.

    Returns:
        Nats; rounding can leave it just under zero.
    """
    return total_correlation(law, [a, b], given)


def total_correlation(law: Array, blocks: Sequence[Axes] | None = None, given: Axes = ()) -> float:
    """Compute TC(X_1, ..., X_n | C) = Σ_i H(X_i | C) − H(X | C) in nats (Watanabe 1960).

    Cost: one pass over the cells of the table for each block.

    >>> round(total_correlation(np.diag([0.5, 0.5])), 6)
    0.693147

    Args:
        law: Probabilities, one axis per variable.
        blocks: Axes of each X_i; by default every axis outside the condition is a block.
        given: Axes of the condition C; none by default.

    Returns:
        Nats; rounding can leave it just under zero.
    """
    table, parts, condition = _gather(law, blocks, given)
    spread = _summed_entropies(table, parts, condition)
    return spread - entropy(table) - (len(parts) - 1) * entropy(table, condition)


def _summed_entropies(table: Array, parts: list[list[int]], condition: list[int]) -> float:
    """Σ_i H(X_i, C), halving the table at each step: two passes over it however many parts there are."""
    if len(parts) == 1:
        return entropy(table, [*parts[0], *condition])
    total = 0.0
    for half in (parts[: len(parts) // 2], parts[len(parts) // 2 :]):
        named = sorted({a for part in half for a in part} | set(condition))
        order = {axis: position for position, axis in enumerate(named)}
        inner = [[order[a] for a in part] for part in half]
        total += _summed_entropies(marginal(table, named), inner, [order[a] for a in condition])
    return total


def dual_total_correlation(law: Array, blocks: Sequence[Axes] | None = None, given: Axes = ()) -> float:
    """Compute DTC(X | C) = H(X | C) − Σ_i H(X_i | X_{−i}, C) in nats (Han 1978).

    Cost: one pass over the cells of the table for each block.

    >>> round(dual_total_correlation(np.diag([0.5, 0.5])), 6)
    0.693147

    Args:
        law: Probabilities, one axis per variable.
        blocks: Axes of each X_i; by default every axis outside the condition is a block.
        given: Axes of the condition C; none by default.

    Returns:
        Nats; rounding can leave it just under zero.
    """
    table, parts, condition = _gather(law, blocks, given)
    rest = [sorted({a for q in parts if q is not p for a in q}) for p in parts]
    without_one = sum(entropy(table, [*r, *condition]) for r in rest)
    return without_one - (len(parts) - 1) * entropy(table) - entropy(table, condition)


def _gather(law: Array, blocks: Sequence[Axes] | None, given: Axes) -> tuple[Array, list[list[int]], list[int]]:
    """Sum out what is not named, and renumber the axes of what is."""
    parts = [[a] for a in range(law.ndim) if a not in set(given)] if blocks is None else [[*b] for b in blocks]
    named = [*given, *(a for p in parts for a in p)]
    if len(set(named)) < len(named):
        raise DataError(
            f"axis {max(named, key=named.count)} is named twice among blocks and condition. Name each axis once."
        )
    order = {axis: position for position, axis in enumerate(sorted(named))}
    return marginal(law, named), [[order[a] for a in p] for p in parts], [order[a] for a in given]


def divergence(p: Array, q: Array, kind: Divergence = "kl") -> float:
    """Compute D(p‖q): Kullback–Leibler `kl`, Jensen–Shannon `js` (both nats) or total variation `tv` (½ Σ|p − q|).

    Cost: linear in the cells of the table.

    >>> p, q = np.array([1.0, 0.0]), np.array([0.5, 0.5])
    >>> [round(divergence(p, q, kind), 4) for kind in ("kl", "js", "tv")]
    [0.6931, 0.2158, 0.5]

    Args:
        p: A distribution.
        q: Another of the same shape.
        kind: `kl`, `js` or `tv`.

    Returns:
        The divergence; infinite for `kl` where q lacks mass that p has.

    Raises:
        DataError: If the kind is not one of the three.
    """
    if kind == "kl":
        return float(rel_entr(p, q).sum())
    if kind == "js":
        middle = (p + q) / 2
        return (divergence(p, middle) + divergence(q, middle)) / 2
    if kind == "tv":
        return float(np.abs(p - q).sum()) / 2
    raise DataError(f"kind={kind!r}: is not known{nearest(str(kind), ('kl', 'js', 'tv'))}")
