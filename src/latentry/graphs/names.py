"""Checks that every part of this room shares: names of nodes, numbers of outcomes, values, cycles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from latentry.errors import DataError, nearest

__all__ = [
    "Edge",
    "MAX_CELLS",
    "as_edges",
    "as_names",
    "as_outcomes",
    "as_values",
    "find_cycle",
    "index_of",
    "table_cells",
]

Edge = tuple[str, str]
MAX_CELLS = 2**24  # 128 MB of float64: a joint table beyond it is a mistake more often than a wish


def as_names(names: Sequence[str] | None, count: int | None = None) -> tuple[str, ...]:
    """Distinct names; N1, N2, ... when none are given.

    >>> as_names(None, 3)
    ('N1', 'N2', 'N3')
    """
    if names is None:
        return tuple(f"N{i + 1}" for i in range(count or 0))
    if isinstance(names, str):
        raise DataError(f"names={names!r} is one text; give a sequence of names, such as ['A', 'B']")
    if not isinstance(names, Iterable):
        raise DataError(f"names={names!r} is neither a number of nodes nor a sequence of names")
    found = tuple(names)
    for name in found:
        if not isinstance(name, str) or not name:
            raise DataError(f"node name {name!r} is not a text")
        if found.count(name) > 1:
            raise DataError(f"node name {name!r} appears {found.count(name)} times; names must differ")
    if count is not None and len(found) != count:
        raise DataError(f"{len(found)} names for {count} nodes")
    return found


def as_outcomes(outcomes: int | Sequence[int], names: Sequence[str]) -> tuple[int, ...]:
    """One number of outcomes per node, each at least two.

    >>> as_outcomes(2, ("A", "B"))
    (2, 2)
    """
    each = [outcomes] * len(names) if isinstance(outcomes, int | np.integer) else list(outcomes)
    if len(each) != len(names):
        raise DataError(f"{len(each)} numbers of outcomes for {len(names)} nodes")
    for name, number in zip(names, each, strict=True):
        if int(number) != number or number < 2:
            raise DataError(
                f"node {name!r} has outcomes={number}; a node needs at least 2, so leave a constant one out"
            )
    return tuple(int(number) for number in each)


def index_of(names: Sequence[str], name: Any, where: str = "the graph") -> int:
    """Position of a node, or a sentence with the nearest known name."""
    if name not in names:
        raise DataError(f"node {name!r} is not in {where}{nearest(str(name), names)}")
    return list(names).index(name)


def as_edges(edges: Iterable[Edge], names: Sequence[str], where: str = "the graph") -> tuple[Edge, ...]:
    """Distinct (parent, child) pairs of known nodes, in the order of the nodes."""
    found = set()
    for edge in edges:
        if isinstance(edge, str) or len(edge) != 2:
            raise DataError(f"edge {edge!r} is not a pair (parent, child)")
        parent, child = (index_of(names, end, where) for end in edge)
        if parent == child:
            raise DataError(f"edge {edge[0]!r} → {edge[1]!r} leads from a node to itself")
        found.add((parent, child))
    return tuple((names[i], names[j]) for i, j in sorted(found))


def find_cycle(edges: Iterable[Edge]) -> list[str] | None:
    """The nodes of one directed cycle, first and last the same, or None.

    >>> find_cycle([("A", "B"), ("B", "C"), ("C", "A")])
    ['A', 'B', 'C', 'A']
    >>> find_cycle([("A", "B"), ("A", "C"), ("B", "C")])
    """
    left = set(edges)
    while left:
        inner = {e for e in left if e[0] in {c for _, c in left} and e[1] in {p for p, _ in left}}
        if inner == left:
            return _follow(sorted(left))
        left = inner  # edges that leave a source or enter a sink lie on no cycle
    return None


def _follow(edges: list[Edge]) -> list[str]:
    """Walk along edges of which every end has a successor until a node comes back."""
    following = dict(reversed(edges))
    path = [edges[0][0]]
    while path[-1] not in path[:-1]:
        path.append(following[path[-1]])
    return path[path.index(path[-1]) :]


def as_values(
    values: Mapping[str, Any] | None, names: Sequence[str], outcomes: Sequence[int], argument: str = "do"
) -> dict[str, int]:
    """Checked node values, such as those of do(N = v)."""
    checked = {}
    if values is not None and not isinstance(values, Mapping):
        raise DataError(f"{argument}={values!r}: give nodes and values, such as {argument}={{{names[0]!r}: 0}}")
    for name, value in (values or {}).items():
        count = outcomes[index_of(names, name)]
        if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer) or not 0 <= value < count:
            raise DataError(
                f"{argument}={{{name!r}: {value!r}}}: node {name!r} takes the whole numbers 0 to {count - 1}"
            )
        checked[name] = int(value)
    return checked


def table_cells(outcomes: Sequence[int], purpose: str) -> int:
    """Cells of the joint table, refused when they would not fit."""
    cells = 1
    for number in outcomes:
        cells *= int(number)
    if cells > MAX_CELLS:
        raise DataError(
            f"{purpose} needs a table of {cells:,} cells, more than {MAX_CELLS:,}; merge outcomes, or work with "
            "rows (Counts.from_rows, sample), which need no table"
        )
    return cells
