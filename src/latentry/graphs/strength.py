"""How strong edges are, and how often they come back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr

from latentry.errors import DataError
from latentry.graphs.counts import Counts, as_counts
from latentry.graphs.equivalence import CPDAG
from latentry.graphs.finding import Found, search
from latentry.graphs.graph import Graph
from latentry.graphs.names import Edge
from latentry.graphs.scores import matching_counts
from latentry.graphs.tables import joint_table

__all__ = ["EdgeFrequencies", "bootstrap", "edge_frequencies", "edge_strengths"]

Array = NDArray[np.float64]


def edge_strengths(graph: Graph, counts: Counts | ArrayLike | None = None) -> dict[Edge, float]:
    """Compute I(child; parent | other parents) in nats for every edge: what the parent says beyond the others.

    From the graph's own tables, exactly, or from counts (plug-in). Zero means that the table of the child does not
    use the parent. For a reversible edge the number belongs to the member at hand, not to the class. Cost: a joint
    table of ∏ C cells without counts; one pass over the distinct rows per edge with them.

    >>> g = Graph(["A", "B"], [("A", "B")], cpts={"A": [0.5, 0.5], "B": [[1, 0], [0, 1]]})
    >>> round(edge_strengths(g)["A", "B"], 6)  # one bit
    0.693147

    Args:
        graph: With tables, or with counts beside it.
        counts: a table with one axis per node, or `Counts`; rows in which the child was set are left out.

    Returns:
        Nats by edge.

    Raises:
        DataError: If there are neither tables nor counts, or the counts do not fit.
    """
    source = Counts.from_table(joint_table(graph), graph.names) if counts is None else matching_counts(graph, counts)
    return {edge: _strength(graph, source, *edge) for edge in graph.edges}


def _strength(graph: Graph, counts: Counts, parent: str, child: str) -> float:
    others = [p for p in graph.parents(child) if p != parent]
    joint = counts.marginal([parent, child, *others], of=child)
    if not joint.sum():
        return 0.0
    joint = joint.reshape(*joint.shape[:2], -1) / joint.sum()
    parts = (joint.sum(axis=1), joint.sum(axis=0), joint.sum(axis=(0, 1)), joint)
    h_pz, h_cz, h_z, h_pcz = (float(entr(p).sum()) for p in parts)
    return max(0.0, h_pz + h_cz - h_z - h_pcz)


@dataclass(frozen=True)
class EdgeFrequencies:
    """How often each pair was joined, and how, over several graphs.

    Args:
        names: Of the nodes.
        runs: Number of graphs.
        arrow: Fraction of runs with i → j, (L, L).
        line: Fraction of runs with i — j (reversible), symmetric (L, L).
    """

    names: tuple[str, ...]
    runs: int
    arrow: Array
    line: Array

    @property
    def joined(self) -> Array:
        """Return the fraction of runs in which i and j are adjacent, symmetric (L, L)."""
        return self.arrow + self.arrow.T + self.line

    def of(self, edge: Edge) -> float:
        """Return the fraction of runs in which two nodes are adjacent, whatever the direction.

        Args:
            edge: Two names.

        Returns:
            A fraction.
        """
        i, j = (self.names.index(n) for n in edge)
        return float(self.joined[i, j])

    def __str__(self) -> str:
        lines = [f"over {self.runs} runs"]
        for i, a in enumerate(self.names):
            for j, b in enumerate(self.names[i + 1 :], start=i + 1):
                if self.joined[i, j] > 0:
                    kinds = (("→", self.arrow[i, j]), ("←", self.arrow[j, i]), ("—", self.line[i, j]))
                    parts = ", ".join(f"{mark} {fraction:.0%}" for mark, fraction in kinds if fraction > 0)
                    lines.append(f"{a} · {b}: joined {self.joined[i, j]:.0%} ({parts})")
        return "\n".join(lines)


def edge_frequencies(graphs: Iterable[Graph | CPDAG | Found]) -> EdgeFrequencies:
    """Count how often each pair is joined by →, ← or —, over restarts, bootstrap replicates, or any graphs.

    Cost: linear in graphs and pairs of nodes.

    >>> print(edge_frequencies([Graph(2, [("N1", "N2")]), Graph(2)]))
    over 2 runs
    N1 · N2: joined 50% (→ 50%)

    Args:
        graphs: Graphs, classes or results of searches over the same nodes.

    Returns:
        Fractions of the runs.

    Raises:
        DataError: If there is no graph, or nodes differ.
    """
    patterns = [g.cpdag if isinstance(g, Found) else g for g in graphs]
    if not patterns:
        raise DataError("graphs: is empty; edge_frequencies needs at least one graph. Give some.")
    names = patterns[0].names
    place = {name: i for i, name in enumerate(names)}
    arrow, line = np.zeros((len(names),) * 2), np.zeros((len(names),) * 2)
    for pattern in patterns:
        if set(pattern.names) != set(names):
            raise DataError(
                f"graphs: have different nodes, {names} and {pattern.names}. Give graphs over the same nodes."
            )
        for a, b in pattern.directed:
            arrow[place[a], place[b]] += 1
        for a, b in pattern.undirected:
            line[place[a], place[b]] += 1
            line[place[b], place[a]] += 1
    return EdgeFrequencies(names, len(patterns), arrow / len(patterns), line / len(patterns))


def bootstrap(
    counts: Counts | ArrayLike,
    replicates: int = 200,
    seed: int = 0,
    *,
    find: Callable[[Counts], Graph | CPDAG | Found] = search,
) -> EdgeFrequencies:
    """Search on resampled counts and return edge frequencies (Friedman, Goldszmidt and Wyner 1999).

    Cost: that many searches.

    >>> print(bootstrap([[400, 100], [100, 400]], replicates=10))
    over 10 runs
    N1 · N2: joined 100% (— 100%)

    Args:
        counts: a table with one axis per node, or `Counts`; rows are drawn with replacement within each
            intervention.
        replicates: Number of searches.
        seed: Of the draws.
        find: The search, such as ``lambda c: search(c, score="bdeu", tiers=...)``.

    Returns:
        Fractions of the runs.

    Raises:
        DataError: If `replicates` is below one, or the counts do not fit.
    """
    if replicates < 1:
        raise DataError(f"replicates={replicates}: must be one or more.")
    data, rng = as_counts(counts), np.random.default_rng(seed)
    return edge_frequencies(find(data.resampled(rng)) for _ in range(replicates))
