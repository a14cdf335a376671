"""A good graph over many nodes: search among orders (Teyssier and Koller 2005).

Given an order of the nodes, the best parents of each among those before it are chosen one by one, so that the
search runs over L! orders instead of all graphs. A node is moved to the place that gains most, until no move gains;
then from the next random order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from latentry.graphs.knowledge import Knowledge
from latentry.graphs.scores import Scorer

__all__ = ["Choices", "candidate_parents", "parent_choices", "search_orders"]

Choices = list[list[tuple[float, int]]]  # per node: (local score, parents as a bit mask), best first
_TIE = 1e-9


def candidate_parents(scorer: Scorer, knowledge: Knowledge, max_parents: int, budget: int) -> list[list[int]]:
    """List the allowed parents of each node, nearest first by pairwise score, as many as the budget of sets lets in.

    Args:
        scorer: Local scores of the counts.
        knowledge: Tiers, required and forbidden edges.
        max_parents: Of any node.
        budget: Parent sets to score, all nodes together.

    Returns:
        Positions of candidates, one list per node.
    """
    nodes = len(knowledge.names)
    allowed, kept = knowledge.allowed, _affordable(nodes, max_parents, budget // nodes)
    candidates = []
    for i in range(nodes):
        possible = [j for j in range(nodes) if allowed[j, i]]
        if len(possible) > kept:
            possible.sort(key=lambda j: -scorer.local(i, 1 << j))
        candidates.append(possible[:kept])
    return candidates


def _affordable(nodes: int, max_parents: int, sets: int) -> int:
    kept = nodes - 1
    while kept > max_parents and sum(math.comb(kept, k) for k in range(max_parents + 1)) > sets:
        kept -= 1
    return kept


def parent_choices(
    scorer: Scorer, knowledge: Knowledge, max_parents: int, candidates: Sequence[Sequence[int]]
) -> Choices:
    """List every parent set that can be best for some order, best first.

    A set that one of its subsets beats never is.

    Args:
        scorer: Local scores of the counts.
        knowledge: Tiers, required and forbidden edges.
        max_parents: Of any node.
        candidates: Positions of candidates, one list per node.

    Returns:
        Pairs of local score and bit mask, one list per node.
    """
    return [
        _undominated(scorer, i, knowledge.required_mask(i), max_parents, list(possible))
        for i, possible in enumerate(candidates)
    ]


def _undominated(
    scorer: Scorer, node: int, required: int, max_parents: int, possible: list[int]
) -> list[tuple[float, int]]:
    free = [j for j in possible if not required >> j & 1]
    best: dict[int, float] = {}
    kept = []
    for size in range(max_parents - required.bit_count() + 1):
        for chosen in combinations(free, size):
            mask = required | sum(1 << j for j in chosen)
            score = scorer.local(node, mask)
            below = max((best[mask & ~(1 << j)] for j in chosen), default=-math.inf)
            best[mask] = max(score, below)
            if score > below + _TIE:
                kept.append((score, mask))
    return sorted(kept, key=lambda pair: (-pair[0], pair[1]))


def search_orders(choices: Choices, knowledge: Knowledge, restarts: int, seed: int) -> list[int]:
    """Find the parents of every node in the best graph met over the restarts.

    Args:
        choices: As `parent_choices` returns them.
        knowledge: Required edges decide which orders may be.
        restarts: Number of random orders.
        seed: Of the orders.

    Returns:
        Bit masks, one per node.
    """
    rng = np.random.default_rng(seed)
    best_score, best_order = -math.inf, list(range(len(choices)))
    for _ in range(restarts):
        order = _climb(choices, _random_order(knowledge, rng))
        score = _order_score(choices, order)
        if score > best_score + _TIE:
            best_score, best_order = score, order
    return _masks(choices, best_order)


def _random_order(knowledge: Knowledge, rng: np.random.Generator) -> list[int]:
    """A random order in which required parents come first."""
    left, placed = [int(i) for i in rng.permutation(len(knowledge.names))], 0
    order = []
    while left:
        ready = next(i for i in left if not knowledge.required_mask(i) & ~placed)
        order.append(ready)
        left.remove(ready)
        placed |= 1 << ready
    return order


def _climb(choices: Choices, order: list[int]) -> list[int]:
    gained = True
    while gained:
        gained = False
        for node in list(order):
            place, gain = _best_place(choices, order, node)
            if gain > _TIE:
                order.remove(node)
                order.insert(place, node)
                gained = True
    return order


def _best_place(choices: Choices, order: Sequence[int], node: int) -> tuple[int, float]:
    """Where in the order the node gains most, walking it past its neighbours one by one."""
    rest = [i for i in order if i != node]
    here = order.index(node)
    before = [0]
    for other in rest:
        before.append(before[-1] | 1 << other)
    # Placed at k, the node sees `before[k]`; those from k on see it too.
    own = [_best(choices[node], mask)[0] for mask in before]
    without = [_best(choices[other], before[k])[0] for k, other in enumerate(rest)]
    within = [_best(choices[other], before[k] | 1 << node)[0] for k, other in enumerate(rest)]
    front, back = np.cumsum([0.0, *without]), np.cumsum([0.0, *reversed(within)])[::-1]
    totals = np.array(own) + front + back
    place = int(totals.argmax())
    return place, float(totals[place] - totals[here])


def _best(sets: list[tuple[float, int]], before: int) -> tuple[float, int]:
    return next((pair for pair in sets if not pair[1] & ~before), (-math.inf, 0))


def _order_score(choices: Choices, order: Sequence[int]) -> float:
    return sum(_best(choices[i], before)[0] for i, before in _with_predecessors(order))


def _masks(choices: Choices, order: Sequence[int]) -> list[int]:
    masks = {i: _best(choices[i], before)[1] for i, before in _with_predecessors(order)}
    return [masks[i] for i in range(len(choices))]


def _with_predecessors(order: Sequence[int]) -> list[tuple[int, int]]:
    before, pairs = 0, []
    for i in order:
        pairs.append((i, before))
        before |= 1 << i
    return pairs
