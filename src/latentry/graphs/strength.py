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
    """I(child; parent | other parents) in nats for every edge: what the parent tells beyond the others.

    From the graph's own tables, exactly, or from counts (plug-in). Zero means that the table of the child does not
    use the parent. For a reversible edge the number belongs to the member at hand, not to the class. Cost: a joint
    table of ∏ C cells without counts; one pass over the distinct rows per edge with them.

    >>> g = Graph(["A", "B"], [("A", "B")], cpts={"A": [0.5, 0.5], "B": [[1, 0], [0, 1]]})
    >>> round(edge_strengths(g)["A", "B"], 6)  # one bit
    0.693147

    Args:
        graph: with tables, or with counts beside it.
        counts: a table with one axis per node, or `Counts`; rows in which the child was set are left out.
    """
    source = Counts.from_table(joint_table(graph), graph.names) if counts is None else matching_counts(graph, counts)
    return {edge: _strength(graph, source, *edge) for edge in graph.edges}


def _strength(graph: Graph, counts: Counts, parent: str, child: str) -> float:
    others = [p for p in graph.parents(child) if p != parent]
    law = counts.marginal([parent, child, *others], of=child)
    if not law.sum():
        return 0.0
    law = law.reshape(*law.shape[:2], -1) / law.sum()
    parts = (law.sum(axis=1), law.sum(axis=0), law.sum(axis=(0, 1)), law)
    h_pz, h_cz, h_z, h_pcz = (float(entr(p).sum()) for p in parts)
    return max(0.0, h_pz + h_cz - h_z - h_pcz)


@dataclass(frozen=True)
class EdgeFrequencies:
    """How often each pair was joined, and how, over several graphs.

    Args:
        names: of the nodes.
        runs: number of graphs.
        arrow: fraction of runs with i → j, (L, L).
        line: fraction of runs with i — j (reversible), symmetric (L, L).
    """

    names: tuple[str, ...]
    runs: int
    arrow: Array
    line: Array

    @property
    def joined(self) -> Array:
        """Fraction of runs in which i and j are adjacent, symmetric (L, L)."""
        return self.arrow + self.arrow.T + self.line

    def of(self, edge: Edge) -> float:
        """Fraction of runs in which the two ends are adjacent, whatever the direction."""
        i, j = (self.names.index(n) for n in edge)
        return float(self.joined[i, j])

    def __str__(self) -> str:
        lines = [f"over {self.runs} runs"]
        for i, a in enumerate(self.names):
            for j, b in enumerate(self.names[i + 1 :], start=i + 1):
                if self.joined[i, j] > 0:
                    ways = (("→", self.arrow[i, j]), ("←", self.arrow[j, i]), ("—", self.line[i, j]))
                    shares = ", ".join(f"{mark} {share:.0%}" for mark, share in ways if share > 0)
                    lines.append(f"{a} · {b}: joined {self.joined[i, j]:.0%} ({shares})")
        return "\n".join(lines)


def edge_frequencies(graphs: Iterable[Graph | CPDAG | Found]) -> EdgeFrequencies:
    """Fractions of →, ← and — for every pair, over restarts, bootstrap replicates, or any graphs over the same nodes.

    >>> print(edge_frequencies([Graph(2, [("N1", "N2")]), Graph(2)]))
    over 2 runs
    N1 · N2: joined 50% (→ 50%)
    """
    patterns = [g.cpdag if isinstance(g, Found) else g for g in graphs]
    if not patterns:
        raise DataError("edge_frequencies needs at least one graph")
    names = patterns[0].names
    place = {name: i for i, name in enumerate(names)}
    arrow, line = np.zeros((len(names),) * 2), np.zeros((len(names),) * 2)
    for pattern in patterns:
        if set(pattern.names) != set(names):
            raise DataError(f"the graphs have different nodes: {names} and {pattern.names}")
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
    """Edge frequencies over searches on resampled counts (Friedman, Goldszmidt and Wyner 1999). Cost: that many searches.

    >>> print(bootstrap([[400, 100], [100, 400]], replicates=10))
    over 10 runs
    N1 · N2: joined 100% (— 100%)

    Args:
        counts: a table with one axis per node, or `Counts`; rows are drawn with replacement within each
            intervention.
        replicates: number of searches.
        seed: of the draws.
        find: the search, such as ``lambda c: search(c, score="bdeu", tiers=...)``.
    """
    if replicates < 1:
        raise DataError(f"replicates={replicates} must be one or more")
    found, rng = as_counts(counts), np.random.default_rng(seed)
    return edge_frequencies(find(found.resampled(rng)) for _ in range(replicates))
