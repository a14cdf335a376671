"""Metrics, strengths, bootstrap and drawings."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentry import graphs
from latentry.graphs import CPDAG, Graph
from latentry.graphs.layout import arranged

FOUR = graphs.all_dags(4)
one_of_four = st.integers(0, 542).map(FOUR.__getitem__)


@given(one_of_four, one_of_four, one_of_four)
@settings(deadline=None)
def test_shd_is_a_distance(a, b, c):
    assert (graphs.shd(a, b) == 0) == (a == b)
    assert graphs.shd(a, b) == graphs.shd(b, a)
    assert graphs.shd(a, c) <= graphs.shd(a, b) + graphs.shd(b, c)
    assert (graphs.shd(graphs.cpdag(a), graphs.cpdag(b)) == 0) == graphs.equivalent(a, b)


@given(one_of_four, one_of_four)
@settings(deadline=None)
def test_shd_counts_differing_pairs_of_the_matrices(a, b):
    first, second = a.adjacency, b.adjacency
    assert graphs.shd(a, b) == np.triu((first != second) | (first.T != second.T)).sum()


def test_precision_and_recall_by_hand():
    truth = CPDAG(list("ABCD"), compelled=[("A", "C"), ("B", "C")], reversible=[("C", "D")])
    estimate = CPDAG(list("ABCD"), compelled=[("A", "C"), ("C", "D")], reversible=[("A", "B")])
    result = graphs.compare(estimate, truth)
    assert result.shd == 3
    assert (result.skeleton.right, result.skeleton.claimed, result.skeleton.true) == (2, 3, 3)
    assert (result.arrowheads.precision, result.arrowheads.recall) == (0.5, 0.5)
    assert (result.v_structures.precision, result.v_structures.recall, result.v_structures.f1) == (1.0, 0.0, 0.0)
    assert graphs.compare(Graph(2), Graph(2)).skeleton.f1 == 1.0


def test_strengths_are_the_information_of_the_table():
    """XOR: each parent alone tells nothing, beside the other one bit; an unused parent has none."""
    xor = np.zeros((2, 2, 2, 2))
    for a, b in np.ndindex(2, 2):
        xor[a, b, :, (a + b) % 2] = 1
    names = ["A", "B", "idle", "C"]
    graph = Graph(
        names, [(n, "C") for n in names[:3]], cpts={"A": [0.5, 0.5], "B": [0.5, 0.5], "idle": [0.3, 0.7], "C": xor}
    )
    strengths = graphs.edge_strengths(graph)
    assert strengths["A", "C"] == pytest.approx(np.log(2))
    assert strengths["idle", "C"] == pytest.approx(0.0, abs=1e-12)
    counts = graphs.Counts.from_rows(graphs.sample(graph, 500, seed=0), names)
    assert graphs.edge_strengths(graph, counts)["A", "C"] > 0.6


def test_strengths_leave_out_rows_in_which_the_child_was_set():
    seen = {"N2": np.array([[500.0, 0], [500, 0]])}
    counts = graphs.Counts.from_table([[40, 0], [0, 40]], interventional=seen)
    assert graphs.edge_strengths(Graph(2, [("N1", "N2")]), counts)["N1", "N2"] == pytest.approx(np.log(2))


def test_removing_an_edge_costs_the_strength():
    """n · I(child; parent | others) is the likelihood ratio of the graphs with and without the edge."""
    table = np.random.default_rng(0).gamma(1.0, 20, size=(2, 3, 2))
    graph = Graph(3, [("N1", "N3"), ("N2", "N3"), ("N1", "N2")], (2, 3, 2))
    information = graphs.edge_strengths(graph, table)
    support = graphs.edge_support(graph, table)
    n = table.sum()
    saved = {("N1", "N2"): 2 * 1, ("N1", "N3"): 1 * 3, ("N2", "N3"): 1 * 4}  # parameters that the edge costs
    for edge, worth in support.items():
        assert worth == pytest.approx(n * information[edge] - 0.5 * np.log(n) * saved[edge], abs=1e-8)


def test_frequencies_count_arrows_and_lines():
    forth, back = Graph(["A", "B"], [("A", "B")]), Graph(["B", "A"], [("B", "A")])
    either = CPDAG(["A", "B"], reversible=[("A", "B")])
    found = graphs.edge_frequencies([forth, back, either, Graph(["A", "B"])])
    assert (found.arrow[0, 1], found.arrow[1, 0], found.line[0, 1], found.line[1, 0]) == (0.25, 0.25, 0.25, 0.25)
    assert found.of(("A", "B")) == found.of(("B", "A")) == 0.75
    assert "joined 75% (→ 25%, ← 25%, — 25%)" in str(found)


def test_bootstrap_is_reproducible_and_separates_strong_from_absent():
    """Independent N3: BIC at 2000 rows joins it in a few replicates at most, N1 and N2 always."""
    rng = np.random.default_rng(1)
    first = rng.integers(0, 2, 2000)
    rows = np.stack([first, first ^ (rng.random(2000) < 0.2), rng.integers(0, 2, 2000)], axis=1)
    counts = graphs.Counts.from_rows(rows)
    found = graphs.bootstrap(counts, replicates=40, seed=3)
    again = graphs.bootstrap(counts, replicates=40, seed=3)
    np.testing.assert_array_equal(found.joined, again.joined)
    assert found.of(("N1", "N2")) == 1.0
    assert found.of(("N1", "N3")) < 0.3
    assert found.line[0, 1] > 0.7
    forced = graphs.bootstrap(counts, 5, find=lambda c: graphs.search(c, required=[("N3", "N1")]))
    assert forced.arrow[2, 0] == 1.0


def test_resampling_keeps_rows_and_interventions():
    counts = graphs.Counts.from_table([[3, 7], [10, 0]], interventional={"N1": [[50, 0], [0, 0]]})
    drawn = counts.resampled(0)
    assert drawn.total == 70
    assert drawn.marginal(["N1"], of="N1").sum() == 20
    assert drawn.marginal(["N1", "N2"])[1, 1] == 0


def shapes(picture):
    root = ElementTree.fromstring(picture)
    place = "{http://www.w3.org/2000/svg}"
    return {tag: root.findall(place + tag) for tag in ("rect", "path", "polygon", "text")}


def test_svg_draws_arrows_lines_and_labels():
    pattern = CPDAG(["a<b", "B", "C"], compelled=[("a<b", "C")], reversible=[("B", "C")])
    found = shapes(graphs.to_svg(pattern, {("a<b", "C"): 0.4, ("C", "B"): 0.1}, title="<T>"))
    assert [len(found[t]) for t in ("rect", "path", "polygon")] == [3, 2, 1]
    texts = [t.text for t in found["text"]]
    assert {"a<b", "B", "C", "0.4", "0.1", "no arrowhead: direction not determined"} <= set(texts)
    widths = [float(p.get("stroke-width")) for p in found["path"]]
    assert max(widths) / min(widths) > 2
    assert "http" not in graphs.to_svg(pattern).replace("http://www.w3.org/2000/svg", "")


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 9), st.integers(0, 10**6))
def test_layouts_put_causes_above_effects_and_nodes_apart(nodes, seed):
    matrix = np.triu(np.random.default_rng(seed).random((nodes, nodes)) < 0.4, 1)
    graph = Graph.from_adjacency(matrix)
    layout = arranged(graph)
    assert all(layout.places[p][1] < layout.places[c][1] for p, c in graph.edges)
    assert len(set(layout.places.values())) == nodes
    between = {point for route in layout.routes.values() for point in route[1:-1]}
    assert not between & set(layout.places.values())
    assert len(shapes(graphs.to_svg(graph))["polygon"]) == len(graph.edges)
    pattern = graphs.cpdag(graph)
    assert len(shapes(graphs.to_svg(pattern))["polygon"]) == len(pattern.compelled)
    assert len(shapes(graphs.to_svg(pattern))["path"]) == len(graph.edges)


def test_text_marks_reversible_edges(tmp_path):
    pattern = CPDAG(["A", "long", "C"], compelled=[("A", "C")], reversible=[("long", "C")])
    assert graphs.to_text(pattern, {("A", "C"): 0.5}).splitlines() == [
        "A    ───▶ C   0.5 nats",
        "long ──── C   reversible",
    ]
    graphs.write_svg(tmp_path / "g.svg", pattern)
    assert (tmp_path / "g.svg").read_text(encoding="utf-8").startswith("<svg")
