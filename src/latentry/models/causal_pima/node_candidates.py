"""Candidates for the nodes of some rows, from counts of components and from how nearly group means are sums."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latentry.data import Dataset, Standardiser
from latentry.errors import DataError
from latentry.models.causal_pima.component_counts import Strengths, group_means, group_strengths, modality_points
from latentry.models.causal_pima.first_reading import explained_as_sums
from latentry.models.causal_pima.node_counts import CountedNode, factorisations, ranked_nodes, subsets

__all__ = ["Candidate", "candidates", "count_components", "sums_by_chance"]

Array = NDArray[np.float64]
Modalities = tuple[str, ...]

_MOST_MODALITIES = 4  # 15 sets of them to count in
_NEAR = 0.1  # strengths by which counts may be off
_STRUCTURES = 3  # that are looked at
_CANDIDATES = 4  # that are fitted
_CHANCE = 0.05  # p-value below which groups are read as values of several nodes
_DRAWS = 99


@dataclass(frozen=True)
class Candidate:
    """Nodes that the rows may have.

    Args:
        nodes: With outcomes and modalities.
        cost: By how much strengths of counts would have to change.
        chance: How often group means of no structure are as nearly sums; None where no node was split.
    """

    nodes: tuple[CountedNode, ...]
    cost: float
    chance: float | None = None

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
            f"nodes='auto': components are counted in every set of modalities, for at most {_MOST_MODALITIES} of them, and the data "
            f"have {len(data.names)}. Give the nodes, or take fewer modalities."
        )
    statistics = Standardiser.of(data, tuple(gaussian))
    rows = data.standardise(statistics)
    return {
        chosen: group_strengths(modality_points(rows, statistics.scale, chosen), seed=seed)
        for chosen in subsets(data.names)
    }


def candidates(strengths: Mapping[Modalities, Strengths], points: Array, seed: int) -> list[Candidate]:
    """List nodes that the counts allow, those that are split into several with the least chance first.

    Args:
        strengths: As :func:`count_components` gives them.
        points: Rows that have all modalities, in coordinates.
        seed: Of what is random.

    Returns:
        At most four; empty if the rows fall into one group.
    """
    ranked = ranked_nodes({chosen: strength.costs for chosen, strength in strengths.items()})
    near = [(nodes, cost) for nodes, cost in ranked if cost <= ranked[0][1] + _NEAR][:_STRUCTURES]
    found: list[Candidate] = []
    for nodes, cost in near:
        count = math.prod(node.outcomes for node in nodes)
        if nodes and len(points) >= 2 * count:
            found += [Candidate(nodes, cost), *_split(nodes, cost, group_means(points, count, seed), seed)]
    found.sort(key=lambda one: (_CHANCE if one.chance is None else one.chance, one.cost, -len(one.nodes)))
    return found[:_CANDIDATES]


def _split(nodes: tuple[CountedNode, ...], cost: float, means: Array, seed: int) -> list[Candidate]:
    """Nodes with the same modalities in place of one, where group means are sums more nearly than chance makes them."""
    choices = [
        [tuple(CountedNode(node.modalities, factor) for factor in factors) for factors in factorisations(node.outcomes)]
        for node in nodes
    ]
    found = []
    for parts in itertools.product(*choices):
        finer = tuple(itertools.chain.from_iterable(parts))
        if len(finer) > len(nodes):
            chance = sums_by_chance(means, tuple(node.outcomes for node in finer), seed)
            found += [Candidate(finer, cost, chance)] if chance < _CHANCE else []
    return found


def sums_by_chance(means: Array, outcomes: Sequence[int], seed: int) -> float:
    """Return the p-value of group means that are nearly sums of one part per node, among randomly turned ones.

    Turned means have the same principal variances; the best reading of the groups as nodes is sought for each anew.

    Args:
        means: Mean row of each group.
        outcomes: Of each node; their product is the number of groups.
        seed: Of the draws.

    Returns:
        At least 1/100.

    >>> cells = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]) @ np.array([[1.0, 0.2, 0.0], [0.0, 1.0, 2.0]])
    >>> sums_by_chance(cells, (2, 2), 0) < 0.05
    True
    """
    rng, count = np.random.default_rng(seed), len(means)
    centred = means - means.mean(axis=0)
    sizes = np.linalg.svd(centred, compute_uv=False)[: count - 1] ** 2
    real = explained_as_sums(centred @ centred.T, outcomes, seed)
    as_good = 0
    for _ in range(_DRAWS):
        noise = rng.standard_normal((count, len(sizes)))
        turned = np.linalg.qr(noise - noise.mean(axis=0))[0]
        as_good += explained_as_sums((turned * sizes) @ turned.T, outcomes, seed) >= real - 1e-12
    return (1 + as_good) / (1 + _DRAWS)
