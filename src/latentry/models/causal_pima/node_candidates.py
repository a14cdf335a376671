"""Candidates for the nodes of some rows, from counts of components in every set of modalities."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from latentry.data import Dataset, Standardiser
from latentry.errors import DataError
from latentry.models.causal_pima.component_counts import Strengths, group_strengths, modality_points
from latentry.models.causal_pima.node_counts import CountedNode, factorisations, ranked_nodes, subsets

__all__ = ["Candidate", "candidates", "count_components", "finer"]

Modalities = tuple[str, ...]

_MOST_MODALITIES = 4  # 15 sets of them to count in
_NEAR = 0.1  # strengths by which counts may be off
_MOST_CANDIDATES = 3


@dataclass(frozen=True)
class Candidate:
    """Nodes that the rows may have.

    Args:
        nodes: With outcomes and modalities.
        cost: By how much strengths of counts would have to change.
    """

    nodes: tuple[CountedNode, ...]
    cost: float

    @property
    def outcomes(self) -> tuple[int, ...]:
        """Return the outcomes of each node."""
        return tuple(node.outcomes for node in self.nodes)

    def __str__(self) -> str:
        return ", ".join(f"{node.outcomes} outcomes in {' and '.join(node.modalities)}" for node in self.nodes)


def count_components(data: Dataset, gaussian: Sequence[str], seed: int) -> dict[Modalities, Strengths]:
    """Measure how many groups the rows fall into in every set of modalities.

    Args:
        data: Rows, not standardised.
        gaussian: Modalities that are standardised.
        seed: Of what is random.

    Returns:
        Strengths of 1, 2, ... groups, by set of modalities.

    Raises:
        DataError: If there are too many modalities.
    """
    if len(data.names) > _MOST_MODALITIES:
        raise DataError(
            f"nodes='auto': components are counted in every set of modalities, for at most {_MOST_MODALITIES} of them, and "
            f"the data have {len(data.names)}. Give the nodes, or take fewer modalities."
        )
    statistics = Standardiser.of(data, tuple(gaussian))
    rows = data.standardise(statistics)
    return {
        chosen: group_strengths(modality_points(rows, statistics.scale, chosen), seed=seed)
        for chosen in subsets(data.names)
    }


def candidates(strengths: Mapping[Modalities, Strengths]) -> list[Candidate]:
    """List nodes that the counts allow, one for each set of modalities at most, the nearest to the counts first.

    Args:
        strengths: As :func:`count_components` gives them.

    Returns:
        At most three; empty if the rows fall into one group.

    >>> strengths = {("a",): Strengths((1.0, 1.0, 0.5)), ("b",): Strengths((1.0, 0.75, 0.3))}
    >>> [str(one) for one in candidates(strengths | {("a", "b"): Strengths((1.0, 0.9, 0.3))})]
    ['2 outcomes in a', '2 outcomes in a and b']
    """
    ranked = ranked_nodes({chosen: strength.costs for chosen, strength in strengths.items()})
    near = [Candidate(nodes, cost) for nodes, cost in ranked if cost <= ranked[0][1] + _NEAR]
    return [one for one in near if one.nodes][:_MOST_CANDIDATES] if near[0].nodes else []


def finer(candidate: Candidate) -> list[Candidate]:
    """List what a candidate may be made of if several nodes act on the same modalities, the most nodes first.

    Args:
        candidate: With one node for each set of modalities.

    Returns:
        The candidate itself last.

    >>> [one.outcomes for one in finer(Candidate((CountedNode(("image",), 8),), 0.0))]
    [(2, 2, 2), (2, 4), (8,)]
    """
    parts = [
        [tuple(CountedNode(node.modalities, factor) for factor in factors) for factors in factorisations(node.outcomes)]
        for node in candidate.nodes
    ]
    every = [tuple(itertools.chain.from_iterable(chosen)) for chosen in itertools.product(*parts)]
    return [Candidate(nodes, candidate.cost) for nodes in sorted(every, key=lambda nodes: -len(nodes))]
