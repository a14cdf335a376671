"""Deterministic latents: partitions of the cells whose cost is a sum over blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

__all__ = ["EXHAUSTIVE", "Cells", "best_partition", "grow_partition"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]
# 3^13 pairs of subsets: about a second.
EXHAUSTIVE = 14


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a distribution that can occur: their masses (m,) and coordinates (m, n)."""

    shape: tuple[int, ...]
    mass: Array
    place: Labels

    @classmethod
    def of(cls, law: Array) -> Cells:
        """Collect the cells of a distribution that have mass.

        Args:
            law: Probabilities, one axis per observable.

        Returns:
            The cells, in the order of the table.
        """
        place = np.argwhere(law > 0)
        return cls(law.shape, law[law > 0], place)

    def marginals(self, members: Array) -> list[Array]:
        """Sum the mass of each value of each observable inside groups of cells.

        Args:
            members: (g, m), one where a cell is in a group.

        Returns:
            One (g, |X_i|) array per observable.
        """
        weighted = members * self.mass
        return [weighted @ np.eye(size)[self.place[:, i]] for i, size in enumerate(self.shape)]

    def natural_cost(self, members: Array, weights: tuple[float, ...]) -> Array:
        """Compute what blocks add to w_0 TC(X|g) + Σ_i w_i H(g|X_i), up to a constant of the distribution.

        Args:
            members: (g, m), one where a cell is in a block.
            weights: (w_0, w_1, ..., w_n).

        Returns:
            Nats (g,).
        """
        spreads = [entr(m).sum(axis=-1) for m in self.marginals(members)]
        total = members @ self.mass
        mediation = sum(spreads) - (len(self.shape) - 1) * entr(total)
        cost: Array = weights[0] * mediation + sum(w * s for w, s in zip(weights[1:], spreads, strict=True))
        return cost

    def functional_cost(self, members: Array, slack: float = 1e-9) -> Array:
        """Compute −π ln π for blocks inside which the observables are independent, infinity for all others.

        Args:
            members: (g, m), one where a cell is in a block.
            slack: Dependence, in nats per unit of mass, that counts as none.

        Returns:
            Nats (g,).
        """
        total = members @ self.mass
        spreads = sum(entr(m).sum(axis=-1) for m in self.marginals(members))
        inside = members @ entr(self.mass)
        dependence = spreads - inside - (len(self.shape) - 1) * entr(total)
        # Per unit of mass: a light block must be as independent as a heavy one.
        return np.where(dependence <= slack * total, entr(total), np.inf)

    def channel(self, labels: Labels) -> Array:
        """Return K(λ|x) of the latent that names the block of each cell; block 0 where nothing happens.

        Args:
            labels: (m,) block of each cell.

        Returns:
            Zeros and ones (|X_1|, ..., |X_n|, blocks).
        """
        table = np.zeros(self.shape, dtype=np.int64)
        table[tuple(self.place.T)] = labels
        return np.eye(int(labels.max()) + 1)[table]


def best_partition(cost: Callable[[Array], Array], size: int) -> Labels:
    """Find the cheapest partition of `size` cells, exactly, by dynamic programming over subsets.

    best(S) = min over blocks T ⊆ S that hold the first cell of S, of cost(T) + best(S − T).

    Args:
        cost: Cost of each block (g,) from members (g, size).
        size: Number of cells; time grows as 3^size.

    Returns:
        Block of each cell, (size,).
    """
    everything = np.arange(1 << size)
    members = (everything[:, None] >> np.arange(size)) & 1
    price = np.empty(1 << size)
    price[0] = 0.0
    price[1:] = cost(members[1:].astype(float))
    best, choice = np.zeros(1 << size), np.zeros(1 << size, dtype=np.int64)
    for subset in range(1, 1 << size):
        first = subset & -subset
        blocks = first | _submasks(subset ^ first, size)
        values = price[blocks] + best[subset ^ blocks]
        pick = int(np.argmin(values))
        best[subset], choice[subset] = values[pick], blocks[pick]
    return _labels(choice, size)


def _submasks(mask: int, size: int) -> Labels:
    result = np.zeros(1, dtype=np.int64)
    for bit in range(size):
        if mask >> bit & 1:
            result = np.concatenate([result, result | 1 << bit])
    return result


def _labels(choice: Labels, size: int) -> Labels:
    labels, left, name = np.zeros(size, dtype=np.int64), (1 << size) - 1, 0
    while left:
        block = int(choice[left])
        labels[[bit for bit in range(size) if block >> bit & 1]] = name
        left, name = left ^ block, name + 1
    return labels


def grow_partition(cost: Callable[[Array], Array], starts: list[Labels]) -> Labels:
    """Find a good partition of many cells: merge from singletons, then move cells, from each start.

    Args:
        cost: Cost of each block (g,) from members (g, cells).
        starts: Partitions to improve, each the block of each cell.

    Returns:
        Block of each cell, (cells,).
    """
    size = len(starts[0])
    candidates = [_merge(cost, np.arange(size)), *starts]
    settled = [_relocate(cost, labels) for labels in candidates]
    totals = [float(cost(_members(labels)).sum()) for labels in settled]
    return settled[int(np.argmin(totals))]


def _members(labels: Labels) -> Array:
    return np.eye(int(labels.max()) + 1)[labels].T


def _renumber(labels: Labels) -> Labels:
    return np.unique(labels, return_inverse=True)[1]


def _merge(cost: Callable[[Array], Array], labels: Labels) -> Labels:
    """Join the two blocks that lower the total most, as long as any two do."""
    while labels.max() > 0:
        members = _members(labels)
        single = cost(members)
        a, b = np.triu_indices(len(members), 1)
        change = cost(members[a] + members[b]) - single[a] - single[b]
        pick = int(np.argmin(change))
        if change[pick] >= -1e-12:
            break
        labels = _renumber(np.where(labels == b[pick], a[pick], labels))
    return labels


def _relocate(cost: Callable[[Array], Array], labels: Labels, sweeps: int = 20) -> Labels:
    """Move single cells to the block (or to a new one) where they cost least, until none moves."""
    for _ in range(sweeps):
        before = labels
        for cell in range(len(labels)):
            members = np.vstack([_members(labels), np.zeros(len(labels))])
            members[:, cell] = 0.0
            base, unit = cost(members), np.eye(len(labels))[cell]
            change = cost(members + unit) - base
            target = int(np.argmin(change))
            if change[target] < change[labels[cell]] - 1e-12:
                moved = labels.copy()
                moved[cell] = target
                labels = _renumber(moved)
        if np.array_equal(before, labels):
            break
    return labels
