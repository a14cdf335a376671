"""The graph over a model's nodes, with what the rows say for each edge."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from latentry.errors import DataWarning
from latentry.graphs import (
    CPDAG,
    Counts,
    EdgeFrequencies,
    Found,
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
_COPY = 0.95  # fraction of a node's nats that a copy has too
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
        clusters: effective number of clusters, the exponential of the entropy of their fractions.
        knowledge: what is known of the graph besides the rows.
        given: sentences about what a user said of the graph after the fit.
    """

    cpdag: CPDAG
    graph: Graph
    counts: Counts
    strengths: Mapping[Edge, float]
    support: Mapping[Edge, float]
    clusters: float
    knowledge: Knowledge
    given: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the nodes."""
        return self.graph.names

    @property
    def compelled(self) -> tuple[Edge, ...]:
        """Return the edges whose direction is determined."""
        return self.cpdag.compelled

    @property
    def reversible(self) -> tuple[Edge, ...]:
        """Return the edges whose direction is not determined."""
        return self.cpdag.reversible

    def frequencies(self, replicates: int = 200, seed: int = 0) -> EdgeFrequencies:
        """Count how often edges come back in resampled expected counts; ``graph_frequencies`` of the model resamples rows.

        Args:
            replicates: How many.
            seed: Of the draws.

        Returns:
            Fractions of the replicates, for each edge.
        """
        require("replicates", replicates, Whole(1))
        return bootstrap(self.counts, replicates, seed, find=self.find)

    def find(self, counts: Counts) -> Found:
        """Search for the best graph for other counts of the same nodes, under the same knowledge.

        Args:
            counts: Of the same nodes.

        Returns:
            The graph, and how the search went.
        """
        known = self.knowledge
        return search(counts, tiers=known.tiers, required=known.required, forbidden=known.forbidden)

    @property
    def doubts(self) -> tuple[str, ...]:
        """Return sentences about nodes that are not what was asked for: of one value, or copies of each other."""
        joint = self.counts.marginal(self.names) / self.counts.total
        doubts: list[str] = []
        content: dict[str, float] = {}
        for name, axis in zip(self.names, range(joint.ndim), strict=True):
            own = joint.sum(axis=tuple(other for other in range(joint.ndim) if other != axis))
            content[name] = _entropy(own)
            if content[name] < _NOTHING:
                doubts.append(f"node {name} has one value in nearly all rows: nothing is known of its edges. {_REMEDY}")
        for i, name in enumerate(self.names):
            for j in range(i + 1, joint.ndim):
                away = tuple(other for other in range(joint.ndim) if other not in (i, j))
                least = min(content[name], content[self.names[j]])
                shared = content[name] + content[self.names[j]] - _entropy(joint.sum(axis=away))
                if least >= _NOTHING and shared > _COPY * least:
                    doubts.append(
                        f"nodes {name} and {self.names[j]} are copies of each other: one feature read twice. {_REMEDY}"
                    )
        return tuple(doubts)

    def to_text(self) -> str:
        """Return text for a terminal, with what was given after the fit and what is doubtful about the nodes."""
        return "\n".join([to_text(self.cpdag, self.strengths), *self.given, *(f"! {doubt}" for doubt in self.doubts)])

    def to_svg(self) -> str:
        """Return an image for a page."""
        return to_svg(self.cpdag, self.strengths)

    def to_json(self) -> dict[str, object]:
        """Return plain data."""
        strengths = [{"edge": list(edge), "nats": value} for edge, value in self.strengths.items()]
        about = {"strengths": strengths, "effective_clusters": self.clusters, "given": list(self.given)}
        return {**self.cpdag.to_json(), **about}

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"LatentGraph({str(self.cpdag)[6:-1]})"


def latent_graph(graph: Graph, counts: Counts, knowledge: Knowledge, targets: Sequence[Sequence[str]]) -> LatentGraph:
    """Return all that is reported of a graph, from expected counts.

    Args:
        graph: One member of the class.
        counts: Expected counts of the nodes' values.
        knowledge: What was known of the graph beforehand.
        targets: The nodes that were set, for each experiment that set any.

    Returns:
        Class, tables, strengths and support of the edges.
    """
    fraction = counts.marginal(graph.names).reshape(-1) / counts.total
    fraction = fraction[fraction > 0]
    return LatentGraph(
        cpdag=cpdag(graph, knowledge=knowledge, interventions=list(targets)),
        graph=fit_cpts(graph, counts, pseudocount=0.5),
        counts=counts,
        strengths=edge_strengths(graph, counts),
        support=edge_support(graph, counts),
        clusters=float(np.exp(-(fraction * np.log(fraction)).sum())),
        knowledge=knowledge,
    )


def _entropy(distribution: np.ndarray) -> float:
    likely = distribution[distribution > 0]
    return float(-(likely * np.log(likely)).sum())


def warn_reversible(learned: LatentGraph, do: Mapping[str, int]) -> None:
    """Warn of an intervention whose effect differs between equivalent graphs: on a node with an undirected edge.

    Args:
        learned: The graph.
        do: Nodes and the values they are set to.
    """
    loose = [
        edge for edge in learned.reversible if len(set(edge) & set(do)) == 1
    ]  # with both ends set, it does not matter
    if loose:
        a, b = loose[0]
        warnings.warn(
            f"the edge {a} — {b} may point in either direction: observations cannot tell, and the answer is that of "
            f"{learned.graph}. Say which with orient([({a!r}, {b!r})]), or add rows in which a node was set.",
            DataWarning,
            stacklevel=3,
        )
