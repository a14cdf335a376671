"""Checks that every part of this room uses: names of nodes, numbers of outcomes, values, cycles."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

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
    """Check that names are distinct texts; N1, N2, ... when none are given.

    Cost: linear in the names.

    >>> as_names(None, 3)
    ('N1', 'N2', 'N3')

    Args:
        names: Of the nodes, or None.
        count: How many there must be.

    Returns:
        The names.

    Raises:
        DataError: If a name is no text or appears twice, or their number is wrong.
    """
    if names is None:
        return tuple(f"N{i + 1}" for i in range(count or 0))
    if isinstance(names, str):
        raise DataError(f"names={names!r}: is one text. Give a sequence of names, such as ['A', 'B'].")
    if not isinstance(names, Iterable):
        raise DataError(f"names={names!r}: is neither a number of nodes nor a sequence of names. Give one of these.")
    known = tuple(names)
    for name in known:
        if not isinstance(name, str) or not name:
            raise DataError(f"names: {name!r} is not a text. Name nodes by texts.")
        if known.count(name) > 1:
            raise DataError(f"names: {name!r} appears {known.count(name)} times. Names must differ.")
    if count is not None and len(known) != count:
        raise DataError(f"names={list(known)}: {len(known)} names for {count} nodes. Give one for each.")
    return known


def as_outcomes(outcomes: int | Sequence[int], names: Sequence[str]) -> tuple[int, ...]:
    """Check that every node has a number of outcomes of at least two.

    Cost: linear in the names.

    >>> as_outcomes(2, ("A", "B"))
    (2, 2)

    Args:
        outcomes: One number per node, or one for all.
        names: Of the nodes.

    Returns:
        One number per node.

    Raises:
        DataError: If a number is below two or not whole, or there are too few or too many.
    """
    each = [outcomes] * len(names) if isinstance(outcomes, int | np.integer) else list(outcomes)
    if len(each) != len(names):
        raise DataError(
            f"outcomes={each}: {len(each)} numbers for {len(names)} nodes. Give one for each, or one for all."
        )
    for name, number in zip(names, each, strict=True):
        if int(number) != number or number < 2:
            raise DataError(f"outcomes={number} of node {name!r}: a node needs at least 2. Leave a constant one out.")
    return tuple(int(number) for number in each)


def index_of(names: Sequence[str], name: str, where: str = "the graph") -> int:
    """Find the position of a node, or refuse it with the nearest known name.

    Args:
        names: Of the nodes.
        name: The one to look up.
        where: What errors call the nodes.

    Returns:
        The position.

    Raises:
        DataError: If it is unknown.
    """
    if name not in names:
        raise DataError(f"node {name!r} is not in {where}{nearest(str(name), names)}")
    return list(names).index(name)


def as_edges(edges: Iterable[Edge], names: Sequence[str], where: str = "the graph") -> tuple[Edge, ...]:
    """Check that edges are (parent, child) pairs of known nodes.

    Args:
        edges: Pairs of names; repeated ones count once.
        names: Of the nodes.
        where: What errors call the nodes.

    Returns:
        Distinct edges, in the order of the nodes.

    Raises:
        DataError: If an edge is no pair, a node is unknown, or both ends are the same.
    """
    if not isinstance(edges, Iterable):
        raise DataError(f"edges: {edges!r} is no list of pairs. Give [(parent, child), ...].")
    pairs = set()
    for edge in edges:
        if isinstance(edge, str) or not isinstance(edge, Collection) or len(edge) != 2:
            raise DataError(f"edges: {edge!r} is not a pair. Give (parent, child).")
        parent, child = (index_of(names, end, where) for end in edge)
        if parent == child:
            raise DataError(f"edge {edge[0]!r} → {edge[1]!r}: leads from a node to itself. Drop it.")
        pairs.add((parent, child))
    return tuple((names[i], names[j]) for i, j in sorted(pairs))


def find_cycle(edges: Iterable[Edge]) -> list[str] | None:
    """Find one directed cycle.

    Cost: linear in the edges.

    >>> find_cycle([("A", "B"), ("B", "C"), ("C", "A")])
    ['A', 'B', 'C', 'A']
    >>> find_cycle([("A", "B"), ("A", "C"), ("B", "C")])

    Args:
        edges: (parent, child) pairs.

    Returns:
        Its nodes, first and last the same, or None.
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
    values: Mapping[str, object] | None, names: Sequence[str], outcomes: Sequence[int], argument: str = "do"
) -> dict[str, int]:
    """Check values of nodes, such as those of do(N = v).

    Args:
        values: Whole numbers by name, or None.
        names: Of the nodes.
        outcomes: Number of outcomes of each node.
        argument: What errors call the values.

    Returns:
        Checked values by name.

    Raises:
        DataError: If a node is unknown, or a value is not one of its outcomes.
    """
    checked = {}
    if values is not None and not isinstance(values, Mapping):
        raise DataError(
            f"{argument}={values!r}: is no mapping. Give nodes and values, such as {argument}={{{names[0]!r}: 0}}."
        )
    for name, value in (values or {}).items():
        count = outcomes[index_of(names, name)]
        if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer) or not 0 <= value < count:
            raise DataError(
                f"{argument}={{{name!r}: {value!r}}}: is not an outcome. Node {name!r} takes the whole numbers 0 to {count - 1}."
            )
        checked[name] = int(value)
    return checked


def table_cells(outcomes: Sequence[int], purpose: str) -> int:
    """Count the cells of a joint table, and refuse one that would not fit.

    Args:
        outcomes: Number of outcomes of each node.
        purpose: What errors say the table is for.

    Returns:
        Number of cells.

    Raises:
        DataError: If there are more than 2^24.
    """
    cells = 1
    for number in outcomes:
        cells *= int(number)
    if cells > MAX_CELLS:
        raise DataError(
            f"outcomes: {purpose} needs a table of {cells:,} cells, more than {MAX_CELLS:,}. Merge outcomes, or work with "
            "rows (Counts.from_rows, sample), which need no table."
        )
    return cells
