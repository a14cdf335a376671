"""Drawings of graphs: SVG that needs nothing else, and text for a terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from latentry.errors import DataError
from latentry.graphs.equivalence import CPDAG
from latentry.graphs.graph import Graph
from latentry.graphs.layout import Layout, Point, arranged
from latentry.graphs.names import Edge
from latentry.html_text import escaped, shortened

__all__ = ["to_svg", "to_text", "write_svg"]

_ROW, _GAP, _HIGH, _MARGIN = 92.0, 40.0, 34.0, 14.0  # pixels: between layers, between nodes, height of a node, margin
_LETTER = 7.6  # pixels a letter takes at 14 px
# Every rule names the class of the drawing: a style inside a page would otherwise reach the rest of it.
_STYLE = (
    ".lt-graph text{font:14px system-ui,sans-serif;fill:#1c2733}.lt-graph .label{font-size:11.5px;fill:#4a5a6a;"
    "paint-order:stroke;stroke:#fff;stroke-width:5px;stroke-linejoin:round}.lt-graph .edge{fill:none;stroke:#51657a}"
    ".lt-graph .node{fill:#eef4fb;stroke:#3a6ea5;stroke-width:1.5}.lt-graph .open{stroke:#9a6b1f}.lt-graph .head{fill:#51657a}"
)


def to_svg(
    graph: Graph | CPDAG,
    strengths: Mapping[Edge, float] | None = None,
    *,
    unit: str = "nats",
    title: str = "Causal graph",
) -> str:
    """Draw a graph as SVG text, causes above effects; reversible edges have no arrowhead and another colour.

    Strengths, when given, are written beside the edges and set their width. Layout takes O(edges²) per sweep.

    >>> drawing = to_svg(Graph(["A", "B"], [("A", "B")]), {("A", "B"): 0.2})
    >>> drawing[:4], ">0.2<" in drawing
    ('<svg', True)

    Args:
        graph: a graph, or the class of one.
        strengths: Number per edge, such as `edge_strengths` or bootstrap frequencies.
        unit: Of the numbers, named below the drawing.
        title: Read aloud by screen readers and shown on hover.

    Returns:
        One `<svg>` element that needs no other file.

    Raises:
        DataError: If a strength belongs to no edge, or the class has no member.
    """
    matched = _matched(graph, strengths)
    layout = arranged(graph)
    wide = {n: max(44.0, _LETTER * len(shortened(n)) + 24) for n in graph.names}
    widest = max(wide.values())
    notes = _notes(graph, matched, unit)
    width = max(layout.width * (widest + _GAP) + widest, _LETTER * 0.8 * max(map(len, notes), default=0)) + 2 * _MARGIN
    height = layout.depth * _ROW + _HIGH + 2 * _MARGIN
    at = _scaled(layout, widest + _GAP, (width - layout.width * (widest + _GAP)) / 2, _HIGH / 2 + _MARGIN)
    edges = [_edge(e, at, wide, e in graph.undirected, matched) for e in layout.routes]
    nodes = [_node(n, at.places[n], wide[n]) for n in graph.names]
    lines = [
        f'<text class="label" x="{_MARGIN:.0f}" y="{height + 16 * i + 2:.0f}">{escaped(t)}</text>'
        for i, t in enumerate(notes)
    ]
    body = [*(path for path, _ in edges), *nodes, *(label for _, label in edges), *lines]
    height += 16 * len(notes) + (4 if notes else 0)
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} class="lt-graph" role="img" style="background:#fff">'
        f"<title>{escaped(title)}</title><style>{_STYLE}</style>{''.join(body)}</svg>"
    )


def _notes(graph: Graph | CPDAG, strengths: Mapping[Edge, float], unit: str) -> list[str]:
    """What a reader must know to read the drawing."""
    notes = [f"numbers and widths: {unit}"] if strengths and unit else []
    return notes + (["no arrowhead: direction not determined"] if graph.undirected else [])


def write_svg(
    path: str | Path, graph: Graph | CPDAG, strengths: Mapping[Edge, float] | None = None, *, unit: str = "nats"
) -> None:
    """Write the drawing of `to_svg` to a file.

    Cost: that of :func:`to_svg`.

    Args:
        path: Of the file.
        graph: A graph, or the class of one.
        strengths: Number per edge.
        unit: Of the numbers.
    """
    Path(path).write_text(to_svg(graph, strengths, unit=unit), encoding="utf-8")


def _matched(graph: Graph | CPDAG, strengths: Mapping[Edge, float] | None) -> dict[Edge, float]:
    """Strengths by the edges of the drawing; those of a reversible edge may be given in either direction."""
    edges, matched = {*graph.directed, *graph.undirected}, {}
    for (a, b), value in (strengths or {}).items():
        edge = (a, b) if (a, b) in edges else (b, a)
        if edge not in edges:
            raise DataError(f"strengths: has the edge {a!r} → {b!r}, which the graph does not have. Leave it out.")
        matched[edge] = float(value)
    return matched


def _scaled(layout: Layout, column: float, left: float, top: float) -> Layout:
    def place(point: Point) -> Point:
        return left + point[0] * column, top + point[1] * _ROW

    places = {n: place(p) for n, p in layout.places.items()}
    routes = {e: tuple(map(place, points)) for e, points in layout.routes.items()}
    return Layout(places, routes, layout.width, layout.depth)


def _node(name: str, at: Point, wide: float) -> str:
    x, y = at
    box = f'<rect class="node" x="{x - wide / 2:.1f}" y="{y - _HIGH / 2:.1f}" width="{wide:.1f}" height="{_HIGH:.0f}" rx="17"/>'
    return f'{box}<text x="{x:.1f}" y="{y + 5:.1f}" text-anchor="middle">{escaped(shortened(name))}</text>'


def _edge(
    edge: Edge, at: Layout, wide: Mapping[str, float], is_open: bool, strengths: Mapping[Edge, float]
) -> tuple[str, str]:
    """The line with its head, and the label, which is drawn last so that nothing hides it."""
    points = list(at.routes[edge])
    points[0] = _border(points[0], points[1], wide[edge[0]])
    points[-1] = _border(points[-1], points[-2], wide[edge[1]], gap=0.0 if is_open else 9.0)
    largest = max(strengths.values(), default=0.0)
    fraction = strengths[edge] / largest if edge in strengths and largest > 0 else 0.2
    style, thick = "edge open" if is_open else "edge", 1.2 + 3.3 * max(0.0, fraction)
    line = f'<path class="{style}" stroke-width="{thick:.2f}" d="{_curve(points)}"/>'
    head = "" if is_open else _head(points)
    return line + head, _label(points, strengths.get(edge))


def _border(inner: Point, outer: Point, wide: float, gap: float = 0.0) -> Point:
    """Where the line towards `outer` leaves the box of a node."""
    dx, dy = outer[0] - inner[0], outer[1] - inner[1]
    reach = min((wide / 2) / abs(dx) if dx else math.inf, (_HIGH / 2) / abs(dy) if dy else math.inf)
    stretch = reach + gap / math.hypot(dx, dy)
    return inner[0] + dx * stretch, inner[1] + dy * stretch


def _curve(points: list[Point]) -> str:
    """A smooth line through the points: Catmull–Rom as cubic Bézier pieces."""
    padded = [points[0], *points, points[-1]]
    parts = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for a, b, c, d in zip(padded, padded[1:], padded[2:], padded[3:], strict=False):
        first = (b[0] + (c[0] - a[0]) / 6, b[1] + (c[1] - a[1]) / 6)
        second = (c[0] - (d[0] - b[0]) / 6, c[1] - (d[1] - b[1]) / 6)
        parts.append("C" + " ".join(f"{x:.1f} {y:.1f}" for x, y in (first, second, c)))
    return "".join(parts)


def _head(points: list[Point]) -> str:
    (x, y), (px, py) = points[-1], points[-2]
    length = math.hypot(x - px, y - py) or 1.0
    ux, uy = (x - px) / length, (y - py) / length
    corners = ((x + 9 * ux, y + 9 * uy), (x - 5.5 * uy, y + 5.5 * ux), (x + 5.5 * uy, y - 5.5 * ux))
    return f'<polygon class="head" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in corners)}"/>'


def _label(points: list[Point], value: float | None) -> str:
    if value is None:
        return ""
    half = (len(points) - 1) // 2
    (ax, ay), (bx, by) = points[half], points[half + 1]
    x, y = (ax + bx) / 2, (ay + by) / 2 + 4
    return f'<text class="label" x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{value:.2g}</text>'


def to_text(graph: Graph | CPDAG, strengths: Mapping[Edge, float] | None = None, *, unit: str = "nats") -> str:
    """Draw a graph for a terminal: one line per edge, then the nodes that have none.

    Cost: linear in nodes and edges.

    >>> print(to_text(CPDAG(["hue", "radius", "x"], [("hue", "radius")]), {("hue", "radius"): 0.21}))
    hue ───▶ radius   0.21 nats
    x        no edges

    Args:
        graph: A graph, or the class of one.
        strengths: Number per edge.
        unit: Of the numbers.

    Returns:
        Lines of text.

    Raises:
        DataError: If a strength belongs to no edge.
    """
    matched = _matched(graph, strengths)
    wide = max(map(len, graph.names), default=0)
    right = max((len(b) for _, b in (*graph.directed, *graph.undirected)), default=0)
    lines = []
    for edges, mark, note in ((graph.directed, "───▶", ""), (graph.undirected, "────", "reversible")):
        for a, b in edges:
            value = f"{matched[a, b]:.3g} {unit}".strip() if (a, b) in matched else ""
            notes = ", ".join(part for part in (value, note) if part)
            lines.append(f"{a:<{wide}} {mark} {b:<{right}}   {notes}".rstrip())
    joined = {n for e in (*graph.directed, *graph.undirected) for n in e}
    return "\n".join(lines + [f"{n:<{wide}}      no edges" for n in graph.names if n not in joined])
