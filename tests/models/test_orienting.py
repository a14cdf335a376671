"""What a user says of a fitted graph: within its class, beyond it, refused, kept, and undone."""

import json
import warnings
from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import latentry as lt
from latentry import graphs
from latentry.models.causal_pima.structural_em import table_terms

NAMES = ("A", "B", "C")
CHAIN = graphs.Graph(
    NAMES,
    [("A", "B"), ("B", "C")],
    cpts={"A": [0.5, 0.5], "B": [[0.9, 0.1], [0.2, 0.8]], "C": [[0.8, 0.2], [0.3, 0.7]]},
)
COLLIDER = graphs.Graph(
    NAMES,
    [("A", "B"), ("C", "B")],
    cpts={"A": [0.5, 0.5], "C": [0.5, 0.5], "B": [[[0.9, 0.1], [0.5, 0.5]], [[0.5, 0.5], [0.1, 0.9]]]},
)
ROWS = np.random.default_rng(0).normal(size=(60, 4))


def holding(model, graph, rows=2000):
    """Give a fitted model the expected counts and the table of a known graph, as a fit would have left them."""
    counts = rows * graphs.joint_table(graph).reshape(1, -1)
    bare = graph.with_cpts(None)
    terms = table_terms(bare, counts, np.ones((1, 3)))
    module = eqx.tree_at(
        lambda m: (m.counts, m.table.terms, m.table.adjacency),
        model.state_.result,
        tuple(jnp.asarray(part, jnp.float32) for part in (counts, terms, bare.adjacency)),
    )
    model.state_ = replace(model.state_, champion=module)
    model.module_ = module
    return model


@pytest.fixture
def fitted(no_optimiser_steps):
    model = lt.CausalPIMA(
        nodes=dict.fromkeys(NAMES, 2), latent_dim=3, epochs=2, batch_size=32, hidden=(2,), validation=0, progress=False
    )
    return model.fit(ROWS)


@pytest.fixture
def chain(fitted):
    return holding(fitted, CHAIN)


def test_a_direction_is_followed_by_do_and_by_what_follows_from_it(chain):
    """Against the graph's own interventional table: four standard errors of 4,000 draws."""
    assert chain.graph_.reversible == (("A", "B"), ("B", "C"))
    for directions, node, truth in (
        ([("A", "B")], "B", CHAIN),  # B → C follows
        ([("C", "B")], "C", None),  # B → A follows, and setting C moves both
        ([("B", "A"), ("B", "C")], "A", None),
    ):
        chain.orient(directions)
        assert chain.graph_.reversible == ()
        member = graphs.fit_cpts(graphs.Graph(NAMES, chain.graph_.compelled), chain.graph_.counts)
        assert set(directions) <= set(member.edges)
        if truth is not None:
            assert set(member.edges) == set(truth.edges)
        expected = graphs.joint_table(member, do={node: 1}).reshape(-1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # no edge is left open
            drawn = graphs.sample(chain.graph_.graph, 4000, 0, do={node: 1})
            chain.sample(3, do={node: 1})
        cells = np.ravel_multi_index(tuple(drawn.T), (2, 2, 2))
        assert np.abs(np.bincount(cells, minlength=8) / 4000 - expected).max() < 4 * 0.5 / np.sqrt(4000)


def test_a_direction_changes_nothing_but_what_do_answers(chain):
    before = chain.cluster_probabilities(ROWS), chain.transform(ROWS), chain.score(ROWS)
    chain.orient([("C", "B")])
    assert np.allclose(chain.cluster_probabilities(ROWS), before[0], atol=1e-5)
    assert (chain.transform(ROWS) == before[1]).all()
    assert chain.score(ROWS) == pytest.approx(before[2], abs=1e-4)
    assert "C → B was given, after the fit: the rows do not decide it." in chain.graph_.to_text()
    assert chain.graph_.to_json()["given"]


def test_what_the_class_forbids_is_refused_with_a_remedy(fitted):
    collider = holding(fitted, COLLIDER)
    assert set(collider.graph_.compelled) == {("A", "B"), ("C", "B")}
    for directions, words in (
        ([("B", "A")], "all graphs of the class have A → B.*give the edge as required="),
        ([("A", "C")], "does not join the two.*required="),
        ([("A", "D")], r"node 'D' is not in the class of graphs\. Known: A, B, C$"),
        ("AB", r"'A' is not a pair\. Give \(parent, child\)\.$"),
    ):
        with pytest.raises(lt.DataError, match=words):
            collider.orient(directions)
    for said, words in (
        ({"required": [("A", "B"), ("B", "A")]}, "form a cycle"),
        ({"required": [("A", "B")], "forbidden": [("A", "B")]}, "both required and forbidden"),
        ({"directions": [("A", "B")], "required": [("B", "A")]}, "form a cycle"),
    ):
        with pytest.raises(lt.DataError, match=words):
            collider.orient(**said)
    assert not collider.facts.orientation
    assert set(collider.graph_.compelled) == {("A", "B"), ("C", "B")}


def test_an_edge_beyond_the_class_says_what_it_costs(fitted):
    """The graph is the best of all that have the edge, by enumeration; the cost is the difference of scores."""
    collider = holding(fitted, COLLIDER)
    counts, best = collider.graph_.counts, graphs.graph_score(COLLIDER.with_cpts(None), collider.graph_.counts)
    collider.orient(required=[("B", "A")])
    having = [dag for dag in graphs.all_dags(NAMES) if ("B", "A") in dag.edges]
    score = max(graphs.graph_score(dag, counts) for dag in having)
    assert graphs.graph_score(collider.graph_.graph, counts) == pytest.approx(score)
    assert f"it costs {best - score:.3g} nats of score" in collider.graph_.to_text()
    assert ("B", "A") in collider.graph_.compelled
    table = np.exp(np.asarray(collider.module_.table.terms).sum(axis=0))
    assert np.allclose(table, graphs.joint_table(collider.graph_.graph).reshape(-1), atol=2e-3)  # drawn rows follow it


def test_a_forbidden_direction_turns_a_reversible_edge(chain):
    chain.orient(forbidden=[("A", "B")])
    assert ("B", "A") in chain.graph_.compelled
    assert chain.graph_.reversible == (("B", "C"),)
    chain.orient(forbidden=[("A", "B"), ("B", "A"), ("A", "C"), ("C", "A")])
    assert not any("A" in edge for edge in chain.graph_.graph.edges)


def test_a_further_call_replaces_and_an_empty_one_takes_back(chain):
    module = chain.module_
    chain.orient([("A", "B")]).orient([("B", "A"), ("B", "C")])
    assert set(chain.graph_.compelled) == {("B", "A"), ("B", "C")}
    chain.orient()
    assert chain.graph_.reversible == (("A", "B"), ("B", "C"))
    assert chain.graph_.given == ()
    assert chain.module_ is module


def test_it_is_kept_by_save_and_by_a_longer_fit(chain, tmp_path, same):
    chain.orient([("C", "B")], forbidden=[("A", "C")]).save(tmp_path / "run")
    again = lt.load(tmp_path / "run")
    assert again.graph_.to_json() == chain.graph_.to_json()
    assert again.facts.orientation == chain.facts.orientation
    assert same(again.module_, chain.module_)
    longer = again.set_params(epochs=4).fit(ROWS, run=tmp_path / "run", resume=True)
    assert longer.facts.orientation == chain.facts.orientation
    assert ("A", "C") not in longer.graph_.graph.edges
    assert lt.load(tmp_path / "run").graph_.to_json() == longer.graph_.to_json()
    assert not longer.fit(ROWS).facts.orientation, "a new fit has new nodes"


def test_counterfactuals_follow_the_direction(chain):
    """With A → B, setting B leaves A; with B → A it may move it: then some rows change in what A alone moves."""
    chain.orient([("A", "B")])
    kept = [graphs.counterfactual(chain.graph_.graph, np.array([[0, 0, 0]] * 200), {"B": 1}, 0)]
    chain.orient([("B", "A"), ("B", "C")])
    kept.append(graphs.counterfactual(chain.graph_.graph, np.array([[0, 0, 0]] * 200), {"B": 1}, 0))
    assert (kept[0][:, 0] == 0).all()
    assert (kept[1][:, 0] == 1).any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert chain.counterfactual(ROWS, do={"B": 1}).shape == ROWS.shape


def test_experiments_and_the_differentiable_graph_can_be_oriented(no_optimiser_steps):
    data = lt.Dataset(ROWS, domain=np.where(np.arange(60) % 3 == 0, "set", "free"))
    settings = {"latent_dim": 3, "epochs": 2, "batch_size": 32, "hidden": (2,), "validation": 0, "progress": False}
    for more in ({"interventions": {"set": {"A": 1}}}, {"graph": "hodge"}):
        model = lt.CausalPIMA(nodes=dict.fromkeys(NAMES, 2), **settings, **more).fit(data)
        model.orient(required=[("A", "C")], forbidden=[("C", "B")])
        assert ("A", "C") in model.graph_.compelled
        assert ("C", "B") not in model.graph_.graph.edges
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lt.DataWarning)
            assert model.sample(5, do={"A": 0}).shape == (5, 4)


def test_the_command_line_says_the_same(chain, tmp_path, capsys):
    from latentry.cli import main

    chain.save(tmp_path / "run")
    for words, code, part in (
        (["--direction", "C,B"], 0, "C → B was given"),
        (["--direction", "A->C"], 2, "does not join the two"),
        (["--require", "A"], 2, "--require A: is no edge"),
        (["--forbid", "A,B", "--json"], 0, "A → B was forbidden"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(["orient", str(tmp_path / "run"), *words])
        printed = capsys.readouterr()
        assert ended.value.code == code, printed.err
        said = json.loads(printed.out)["graph"]["given"][0] if "--json" in words else printed.out + printed.err
        assert part in said.replace("\n", " ")
    assert lt.load(tmp_path / "run").facts.orientation.forbidden == (("A", "B"),)
    lt.VAE(latent_dim=1, epochs=1, hidden=(2,), progress=False).fit(ROWS).save(tmp_path / "vae")
    with pytest.raises(SystemExit):
        main(["orient", str(tmp_path / "vae"), "--direction", "A,B"])
    assert "holds a VAE, which has no graph" in capsys.readouterr().err.replace("\n", " ")
