"""Nodes from numbers of components: exact recovery, contradictions, and counts with errors."""

import math

import numpy as np
import pytest

from latentry.errors import DataError
from latentry.models.causal_pima.node_counts import (
    CountedNode,
    component_counts,
    factorisations,
    nodes_from_counts,
    ranked_nodes,
    subsets,
)

NAMES = ("image", "curve", "table", "sound")


def planted(rng, modalities):
    """At most four nodes, each on another random set of modalities."""
    sets = subsets(NAMES[:modalities])
    chosen = rng.permutation(len(sets))[: rng.integers(0, 5)]
    return tuple(CountedNode(sets[i], int(rng.integers(2, 5))) for i in sorted(chosen))


@pytest.mark.parametrize("modalities", [1, 2, 3, 4])
def test_exact_counts_give_back_the_planted_nodes(modalities):
    rng = np.random.default_rng(modalities)
    for _ in range(50):
        nodes = planted(rng, modalities)
        assert set(nodes_from_counts(component_counts(nodes, NAMES[:modalities]))) == set(nodes)


def test_the_lattices_have_a_shared_node_and_one_of_the_curve():
    nodes = nodes_from_counts({("image",): 2, ("curve",): 4, ("image", "curve"): 4})
    assert set(nodes) == {CountedNode(("curve",), 2), CountedNode(("image", "curve"), 2)}


@pytest.mark.parametrize(
    ("counts", "facts"),
    [
        ({("a",): 2, ("b",): 3, ("a", "b"): 4}, ("a 2, b 3, a+b 4", "outcomes", "whole number")),
        ({("a",): 4, ("b",): 2, ("a", "b"): 2}, ("b alone", "0.5", "whole number")),
        ({("a",): 2, ("a", "b"): 2}, ("b has no count", "every set")),
        ({("a",): 0}, ("counts[('a',)]=0", "at least one")),
    ],
)
def test_counts_that_no_nodes_have(counts, facts):
    with pytest.raises(DataError) as error:
        nodes_from_counts(counts)
    assert all(fact in str(error.value) for fact in facts)


@pytest.mark.parametrize("modalities", [3, 4])  # of two modalities, wrong counts may fit other nodes exactly
def test_one_wrong_count_is_outvoted_by_the_others(modalities):
    rng = np.random.default_rng(10 + modalities)
    names = NAMES[:modalities]
    for _ in range(4):
        nodes = tuple(node for node in planted(rng, modalities) if node.outcomes == 2)[:3]
        counts = component_counts(nodes, names)
        costs = {chosen: [float(k != counts[chosen]) for k in range(1, 13)] for chosen in counts}
        wrong = subsets(names)[rng.integers(len(costs))]
        costs[wrong] = [0.3 if k == counts[wrong] else float(k != counts[wrong] + 1) for k in range(1, 13)]
        assert set(ranked_nodes(costs)[0][0]) == set(nodes)


def test_factorisations_multiply_to_the_number():
    for size in range(2, 65):
        found = factorisations(size)
        assert found[0] == (size,)
        assert len(set(found)) == len(found)
        assert all(math.prod(factors) == size and min(factors) >= 2 for factors in found)
    assert len(factorisations(64)) == 11  # the partitions of 6
