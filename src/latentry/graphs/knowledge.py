"""What is known of the graph beforehand: tiers, required edges, forbidden edges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latentry.errors import DataError
from latentry.graphs.names import Edge, as_edges, as_names, find_cycle, index_of

__all__ = ["Knowledge"]


@dataclass(frozen=True)
class Knowledge:
    """Prior knowledge about the edges; immutable and checked when made.

    >>> k = Knowledge(["age", "dose", "outcome"], tiers=[["age"], ["dose", "outcome"]], required=[("dose", "outcome")])
    >>> k.banned
    (('dose', 'age'), ('outcome', 'age'), ('outcome', 'dose'))
    >>> Knowledge(["A", "B"], required=[("A", "B"), ("B", "A")])
    Traceback (most recent call last):
    latentry.errors.DataError: required: the edges form a cycle, A → B → A. Drop one of them.

    Args:
        names: Of the nodes.
        tiers: Groups of nodes, causes first: no edge leads from a later tier into an earlier one. Nodes in
            no tier are free.
        required: Edges that must be there, as (parent, child).
        forbidden: Edges that must not be there; the opposite direction stays allowed.
    """

    names: tuple[str, ...]
    tiers: Sequence[Sequence[str]] = ()
    required: tuple[Edge, ...] = ()
    forbidden: tuple[Edge, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", as_names(self.names))
        object.__setattr__(self, "tiers", _checked_tiers(self.tiers, self.names))
        object.__setattr__(self, "required", as_edges(self.required, self.names, "the graph (required)"))
        object.__setattr__(self, "forbidden", as_edges(self.forbidden, self.names, "the graph (forbidden)"))
        self._check_required()

    def _check_required(self) -> None:
        cycle = find_cycle(self.required)
        if cycle:
            raise DataError(f"required: the edges form a cycle, {' → '.join(cycle)}. Drop one of them.")
        for parent, child in self.required:
            if (parent, child) in self.forbidden:
                raise DataError(f"edge {parent!r} → {child!r}: is both required and forbidden. Choose one.")
            if self._tier(parent) > self._tier(child) >= 0:
                raise DataError(
                    f"required edge {parent!r} → {child!r}: leads from a later tier into an earlier one. "
                    "Drop it, or move a node to another tier."
                )

    def _tier(self, node: str) -> int:
        return next((i for i, tier in enumerate(self.tiers) if node in tier), -1)

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """Return a matrix with True at [i, j] where an edge i → j may be."""
        tier = np.array([self._tier(n) for n in self.names])
        backwards = (tier[:, None] > tier) & (tier >= 0)
        opposite = {(c, p) for p, c in self.required}
        named = np.array([[(p, c) in self.forbidden or (p, c) in opposite for c in self.names] for p in self.names])
        barred: NDArray[np.bool_] = backwards | named | np.eye(len(self.names), dtype=bool)
        return ~barred

    @property
    def banned(self) -> tuple[Edge, ...]:
        """List every edge that may not be: forbidden, against the tiers, or opposite to a required one."""
        pairs = zip(*np.nonzero(~self.allowed), strict=True)
        return tuple((self.names[i], self.names[j]) for i, j in pairs if i != j)

    def required_mask(self, node: int) -> int:
        """Return the required parents of a node as a bit mask.

        Args:
            node: Its position.

        Returns:
            The mask.
        """
        parents = [p for p, c in self.required if c == self.names[node]]
        return sum(1 << self.names.index(p) for p in parents)

    def allows(self, edges: Sequence[Edge]) -> bool:
        """Decide whether a set of edges agrees with what is known.

        Args:
            edges: (parent, child) pairs of names.

        Returns:
            True when all required edges are there and no banned one.
        """
        return set(self.required) <= set(edges) and not set(edges) & set(self.banned)


def _checked_tiers(tiers: Sequence[Sequence[str]], names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    tier_of: dict[str, int] = {}
    if not isinstance(tiers, Iterable):
        raise DataError(f"tiers={tiers!r}: is no list of tiers. Give lists of node names, causes first.")
    for i, tier in enumerate(tiers):
        if isinstance(tier, str):
            raise DataError(f"tiers[{i}]={tier!r}: is a text. A tier is a list of node names, such as [{tier!r}].")
        if not isinstance(tier, Iterable):
            raise DataError(f"tiers[{i}]={tier!r}: is no list of node names. Give one such as ['{names[0]}'].")
        for node in tier:
            index_of(names, node, "the graph (tiers)")
            if tier_of.setdefault(node, i) != i:
                raise DataError(f"tiers: node {node!r} is in tier {tier_of[node]} and in tier {i}. Name it once.")
    return tuple(tuple(tier) for tier in tiers)
