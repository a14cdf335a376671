"""Conditional information of few rows from all their pairs, fast enough to be asked again after every permutation.

The estimator is that of `latentry.information.ksg` (Frenzel and Pompe 2007; Kraskov, Stögbauer and Grassberger 2004). A
permutation of one block permutes its distances and leaves all others as they are, so that these are computed once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import digamma

__all__ = ["Pairs", "neighbour_orders", "pairs_of", "strata_orders"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
Distances = NDArray[np.float32]
_NEARER = np.float32(1 - 3e-7)  # distances that differ by rounding are equal, and equal is not nearer


@dataclass(frozen=True, eq=False)
class Pairs:
    """Max-norm distances of all pairs of some rows in x, in (y, z), and in z; None where nothing is given."""

    rows: Codes
    x: Distances
    yz: Distances
    z: Distances | None
    k: int

    def local(self, order: Codes | None = None) -> Array:
        """Compute the contribution of every row to I(X; Y | Z), with x taken from the rows `order` of these.

        ψ(k) − ψ(n_xz + 1) − ψ(n_yz + 1) + ψ(n_z + 1), and ψ(n) in place of the last where nothing is given.

        Args:
            order: Row numbers (rows,); each row its own by default.

        Returns:
            Nats (rows,).
        """
        from latentry.natural.from_samples.pair_counts import count_nearer  # loads numba: only when pairs are counted

        order = np.arange(len(self.x)) if order is None else np.ascontiguousarray(order)
        psi = np.append(0.0, digamma(np.arange(1.0, len(order) + 1)))
        counts = np.empty((len(order), 3), dtype=np.int64)
        z = self.x if self.z is None else self.z
        count_nearer(self.x, self.yz, z, self.z is not None, order, self.k, _NEARER, counts)
        in_x, in_yz, in_z = psi[counts].T
        terms: Array = float(digamma(self.k)) + (in_z - in_x - in_yz)
        return terms


def pairs_of(x: Array, y: Array, z: Array, strata: Codes | None, k: int) -> list[Pairs]:
    """Compute the distances of all pairs of rows, or of the pairs inside each stratum that has more than 2k rows.

    Inside a stratum nothing else is given.

    >>> rng = np.random.default_rng(0)
    >>> x, y, z = (rng.standard_normal((300, 1)) for _ in range(3))
    >>> (pairs,) = pairs_of(x, y + x, z, None, 5)
    >>> bool(pairs.local().mean() > 0.2 > pairs.local(rng.permutation(300)).mean())
    True

    Args:
        x: (rows, columns).
        y: (rows, columns).
        z: The condition (rows, columns).
        strata: Codes (rows,), or None.
        k: Neighbours.

    Returns:
        One set of pairs, or one per stratum.
    """
    if strata is None:
        every = np.arange(len(x))
        return [Pairs(every, _distances(x), _distances(np.hstack([y, z])), _distances(z), k)]
    groups = [np.flatnonzero(strata == value) for value in np.unique(strata)]
    return [Pairs(g, _distances(x[g]), _distances(y[g]), None, k) for g in groups if len(g) > 2 * k]


def _distances(rows: Array) -> Distances:
    distances: Array = cdist(rows, rows, "chebyshev")
    return distances.astype(np.float32)


def strata_orders(strata: Codes, draws: int, rng: np.random.Generator) -> Codes:
    """Draw permutations inside each stratum.

    Args:
        strata: Codes (rows,).
        draws: Number of permutations.
        rng: Source of randomness.

    Returns:
        Row numbers (draws, rows).
    """
    home = np.argsort(strata, kind="stable")
    orders = np.empty((draws, len(strata)), dtype=np.int64)
    for order in orders:
        order[home] = np.lexsort((rng.random(len(strata)), strata))
    return orders


def neighbour_orders(near: Codes, draws: int, rng: np.random.Generator) -> Codes:
    """Draw rows to take x from: in random order each row takes an unused one of its neighbours, or any of them.

    The draws go through their rows side by side: one pass for all of them.

    Args:
        near: Neighbours of each row, (rows, neighbours).
        draws: Number of draws.
        rng: Source of randomness.

    Returns:
        Row numbers (draws, rows).
    """
    count, every = len(near), np.arange(draws)
    turns, picks = rng.permuted(np.tile(np.arange(count), (draws, 1)), axis=1), rng.random((draws, count))
    orders, free = np.empty((draws, count), dtype=np.int64), np.ones((draws, count), dtype=bool)
    for turn, pick in zip(turns.T, picks.T, strict=True):
        options = near[turn]
        open_ = free[every[:, None], options]
        open_ |= ~open_.any(axis=1, keepdims=True)
        rank = open_.cumsum(axis=1)
        taken = options[every, (rank > (pick * rank[:, -1])[:, None]).argmax(axis=1)]
        orders[every, turn] = taken
        free[every, taken] = False
    return orders
