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
from latentry.models.estimator import Whole, require

__all__ = ["LatentGraph", "latent_graph", "warn_reversible"]

Edge = tuple[str, str]

_NOTHING = 0.02  # nats in a node that is as good as constant
_COPY = 0.95  # share of a node's nats that a copy shares
_REMEDY = "Train longer (epochs=), or ask for fewer nodes or outcomes."


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
        require("replicates", replicates, Whole(1))
        return bootstrap(self.counts, replicates, seed, find=self.find)

    def find(self, counts: Counts) -> Any:
        """The best graph for other counts of the same nodes, under the same knowledge."""
        known = self.knowledge
        return search(counts, tiers=known.tiers, required=known.required, forbidden=known.forbidden)

    @property
    def doubts(self) -> tuple[str, ...]:
        """Sentences about nodes that are not what was asked for: of one value, or copies of each other."""
        law = self.counts.marginal(self.names) / self.counts.total
        found, content = [], {}
        for name, axis in zip(self.names, range(law.ndim), strict=True):
            own = law.sum(axis=tuple(other for other in range(law.ndim) if other != axis))
            content[name] = _entropy(own)
            if content[name] < _NOTHING:
                found.append(f"node {name} has one value in nearly all rows: nothing is known of its edges. {_REMEDY}")
        for i, one in enumerate(self.names):
            for j in range(i + 1, law.ndim):
                away = tuple(other for other in range(law.ndim) if other not in (i, j))
                least = min(content[one], content[self.names[j]])
                shared = content[one] + content[self.names[j]] - _entropy(law.sum(axis=away))
                if least >= _NOTHING and shared > _COPY * least:
                    found.append(
                        f"nodes {one} and {self.names[j]} are copies of each other: one feature read twice. {_REMEDY}"
                    )
        return tuple(found)

    def to_text(self) -> str:
        """For a terminal, with what is doubtful about the nodes."""
        return "\n".join([to_text(self.cpdag, self.strengths), *(f"! {doubt}" for doubt in self.doubts)])

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


def _entropy(law: np.ndarray) -> float:
    law = law[law > 0]
    return float(-(law * np.log(law)).sum())


def warn_reversible(found: LatentGraph, do: Mapping[str, int]) -> None:
    """An intervention on a node with an undirected edge has different effects in equivalent graphs."""
    loose = [
        edge for edge in found.reversible if len(set(edge) & set(do)) == 1
    ]  # with both ends set, it does not matter
    if loose:
        a, b = loose[0]
        warnings.warn(
            f"the edge {a} — {b} may point either way: observations cannot tell, and the answer is that of "
            f"{found.graph}. Say which with required=, or add rows in which a node was set.",
            DataWarning,
            stacklevel=3,
        )
