"""Scores of graphs from counts: BIC and BDeu, both as differences of a function of sets of nodes.

A decomposable score is a sum over nodes of local scores s(i | Pa_i). For both scores here

    s(i | P) = φ(P ∪ {i}) − φ(P),

    BIC   (Schwarz 1978):         φ(S) = Σ_cells N ln N − ½ ln n · |cells of S|,
    BDeu  (Heckerman et al. 1995): φ(S) = Σ_cells [ln Γ(N + α/|cells|) − ln Γ(α/|cells|)],

with N the counts of the configurations of S. Equivalent graphs score the same because the differences telescope.
All scores are in nats; larger is better; the difference of two BDeu scores is a log Bayes factor.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, xlogy

from latentry.errors import DataError, nearest
from latentry.graphs.counts import Block, Counts, as_counts, codes
from latentry.graphs.graph import Graph
from latentry.graphs.names import Edge

__all__ = ["Score", "Scorer", "edge_support", "graph_score"]

Array = NDArray[np.float64]
Score = Literal["bic", "bdeu"]


def _bic(counts: Array, cells: float, rows: float, sample_size: float) -> float:
    return float(xlogy(counts, counts).sum()) - 0.5 * math.log(max(rows, 1.0)) * cells


def _bdeu(counts: Array, cells: float, rows: float, sample_size: float) -> float:
    prior = sample_size / cells
    return float(gammaln(counts + prior).sum() - len(counts) * gammaln(prior))


_RULES: dict[str, Callable[[Array, float, float, float], float]] = {"bic": _bic, "bdeu": _bdeu}


class Scorer:
    """Local scores of one set of counts, each φ(S) computed once.

    For a node that was set in some rows, those rows are left out of its local score, and n is the number of rows
    that remain. Cost per new set: one pass over the distinct rows; empty cells cost nothing.

    >>> table = np.array([[40, 10], [10, 40]])
    >>> scorer = Scorer(table, "bic")
    >>> round(scorer.local(1, 0b01) - scorer.local(1, 0b00), 3)  # what the edge N1 → N2 is worth
    16.972
    """

    def __init__(self, counts: Counts | ArrayLike, score: Score = "bic", sample_size: float = 1.0) -> None:
        if score not in get_args(Score):
            raise DataError(f"score={score!r}: is not known{nearest(str(score), get_args(Score))}")
        if not (math.isfinite(sample_size) and sample_size > 0):
            raise DataError(f"sample_size={sample_size}: must be above zero. It is the weight of the prior, in rows.")
        self.counts = as_counts(counts)
        self._rule, self._sample_size = _RULES[score], sample_size
        self._groups = [self.counts.active(name) for name in self.counts.names]
        self._known: dict[tuple[tuple[int, ...], int], float] = {}

    def local(self, node: int, parents: int) -> float:
        """Compute s(node | parents) in nats.

        Args:
            node: Its position.
            parents: Bit mask.

        Returns:
            The local score.
        """
        return self.of_set(node, parents | 1 << node) - self.of_set(node, parents)

    def of_set(self, node: int, members: int) -> float:
        """Compute φ of a set from the rows that count for the node.

        Args:
            node: Its position.
            members: Bit mask.

        Returns:
            Nats.
        """
        key = (self._groups[node], members)
        if key not in self._known:
            self._known[key] = self._evaluated(*key)
        return self._known[key]

    def _evaluated(self, group: tuple[int, ...], members: int) -> float:
        outcomes, blocks = self.counts.outcomes, [self.counts.blocks[i] for i in group]
        axes = [a for a in range(len(outcomes)) if members >> a & 1]
        cells = math.prod(outcomes[a] for a in axes)
        weights = np.concatenate([b.weights for b in blocks]) if blocks else np.zeros(0)
        values = [codes(b.values, axes, outcomes) for b in blocks] if cells < 2**62 else _wide(blocks, axes)
        heaps = _sums(np.concatenate(values) if values else np.zeros(0, np.int64), weights, cells)
        return self._rule(heaps, float(cells), float(weights.sum()), self._sample_size)


def _wide(blocks: list[Block], axes: list[int]) -> list[NDArray[np.int64]]:
    """Codes of configurations too many to number: each distinct row gets the next number."""
    rows = np.concatenate([b.values[:, axes] for b in blocks])
    return [np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)]


def _sums(code: NDArray[np.int64], weights: Array, cells: int) -> Array:
    """Total weight of each configuration that came."""
    if cells > 4 * len(code) + 64:
        code = np.unique(code, return_inverse=True)[1].reshape(-1)
    heaps: Array = np.bincount(code, weights=weights).astype(np.float64)
    return heaps[heaps > 0]


def parent_masks(graph: Graph) -> list[int]:
    """Return the parents of every node as bit masks."""
    return [sum(1 << a for a in graph.axes(graph.parents(n))) for n in graph.names]


def graph_score(graph: Graph, counts: Counts | ArrayLike, score: Score = "bic", *, sample_size: float = 1.0) -> float:
    """Score a graph in nats; larger is better. Cost: two passes over the distinct rows per node.

    >>> table = np.array([[40, 10], [10, 40]])
    >>> a, b = Graph(2, [("N1", "N2")]), Graph(2, [("N2", "N1")])
    >>> round(graph_score(a, table), 6) == round(graph_score(b, table), 6)  # no table can tell these apart
    True

    Args:
        graph: Over the nodes of the counts.
        counts: a table with one axis per node, or `Counts`.
        score: `bic` or `bdeu`.
        sample_size: Equivalent sample size α of BDeu.

    Returns:
        Nats.

    Raises:
        DataError: If the counts are not over the nodes of the graph, or the score is unknown.
    """
    matched = matching_counts(graph, counts)
    scorer = Scorer(matched, score, sample_size)
    return sum(scorer.local(i, mask) for i, mask in enumerate(parent_masks(graph)))


def edge_support(
    graph: Graph, counts: Counts | ArrayLike, score: Score = "bic", *, sample_size: float = 1.0
) -> dict[Edge, float]:
    """Compute what every edge is worth: the score of the graph minus its score without that edge, in nats.

    Cost: two passes over the distinct rows for each edge.

    >>> support = edge_support(Graph(2, [("N1", "N2")]), np.array([[40, 10], [10, 40]]))
    >>> round(support["N1", "N2"], 3)
    16.972

    Args:
        graph: Over the nodes of the counts.
        counts: A table with one axis per node, or `Counts`.
        score: `bic` or `bdeu`.
        sample_size: Equivalent sample size α of BDeu.

    Returns:
        Nats by edge.

    Raises:
        DataError: If the counts are not over the nodes of the graph, or the score is unknown.
    """
    scorer = Scorer(matching_counts(graph, counts), score, sample_size)
    masks = dict(zip(graph.names, parent_masks(graph), strict=True))
    worth = {}
    for parent, child in graph.edges:
        at, bit = graph.names.index(child), 1 << graph.names.index(parent)
        worth[parent, child] = scorer.local(at, masks[child]) - scorer.local(at, masks[child] & ~bit)
    return worth


def matching_counts(graph: Graph, counts: Counts | ArrayLike) -> Counts:
    """Check that counts are over exactly the nodes and outcomes of the graph."""
    matched = counts if isinstance(counts, Counts) else Counts.from_table(counts, _named(graph, counts))
    if matched.names != graph.names or matched.outcomes != graph.outcomes:
        raise DataError(
            f"counts: are of {dict(zip(matched.names, matched.outcomes, strict=True))}, "
            f"the graph is over {dict(zip(graph.names, graph.outcomes, strict=True))}. Name the same nodes in both."
        )
    return matched


def _named(graph: Graph, table: ArrayLike) -> tuple[str, ...] | None:
    return graph.names if np.ndim(table) == len(graph.names) else None
