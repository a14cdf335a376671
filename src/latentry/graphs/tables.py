"""Probability tables in float64: from counts, and the joint distribution of all nodes, observed or intervened upon."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latentry.errors import DataError
from latentry.graphs.counts import Counts
from latentry.graphs.graph import Graph, need_cpts
from latentry.graphs.joint import spread
from latentry.graphs.names import as_values, table_cells
from latentry.graphs.scores import matching_counts

__all__ = ["fit_cpts", "intervene", "joint_table", "random_cpts"]

Array = NDArray[np.float64]


def fit_cpts(graph: Graph, counts: Counts | ArrayLike, *, pseudocount: float = 1.0) -> Graph:
    """Estimate P(node | parents) = (N + a) / Σ (N + a), the posterior mean under a symmetric Dirichlet.

    Rows in which a node was set do not count for its own table. Parent values that never came get the uniform
    distribution, also for a = 0. Cost: one pass over the distinct rows per node.

    >>> g = fit_cpts(Graph(2, [("N1", "N2")]), [[8, 2], [0, 0]], pseudocount=1.0)
    >>> g.cpts["N2"].round(3).tolist()
    [[0.75, 0.25], [0.5, 0.5]]

    Args:
        graph: Over the nodes of the counts; tables it may have are replaced.
        counts: a table with one axis per node, whole or expected, or `Counts`.
        pseudocount: a ≥ 0, added to every cell of every table.

    Returns:
        The graph with tables.

    Raises:
        DataError: If the counts are not over the nodes of the graph, or the pseudocount is negative.
    """
    if not (np.isfinite(pseudocount) and pseudocount >= 0):
        raise DataError(f"pseudocount={pseudocount}: must be zero or more.")
    matched = matching_counts(graph, counts)
    return graph.with_cpts(
        {n: _smoothed(matched.marginal([*graph.parents(n), n], of=n), pseudocount) for n in graph.names}
    )


def _smoothed(counts: Array, pseudocount: float) -> Array:
    heaps = counts + pseudocount
    sums = heaps.sum(axis=-1, keepdims=True)
    return np.where(sums > 0, heaps / np.where(sums > 0, sums, 1.0), 1.0 / counts.shape[-1])


def random_cpts(graph: Graph, seed: int | np.random.Generator, *, concentration: float = 1.0) -> Graph:
    """Draw tables from a symmetric Dirichlet; a small concentration makes strong edges.

    Cost: linear in the cells of the tables.

    >>> random_cpts(Graph(2, [("N1", "N2")]), seed=0)
    Graph(N1 → N2; with tables)

    Args:
        graph: Any graph; tables it may have are replaced.
        seed: Of the draw, or a generator.
        concentration: Of the Dirichlet, above zero.

    Returns:
        The graph with tables.
    """
    rng = np.random.default_rng(seed)
    tables = {}
    for name, own in zip(graph.names, graph.outcomes, strict=True):
        shape = [graph.outcomes[a] for a in graph.axes(graph.parents(name))]
        tables[name] = rng.dirichlet(np.full(own, concentration), size=shape)
    return graph.with_cpts(tables)


def intervene(graph: Graph, do: Mapping[str, int]) -> Graph:
    """Set nodes by do(N = v): the edges into N are cut, and N takes v with certainty (Pearl 2009, section 3.2).

    >>> g = Graph(["A", "B"], [("A", "B")], cpts={"A": [0.3, 0.7], "B": [[0.9, 0.1], [0.2, 0.8]]})
    >>> intervene(g, {"B": 1})
    Graph(A, B; with tables)
    >>> joint_table(intervene(g, {"B": 1})).tolist()  # setting the effect leaves the cause alone
    [[0.0, 0.3], [0.0, 0.7]]

    Args:
        graph: With tables.
        do: Values to set, by node.

    Returns:
        The intervened graph, with tables.

    Raises:
        DataError: If the graph has no tables, or a value cannot be set.
    """
    tables = dict(need_cpts(graph))
    values = as_values(do, graph.names, graph.outcomes)
    for name, value in values.items():
        tables[name] = np.eye(graph.outcomes[graph.names.index(name)])[value]
    cut = graph.with_edges([e for e in graph.edges if e[1] not in values])
    return cut.with_cpts(tables)


def joint_table(graph: Graph, do: Mapping[str, int] | None = None) -> Array:
    """Compute P(N_1, ..., N_L) = ∏ P(N_ℓ | parents); with do, the truncated product.

    Cost O(L ∏ C); refused beyond 2^24 cells, where `sample` still works.

    >>> g = Graph(["A", "B"], [("A", "B")], cpts={"A": [0.3, 0.7], "B": [[0.9, 0.1], [0.2, 0.8]]})
    >>> joint_table(g).round(2).tolist()
    [[0.27, 0.03], [0.14, 0.56]]
    >>> joint_table(g, do={"A": 0}).sum(axis=0).tolist()
    [0.9, 0.1]

    Args:
        graph: With tables.
        do: Values to set, by node.

    Returns:
        Probabilities (C_1, ..., C_L).

    Raises:
        DataError: If the graph has no tables, the joint would be too large, or a value cannot be set.
    """
    need_cpts(graph)
    table_cells(graph.outcomes, "joint_table")
    changed = intervene(graph, do) if do else graph
    table = np.ones(graph.outcomes)
    for name in changed.names:
        table *= spread(changed, name)
    return table
