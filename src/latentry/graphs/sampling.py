"""Rows drawn from a graph: observed, under interventions, and what each row would have been.

A graph with tables says what do(N = v) does to a population. It does not say what would have become of one row: that
depends on how the noise of a node is shared between the values its parents might take, and no data on the graph's
nodes can tell (Pearl 2009, chapter 7). Every counterfactual below therefore names its coupling:

- `monotone`: one uniform number per node, U; the value is the smallest v with P(N ≤ v | parents) ≥ U. Outcomes are
  taken as ordered, and a shift of the distribution moves rows no further than it must.
- `gumbel`: one Gumbel number per node and outcome, added to ln P; the largest wins. Needs no order, and an outcome whose
  odds have grown against all others is never left (Oberst and Sontag 2019).
- `independent`: a row whose parents change draws its node afresh.

All three give the same interventional distributions and, when nothing is set, return the rows as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latentry.errors import DataError, nearest
from latentry.graphs.graph import Graph, need_cpts
from latentry.graphs.names import as_values
from latentry.graphs.tables import intervene

__all__ = ["Coupling", "counterfactual", "sample"]

Array = NDArray[np.float64]
Rows = NDArray[np.int64]
Coupling = Literal["monotone", "gumbel", "independent"]


def sample(graph: Graph, rows: int, seed: int, *, do: Mapping[str, int] | None = None) -> Rows:
    """Draw rows of node values from the parents down; with do, from the intervened graph.

    Cost O(rows · Σ C), whatever the size of the joint table.

    >>> g = Graph(["A", "B"], [("A", "B")], cpts={"A": [0.5, 0.5], "B": [[1, 0], [0, 1]]})
    >>> x = sample(g, 100, seed=0)
    >>> bool((x[:, 0] == x[:, 1]).all()), sample(g, 2, seed=0, do={"A": 1}).tolist()
    (True, [[1, 1], [1, 1]])

    Args:
        graph: With tables.
        rows: Number of rows.
        seed: Of the draw.
        do: Values to set, by node.

    Returns:
        Whole numbers (rows, L).

    Raises:
        DataError: If the graph has no tables, `rows` is negative, or a value cannot be set.
    """
    if rows < 0:
        raise DataError(f"rows={rows}: must be zero or more.")
    changed = intervene(graph, do or {})
    rng = np.random.default_rng(seed)
    values = np.zeros((rows, len(graph.names)), dtype=np.int64)
    for name in changed.order:
        values[:, changed.names.index(name)] = inverse_cdf(_conditionals(changed, name, values), rng.random(rows))
    return values


def _conditionals(graph: Graph, name: str, values: Rows) -> Array:
    """P(name | the parents' values in each row), (rows, outcomes)."""
    table = need_cpts(graph)[name]
    parents = tuple(values[:, a] for a in graph.axes(graph.parents(name)))
    return table[parents] if parents else np.broadcast_to(table, (len(values), len(table)))


def inverse_cdf(chances: Array, uniform: Array) -> Rows:
    """Return the smallest v with P(≤ v) > u; never an outcome of probability zero."""
    steps = chances.cumsum(axis=1)
    picked: Rows = (steps <= (uniform * steps[:, -1])[:, None]).sum(axis=1)
    last: Rows = chances.shape[1] - 1 - (chances[:, ::-1] > 0).argmax(axis=1)
    return np.minimum(picked, last)


def counterfactual(
    graph: Graph, rows: ArrayLike, do: Mapping[str, int], seed: int, *, coupling: Coupling = "monotone"
) -> Rows:
    """Compute what the given rows would have been under do(N = v): abduction, action, prediction.

    The noise of every node is drawn from its distribution given the row, the nodes in `do` are set, and the rest is
    computed anew from the parents down. Nodes that no set node leads to keep their values. The answer depends on
    the coupling (see the head of this module), which data cannot decide; the distribution over all rows does not.
    Cost O(rows · Σ C).

    >>> g = Graph(["A", "B"], [("A", "B")], cpts={"A": [0.5, 0.5], "B": [[0.9, 0.1], [0.2, 0.8]]})
    >>> counterfactual(g, [[0, 1], [0, 1]], {"A": 1}, seed=0).tolist()  # B = 1 has become likelier: it stays
    [[1, 1], [1, 1]]

    Args:
        graph: With tables.
        rows: (n, L) observed values of all nodes.
        do: The values to set.
        seed: Of the noise.
        coupling: `monotone`, `gumbel` or `independent`.

    Returns:
        Whole numbers (n, L).

    Raises:
        DataError: If coupling, rows or values do not fit, or a row has probability zero.
    """
    if coupling not in get_args(Coupling):
        raise DataError(f"coupling={coupling!r}: is not known{nearest(str(coupling), get_args(Coupling))}")
    values = as_values(do, graph.names, graph.outcomes)
    seen = _checked_rows(graph, rows)
    rng = np.random.default_rng(seed)
    imagined = seen.copy()
    for name in graph.order:
        at = graph.names.index(name)
        if name in values:
            imagined[:, at] = values[name]
            continue
        before, after = _conditionals(graph, name, seen), _conditionals(graph, name, imagined)
        _check_possible(before, seen[:, at], name)
        parents = list(graph.axes(graph.parents(name)))
        same = (seen[:, parents] == imagined[:, parents]).all(axis=1)
        moved = _COUPLINGS[coupling](before, after, seen[:, at], rng)
        imagined[:, at] = np.where(same, seen[:, at], moved)
    return imagined


def _monotone(before: Array, after: Array, value: Rows, rng: np.random.Generator) -> Rows:
    """U uniform on the stretch of P(≤ ·) that gave the value, read off the new distribution."""
    row = np.arange(len(value))
    low = (before.cumsum(axis=1) - before)[row, value]
    return inverse_cdf(after, low + before[row, value] * rng.random(len(value)))


def _gumbel(before: Array, after: Array, value: Rows, rng: np.random.Generator) -> Rows:
    """Gumbel numbers given that `value` won (Maddison, Tarlow and Minka 2014), added to the new logarithms."""
    row = np.arange(len(value))
    top = rng.gumbel(size=len(value))  # the maximum is Gumbel(ln Σ p = 0) and independent of who won
    with np.errstate(divide="ignore", invalid="ignore"):
        free = rng.gumbel(size=before.shape) + np.log(before)
        others = -np.logaddexp(-free, -top[:, None])  # truncated below the maximum
        others[row, value] = top
        noise = others - np.log(before)
        impossible = before == 0  # never seen, so that nothing was learnt about its noise
        noise[impossible] = rng.gumbel(size=before.shape)[impossible]
        largest: Rows = np.argmax(noise + np.log(after), axis=1)
        return largest


def _independent(before: Array, after: Array, value: Rows, rng: np.random.Generator) -> Rows:
    return inverse_cdf(after, rng.random(len(value)))


_COUPLINGS: dict[str, Callable[[Array, Array, Rows, np.random.Generator], Rows]] = {
    "monotone": _monotone, "gumbel": _gumbel, "independent": _independent,
}  # fmt: skip


def _checked_rows(graph: Graph, rows: ArrayLike) -> Rows:
    values = np.asarray(rows)
    if values.ndim != 2 or values.shape[1] != len(graph.names):
        raise DataError(
            f"rows: has shape {values.shape}; expected (rows, {len(graph.names)}). Give one column per node."
        )
    limits = np.array(graph.outcomes)
    bad = ~((values >= 0) & (values < limits) & (values == np.floor(values)))
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        name, top = graph.names[column], limits[column] - 1
        raise DataError(f"column {name!r}: is {values[row, column]} in row {row}. Node {name!r} takes 0 to {top}.")
    return values.astype(np.int64)


def _check_possible(conditionals: Array, value: Rows, name: str) -> None:
    chances = conditionals[np.arange(len(value)), value]
    if (chances == 0).any():
        row = int(np.argmax(chances == 0))
        raise DataError(
            f"row {row}: has {name!r} = {value[row]}, which has probability zero given its parents. "
            "Smooth the tables (fit_cpts with a pseudocount) or drop the row."
        )
