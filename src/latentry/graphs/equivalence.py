"""Markov equivalence: what data can tell of a graph, its compelled and its reversible edges.

Two graphs imply the same independences exactly when they have the same skeleton and the same v-structures
(Verma and Pearl 1990). Observational data can at best find that class. A CPDAG draws it: an edge keeps its arrow
when all members agree on it (compelled) and loses it otherwise (reversible). Interventions on I orient every edge
with exactly one end in I (Hauser and Bühlmann 2012); prior knowledge orients edges too; the rest follows by the
four rules of Meek (1995), which are sound and complete.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from latentry.errors import DataError
from latentry.graphs.graph import Graph
from latentry.graphs.knowledge import Knowledge
from latentry.graphs.names import Edge, as_edges, as_names, as_outcomes, find_cycle, index_of

__all__ = ["CPDAG", "cpdag", "equivalent", "members", "v_structures"]


@dataclass(frozen=True)
class CPDAG:
    """A class of equivalent graphs; immutable and checked when made.

    >>> CPDAG(["A", "B", "C"], compelled=[("A", "B")], reversible=[("C", "B")])
    CPDAG(A → B, B — C)

    Args:
        names: Of the nodes.
        compelled: Edges with an arrow, as (parent, child).
        reversible: Edges without one; the order of the two ends has no meaning.
    """

    names: tuple[str, ...]
    compelled: tuple[Edge, ...] = ()
    reversible: tuple[Edge, ...] = ()

    def __post_init__(self) -> None:
        names = as_names(self.names)
        compelled = as_edges(self.compelled, names)
        loose = as_edges(self.reversible, names)
        loose = as_edges([(a, b) if names.index(a) < names.index(b) else (b, a) for a, b in loose], names)
        joined = [frozenset(e) for e in (*compelled, *loose)]
        for pair in joined:
            if joined.count(pair) > 1:
                a, b = sorted(pair)
                raise DataError(f"nodes {a!r} and {b!r}: are joined by two edges. Drop one of them.")
        cycle = find_cycle(compelled)
        if cycle:
            raise DataError(f"compelled: the edges form a cycle, {' → '.join(cycle)}. Drop one of them.")
        for field, value in (("names", names), ("compelled", compelled), ("reversible", loose)):
            object.__setattr__(self, field, value)

    @property
    def directed(self) -> tuple[Edge, ...]:
        """Return the compelled edges, which a drawing shows with an arrow."""
        return self.compelled

    @property
    def undirected(self) -> tuple[Edge, ...]:
        """Return the reversible edges, which a drawing shows without one."""
        return self.reversible

    def to_json(self) -> dict[str, Any]:
        """Return plain data for a JSON file.

        >>> c = CPDAG(["A", "B"], reversible=[("A", "B")])
        >>> CPDAG.from_json(c.to_json()) == c
        True
        """
        compelled, loose = ([list(e) for e in edges] for edges in (self.compelled, self.reversible))
        return {"names": list(self.names), "compelled": compelled, "reversible": loose}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> CPDAG:
        """Read the class that `to_json` wrote.

        Args:
            fields: Names, compelled and reversible edges.

        Returns:
            The class.
        """
        compelled, loose = (tuple((a, b) for a, b in fields[key]) for key in ("compelled", "reversible"))
        return cls(tuple(fields["names"]), compelled, loose)

    def __repr__(self) -> str:
        parts = [f"{a} → {b}" for a, b in self.compelled] + [f"{a} — {b}" for a, b in self.reversible]
        joined = {n for e in (*self.compelled, *self.reversible) for n in e}
        return f"CPDAG({', '.join(parts + [n for n in self.names if n not in joined])})"


def v_structures(graph: Graph | CPDAG) -> tuple[tuple[str, str, str], ...]:
    """List the triples a → c ← b with a and b not adjacent.

    Cost: cubic in the nodes.

    >>> v_structures(Graph(["A", "B", "C"], [("A", "C"), ("B", "C")]))
    (('A', 'C', 'B'),)

    Args:
        graph: A graph, or the class of one.

    Returns:
        Triples (a, c, b) with a before b in the order of the nodes.
    """
    near = neighbours((*graph.directed, *graph.undirected))
    triples = []
    for middle in graph.names:
        sources = [p for p, c in graph.directed if c == middle]
        triples += [(a, middle, b) for i, a in enumerate(sources) for b in sources[i + 1 :] if b not in near[a]]
    return tuple(triples)


def neighbours(edges: Iterable[Edge]) -> dict[str, set[str]]:
    """Collect the adjacent nodes of every node that has an edge."""
    near: dict[str, set[str]] = {}
    for a, b in edges:
        near.setdefault(a, set()).add(b)
        near.setdefault(b, set()).add(a)
    return near


def cpdag(
    graph: Graph, *, knowledge: Knowledge | None = None, interventions: Sequence[str | Sequence[str]] = ()
) -> CPDAG:
    """Find the class of all graphs that no data could tell from this one. Cost O(L⁴) at worst.

    >>> chain = Graph(["A", "B", "C"], [("A", "B"), ("B", "C")])
    >>> cpdag(chain)
    CPDAG(A — B, B — C)
    >>> cpdag(chain, interventions=["A"])
    CPDAG(A → B, B → C)
    >>> cpdag(chain, knowledge=Knowledge(chain.names, tiers=[["A", "B"], ["C"]]))
    CPDAG(B → C, A — B)

    Args:
        graph: Any member of the class.
        knowledge: Tiers, required and forbidden edges, with which the graph must agree.
        interventions: Nodes (or sets of nodes) that were set in experiments, beside observations.

    Returns:
        Compelled and reversible edges.

    Raises:
        DataError: If an intervened node is unknown, or the graph breaks the knowledge.
    """
    known = {e for a, c, b in v_structures(graph) for e in ((a, c), (b, c))}
    for target in interventions:
        nodes = {target} if isinstance(target, str) else set(target)
        for node in nodes:
            index_of(graph.names, node, "the graph (interventions)")
        known |= {e for e in graph.edges if len(nodes & set(e)) == 1}
    if knowledge is not None:
        _check_agreement(graph, knowledge)
        settled = {*knowledge.required, *((c, p) for p, c in knowledge.banned)}
        known |= settled & set(graph.edges)
    compelled, loose = meek(known, set(graph.edges) - known)
    return CPDAG(graph.names, tuple(compelled), tuple(loose))


def _check_agreement(graph: Graph, knowledge: Knowledge) -> None:
    if set(knowledge.names) != set(graph.names):
        raise DataError(f"knowledge: is about {knowledge.names}, the graph about {graph.names}. Name the same nodes.")
    for parent, child in knowledge.required:
        if (parent, child) not in graph.edges:
            raise DataError(f"graph: lacks the required edge {parent!r} → {child!r}. Add it, or do not require it.")
    for parent, child in knowledge.banned:
        if (parent, child) in graph.edges:
            raise DataError(f"graph: has the edge {parent!r} → {child!r}, which is forbidden. Drop it, or allow it.")


def meek(directed: Iterable[Edge], loose: Iterable[Edge]) -> tuple[set[Edge], set[Edge]]:
    """Orient what follows from the arrows given, by the four rules of Meek, until nothing more does."""
    arrows, open_ = set(directed), {_ordered(e) for e in loose}
    near = neighbours((*arrows, *open_))
    while True:
        fresh = {e for a, b in open_ for e in ((a, b), (b, a)) if _follows(e, arrows, near)}
        if not fresh:
            return arrows, open_
        arrows |= fresh
        open_ -= {_ordered(e) for e in fresh}


def _ordered(edge: Edge) -> Edge:
    return (min(edge), max(edge))


def _follows(edge: Edge, arrows: set[Edge], near: dict[str, set[str]]) -> bool:
    """Whether one of Meek's rules orients the open edge a — b as a → b."""
    a, b = edge
    into_a = {x for x in near[a] if (x, a) in arrows}
    into_b = {x for x in near[b] if (x, b) in arrows}
    open_a = {x for x in near[a] if (x, a) not in arrows and (a, x) not in arrows}
    if into_a - near[b]:  # 1: x → a — b would make a new v-structure
        return True
    if any((a, x) in arrows for x in into_b):  # 2: a → x → b would close a cycle
        return True
    middle = into_b & open_a
    if any(y not in near[x] for x in middle for y in middle - {x}):  # 3: a — x → b ← y — a, x and y apart
        return True
    # 4: a — y, y → x → b, x adjacent to a, and y apart from b
    return any((y, x) in arrows for x in into_b & near[a] for y in open_a - near[b] - {x})


def equivalent(first: Graph, second: Graph) -> bool:
    """Decide whether two graphs imply the same independences: same skeleton, same v-structures.

    Cost: cubic in the nodes.

    >>> a, b = Graph(2, [("N1", "N2")]), Graph(2, [("N2", "N1")])
    >>> equivalent(a, b)
    True

    Args:
        first: A graph.
        second: Another over the same nodes.

    Returns:
        True when they are in one class.

    Raises:
        DataError: If their nodes differ.
    """
    if set(first.names) != set(second.names):
        raise DataError(
            f"graphs: have different nodes, {first.names} and {second.names}. Compare graphs over the same nodes."
        )
    return _signature(first) == _signature(second)


def _signature(graph: Graph) -> tuple[frozenset[frozenset[str]], frozenset[tuple[frozenset[str], str]]]:
    colliders = frozenset((frozenset((a, b)), c) for a, c, b in v_structures(graph))
    return frozenset(frozenset(e) for e in graph.edges), colliders


def members(pattern: CPDAG, outcomes: int | Sequence[int] = 2) -> Iterator[Graph]:
    """Yield all graphs of a class, one after the other; there can be as many as L! of them.

    Cost: polynomial in the nodes for each graph that is listed; there may be factorially many.

    >>> [g for g in members(CPDAG(["A", "B"], reversible=[("A", "B")]))]
    [Graph(A → B), Graph(B → A)]

    Args:
        pattern: The class.
        outcomes: Number of outcomes of each node, or one number for all.

    Returns:
        An iterator of graphs.
    """
    fixed = {(frozenset((a, b)), c) for a, c, b in v_structures(pattern)}
    for arrows in _completions(set(pattern.compelled), set(pattern.reversible), pattern.names):
        if not find_cycle(arrows):
            graph = Graph(pattern.names, tuple(arrows), as_outcomes(outcomes, pattern.names))
            if _signature(graph)[1] == fixed:
                yield graph


def _completions(arrows: set[Edge], open_: set[Edge], names: Sequence[str]) -> Iterator[set[Edge]]:
    """All orientations that the rules allow; those that follow the order of the nodes come first."""
    if not open_:
        yield arrows
        return
    i, j = min(sorted((names.index(a), names.index(b))) for a, b in open_)
    left = {e for e in open_ if set(e) != {names[i], names[j]}}
    for edge in ((names[i], names[j]), (names[j], names[i])):
        yield from _completions(*meek(arrows | {edge}, left), names)
