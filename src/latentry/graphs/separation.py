"""Which independences a graph implies."""

from __future__ import annotations

from collections.abc import Sequence

from latentry.errors import DataError
from latentry.graphs.graph import Graph
from latentry.graphs.names import index_of

__all__ = ["d_separated"]


def d_separated(
    graph: Graph, first: str | Sequence[str], second: str | Sequence[str], given: str | Sequence[str] = ()
) -> bool:
    """Decide whether two sets of nodes are independent given a third in all distributions that factorise by the graph.

    A path is blocked by a node of the condition that is no collider on it, and by a collider none of whose
    descendants is in the condition (Pearl 1988). Cost O(L + edges): reachability over (node, direction).

    >>> g = Graph(["hue", "radius", "shift"], [("hue", "shift"), ("radius", "shift")])
    >>> d_separated(g, "hue", "radius"), d_separated(g, "hue", "radius", given="shift")
    (True, False)

    Args:
        graph: Any graph.
        first: A node or several.
        second: A node or several.
        given: The condition; none by default.

    Returns:
        True when they are.

    Raises:
        DataError: If a node is unknown, or named in two of the sets.
    """
    sources, goals, known = (_as_set(graph, nodes) for nodes in (first, second, given))
    for a, b in ((sources, goals), (sources, known), (goals, known)):
        if a & b:
            raise DataError(f"node {min(a & b)!r}: is named in two of the three sets. Name it in one.")
    return not _reachable(graph, sources, known) & goals


def _as_set(graph: Graph, nodes: str | Sequence[str]) -> set[str]:
    chosen = {nodes} if isinstance(nodes, str) else set(nodes)
    for node in chosen:
        index_of(graph.names, node)
    return chosen


def _reachable(graph: Graph, sources: set[str], known: set[str]) -> set[str]:
    """Nodes joined to the sources by an open path: the Bayes ball (Shachter 1998).

    A ball that comes from a parent bounces back at a known node, which opens the colliders above it.
    """
    front = [(node, "up") for node in sources]  # "up": entered from a child, or the start
    seen, reached = set(front), set()
    while front:
        node, side = front.pop()
        above, below = ([(p, "up") for p in graph.parents(node)], [(c, "down") for c in graph.children(node)])
        if node in known:
            steps = above if side == "down" else []
        else:
            reached.add(node)
            steps = below if side == "down" else above + below
        front += [s for s in steps if s not in seen]
        seen |= set(steps)
    return reached
