"""CPDAGs against the enumeration of every graph, and against counts of classes known from the literature."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentry import graphs
from latentry.graphs import Graph, Knowledge


def colliders(graph):
    """Skeleton and v-structures straight from the definition."""
    joined = {frozenset(e) for e in graph.edges}
    arrows = set(graph.edges)
    found = {
        (a, c, b) for a in graph.names for b in graph.names for c in graph.names
        if a < b and (a, c) in arrows and (b, c) in arrows and frozenset((a, b)) not in joined
    }  # fmt: skip
    return frozenset(joined), frozenset(found)


@pytest.fixture(scope="module")
def classes():
    found = defaultdict(list)
    for graph in graphs.all_dags(4):
        found[colliders(graph)].append(graph)
    return found


def agreed(group):
    """Edges on which all members agree, and the pairs on which they do not."""
    common = set.intersection(*(set(g.edges) for g in group))
    return common, {frozenset(e) for e in group[0].edges} - {frozenset(e) for e in common}


def drawn(pattern):
    return set(pattern.compelled), {frozenset(e) for e in pattern.reversible}


@pytest.mark.parametrize(("nodes", "count"), [(1, 1), (2, 2), (3, 11), (4, 185)])
def test_the_number_of_classes(nodes, count):
    """Gillispie and Perlman 2001, Table 1."""
    assert len({graphs.cpdag(g) for g in graphs.all_dags(nodes)}) == count


def test_cpdags_are_what_all_members_agree_on(classes):
    for group in classes.values():
        expected = agreed(group)
        for graph in group:
            assert drawn(graphs.cpdag(graph)) == expected


def test_members_are_the_class(classes):
    for group in classes.values():
        listed = list(graphs.members(graphs.cpdag(group[0])))
        assert set(listed) == set(group)
        assert len(listed) == len(group)


def test_members_of_a_pattern_that_is_not_fully_oriented_make_no_new_v_structure():
    loose = graphs.CPDAG(["A", "B", "C"], compelled=[("A", "B")], reversible=[("B", "C")])
    assert list(graphs.members(loose)) == [Graph(["A", "B", "C"], [("A", "B"), ("B", "C")])]


def test_equivalent_pairs_are_those_of_one_class(classes):
    groups = list(classes.values())
    for first, second in zip(groups, groups[1:], strict=False):
        assert graphs.equivalent(first[0], first[-1])
        assert not graphs.equivalent(first[0], second[0])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 542), st.sets(st.sampled_from(["N1", "N2", "N3", "N4"]), max_size=2), st.integers(0, 10**6))
def test_knowledge_and_interventions_orient_what_the_remaining_members_agree_on(index, target, seed):
    """Random facts that are true of the graph; the class shrinks to the members that share them."""
    everything = graphs.all_dags(4)
    graph = everything[index]
    rng = np.random.default_rng(seed)
    required = [e for e in graph.edges if rng.random() < 0.2]
    absent = [(a, b) for a in graph.names for b in graph.names if a != b and (a, b) not in graph.edges]
    forbidden = [e for e in absent if rng.random() < 0.2]
    knowledge = Knowledge(graph.names, required=required, forbidden=forbidden)

    def cut(g):
        return {e for e in g.edges if len(set(e) & target) == 1}

    group = [
        g for g in everything if colliders(g) == colliders(graph) and cut(g) == cut(graph) and knowledge.allows(g.edges)
    ]
    pattern = graphs.cpdag(graph, knowledge=knowledge, interventions=[tuple(target)])
    assert drawn(pattern) == agreed(group)
    assert set(graphs.members(pattern)) == set(group)


def test_setting_both_ends_orients_nothing():
    pair = Graph(["A", "B"], [("A", "B")])
    assert graphs.cpdag(pair, interventions=[("A", "B")]).reversible == (("A", "B"),)
    assert graphs.cpdag(pair, interventions=[("A", "B"), "B"]).compelled == (("A", "B"),)


def test_the_fourth_rule_is_needed():
    """d — a — b, d → c → b, a — c, b and d apart: background knowledge must orient a → b."""
    graph = Graph(["a", "b", "c", "d"], [("a", "b"), ("a", "c"), ("a", "d"), ("d", "c"), ("c", "b")])
    pattern = graphs.cpdag(graph, knowledge=Knowledge(graph.names, required=[("d", "c"), ("c", "b")]))
    assert ("a", "b") in pattern.compelled
    assert set(pattern.reversible) == {("a", "c"), ("a", "d")}


def test_tiers_orient_edges_between_them():
    chain = Graph(["A", "B", "C"], [("A", "B"), ("B", "C")])
    assert graphs.cpdag(chain, knowledge=Knowledge(chain.names, tiers=[["A"], ["B", "C"]])).reversible == ()


def pairwise_information(table, a, b, given_axes):
    """I(a; b | given) from a joint table, by the definition with logarithms of ratios."""
    axes = (a, b, *given_axes)
    law = table.sum(axis=tuple(i for i in range(table.ndim) if i not in axes))
    law = np.moveaxis(law, [sorted(axes).index(x) for x in axes], range(len(axes))).reshape(2, 2, -1)
    ratio = law * law.sum(axis=(0, 1)) / (law.sum(axis=0) * law.sum(axis=1)[:, None])
    return float((law * np.log(ratio)).sum())


def test_d_separation_is_independence_in_a_random_distribution():
    """Each of the 543 graphs with random tables: independent exactly where d-separated."""
    for index, graph in enumerate(graphs.all_dags(4)):
        if index % 5:
            continue
        table = graphs.joint_table(graphs.random_cpts(graph, seed=index))
        for a, b, given_axes in [(0, 1, ()), (0, 3, (2,)), (1, 2, (0, 3)), (2, 3, (1,)), (0, 2, (3,)), (1, 3, (0, 2))]:
            names = [graph.names[i] for i in (a, b, *given_axes)]
            separated = graphs.d_separated(graph, names[0], names[1], names[2:])
            information = pairwise_information(table, a, b, given_axes)
            assert (information < 1e-12) == separated, (graph, names, information)


def test_d_separation_of_sets():
    graph = Graph(["A", "B", "C", "D"], [("A", "C"), ("B", "C"), ("C", "D")])
    assert graphs.d_separated(graph, "A", "B")
    assert not graphs.d_separated(graph, "A", "B", given="D")  # a descendant of the collider opens it
    assert graphs.d_separated(graph, ["A", "B"], "D", given=["C"])
