"""The best graph of all, by dynamic programming over sets of nodes (Silander and Myllymäki 2006).

Every graph has a sink, so the best graph over a set C is the best over C without some node s, plus the best parents
of s within C without s. O(L² 2^L) steps, all in whole arrays, and 2^L evaluations of the score's set function φ.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latentry.graphs.knowledge import Knowledge
from latentry.graphs.scores import Scorer

__all__ = ["best_masks", "local_scores"]

Array = NDArray[np.float64]
Masks = NDArray[np.int64]
_TIE = 1e-9  # nats; among sets this close the one with fewer parents is taken


def local_scores(scorer: Scorer, knowledge: Knowledge, max_parents: int) -> Array:
    """Compute s(i | S) for every node i and every set S; minus infinity where S may not be its parents.

    Args:
        scorer: Local scores of the counts.
        knowledge: Tiers, required and forbidden edges.
        max_parents: Of any node.

    Returns:
        Nats (L, 2^L), sets as bit masks.
    """
    nodes = len(knowledge.names)
    sets = np.arange(2**nodes)
    sizes = np.bitwise_count(sets).astype(np.int64)
    scores = np.full((nodes, len(sets)), -np.inf)
    for i in range(nodes):
        required = knowledge.required_mask(i)
        possible = int((knowledge.allowed[:, i] * (1 << np.arange(nodes))).sum())
        fits = (sets & ~possible == 0) & (required & ~sets == 0) & (sizes <= max_parents)
        chosen = sets[fits]
        scores[i, chosen] = [scorer.local(i, int(s)) for s in chosen]
    return scores


def best_masks(scores: Array) -> list[int]:
    """Find the parents of every node in a graph of the greatest total score.

    Args:
        scores: (L, 2^L), as `local_scores` returns them.

    Returns:
        Bit masks, one per node.
    """
    nodes = len(scores)
    best, parents = _best_parents(scores)
    sets = np.arange(2**nodes)
    sizes = np.bitwise_count(sets)
    total, sink = np.full(len(sets), -np.inf), np.zeros(len(sets), dtype=np.int64)
    total[0] = 0.0
    for size in range(1, nodes + 1):
        layer = sets[sizes == size]
        options = np.stack([_with_sink(total, best, layer, s) for s in range(nodes)])
        sink[layer] = options.argmax(axis=0)
        total[layer] = options.max(axis=0)
    return _traced(sink, parents)


def _with_sink(total: Array, best: Array, layer: Masks, sink: int) -> Array:
    """Score of the best graph over each set of the layer in which this node is a sink."""
    rest = layer & ~(1 << sink)
    return np.where(layer >> sink & 1, total[rest] + best[sink, rest], -np.inf)


def _best_parents(scores: Array) -> tuple[Array, Masks]:
    """For every node and every set of candidates, the best score of a subset, and that subset."""
    nodes = len(scores)
    best = scores.copy()
    parents = np.broadcast_to(np.arange(2**nodes), best.shape).copy()
    for j in range(nodes):
        shape = (nodes, -1, 2, 2**j)  # the third axis: without and with candidate j
        values, choices = best.reshape(shape), parents.reshape(shape)
        keep = values[:, :, 1] > values[:, :, 0] + _TIE
        values[:, :, 1] = np.where(keep, values[:, :, 1], values[:, :, 0])
        choices[:, :, 1] = np.where(keep, choices[:, :, 1], choices[:, :, 0])
    return best, parents


def _traced(sink: Masks, parents: Masks) -> list[int]:
    masks, left = [0] * len(parents), len(sink) - 1
    while left:
        s = int(sink[left])
        left &= ~(1 << s)
        masks[s] = int(parents[s, left])
    return masks
