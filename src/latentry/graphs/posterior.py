"""How sure the counts are: probabilities over every graph of up to five nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax

from latentry.errors import DataError
from latentry.graphs.counts import Counts, as_counts
from latentry.graphs.equivalence import CPDAG, cpdag
from latentry.graphs.exact import local_scores
from latentry.graphs.graph import LARGEST_ENUMERATION, acyclic_masks, graph_of_masks
from latentry.graphs.knowledge import Knowledge
from latentry.graphs.names import Edge
from latentry.graphs.scores import Score, Scorer

__all__ = ["Posterior", "graph_posterior"]

_MOST_GRAPHS = 2000  # of which classes are formed; the rest of the probability is reported as such


@dataclass(frozen=True)
class Posterior:
    """Probabilities of edges and of classes, given the counts.

    Args:
        names: Of the nodes.
        arrow: P(i → j), (L, L).
        classes: The likeliest classes with their probabilities, best first.
        rest: Probability of all other classes.
    """

    names: tuple[str, ...]
    arrow: NDArray[np.float64]
    classes: tuple[tuple[CPDAG, float], ...]
    rest: float

    @property
    def joined(self) -> NDArray[np.float64]:
        """Compute P(i and j are adjacent), symmetric (L, L)."""
        return self.arrow + self.arrow.T

    def __str__(self) -> str:
        lines = [f"{chance:.3f}  {pattern!r}" for pattern, chance in self.classes]
        return "\n".join([*lines, f"{max(self.rest, 0.0):.3f}  all others"])


def graph_posterior(
    counts: Counts | ArrayLike,
    names: Sequence[str] | None = None,
    *,
    score: Score = "bdeu",
    sample_size: float = 1.0,
    tiers: Sequence[Sequence[str]] = (),
    required: Sequence[Edge] = (),
    forbidden: Sequence[Edge] = (),
    top: int = 5,
) -> Posterior:
    """Compute P(graph | counts) ∝ exp(score), every allowed graph equally likely beforehand; up to five nodes.

    With BDeu this is the posterior of the Dirichlet model; with BIC its large-sample approximation. Note that it is
    uniform over graphs, so that a class of many members starts with more. Cost: all graphs (29,281 for five nodes).

    >>> print(graph_posterior([[40, 10], [10, 40]]))
    1.000  CPDAG(N1 — N2)
    0.000  CPDAG(N1, N2)
    0.000  all others

    Args:
        counts: a table with one axis per node, or `Counts`.
        names: Of the nodes, for a table.
        score: `bdeu` or `bic`.
        sample_size: Equivalent sample size α of BDeu.
        tiers: As in `search`.
        required: As in `search`.
        forbidden: As in `search`.
        top: Classes to list.

    Returns:
        Probabilities of edges and classes.

    Raises:
        DataError: If there are more than five nodes, or counts or knowledge do not fit.
    """
    data = as_counts(counts, names)
    nodes = len(data.names)
    if nodes > LARGEST_ENUMERATION:
        raise DataError(
            f"counts: graph_posterior lists graphs of up to {LARGEST_ENUMERATION} nodes, not {nodes}. Use bootstrap."
        )
    knowledge = Knowledge(data.names, tiers, tuple(required), tuple(forbidden))
    local = local_scores(Scorer(data, score, sample_size), knowledge, nodes - 1)
    masks = acyclic_masks(nodes)
    chances = softmax(local[np.arange(nodes), masks].sum(axis=1))
    parents = masks[:, :, None] >> np.arange(nodes) & 1  # (graphs, child, parent)
    arrow = np.einsum("g,gcp->pc", chances, parents)
    classes = _classes(masks, chances, data, knowledge, top)
    return Posterior(data.names, arrow, classes, 1.0 - sum(chance for _, chance in classes))


def _classes(
    masks: NDArray[np.int64], chances: NDArray[np.float64], counts: Counts, knowledge: Knowledge, top: int
) -> tuple[tuple[CPDAG, float], ...]:
    """Classes of the likeliest graphs, with the summed probability of their members among those."""
    targets = [tuple(t) for t in counts.targets]
    total: dict[CPDAG, float] = {}
    for g in np.argsort(-chances, kind="stable")[:_MOST_GRAPHS]:
        if chances[g] > 0:
            graph = graph_of_masks(masks[g], counts.names, counts.outcomes)
            pattern = cpdag(graph, knowledge=knowledge, interventions=targets)
            total[pattern] = total.get(pattern, 0.0) + float(chances[g])
    return tuple(sorted(total.items(), key=lambda pair: -pair[1])[:top])
