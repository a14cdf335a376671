"""Where to draw nodes: layers from causes to effects, with few crossings (after Sugiyama, Tagawa and Toda 1981)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from latentry.errors import DataError
from latentry.graphs.equivalence import CPDAG, members
from latentry.graphs.graph import Graph
from latentry.graphs.names import Edge

__all__ = ["Layout", "arranged"]

Point = tuple[float, float]
_SWEEPS = 8


@dataclass(frozen=True)
class Layout:
    """Nodes at whole layers (second coordinate) and places within them (first), and the bends of every edge."""

    places: dict[str, Point]
    routes: dict[Edge, tuple[Point, ...]]
    width: float
    depth: int


def arranged(graph: Graph | CPDAG) -> Layout:
    """Lay a graph out in layers; an edge that spans several has a bend in each, so that it passes no node.

    Args:
        graph: A graph, or the class of one.

    Returns:
        Places of the nodes and routes of the edges.

    Raises:
        DataError: If the class has no member.
    """
    flow = _oriented(graph)
    depth = _depths(flow)
    layers: list[list[object]] = [[] for _ in range(max(depth.values(), default=0) + 1)]
    for name in flow.names:
        layers[depth[name]].append(name)
    chains = {edge: _chain(edge, depth, layers) for edge in flow.edges}
    links = [pair for chain in chains.values() for pair in zip(chain, chain[1:], strict=False)]
    _uncross(layers, links)
    spot = _spots(layers)
    drawn = {e if e in {*graph.directed, *graph.undirected} else e[::-1]: c for e, c in chains.items()}
    routes = {e: tuple(spot[v] for v in (c if e in chains else c[::-1])) for e, c in drawn.items()}
    return Layout({n: spot[n] for n in flow.names}, routes, max(map(len, layers)) - 1, len(layers) - 1)


def _oriented(graph: Graph | CPDAG) -> Graph:
    if isinstance(graph, Graph):
        return graph
    member = next(members(graph), None)
    if member is None:
        raise DataError(
            f"graph={graph!r}: stands for no graph. Its edges cannot be oriented without a cycle or a new v-structure."
        )
    return member


def _depths(graph: Graph) -> dict[str, int]:
    """Length of the longest path to each node; sources without need sink to just above their first child."""
    depth: dict[str, int] = {}
    for name in graph.order:
        depth[name] = 1 + max((depth[p] for p in graph.parents(name)), default=-1)
    for name in reversed(graph.order):
        if graph.children(name) and not graph.parents(name):
            depth[name] = min(depth[c] for c in graph.children(name)) - 1
    return depth


def _chain(edge: Edge, depth: dict[str, int], layers: list[list[object]]) -> list[object]:
    """The edge as nodes of neighbouring layers, with stand-ins between its ends."""
    top, bottom = depth[edge[0]], depth[edge[1]]
    between: list[object] = [(edge, level) for level in range(top + 1, bottom)]
    for level, stand_in in enumerate(between, start=top + 1):
        layers[level].append(stand_in)
    return [edge[0], *between, edge[1]]


def _uncross(layers: list[list[object]], links: Sequence[tuple[object, object]]) -> None:
    """Sort layers by the mean place of their neighbours, downwards and upwards in turn, and keep the best seen."""
    up: dict[object, list[object]] = {}
    down: dict[object, list[object]] = {}
    for a, b in links:
        down.setdefault(a, []).append(b)
        up.setdefault(b, []).append(a)
    best, fewest = [list(layer) for layer in layers], _crossings(layers, links)
    for sweep in range(_SWEEPS):
        near = up if sweep % 2 == 0 else down
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            spot = _spots(layers)
            centre = {v: _mean([spot[w][0] for w in near.get(v, [v])]) for v in layer}
            layer.sort(key=centre.__getitem__)
        crossings = _crossings(layers, links)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    layers[:] = best


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _crossings(layers: list[list[object]], links: Sequence[tuple[object, object]]) -> int:
    spot = _spots(layers)
    ends = [(spot[a][1], spot[a][0], spot[b][0]) for a, b in links]
    return sum(p[0] == q[0] and (p[1] - q[1]) * (p[2] - q[2]) < 0 for i, p in enumerate(ends) for q in ends[i + 1 :])


def _spots(layers: Sequence[Sequence[object]]) -> dict[object, Point]:
    """Places one apart, every layer centred on the widest."""
    width = max(map(len, layers)) - 1
    return {
        v: (i + (width - len(layer) + 1) / 2, float(level))
        for level, layer in enumerate(layers)
        for i, v in enumerate(layer)
    }
