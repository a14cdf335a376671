"""A directed acyclic graph over categorical nodes: names, outcomes, edges, and probability tables if known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latentry.errors import DataError
from latentry.graphs.names import Edge, as_edges, as_names, as_outcomes, find_cycle, index_of

__all__ = ["Graph", "all_dags", "need_cpts"]

Array = NDArray[np.float64]
LARGEST_ENUMERATION = 5


@dataclass(frozen=True, eq=False)
class Graph:
    """A directed acyclic graph; immutable and checked when made.

    >>> g = Graph(["hue", "radius", "shift"], [("hue", "shift"), ("radius", "shift")])
    >>> g
    Graph(hue → shift, radius → shift)
    >>> g.parents("shift"), g.order
    (('hue', 'radius'), ('hue', 'radius', 'shift'))
    >>> Graph(["A", "B"], [("A", "B"), ("B", "A")])
    Traceback (most recent call last):
    latentry.errors.DataError: edges: form a cycle, A → B → A. Drop one of them.

    Args:
        names: Of the nodes; N1, N2, ... when a number is given.
        edges: (parent, child) pairs of names.
        outcomes: Number of outcomes of each node, or one number for all.
        cpts: P(node | parents) for each node, by name: one axis per parent, in the order of `names`, and the
            node's own axis last; each row sums to one.
    """

    names: tuple[str, ...]
    edges: tuple[Edge, ...] = ()
    outcomes: tuple[int, ...] = 2  # type: ignore[assignment]
    cpts: Mapping[str, Array] | None = None

    def __post_init__(self) -> None:
        given: int | Sequence[str] = self.names
        names = as_names(None, given) if isinstance(given, int) else as_names(given)
        if not names:
            raise DataError("names: is empty; a graph needs at least one node. Name some.")
        edges = as_edges(self.edges, names)
        cycle = find_cycle(edges)
        if cycle:
            raise DataError(f"edges: form a cycle, {' → '.join(cycle)}. Drop one of them.")
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "outcomes", as_outcomes(self.outcomes, names))
        if self.cpts is not None:
            object.__setattr__(self, "cpts", MappingProxyType(_checked_cpts(self, self.cpts)))

    @classmethod
    def from_adjacency(
        cls, matrix: ArrayLike, names: Sequence[str] | None = None, outcomes: int | Sequence[int] = 2
    ) -> Graph:
        """Build the graph with an edge i → j wherever matrix[i, j] is not zero.

        >>> Graph.from_adjacency([[0, 1], [0, 0]])
        Graph(N1 → N2)

        Args:
            matrix: (L, L).
            names: Of the nodes; N1, N2, ... by default.
            outcomes: Number of outcomes of each node, or one number for all.

        Returns:
            The graph, without tables.

        Raises:
            DataError: If the matrix is not square, or the edges form a cycle.
        """
        entries = np.asarray(matrix)
        if entries.ndim != 2 or len(set(entries.shape)) != 1:
            raise DataError(f"matrix: has shape {entries.shape}. An adjacency matrix is square.")
        known = as_names(names, len(entries))
        edges = tuple((known[i], known[j]) for i, j in zip(*np.nonzero(entries), strict=True))
        return cls(known, edges, as_outcomes(outcomes, known))

    @property
    def adjacency(self) -> NDArray[np.bool_]:
        """Return a matrix with True at [i, j] for every edge i → j."""
        matrix = np.zeros((len(self.names),) * 2, dtype=bool)
        for parent, child in self.edges:
            matrix[self.names.index(parent), self.names.index(child)] = True
        return matrix

    @property
    def directed(self) -> tuple[Edge, ...]:
        """Return all edges, which a drawing shows with an arrow."""
        return self.edges

    @property
    def undirected(self) -> tuple[Edge, ...]:
        """Return no edges: a directed graph has no undirected ones."""
        return ()

    @property
    def order(self) -> tuple[str, ...]:
        """Compute a topological order: every node after its parents, otherwise as in `names`."""
        left = list(self.names)
        placed: list[str] = []
        while left:
            ready = next(n for n in left if not set(self.parents(n)) - set(placed))
            placed.append(ready)
            left.remove(ready)
        return tuple(placed)

    def parents(self, node: str) -> tuple[str, ...]:
        """List the parents of a node, in the order of `names`.

        Args:
            node: Its name.

        Returns:
            Names.

        Raises:
            DataError: If the node is unknown.
        """
        index_of(self.names, node)
        return tuple(p for p, c in self.edges if c == node)

    def children(self, node: str) -> tuple[str, ...]:
        """List the children of a node, in the order of `names`.

        Args:
            node: Its name.

        Returns:
            Names.

        Raises:
            DataError: If the node is unknown.
        """
        index_of(self.names, node)
        return tuple(c for p, c in self.edges if p == node)

    def ancestors(self, *nodes: str) -> frozenset[str]:
        """Collect the nodes from which a directed path leads to one of these, themselves included.

        Args:
            *nodes: Names.

        Returns:
            Names.
        """
        return self._closure(nodes, self.parents)

    def descendants(self, *nodes: str) -> frozenset[str]:
        """Collect the nodes to which a directed path leads from one of these, themselves included.

        Args:
            *nodes: Names.

        Returns:
            Names.
        """
        return self._closure(nodes, self.children)

    def _closure(self, nodes: Sequence[str], step: Callable[[str], tuple[str, ...]]) -> frozenset[str]:
        reached, front = set(nodes), list(nodes)
        while front:
            fresh = set(step(front.pop())) - reached
            reached |= fresh
            front += fresh
        return frozenset(reached)

    def axes(self, nodes: Sequence[str]) -> tuple[int, ...]:
        """Return the positions of nodes in `names`, which are their axes in a joint table.

        Args:
            nodes: Names.

        Returns:
            One position per node.

        Raises:
            DataError: If a node is unknown.
        """
        return tuple(index_of(self.names, n) for n in nodes)

    def with_cpts(self, cpts: Mapping[str, ArrayLike] | None) -> Graph:
        """Return the same graph with other probability tables.

        Args:
            cpts: P(node | parents) by name, or None for none.

        Returns:
            A new graph.

        Raises:
            DataError: If a table is missing, has another shape, or is not made of distributions.
        """
        tables = None if cpts is None else {n: np.asarray(t, dtype=np.float64) for n, t in cpts.items()}
        return Graph(self.names, self.edges, self.outcomes, tables)

    def with_edges(self, edges: Sequence[Edge]) -> Graph:
        """Return the same nodes with other edges, and no tables.

        Args:
            edges: (parent, child) pairs of names.

        Returns:
            A new graph.

        Raises:
            DataError: If a node is unknown, or the edges form a cycle.
        """
        return Graph(self.names, tuple(edges), self.outcomes)

    def to_json(self) -> dict[str, Any]:
        """Return plain data for a JSON file.

        >>> g = Graph(["A", "B"], [("A", "B")], (2, 3))
        >>> Graph.from_json(g.to_json()) == g
        True
        """
        tables = None if self.cpts is None else {n: t.tolist() for n, t in self.cpts.items()}
        edges = [list(e) for e in self.edges]
        return {"names": list(self.names), "edges": edges, "outcomes": list(self.outcomes), "cpts": tables}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Graph:
        """Read the graph that `to_json` wrote.

        Args:
            fields: Names, edges, outcomes and tables.

        Returns:
            The graph.
        """
        edges = tuple((p, c) for p, c in fields["edges"])
        return cls(tuple(fields["names"]), edges, tuple(fields["outcomes"]), fields["cpts"])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        mine, theirs = ((g.names, g.edges, g.outcomes, g.cpts is None) for g in (self, other))
        if mine != theirs or self.cpts is None or other.cpts is None:
            return mine == theirs
        return all(np.array_equal(self.cpts[n], other.cpts[n]) for n in self.names)

    def __hash__(self) -> int:
        return hash((self.names, self.edges, self.outcomes))

    def __repr__(self) -> str:
        parts = [f"{p} → {c}" for p, c in self.edges]
        joined = {n for e in self.edges for n in e}
        parts += [n for n in self.names if n not in joined]
        numbers = [f"outcomes {', '.join(map(str, self.outcomes))}"] if set(self.outcomes) != {2} else []
        tables = [] if self.cpts is None else ["with tables"]
        return "Graph(" + "; ".join([", ".join(parts), *numbers, *tables]) + ")"


def _checked_cpts(graph: Graph, cpts: Mapping[str, ArrayLike]) -> dict[str, Array]:
    for name in cpts:
        index_of(graph.names, name)
    return {name: _checked_cpt(graph, name, cpts) for name in graph.names}


def _checked_cpt(graph: Graph, name: str, cpts: Mapping[str, ArrayLike]) -> Array:
    if name not in cpts:
        raise DataError(f"cpts: has no table for node {name!r}. Every node needs one.")
    table = np.array(cpts[name], dtype=np.float64)
    family = (*graph.parents(name), name)
    shape = tuple(graph.outcomes[a] for a in graph.axes(family))
    if table.shape != shape:
        raise DataError(f"cpts[{name!r}]: has shape {table.shape}. The axes ({', '.join(family)}) need {shape}.")
    if not np.isfinite(table).all() or (table < 0).any():
        raise DataError(f"cpts[{name!r}]: holds a number that is not a probability. Give numbers between 0 and 1.")
    sums = table.sum(axis=-1)
    if not np.allclose(sums, 1.0, atol=1e-6):
        where = tuple(int(i) for i in np.argwhere(~np.isclose(sums, 1.0, atol=1e-6))[0])
        raise DataError(
            f"cpts[{name!r}]: sums to {float(sums[where]):.6g} over {name!r} at parent values {where}. Each row sums to 1."
        )
    table /= sums[..., None]
    table.setflags(write=False)
    return table


def need_cpts(graph: Graph) -> Mapping[str, Array]:
    """Return the tables of a graph, or refuse a graph without them.

    Args:
        graph: With tables.

    Returns:
        P(node | parents) by name.

    Raises:
        DataError: If there are none.
    """
    if graph.cpts is None:
        raise DataError("graph: has no probability tables. Give cpts, or estimate them with fit_cpts.")
    return graph.cpts


def all_dags(names: int | Sequence[str], outcomes: int | Sequence[int] = 2) -> list[Graph]:
    """List every directed acyclic graph over the nodes: 1, 3, 25, 543, 29281 of them for one to five nodes.

    Cost 2^(L(L−1)) for L nodes; refused beyond five (3,781,503 graphs for six).

    Cost: grows faster than exponentially with the nodes; that is why there are at most five.

    >>> len(all_dags(3))
    25

    Args:
        names: Of the nodes, or their number.
        outcomes: Number of outcomes of each node, or one number for all.

    Returns:
        Graphs without tables.

    Raises:
        DataError: If there are more than five nodes.
    """
    known = as_names(None, names) if isinstance(names, int) else as_names(names)
    if len(known) > LARGEST_ENUMERATION:
        raise DataError(
            f"names: all_dags lists graphs of up to {LARGEST_ENUMERATION} nodes, not {len(known)}. Use search."
        )
    return [graph_of_masks(masks, known, as_outcomes(outcomes, known)) for masks in acyclic_masks(len(known))]


def graph_of_masks(masks: Sequence[int], names: Sequence[str], outcomes: Sequence[int]) -> Graph:
    """Build the graph whose i-th node has parent j when bit j of masks[i] is set."""
    edges = [(names[j], names[i]) for i, mask in enumerate(masks) for j in range(len(names)) if int(mask) >> j & 1]
    return Graph(tuple(names), tuple(edges), tuple(outcomes))


def acyclic_masks(nodes: int) -> NDArray[np.int64]:
    """List the parent masks (graphs, nodes) of all acyclic graphs, by peeling sources off all candidates at once."""
    choices = [[m for m in range(2**nodes) if not m >> i & 1] for i in range(nodes)]
    masks = np.stack(np.meshgrid(*choices, indexing="ij"), axis=-1).reshape(-1, nodes)
    alive = np.full(len(masks), 2**nodes - 1)
    for _ in range(nodes):
        free = (masks & alive[:, None]) == 0
        alive &= ~(free << np.arange(nodes)).sum(axis=1)
    acyclic: NDArray[np.int64] = masks[alive == 0]
    return acyclic
