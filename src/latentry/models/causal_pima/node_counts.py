r"""Nodes, their outcomes and the modalities they act on, from the number of mixture components in each set of modalities.

With k(S) components in the modalities S, :math:`\log k(S) = \sum_{i:\, M_i \cap S \ne \emptyset} \log k_i`, where node i has
k_i outcomes and acts on the modalities M_i: a component of S is one configuration of the nodes that act on S. Then
:math:`g(S) = \log k(V) - \log k(V \setminus S) = \sum_{T \subseteq S} w(T)`, and Möbius inversion gives
:math:`w(T) = \sum_{U \subseteq T} (-1)^{|T| - |U|} g(U)`, the log of the outcomes of the node that acts on exactly T (Kivva,
Rajendran, Ravikumar and Aragam, *Learning latent causal graphs via mixture oracles*, 2021). Two nodes that act on the same
modalities count as one, with the product of their outcomes: :func:`factorisations` lists what it may be made of.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from latentry.errors import DataError

__all__ = ["CountedNode", "component_counts", "factorisations", "nodes_from_counts", "ranked_nodes", "subsets"]

Modalities = tuple[str, ...]

_WHOLE = 1e-6  # by how much the exponential of w may miss a whole number


@dataclass(frozen=True, order=True)
class CountedNode:
    """A node, or several that act on the same modalities.

    Args:
        modalities: On which it acts, in the order of the data.
        outcomes: Number of its values; of several nodes, their product.
    """

    modalities: Modalities
    outcomes: int


def subsets(names: Sequence[str]) -> list[Modalities]:
    """List the nonempty subsets, small ones first, each in the order of ``names``.

    Args:
        names: Of the modalities.

    Returns:
        2^n − 1 tuples.

    >>> subsets(("image", "curve"))
    [('image',), ('curve',), ('image', 'curve')]
    """
    sizes = range(1, len(names) + 1)
    return [part for size in sizes for part in itertools.combinations(names, size)]


def component_counts(nodes: Sequence[CountedNode], names: Sequence[str]) -> dict[Modalities, int]:
    """Return k(S) for every set S of modalities: the product of the outcomes of the nodes that act on some of S.

    Args:
        nodes: With the modalities that they act on.
        names: Of all modalities.

    Returns:
        The number of components by set of modalities.

    >>> nodes = (CountedNode(("image", "curve"), 2), CountedNode(("curve",), 2))
    >>> component_counts(nodes, ("image", "curve"))
    {('image',): 2, ('curve',): 4, ('image', 'curve'): 4}
    """
    return {
        chosen: math.prod(node.outcomes for node in nodes if set(node.modalities) & set(chosen))
        for chosen in subsets(names)
    }


def nodes_from_counts(counts: Mapping[Modalities, int]) -> tuple[CountedNode, ...]:
    """Invert :func:`component_counts`: the nodes that explain how many components every set of modalities has.

    Args:
        counts: A number of components for each nonempty set of modalities.

    Returns:
        The nodes, one for each set of modalities on which one acts; empty if there is one component everywhere.

    Raises:
        DataError: If a set is missing, or no nodes have these counts.

    >>> nodes_from_counts({("image",): 2, ("curve",): 4, ("image", "curve"): 4})
    (CountedNode(modalities=('curve',), outcomes=2), CountedNode(modalities=('image', 'curve'), outcomes=2))
    """
    names = tuple(dict.fromkeys(name for chosen in counts for name in chosen))
    known = {frozenset(chosen): count for chosen, count in counts.items()}
    _check_counts(known, names)
    logs = {chosen: math.log(count) for chosen, count in known.items()} | {frozenset(): 0.0}
    nodes = []
    for acted in subsets(names):
        size = math.exp(_inverted(frozenset(acted), frozenset(names), logs))
        if abs(size - round(size)) > _WHOLE * size or round(size) < 1:
            raise DataError(
                f"counts={_shown(counts)}: a node in {' and '.join(acted)} alone would need {size:.3g} outcomes, which is no "
                "whole number of at least 1. Count again, or take the nearest nodes by ranked_nodes."
            )
        if round(size) > 1:
            nodes.append(CountedNode(acted, round(size)))
    return tuple(nodes)


def _inverted(acted: frozenset[str], every: frozenset[str], logs: Mapping[frozenset[str], float]) -> float:
    """Return w(T) = Σ_{U ⊆ T} (−1)^{|T|−|U|} (log k(V) − log k(V without U))."""
    parts = (frozenset(), *map(frozenset, subsets(sorted(acted))))
    signs = {part: (-1.0) ** (len(acted) - len(part)) for part in parts}
    return sum(signs[part] * (logs[every] - logs[every - part]) for part in parts)


def _check_counts(known: Mapping[frozenset[str], int], names: Sequence[str]) -> None:
    for chosen in subsets(names):
        count = known.get(frozenset(chosen))
        if count is None:
            raise DataError(f"counts: {' and '.join(chosen)} has no count. Give one for every set of modalities.")
        if count < 1:
            raise DataError(f"counts[{chosen!r}]={count}: there is at least one component. Give a whole number.")


def _shown(counts: Mapping[Modalities, int]) -> str:
    return ", ".join(f"{'+'.join(chosen)} {count}" for chosen, count in counts.items())


def ranked_nodes(costs: Mapping[Modalities, Sequence[float]]) -> list[tuple[tuple[CountedNode, ...], float]]:
    """Rank all nodes by what their counts cost: estimated counts contradict each other, and no single one may be trusted.

    Args:
        costs: For each nonempty set S of modalities, the cost of 1, 2, ... components there.

    Returns:
        Nodes with the sum of their costs over all S, the cheapest first; of equals, those with fewer clusters.

    >>> costs = {("a",): [1, 0, 1, 1], ("b",): [1, 1, 1, 0], ("a", "b"): [1, 1, 0.2, 0.3]}
    >>> nodes, cost = ranked_nodes(costs)[0]
    >>> nodes, cost
    ((CountedNode(modalities=('a', 'b'), outcomes=2), CountedNode(modalities=('b',), outcomes=2)), 0.3)
    """
    names = tuple(dict.fromkeys(name for chosen in costs for name in chosen))
    room = len(costs[names])
    ranked = []
    for nodes in _structures(subsets(names)[::-1], room):
        counts = component_counts(nodes, names)
        if all(count <= len(costs[chosen]) for chosen, count in counts.items()):
            ranked.append((nodes, float(sum(costs[chosen][count - 1] for chosen, count in counts.items()))))
    return sorted(ranked, key=lambda one: (round(one[1], 9), math.prod(node.outcomes for node in one[0]), one[0]))


def _structures(sets: Sequence[Modalities], room: int) -> Iterator[tuple[CountedNode, ...]]:
    """Yield every choice of a number of outcomes for each set whose product is at most ``room``."""
    if not sets:
        yield ()
        return
    for outcomes in range(1, room + 1):
        own = (CountedNode(sets[0], outcomes),) if outcomes > 1 else ()
        for rest in _structures(sets[1:], room // outcomes):
            yield own + rest


def factorisations(size: int, least: int = 2) -> list[tuple[int, ...]]:
    """List the products of numbers of at least 2 that make a number, the number itself first.

    Args:
        size: At least 2.
        least: The smallest factor.

    Returns:
        Ascending factors.

    >>> factorisations(8), factorisations(12)
    ([(8,), (2, 4), (2, 2, 2)], [(12,), (2, 6), (2, 2, 3), (3, 4)])
    """
    found: list[tuple[int, ...]] = [(size,)]
    for factor in range(least, math.isqrt(size) + 1):
        if size % factor == 0:
            found += [(factor, *rest) for rest in factorisations(size // factor, factor)]
    return found
