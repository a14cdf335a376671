"""The graph that counts speak for, with what is known beforehand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from latentry.errors import DataError, nearest
from latentry.graphs.counts import Counts, as_counts
from latentry.graphs.equivalence import CPDAG, cpdag
from latentry.graphs.exact import best_masks, local_scores
from latentry.graphs.graph import Graph, graph_of_masks
from latentry.graphs.knowledge import Knowledge
from latentry.graphs.names import Edge
from latentry.graphs.orders import candidate_parents, parent_choices, search_orders
from latentry.graphs.scores import Score, Scorer

__all__ = ["Found", "search"]

Method = Literal["auto", "exact", "orders"]
EXACT_NODES = 14  # 2^14 evaluations of φ: about a second for a few thousand distinct rows
LARGEST_EXACT = 18  # the arrays of the dynamic programme take 24 L 2^L bytes: 113 MB at 18
FEWEST_PARENTS = 3  # that the search among orders allows, however many nodes there are
BUDGET = 200_000  # parent sets scored by the search among orders


@dataclass(frozen=True)
class Found:
    """The outcome of a search.

    Args:
        graph: One best graph.
        cpdag: Its class: what the counts, the interventions and the knowledge determine.
        score: Of the graph, in nats.
        exact: Whether no allowed graph scores higher; False after a search among orders.
        notes: What limited the search, in sentences.
    """

    graph: Graph
    cpdag: CPDAG
    score: float
    exact: bool
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        how = "no graph scores higher" if self.exact else "the best graph met; a better one may exist"
        return "\n".join([f"{self.cpdag!r}, score {self.score:.6g} nats ({how})", *self.notes])


def search(
    counts: Counts | ArrayLike,
    names: Sequence[str] | None = None,
    *,
    score: Score = "bic",
    sample_size: float = 1.0,
    tiers: Sequence[Sequence[str]] = (),
    required: Sequence[Edge] = (),
    forbidden: Sequence[Edge] = (),
    max_parents: int | None = None,
    method: Method = "auto",
    restarts: int = 20,
    seed: int = 0,
) -> Found:
    """Find the graph with the best score: exact up to 18 nodes (`auto`: up to 14), among orders beyond.

    Cost: `exact` evaluates at most 2^L sets and then takes O(L² 2^L) steps; `orders` scores at most 200,000 parent
    sets and then moves nodes in orders, O(L²) look-ups per sweep, from `restarts` random orders.

    >>> table = np.array([[[90, 10], [50, 50]], [[40, 60], [10, 90]]])  # two fair coins drive the third node
    >>> print(search(table, ["hue", "radius", "shift"]))
    CPDAG(hue → shift, radius → shift), score -774.125 nats (no graph scores higher)

    Args:
        counts: a table with one axis per node (expected counts are fine), or `Counts`, which also carries rows
            taken under interventions.
        names: Of the nodes, for a table.
        score: `bic` or `bdeu`.
        sample_size: Equivalent sample size α of BDeu.
        tiers: Groups of nodes, causes first; no edge leads back into an earlier group.
        required: Edges that must be there.
        forbidden: Edges that must not be there.
        max_parents: Of any node; None is no limit for `exact`, and for `orders` as many as 200,000 sets allow, at least 3.
        method: `exact`, `orders`, or `auto`, which chooses by the number of nodes.
        restarts: Random orders that `orders` starts from.
        seed: Of the random orders.

    Returns:
        The graph, its class, its score, and whether it is known to be best.

    Raises:
        DataError: If counts, knowledge, score or method do not fit, or `exact` has too many nodes.
    """
    data = as_counts(counts, names)
    knowledge = Knowledge(data.names, tiers, tuple(required), tuple(forbidden))
    exact = _is_exact(method, len(data.names))
    limit = _parent_limit(max_parents, exact, knowledge)
    if restarts < 1:
        raise DataError(f"restarts={restarts}: must be one or more.")
    scorer = Scorer(data, score, sample_size)
    notes: tuple[str, ...] = ()
    if exact:
        masks = best_masks(local_scores(scorer, knowledge, limit))
    else:
        masks, notes = _by_orders(scorer, knowledge, limit, restarts, seed)
    graph = graph_of_masks(masks, data.names, data.outcomes)
    total = sum(scorer.local(i, mask) for i, mask in enumerate(masks))
    targets = [tuple(t) for t in data.targets]
    return Found(graph, cpdag(graph, knowledge=knowledge, interventions=targets), total, exact, notes)


def _is_exact(method: Method, nodes: int) -> bool:
    if method not in get_args(Method):
        raise DataError(f"method={method!r}: is not known{nearest(str(method), get_args(Method))}")
    if method == "exact" and nodes > LARGEST_EXACT:
        raise DataError(f"method='exact': takes up to {LARGEST_EXACT} nodes, not {nodes}. Use method='orders'.")
    return method == "exact" or (method == "auto" and nodes <= EXACT_NODES)


def _parent_limit(max_parents: int | None, exact: bool, knowledge: Knowledge) -> int:
    nodes = len(knowledge.names)
    default = nodes - 1 if exact else affordable_parents(nodes)
    limit = default if max_parents is None else max_parents
    if limit < 0:
        raise DataError(f"max_parents={max_parents}: must be zero or more.")
    counts = [knowledge.required_mask(i).bit_count() for i in range(nodes)]
    if max(counts) > limit and max_parents is not None:
        name = knowledge.names[int(np.argmax(counts))]
        raise DataError(f"max_parents={max_parents}: {max(counts)} parents of {name!r} are required. Allow as many.")
    return min(nodes - 1, max(limit, *counts)) if nodes > 1 else 0


def affordable_parents(nodes: int) -> int:
    """Return the largest number of parents whose sets, for all nodes, stay within the budget."""
    limit, sets = 0, nodes
    while limit < nodes - 1 and (limit < FEWEST_PARENTS or sets + nodes * math.comb(nodes - 1, limit + 1) <= BUDGET):
        limit += 1
        sets += nodes * math.comb(nodes - 1, limit)
    return limit


def _by_orders(
    scorer: Scorer, knowledge: Knowledge, limit: int, restarts: int, seed: int
) -> tuple[list[int], tuple[str, ...]]:
    candidates = candidate_parents(scorer, knowledge, limit, BUDGET)
    choices = parent_choices(scorer, knowledge, limit, candidates)
    notes = [f"Each node has at most {limit} parents."]
    cut = [i for i, each in enumerate(candidates) if len(each) < knowledge.allowed[:, i].sum()]
    if cut:
        kept = len(candidates[cut[0]])
        notes.append(f"The parents of {len(cut)} nodes were sought among the {kept} nearest by pairwise score.")
    return search_orders(choices, knowledge, restarts, seed), tuple(notes)
