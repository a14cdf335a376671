"""Bad input is answered with a sentence that names the place and the remedy."""

import json
import re

import numpy as np
import pytest

from latentry import graphs
from latentry.errors import DataError
from latentry.graphs import CPDAG, Counts, Graph, Knowledge

PAIR = Graph(["radius", "shift"], [("radius", "shift")], cpts={"radius": [0.5, 0.5], "shift": [[0.9, 0.1], [0.2, 0.8]]})
TABLE = np.array([[4.0, 1], [1, 4]])

CASES = {
    "an unknown end": (
        lambda: Graph(["radius"], [("radus", "radius")]),
        "node 'radus' is not in the graph; did you mean 'radius'?",
    ),
    "a cycle": (lambda: Graph(3, [("N1", "N2"), ("N2", "N3"), ("N3", "N1")]), "form a cycle, N1 → N2 → N3 → N1"),
    "a loop": (lambda: Graph(1, [("N1", "N1")]), "leads from a node to itself"),
    "no pair": (lambda: Graph(2, ["N1"]), "'N1' is not a pair"),
    "a number for an edge": (lambda: Graph(2, [1]), "edges: 1 is not a pair"),
    "a number for edges": (lambda: Knowledge(["A"], required=3), "edges: 3 is no list of pairs"),
    "a number for tiers": (lambda: Knowledge(["A"], tiers=3), "tiers=3: is no list of tiers"),
    "a number for a tier": (lambda: Knowledge(["A"], tiers=[1]), "tiers[0]=1: is no list of node names"),
    "one outcome": (lambda: Graph(["A", "B"], outcomes=(2, 1)), "outcomes=1 of node 'B': a node needs at least 2"),
    "too few outcomes given": (lambda: Graph(["A", "B"], outcomes=(2,)), "1 numbers for 2 nodes"),
    "no nodes": (lambda: Graph(0), "a graph needs at least one node"),
    "half a node": (lambda: Graph(2.5), "names=2.5: is neither a number of nodes nor a sequence of names"),
    "text for counts": (lambda: graphs.search("abc"), "the table of counts: is not an array of numbers"),
    "columns of two lengths": (lambda: Counts.from_rows({"A": [0, 1], "B": [0]}), "column 'B': has shape (1,), column 'A' (2,)"),
    "tiers of text": (lambda: graphs.search(TABLE, tiers=["N1", "N2"]), "tiers[0]='N1'"),
    "a name twice": (lambda: Graph(["A", "A"]), "names: 'A' appears 2 times"),
    "a table of the wrong shape": (
        lambda: PAIR.with_cpts({"radius": [0.5, 0.5], "shift": [0.5, 0.5]}),
        "axes (radius, shift) need (2, 2)",
    ),
    "a table that does not sum to one": (
        lambda: PAIR.with_cpts({"radius": [0.5, 0.5], "shift": [[0.5, 0.5], [0.5, 0.6]]}),
        "cpts['shift']: sums to 1.1 over 'shift' at parent values (1,)",
    ),
    "a table below zero": (lambda: PAIR.with_cpts({"radius": [-0.5, 1.5], "shift": np.eye(2)}), "not a probability"),
    "a table missing": (lambda: PAIR.with_cpts({"radius": [0.5, 0.5]}), "cpts: has no table for node 'shift'"),
    "required cycle": (
        lambda: graphs.search(TABLE, ["A", "B"], required=[("A", "B"), ("B", "A")]),
        "required: the edges form a cycle, A → B → A. Drop",
    ),
    "required and forbidden": (
        lambda: graphs.search(TABLE, ["A", "B"], required=[("A", "B")], forbidden=[("A", "B")]),
        "edge 'A' → 'B': is both required and forbidden",
    ),
    "required against the tiers": (
        lambda: graphs.search(TABLE, ["A", "B"], tiers=[["B"], ["A"]], required=[("A", "B")]),
        "required edge 'A' → 'B': leads from a later tier",
    ),
    "two tiers": (lambda: Knowledge(["A"], tiers=[["A"], ["A"]]), "node 'A' is in tier 0 and in tier 1"),
    "a tier of text": (lambda: Knowledge(["A"], tiers=["A"]), "A tier is a list of node names"),
    "an unknown node in a tier": (lambda: Knowledge(["A"], tiers=[["AA"]]), "node 'AA' is not in the graph (tiers)"),
    "too many required parents": (
        lambda: graphs.search(np.ones((2, 2, 2)), required=[("N1", "N3"), ("N2", "N3")], max_parents=1),
        "max_parents=1: 2 parents of 'N3' are required",
    ),
    "negative limit": (lambda: graphs.search(TABLE, max_parents=-1), "max_parents=-1: must be zero or more"),
    "do on an unknown node": (lambda: graphs.sample(PAIR, 3, 0, do={"shfit": 1}), "did you mean 'shift'?"),
    "do out of range": (
        lambda: graphs.joint_table(PAIR, {"shift": 2}),
        "do={'shift': 2}: is not an outcome. Node 'shift' takes the whole numbers 0 to 1",
    ),
    "do with a fraction": (lambda: graphs.joint_table(PAIR, {"shift": 0.5}), "whole numbers 0 to 1"),
    "no tables": (lambda: graphs.sample(Graph(2), 1, 0), "graph: has no probability tables"),
    "no tables to spread": (lambda: graphs.cpt_tensors(Graph(2)), "graph: has no probability tables"),
    "a table too large": (lambda: graphs.joint_table(graphs.random_cpts(Graph(30), 0)), "1,073,741,824 cells"),
    "negative rows": (lambda: graphs.sample(PAIR, -1, 0), "rows=-1"),
    "rows out of range": (
        lambda: graphs.counterfactual(PAIR, [[0, 2]], {}, 0),
        "column 'shift': is 2 in row 0. Node 'shift' takes 0 to 1",
    ),
    "rows of the wrong width": (lambda: graphs.counterfactual(PAIR, [[0]], {}, 0), "expected (rows, 2)"),
    "an unknown coupling": (lambda: graphs.counterfactual(PAIR, [[0, 0]], {}, 0, coupling="gumble"), "did you mean 'gumbel'?"),
    "counts below zero": (lambda: graphs.search([[1, -1], [2, 3]]), "the table of counts: is -1.0 at (0, 1)"),
    "no counts": (lambda: graphs.search(np.zeros((2, 2))), "counts: are all zero"),
    "a constant node": (lambda: graphs.search(np.ones((2, 1))), "outcomes=1 of node 'N2'"),
    "an unknown score": (lambda: graphs.search(TABLE, score="bix"), "score='bix': is not known; did you mean 'bic'?"),
    "an unknown method": (lambda: graphs.search(TABLE, method="exakt"), "did you mean 'exact'?"),
    "exact beyond its reach": (
        lambda: graphs.search(Counts.from_rows(np.zeros((3, 19), int)), method="exact"),
        "method='exact': takes up to 18 nodes, not 19. Use method='orders'",
    ),
    "a weightless prior": (lambda: graphs.search(TABLE, score="bdeu", sample_size=0.0), "sample_size=0.0: must be above zero"),
    "an intervention on an unknown node": (
        lambda: Counts.from_table(TABLE, ["A", "B"], interventional={"C": TABLE}),
        "node 'C' is not in the counts (interventions)",
    ),
    "an intervention of another shape": (
        lambda: Counts.from_table(TABLE, interventional={"N1": [1.0, 2.0]}), "has shape (2,), the first one (2, 2)",
    ),
    "a missing value in a row": (lambda: Counts.from_rows([[0, np.nan]]), "column 'N2': is nan in row 0"),
    "text in a row": (lambda: Counts.from_rows([["a", "b"]]), "Code the outcomes as 0, 1, 2"),
    "a value out of range": (lambda: Counts.from_rows([[0, 3]], outcomes=3), "column 'N2': is 3 in row 0. Node 'N2' takes 0 to 2"),
    "targets of another length": (lambda: Counts.from_rows([[0, 1]], targets=[None, None]), "targets: has 2 entries for 1 rows"),
    "weights of another length": (lambda: Counts.from_rows([[0, 1]], weights=[1, 2]), "there are 1 rows"),
    "other nodes in the counts": (lambda: graphs.fit_cpts(PAIR, np.ones((2, 3))), "the graph is over {'radius': 2, 'shift': 2}"),
    "a negative pseudo-count": (lambda: graphs.fit_cpts(PAIR, TABLE, pseudocount=-1), "pseudocount=-1: must be zero or more"),
    "a graph against a class": (lambda: graphs.shd(PAIR, graphs.cpdag(PAIR)), "Compare two of a kind"),
    "different nodes": (lambda: graphs.shd(PAIR, Graph(2)), "graphs: have different nodes"),
    "knowledge that the graph breaks": (
        lambda: graphs.cpdag(PAIR, knowledge=Knowledge(PAIR.names, forbidden=[("radius", "shift")])),
        "graph: has the edge 'radius' → 'shift', which is forbidden",
    ),
    "two edges between two nodes": (
        lambda: CPDAG(["A", "B"], compelled=[("A", "B")], reversible=[("B", "A")]), "nodes 'A' and 'B': are joined by two edges",
    ),
    "a class without members": (
        lambda: graphs.to_svg(CPDAG(list("ABCD"), reversible=[("A", "B"), ("B", "C"), ("C", "D"), ("A", "D")])),
        "stands for no graph",
    ),
    "overlapping sets": (lambda: graphs.d_separated(PAIR, "radius", "radius"), "node 'radius': is named in two of the three sets"),
    "strengths of another edge": (lambda: graphs.to_text(PAIR, {("shift", "hue"): 1.0}), "which the graph does not have"),
    "no replicates": (lambda: graphs.bootstrap(TABLE, replicates=0), "replicates=0: must be one or more"),
    "no graphs": (lambda: graphs.edge_frequencies([]), "needs at least one graph"),
    "too many nodes to list": (lambda: graphs.all_dags(6), "up to 5 nodes, not 6. Use search"),
    "too many nodes for a posterior": (lambda: graphs.graph_posterior(np.ones((2,) * 6)), "up to 5 nodes, not 6. Use bootstrap"),
    "an adjacency that is not square": (lambda: Graph.from_adjacency(np.zeros((2, 3))), "matrix: has shape (2, 3)"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_bad_input_is_answered_with_a_sentence(case):
    call, sentence = CASES[case]
    with pytest.raises(DataError, match=re.escape(sentence)):
        call()


def test_graphs_cannot_be_changed_behind_their_back():
    tables = {"radius": np.array([0.5, 0.5]), "shift": np.full((2, 2), 0.5)}
    graph = PAIR.with_cpts(tables)
    tables["radius"][0] = 9.0
    assert graph.cpts["radius"][0] == 0.5
    with pytest.raises(ValueError, match="read-only"):
        graph.cpts["radius"][0] = 1.0
    with pytest.raises(AttributeError):
        graph.names = ("x",)


def test_graphs_survive_json():
    assert Graph.from_json(json.loads(json.dumps(PAIR.to_json()))) == PAIR
    pattern = CPDAG(["A", "B", "C"], [("A", "B")], [("B", "C")])
    assert CPDAG.from_json(json.loads(json.dumps(pattern.to_json()))) == pattern


def test_graphs_compare_by_what_they_are():
    same = Graph(["radius", "shift"], [("radius", "shift")])
    assert same == Graph(["radius", "shift"], [["radius", "shift"]])
    assert same != PAIR
    assert PAIR.with_cpts(PAIR.cpts) == PAIR
    assert len({same, same.with_edges([("radius", "shift")])}) == 1
    assert repr(Graph(["A", "B", "C"], [("C", "A")], (2, 3, 2))) == "Graph(C → A, B; outcomes 2, 3, 2)"
