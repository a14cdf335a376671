"""Scores against their definitions, searches against the enumeration of every graph."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentry import graphs
from latentry.graphs import Counts, Graph, Knowledge
from latentry.graphs.finding import affordable_parents


def family(tables, graph, node):
    """Counts N[parent values][value] of one node, summed cell by cell over the tables in which it was not set."""
    parents = graph.axes(graph.parents(node))
    at = graph.names.index(node)
    counts = {}
    for targets, table in tables.items():
        if node not in targets:
            for cell in product(*map(range, table.shape)):
                row = counts.setdefault(tuple(cell[p] for p in parents), np.zeros(table.shape[at]))
                row[cell[at]] += table[cell]
    return counts


def slow_bic(tables, graph):
    total = 0.0
    for node, own in zip(graph.names, graph.outcomes, strict=True):
        rows = family(tables, graph, node)
        likelihood = sum(n * math.log(n / row.sum()) for row in rows.values() for n in row if n > 0)
        configurations = math.prod(graph.outcomes[a] for a in graph.axes(graph.parents(node)))
        total += likelihood - 0.5 * math.log(sum(r.sum() for r in rows.values())) * (own - 1) * configurations
    return total


def slow_bdeu(tables, graph, sample_size):
    """The product of predictive probabilities, one row of data after the other (whole counts)."""
    total = 0.0
    for node, own in zip(graph.names, graph.outcomes, strict=True):
        configurations = math.prod(graph.outcomes[a] for a in graph.axes(graph.parents(node)))
        for row in family(tables, graph, node).values():
            seen = np.full(own, sample_size / configurations / own)
            for value, count in enumerate(row):
                for _ in range(int(count)):
                    total += math.log(seen[value] / seen.sum())
                    seen[value] += 1
    return total


def random_table(rng, shape=(2, 3, 2), rows=60):
    return rng.multinomial(rows, rng.dirichlet(np.full(math.prod(shape), 0.4))).reshape(shape).astype(float)


def test_scores_are_their_definitions():
    rng = np.random.default_rng(0)
    table, set_one, set_two = (random_table(rng) for _ in range(3))
    tables = {(): table, ("N1",): set_one, ("N2", "N3"): set_two}
    counts = Counts.from_table(table, interventional={"N1": set_one, ("N2", "N3"): set_two})
    for graph in graphs.all_dags(3, (2, 3, 2)):
        assert graphs.graph_score(graph, counts) == pytest.approx(slow_bic(tables, graph), abs=1e-9)
        assert graphs.graph_score(graph, counts, "bdeu", sample_size=2.5) == pytest.approx(
            slow_bdeu(tables, graph, 2.5), abs=1e-9
        )


def test_tables_and_rows_give_the_same_scores():
    rng = np.random.default_rng(1)
    rows = rng.integers(0, [2, 3, 2], size=(200, 3))
    table = np.zeros((2, 3, 2))
    np.add.at(table, tuple(rows.T), 1)
    graph = Graph(3, [("N1", "N3"), ("N2", "N3")], (2, 3, 2))
    assert graphs.graph_score(graph, Counts.from_rows(rows)) == pytest.approx(
        graphs.graph_score(graph, table), abs=1e-9
    )
    columns = Counts.from_rows({f"N{i + 1}": rows[:, i] for i in range(3)}, weights=np.full(200, 0.5))
    assert graphs.graph_score(graph, columns) == pytest.approx(graphs.graph_score(graph, table / 2), abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["bic", "bdeu"]))
def test_equivalent_graphs_score_the_same_and_expected_counts_are_fine(seed, score):
    rng = np.random.default_rng(seed)
    table = rng.gamma(0.5, 10, size=(2, 3, 2))
    scores = {}
    for graph in graphs.all_dags(3, (2, 3, 2)):
        value = graphs.graph_score(graph, table, score)
        assert scores.setdefault(graphs.cpdag(graph), value) == pytest.approx(value, abs=1e-8)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["bic", "bdeu"]), st.booleans())
def test_exact_search_is_the_maximum_over_all_graphs(seed, score, informed):
    """Random distributions, random knowledge, random interventions, a random limit of parents: 543 graphs each."""
    rng = np.random.default_rng(seed)
    truth = graphs.random_cpts(graphs.all_dags(4)[rng.integers(543)], rng, concentration=0.7)
    counts = Counts.from_table(
        rng.multinomial(300, graphs.joint_table(truth).ravel()).reshape((2,) * 4),
        interventional={"N2": rng.multinomial(100, graphs.joint_table(truth, do={"N2": 1}).ravel()).reshape((2,) * 4)},
    )
    limit = int(rng.integers(1, 4)) if informed else None
    pairs = [(a, b) for a in truth.names for b in truth.names if a < b]
    required = [pairs[rng.integers(6)]] if informed else []
    forbidden = [(b, a) for a, b in pairs if rng.random() < 0.3] if informed else []
    tiers = [["N1"], ["N3", "N4"]] if informed else []
    knowledge = Knowledge(truth.names, tiers=tiers, required=required, forbidden=forbidden)
    scorer = graphs.Scorer(counts, score)
    everything = [
        g for g in graphs.all_dags(4)
        if knowledge.allows(g.edges) and max(len(g.parents(n)) for n in g.names) <= (3 if limit is None else limit)
    ]  # fmt: skip
    best = max(sum(scorer.local(i, m) for i, m in enumerate(_masks(g))) for g in everything)
    found = graphs.search(counts, score=score, max_parents=limit, tiers=tiers, required=required, forbidden=forbidden)
    assert found.score == pytest.approx(best, abs=1e-7)
    assert found.exact
    assert found.graph in everything
    assert graphs.graph_score(found.graph, counts, score) == pytest.approx(found.score, abs=1e-9)


def _masks(graph):
    return [sum(1 << graph.names.index(p) for p in graph.parents(n)) for n in graph.names]


@pytest.mark.parametrize("seed", range(4))
def test_orders_reach_the_exact_optimum_of_seven_nodes(seed):
    """Deterministic given the seed; the distribution has a random graph with up to three parents."""
    rng = np.random.default_rng(seed)
    adjacency = np.triu(rng.random((7, 7)) < 0.4, 1)
    adjacency[:, np.flatnonzero(adjacency.sum(axis=0) > 3)] = False
    truth = graphs.random_cpts(Graph.from_adjacency(adjacency, outcomes=(2, 3, 2, 2, 3, 2, 2)), rng, concentration=0.5)
    counts = Counts.from_rows(graphs.sample(truth, 2000, seed), outcomes=truth.outcomes)
    required = [truth.edges[0]]
    exact = graphs.search(counts, max_parents=3, required=required)
    orders = graphs.search(counts, method="orders", max_parents=3, restarts=5, required=required)
    assert orders.score == pytest.approx(exact.score, abs=1e-6)
    assert not orders.exact
    assert "at most 3 parents" in orders.notes[0]


def test_orders_take_many_nodes_without_a_table():
    """A chain of 40 nodes of strong links, 2^40 cells: every link is found, and little else."""
    names = [f"v{i}" for i in range(40)]
    chain = Graph(names, list(zip(names, names[1:], strict=False)))
    keep = np.array([[0.85, 0.15], [0.15, 0.85]])
    truth = chain.with_cpts({n: keep if chain.parents(n) else [0.5, 0.5] for n in names})
    counts = Counts.from_rows(graphs.sample(truth, 1000, seed=0), names)
    found = graphs.search(counts, max_parents=2, restarts=2)
    agreement = graphs.compare(found.graph, chain).skeleton
    assert agreement.recall == 1.0
    assert agreement.precision > 0.9


@pytest.mark.parametrize(("nodes", "limit"), [(2, 1), (10, 9), (20, 4), (30, 3), (300, 3)])
def test_orders_allow_as_many_parents_as_they_can_score(nodes, limit):
    assert affordable_parents(nodes) == limit


def test_orders_beyond_the_budget_say_whom_they_considered(monkeypatch):
    monkeypatch.setattr("latentry.graphs.finding.BUDGET", 40)
    rows = np.random.default_rng(0).integers(0, 2, (50, 5))
    rows[:, 4] = rows[:, 3]
    found = graphs.search(Counts.from_rows(rows), method="orders", max_parents=2)
    assert found.notes[1] == "The parents of 5 nodes were sought among the 3 nearest by pairwise score."
    assert found.cpdag.reversible == (("N4", "N5"),)


def test_the_collider_of_circles_is_found():
    """BIC on 4096 rows finds it in 99 % of data sets; 17 of 20 fails by chance in less than one run in 10^4."""
    names = ["hue", "radius", "shift"]
    truth = Graph(names, [("hue", "shift"), ("radius", "shift")], cpts={
        "hue": [0.5, 0.5], "radius": [0.6, 0.4], "shift": [[[0.9, 0.1], [0.5, 0.5]], [[0.4, 0.6], [0.1, 0.9]]],
    })  # fmt: skip
    law = graphs.joint_table(truth).ravel()
    rng = np.random.default_rng(7)
    found = [graphs.search(rng.multinomial(4096, law).reshape(2, 2, 2), names).cpdag for _ in range(20)]
    assert sum(f == graphs.cpdag(truth) for f in found) >= 17


def test_two_nodes_are_reversible_until_one_is_set():
    truth = Graph(["A", "B"], [("A", "B")], cpts={"A": [0.5, 0.5], "B": [[0.9, 0.1], [0.2, 0.8]]})
    table = np.round(1000 * graphs.joint_table(truth))
    assert graphs.search(table, ["A", "B"]).cpdag == graphs.CPDAG(["A", "B"], reversible=[("A", "B")])
    for node in ("A", "B"):
        seen = {node: 1000 * graphs.joint_table(truth, do={node: 1}) + 1000 * graphs.joint_table(truth, do={node: 0})}
        found = graphs.search(Counts.from_table(table, ["A", "B"], interventional=seen))
        assert found.cpdag.compelled == (("A", "B"),)


def test_ties_go_to_fewer_edges():
    assert graphs.search(np.full((2, 2, 2), 1e-9)).graph.edges == ()
    assert graphs.search(np.ones((2, 2, 2, 2))).graph.edges == ()


def test_one_node():
    assert graphs.search([3.0, 5.0]).graph == Graph(1)


def test_the_posterior_sums_over_all_graphs():
    """exp(BDeu) of every allowed graph, normalised; by hand for four nodes under knowledge and interventions."""
    rng = np.random.default_rng(3)
    truth = graphs.random_cpts(Graph(4, [("N1", "N2"), ("N3", "N2"), ("N2", "N4")]), rng, concentration=0.5)
    tables = [rng.multinomial(80, graphs.joint_table(truth, do).ravel()).reshape((2,) * 4) for do in ({}, {"N3": 1})]
    counts = Counts.from_table(tables[0], interventional={"N3": tables[1]})
    knowledge = Knowledge(truth.names, tiers=[["N1"], ["N4"]], required=[("N2", "N4")])
    allowed = [g for g in graphs.all_dags(4) if knowledge.allows(g.edges)]
    weights = np.exp([graphs.graph_score(g, counts, "bdeu") + 200 for g in allowed])
    weights /= weights.sum()
    found = graphs.graph_posterior(counts, tiers=[["N1"], ["N4"]], required=[("N2", "N4")], top=3)
    expected = sum(w * g.adjacency for w, g in zip(weights, allowed, strict=True))
    np.testing.assert_allclose(found.arrow, expected, atol=1e-9)
    assert found.arrow[1, 3] == pytest.approx(1.0)
    pattern, chance = found.classes[0]
    same = [graphs.cpdag(g, knowledge=knowledge, interventions=["N3"]) == pattern for g in allowed]
    assert chance == pytest.approx(weights[same].sum(), abs=1e-9)
    assert sum(c for _, c in found.classes) + found.rest == pytest.approx(1.0)


def test_support_is_the_difference_of_two_scores():
    table = random_table(np.random.default_rng(5), rows=500)
    graph = Graph(3, [("N1", "N2"), ("N1", "N3"), ("N2", "N3")], (2, 3, 2))
    for edge, worth in graphs.edge_support(graph, table, "bdeu").items():
        rest = graph.with_edges([e for e in graph.edges if e != edge])
        difference = graphs.graph_score(graph, table, "bdeu") - graphs.graph_score(rest, table, "bdeu")
        assert worth == pytest.approx(difference, abs=1e-9)
