"""The graph over a model's nodes, with what the rows say for each edge."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from latentry.errors import DataWarning
from latentry.graphs import (
    CPDAG,
    Counts,
    EdgeFrequencies,
    Graph,
    Knowledge,
    bootstrap,
    cpdag,
    edge_strengths,
    edge_support,
    fit_cpts,
    search,
    to_svg,
    to_text,
)

__all__ = ["LatentGraph", "latent_graph", "warn_reversible"]

Edge = tuple[str, str]


@dataclass(frozen=True, eq=False)
class LatentGraph:
    """A class of equivalent graphs over latent nodes, and numbers for its edges.

    Args:
        cpdag: the class: arrows where all members agree.
        graph: one member, with its tables.
        counts: expected counts of the nodes' values over the training rows.
        strengths: for each edge of ``graph``, I(child; parent | other parents) in nats.
        support: for each edge of ``graph``, the score that its absence would cost, in nats.
        clusters: effective number of clusters, the exponential of the entropy of their shares.
        knowledge: what was known of the graph beforehand.
    """

    cpdag: CPDAG
    graph: Graph
    counts: Counts
    strengths: Mapping[Edge, float]
    support: Mapping[Edge, float]
    clusters: float
    knowledge: Knowledge

    @property
    def names(self) -> tuple[str, ...]:
        """Of the nodes."""
        return self.graph.names

    @property
    def compelled(self) -> tuple[Edge, ...]:
        """Edges whose direction is determined."""
        return self.cpdag.compelled

    @property
    def reversible(self) -> tuple[Edge, ...]:
        """Edges that may point either way."""
        return self.cpdag.reversible

    def frequencies(self, replicates: int = 200, seed: int = 0) -> EdgeFrequencies:
        """How often edges come back in resampled expected counts; ``graph_frequencies`` of the model resamples rows."""
        return bootstrap(self.counts, replicates, seed, find=self.find)

    def find(self, counts: Counts) -> Any:
        """The best graph for other counts of the same nodes, under the same knowledge."""
        known = self.knowledge
        return search(counts, tiers=known.tiers, required=known.required, forbidden=known.forbidden)

    def to_text(self) -> str:
        """For a terminal."""
        return to_text(self.cpdag, self.strengths)

    def to_svg(self) -> str:
        """For a page."""
        return to_svg(self.cpdag, self.strengths)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        strengths = [{"edge": list(edge), "nats": value} for edge, value in self.strengths.items()]
        return {**self.cpdag.to_json(), "strengths": strengths, "effective_clusters": self.clusters}

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"LatentGraph({str(self.cpdag)[6:-1]})"


def latent_graph(graph: Graph, counts: Counts, knowledge: Knowledge, targets: Sequence[Sequence[str]]) -> LatentGraph:
    """All that is reported of a graph, from expected counts."""
    share = counts.marginal(graph.names).reshape(-1) / counts.total
    share = share[share > 0]
    return LatentGraph(
        cpdag=cpdag(graph, knowledge=knowledge, interventions=list(targets)),
        graph=fit_cpts(graph, counts, pseudocount=0.5),
        counts=counts,
        strengths=edge_strengths(graph, counts),
        support=edge_support(graph, counts),
        clusters=float(np.exp(-(share * np.log(share)).sum())),
        knowledge=knowledge,
    )


def warn_reversible(found: LatentGraph, do: Mapping[str, int]) -> None:
    """An intervention on a node with an undirected edge has different effects in equivalent graphs."""
    loose = [edge for edge in found.reversible if set(edge) & set(do)]
    if loose:
        a, b = loose[0]
        warnings.warn(
            f"the edge {a} — {b} may point either way: observations cannot tell, and the answer is that of "
            f"{found.graph}. Say which with required=, or add rows in which a node was set.",
            DataWarning,
            stacklevel=3,
        )
