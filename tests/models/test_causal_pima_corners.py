"""Corners of CausalPIMA: knowledge, experiments, few rows, formulas with a limited domain, resuming."""

import itertools

import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

import latentry as lt
from latentry.graphs import Graph, Knowledge
from latentry.models.causal_pima.expert_updates import new_expert, updated_expert
from latentry.models.causal_pima.first_reading import aligned, alignment_gains
from latentry.models.causal_pima.mixture_updates import Encoded, Gaussians, shape_of
from latentry.models.causal_pima.node_updates import principal
from latentry.models.causal_pima.structural_em import (
    Experiments,
    Latent,
    best_graph,
    climb,
    complete_graph,
    table_terms,
)
from latentry.nets import Parameter, expert, two_piece_linear

pytestmark = pytest.mark.long

GRID = np.linspace(0, 1, 12)
NAMES = ("N1", "N2", "N3")


@pytest.mark.parametrize("pair", list(itertools.permutations(NAMES, 2)))
def test_the_first_graph_keeps_to_what_is_known(pair):
    tiers = [[pair[1]], [pair[0]]]
    for known in (Knowledge(NAMES, forbidden=(pair,)), Knowledge(NAMES, required=(pair,)), Knowledge(NAMES, tiers)):
        found = complete_graph(NAMES, (2, 2, 2), known)
        assert known.allows(found.edges)
        assert len(found.edges) == 3  # nothing but a direction was excluded


def overlapping(seed, rows=1500):
    """Two independent binary nodes whose latents overlap: hard labels would make them dependent."""
    rng = np.random.default_rng(seed)
    coins = rng.integers(0, 2, size=(rows, 2))
    return Encoded(1.2 * (2 * coins - 1) + rng.normal(size=(rows, 2)), np.full((rows, 2), 1e-3))


def test_graphs_are_compared_after_equal_rounds():
    """Unconverged, a rival with more rounds would win; at equal rounds the empty graph stays (1 in 50 by the penalty)."""
    names, kept = ("N1", "N2"), 0
    experiments = Experiments(names, (2, 2), np.ones((1, 2)), np.zeros((1, 4)))
    values = np.stack(np.unravel_index(np.arange(4), (2, 2)))
    for seed in range(4):
        rows, graph = overlapping(seed), Graph(names, (), (2, 2))
        start = Gaussians(0.6 * (2.0 * values.T - 1), np.tile(np.eye(2), (4, 1, 1)))
        terms = table_terms(graph, np.ones((1, 4)), experiments.free)
        shape = shape_of((2, 2), 2, means="axes")
        begun = climb(rows, Latent(np.eye(2), np.zeros(2), start, graph, terms), shape, experiments, steps=1)
        kept += best_graph(rows, begun, shape, experiments, Knowledge(names), steps=4).latent.graph.edges == ()
    assert kept >= 3


def test_gains_of_swaps():
    """Against swapping in full."""
    rng = np.random.default_rng(0)
    p, g = (a + a.T for a in rng.normal(size=(2, 5, 5)))
    found = alignment_gains(p, g)
    for i, j in itertools.combinations(range(5), 2):
        order = np.arange(5)
        order[[i, j]] = order[[j, i]]
        assert np.isclose(found[i, j], (p * g[np.ix_(order, order)]).sum() - (p * g).sum())


def test_known_values_name_many_outcomes_at_once():
    """Ten outcomes have 3,628,800 names; rows that an experiment contradicts go to the nearest cell it allows."""
    rng = np.random.default_rng(0)
    truth, names = rng.integers(0, 10, 300), rng.permutation(10)
    known = np.eye(10, dtype=bool)[truth]
    known[150:] = True
    found = aligned(names[truth], known, (10,))
    assert (found == truth).all()
    wrong = names[truth].copy()
    wrong[0] = (wrong[0] + 1) % 10
    assert aligned(wrong, known, (10,))[0] == truth[0]


def test_missing_rows_lie_at_the_centre():
    rng = np.random.default_rng(0)
    pictures = 3 + rng.normal(size=(60, 4, 4)).astype(np.float32)
    seen = np.arange(60) < 40
    other = np.zeros((60, 1))
    rows = principal(lt.Dataset({"picture": pictures, "other": other}, observed={"picture": seen, "other": ~seen}), {})
    assert np.allclose(rows[~seen], rows[~seen][0])
    assert np.linalg.norm(rows[~seen][0]) < 1e-4 * np.linalg.norm(rows[seen][0])


def fitted_expert(counts, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(counts)), counts)
    heights = 0.5 + 0.05 * rng.normal(size=len(labels))
    curves = np.where(GRID < 0.4, heights[:, None] * GRID / 0.4, heights[:, None]) + 0.002 * rng.normal(
        size=(len(labels), 12)
    )
    made = new_expert(two_piece_linear(GRID), np.zeros(()), np.ones(()), np.arange(len(counts))[None], ("N1",))
    data = lt.Dataset({"curve": curves})
    return updated_expert(made, data, "curve", np.eye(len(counts))[labels], first=True)


def test_errors_of_few_rows_are_not_too_small():
    """Three rows: the reported error is the spread of repeated fits within a third (20 fits); none or one row: unknown."""
    three = [fitted_expert((3, 30), seed) for seed in range(20)]
    spread = np.std([float(f.values["y0"][0]) for f in three])
    reported = np.sqrt(np.mean([float(f.errors["y0"][0]) ** 2 for f in three]))
    assert 0.66 < reported / spread < 1.5
    assert (np.asarray(fitted_expert((0, 1, 30)).errors["y0"])[:2] == -1).all()


def table(rows=120, seed=0):
    rng = np.random.default_rng(seed)
    coins = rng.integers(0, 2, size=(rows, 2))
    coins[:, 1] = np.where(rng.random(rows) < 0.8, coins[:, 0], coins[:, 1])
    return coins, 3.0 * (2 * coins - 1) @ rng.normal(size=(2, 4)) + 0.2 * rng.normal(size=(rows, 4))


QUICK = {"nodes": (2, 2), "latent_dim": 2, "hidden": (8,), "batch_size": 20, "learning_rate": 5e-3, "progress": False}
QUICK |= {"training__patience": None}


@pytest.fixture(scope="module")
def trial():
    """N2 was set to 1 in the last third of the rows."""
    coins, rows = table(360)
    coins[240:, 1] = 1
    rng = np.random.default_rng(5)
    rows = 3.0 * (2 * coins - 1) @ np.array([[1.0, 0.2, 0.0], [0.0, 0.3, 1.0]]) + 0.2 * rng.normal(size=(360, 3))
    data = lt.Dataset({"x": rows}, domain=["seen"] * 240 + ["set"] * 120)
    return data, lt.CausalPIMA().set_params(**QUICK, epochs=30, interventions={"set": {"N2": np.int64(1)}}).fit(data)


def test_frequencies_know_what_was_set(trial):
    data, model = trial
    assert model.graph_.compelled == (("N1", "N2"),)
    found = model.graph_frequencies(data, replicates=10)
    assert found.arrow[0, 1] > 0.7


def test_what_was_set_stays_set_in_another_world(trial):
    data, model = trial
    imagined = model.counterfactual(data, do={"N1": 0})
    labels = model.node_values(lt.Dataset({"x": imagined}, domain=["seen"] * 360))
    assert (labels[240:, 1] == 1).all()
    assert (labels[:, 0] == 0).all()


def test_a_run_goes_on_with_knowledge_and_experiments(tmp_path):
    _, rows = table()
    data = lt.Dataset({"x": rows}, domain=[0] * 60 + [1] * 60)
    settings = QUICK | {
        "nodes": (np.int64(2), 2),
        "graph_search__required": [("N1", "N2")],
        "graph_search__tiers": [("N1",), ("N2",)],
    }
    settings |= {"interventions": {1: {"N1": 1}}, "epochs": 2}
    lt.CausalPIMA().set_params(**settings).fit(data, run=tmp_path / "run")
    again = lt.CausalPIMA().set_params(**settings).fit(data, run=tmp_path / "run", resume=True)
    assert again.graph_.compelled == (("N1", "N2"),)


def curves(formula, **bounds):
    _, rows = table()
    data = lt.Dataset({"x": rows, "curve": 1.5 + 0.1 * np.random.default_rng(0).normal(size=(120, 12))})
    return lt.CausalPIMA().set_params(**QUICK, epochs=2, experts={"curve": expert(formula, **bounds)}).fit(data)


def test_formulas_with_a_limited_domain():
    model = curves(lambda a: jnp.log(a) + 0 * jnp.asarray(GRID), a=1.0)
    assert np.allclose(model.experts_["curve"]["a"], np.exp(1.5), rtol=0.1)


def test_built_in_bounds_stay_when_a_parameter_is_given():
    made = two_piece_linear(GRID, x0=Parameter(0.3, per="N1")).parameters["x0"]
    usual = two_piece_linear(GRID).parameters["x0"]
    assert (made.low, made.high, made.per) == (usual.low, usual.high, "N1")


def test_experts_are_gaussian():
    data = lt.Dataset({"x": table()[1], "curve": np.ones((120, 12))})
    with pytest.raises(lt.DataError, match="Gaussian noise, but likelihood says 'poisson'"):
        lt.CausalPIMA().set_params(
            **QUICK, likelihood={"curve": "poisson"}, experts={"curve": two_piece_linear(GRID)}
        ).fit(data)


@pytest.mark.parametrize("ask", ["clusters", "node_values", "impute", "node_probabilities"])
def test_unfitted_models_say_so(ask):
    with pytest.raises(NotFittedError):
        getattr(lt.CausalPIMA(), ask)(table()[1])


def test_do_is_a_mapping(trial):
    with pytest.raises(lt.DataError, match="nodes and values, such as do="):
        trial[1].sample(2, do="N1")


def test_another_formula_is_not_loaded(tmp_path):
    model = curves(lambda a: a + 0 * jnp.asarray(GRID), a=1.0)
    model.save(tmp_path / "run")
    same = expert(lambda a: a * jnp.ones(12), a=1.0)
    assert np.allclose(
        lt.load(tmp_path / "run", experts={"curve": same}).sample(3)["curve"], model.sample(3)["curve"], atol=1e-4
    )
    for given, sentence in (
        ({"curve": expert(lambda a: 2 * a + 0 * jnp.asarray(GRID), a=1.0)}, "makes other rows"),
        ({"curve": expert(lambda b: b + 0 * jnp.asarray(GRID), b=1.0)}, "give {'curve': your expert of a}"),
        ({"curf": same}, "give {'curve': your expert of a}"),
        (same, "give {'curve': your expert of a}"),
    ):
        with pytest.raises(lt.CheckpointError, match=sentence):
            lt.load(tmp_path / "run", experts=given)
    with pytest.raises(lt.CheckpointError, match="pass it in Python"):
        lt.load(tmp_path / "run")


def test_built_in_experts_are_not_replaced(trial, tmp_path):
    trial[1].save(tmp_path / "run")
    with pytest.raises(lt.CheckpointError, match="holds nodes itself"):
        lt.load(tmp_path / "run", nodes=(2, 2))
    with pytest.raises(lt.CheckpointError, match="did you mean 'nodes'"):
        lt.load(tmp_path / "run", node=(2, 2))


def test_nodes_that_say_nothing_are_doubted():
    from latentry.graphs import Counts, Knowledge
    from latentry.models.causal_pima.latent_graph import latent_graph

    names = ("N1", "N2")
    cases = {
        "node N1 has one value": [[50, 50], [0, 0]],
        "copies of each other": [[50, 0], [0, 50]],
        "": [[30, 20], [20, 30]],
    }
    for words, table in cases.items():
        counts = Counts.from_table(np.array(table, float), names)
        found = latent_graph(Graph(names, (), (2, 2)), counts, Knowledge(names), [])
        assert words in found.to_text()
        assert bool(found.doubts) == bool(words)


def test_both_ends_set_need_no_direction(trial, recwarn):
    data, _ = trial
    model = lt.CausalPIMA().set_params(**QUICK, epochs=2).fit(data)
    model.sample(3, do={"N1": 1, "N2": 0})
    assert not [w for w in recwarn if "either direction" in str(w.message)]


def test_many_values_do_not_lie_on_one_line():
    """Six groups in the plane, one node: found by default, without a word about means."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 6, 300)
    angle = 2 * np.pi * group / 6
    rows = 4 * np.stack([np.cos(angle), np.sin(angle)], axis=1) @ rng.normal(size=(2, 5)) + 0.3 * rng.normal(
        size=(300, 5)
    )
    model = lt.CausalPIMA().set_params(**QUICK | {"nodes": (6,)}, epochs=40).fit(rows)
    assert adjusted_rand_score(group, model.clusters(rows)) > 0.9
