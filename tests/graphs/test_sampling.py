"""Tables, interventions, samples and counterfactuals against closed forms."""

from itertools import product

import numpy as np
import pytest

from latentry import graphs
from latentry.errors import DataError
from latentry.graphs import Graph
from latentry.graphs.sampling import inverse_cdf

COUPLINGS = ("monotone", "gumbel", "independent")


@pytest.fixture
def graph():
    shape = Graph(["A", "B", "C", "D"], [("B", "A"), ("A", "C"), ("B", "C"), ("C", "D")], (2, 3, 3, 2))
    return graphs.random_cpts(shape, seed=4)


def truncated(graph, do):
    """∏ over the nodes that are not set, cell by cell, from the definition."""
    table = np.zeros(graph.outcomes)
    for cell in product(*map(range, graph.outcomes)):
        at = dict(zip(graph.names, cell, strict=True))
        if all(at[n] == v for n, v in do.items()):
            chances = [graph.cpts[n][(*(at[p] for p in graph.parents(n)), at[n])] for n in graph.names if n not in do]
            table[cell] = np.prod(chances)
    return table


@pytest.mark.parametrize("do", [{}, {"A": 1}, {"C": 0}, {"A": 0, "C": 2}, {"B": 2}])
def test_interventions_are_the_truncated_product(graph, do):
    table = graphs.joint_table(graph, do)
    np.testing.assert_allclose(table, truncated(graph, do), atol=1e-15)
    assert table.sum() == pytest.approx(1.0)


def test_setting_is_not_seeing(graph):
    seen = graphs.joint_table(graph)[1].sum(axis=(1, 2)) / graphs.joint_table(graph)[1].sum()
    done = graphs.joint_table(graph, {"A": 1})[1].sum(axis=(1, 2))
    causes = graphs.joint_table(graph).sum(axis=(0, 2, 3))
    np.testing.assert_allclose(done, causes, atol=1e-14)  # B causes A: setting A leaves B alone
    assert np.abs(seen - causes).max() > 0.01


def frequencies(rows, outcomes):
    table = np.zeros(outcomes)
    np.add.at(table, tuple(rows.T), 1 / len(rows))
    return table


@pytest.mark.parametrize("do", [None, {"A": 1}, {"C": 2}])
def test_samples_follow_the_table(graph, do):
    """40,000 rows in 36 cells: a cell's standard error is at most 0.0025, so 0.0125 fails once in 10^5 runs."""
    rows = graphs.sample(graph, 40_000, seed=1, do=do)
    np.testing.assert_allclose(frequencies(rows, graph.outcomes), graphs.joint_table(graph, do), atol=0.0125)


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_counterfactuals_of_all_rows_follow_the_intervened_table(graph, coupling):
    """Every coupling is consistent with the graph; same failure rate as above."""
    rows = graphs.sample(graph, 40_000, seed=2)
    for do in ({"A": 0}, {"B": 1}):
        imagined = graphs.counterfactual(graph, rows, do, seed=3, coupling=coupling)
        np.testing.assert_allclose(frequencies(imagined, graph.outcomes), graphs.joint_table(graph, do), atol=0.0125)


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_what_is_not_downstream_stays_and_setting_what_was_changes_nothing(graph, coupling):
    rows = graphs.sample(graph, 500, seed=5)
    np.testing.assert_array_equal(graphs.counterfactual(graph, rows, {}, seed=0, coupling=coupling), rows)
    imagined = graphs.counterfactual(graph, rows, {"A": 1}, seed=0, coupling=coupling)
    assert (imagined[:, 0] == 1).all()
    np.testing.assert_array_equal(imagined[:, 1], rows[:, 1])
    np.testing.assert_array_equal(imagined[rows[:, 0] == 1], rows[rows[:, 0] == 1])
    assert (imagined[:, 2] != rows[:, 2]).any()


@pytest.mark.parametrize(("coupling", "stays"), [("monotone", 0.6), ("gumbel", 0.6), ("independent", 0.3)])
def test_couplings_differ_and_are_what_they_say(coupling, stays):
    """P(B would be 0 under A = 1 | A = 0, B = 0), in closed form; standard error 0.0035, so 0.02 fails once in 10^7.

    The Gumbel coupling of two outcomes compares G = G_0 − G_1, which is logistic: B = 0 when G > −logit P(B = 0),
    so that it, too, stays with probability 0.3/0.5 when there are only two outcomes.
    """
    graph = Graph(["A", "B"], [("A", "B")], cpts={"A": [0.5, 0.5], "B": [[0.5, 0.5], [0.3, 0.7]]})
    imagined = graphs.counterfactual(graph, np.zeros((20_000, 2)), {"A": 1}, seed=1, coupling=coupling)
    assert (imagined[:, 1] == 0).mean() == pytest.approx(stays, abs=0.02)


def test_the_last_step_of_a_rounded_distribution_is_an_outcome_that_can_be():
    assert inverse_cdf(np.array([[0.5, 0.5, 0.0], [0.1, 0.2, 0.7]]), np.array([1.0, 1.0])).tolist() == [1, 2]


def test_the_gumbel_coupling_is_stable_and_the_monotone_one_keeps_the_order():
    """Oberst and Sontag: if the odds of the seen outcome rose against all others, it is not left."""
    laws = np.array([[0.2, 0.5, 0.3], [0.3, 0.6, 0.1]])
    graph = Graph(["A", "B"], [("A", "B")], (2, 3), {"A": [0.5, 0.5], "B": laws})
    seen = np.array([[0, 1]] * 4000 + [[0, 0]] * 4000)
    gumbel = graphs.counterfactual(graph, seen, {"A": 1}, seed=2, coupling="gumbel")
    assert (gumbel[4000:, 1] == 0).all()  # 0.3/0.2 exceeds 0.6/0.5 and 0.1/0.3
    assert (gumbel[:4000, 1] != 2).all()  # the odds of 2 fell against those of 1
    monotone = graphs.counterfactual(graph, seen, {"A": 1}, seed=2)
    assert (monotone[:, 1] <= seen[:, 1]).all()  # the new distribution lies below the old


def test_zero_probabilities_are_never_drawn():
    sure = {"A": [0.0, 1.0, 0.0], "B": [[0.5, 0.5, 0], [0, 0.5, 0.5], [0.5, 0, 0.5]]}
    graph = Graph(["A", "B"], [("A", "B")], 3, sure)
    rows = graphs.sample(graph, 2000, seed=0)
    assert (rows[:, 0] == 1).all()
    assert (rows[:, 1] > 0).all()
    for coupling in COUPLINGS:
        assert (graphs.counterfactual(graph, rows, {"A": 0}, seed=0, coupling=coupling)[:, 1] < 2).all()
    with pytest.raises(DataError, match="row 1: has 'B' = 0, which has probability zero"):
        graphs.counterfactual(graph, [[1, 1], [1, 0]], {"A": 0}, seed=0)


def test_tables_from_counts():
    table = np.array([[[6.5, 1.5], [0, 0]], [[2, 2], [1, 3]]])
    graph = Graph(3, [("N1", "N3"), ("N2", "N3")])
    fitted = graphs.fit_cpts(graph, table, pseudocount=0.5).cpts
    np.testing.assert_allclose(fitted["N3"][0], [[7 / 9, 2 / 9], [0.5, 0.5]])
    np.testing.assert_allclose(fitted["N1"], [8.5 / 17, 8.5 / 17])
    bare = graphs.fit_cpts(graph, table, pseudocount=0.0)
    np.testing.assert_allclose(bare.cpts["N3"][0, 1], [0.5, 0.5])  # never seen: uniform
    complete = graphs.fit_cpts(Graph(3, [("N1", "N2"), ("N1", "N3"), ("N2", "N3")]), table, pseudocount=0.0)
    np.testing.assert_allclose(graphs.joint_table(complete), table / table.sum(), atol=1e-15)


def test_rows_in_which_a_node_was_set_say_nothing_of_its_table():
    table, seen = np.array([[8.0, 2], [3, 7]]), np.array([[0.0, 50], [0, 50]])
    counts = graphs.Counts.from_table(table, interventional={"N2": seen})
    fitted = graphs.fit_cpts(Graph(2, [("N1", "N2")]), counts, pseudocount=0.0).cpts
    np.testing.assert_allclose(fitted["N2"], [[0.8, 0.2], [0.3, 0.7]])
    np.testing.assert_allclose(fitted["N1"], [0.5, 0.5])
