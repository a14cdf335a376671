"""CausalPIMA(nodes="auto"): what two starts and held-out rows decide, and a tiny fit from end to end."""

import numpy as np
import pytest

import latentry as lt
from latentry.errors import DataError
from latentry.models.causal_pima import choosing_nodes
from latentry.models.causal_pima.choosing_nodes import Tried, best_tried, shared_nodes
from latentry.models.causal_pima.node_candidates import Candidate
from latentry.models.causal_pima.node_counts import CountedNode
from latentry.models.causal_pima.node_effects import modalities_by_effect

SETTINGS = {"epochs": 4, "hidden": (4,), "batch_size": 32, "progress": False}


def tried(outcomes, bound, agreement, spread=0.0, noise=0.1):
    nodes = tuple(CountedNode(("image",), size) for size in outcomes)
    rows = bound + noise * np.random.default_rng(0).normal(size=50)
    return Tried(Candidate(nodes, 0.0), rows, spread, agreement)


def test_what_is_nearest_to_the_counts_stays_unless_held_out_rows_object():
    first, other = tried((2, 3), 1.0, (0.9, 0.9)), tried((2, 2, 2), 1.0, (0.9, 0.9, 0.9))
    assert best_tried([first, other]) is first
    better = tried((2, 2, 2), 3.0, (0.9, 0.9, 0.9))
    assert best_tried([first, better]) is better
    assert best_tried([first, tried((2, 2, 2), 3.0, (0.9,) * 3, spread=4.0)]) is first


def test_nodes_that_two_starts_share_come_before_a_better_bound():
    unshared, shared = tried((2, 2), 9.0, (0.9, 0.1)), tried((4,), 1.0, (0.8,))
    assert best_tried([unshared, shared]) is shared


def test_a_node_that_another_start_does_not_share_is_dropped_with_a_sentence():
    kept, sentences = shared_nodes(tried((2, 3), 0.0, (0.9, 0.21)))
    assert kept == [0]
    assert len(sentences) == 1
    assert all(fact in sentences[0] for fact in ("Dropped", "3 outcomes in image", "0.21"))
    with pytest.raises(DataError, match=r"no node came back.*at most 0\.30.*epochs="):
        shared_nodes(tried((2, 2), 0.0, (0.3, 0.2)))


def test_nodes_of_equal_size_are_told_apart_by_what_they_change():
    effects = {"image": np.array([0.0, 0.1, 0.9]), "curve": np.array([0.3, 0.6, 0.1])}
    assert modalities_by_effect(effects, (3, 2, 2), [("image",), ("image",), ("curve",)]) == [0, 2, 1]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    shared, own = rng.integers(0, 2, size=(2, 120))
    first = 8.0 * shared[:, None] * np.array([1.0, 0.5]) + rng.normal(size=(120, 2))
    second = 8.0 * np.stack([shared, own], axis=1) + rng.normal(size=(120, 2))
    return lt.Dataset({"first": first, "second": second})


@pytest.fixture(scope="module")
def fitted(rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("auto") / "run"
    return lt.CausalPIMA(nodes="auto", **SETTINGS).fit(rows, run=folder), folder


def test_a_fit_says_nodes_modalities_and_why(fitted):
    model, _ = fitted
    assert model.nodes_ == {"N1": 2, "N2": 2}
    assert model.chosen_params() == {"nodes": model.nodes_}, "restarts that are compared keep them"
    assert sorted(model.modalities_of_nodes_.values()) == [("first", "second"), ("second",)]
    said = " ".join(model.choices_)
    assert all(fact in said for fact in ("first 2", "second 4", "first+second 4", "held-out bound", "Chosen"))
    assert model.get_params()["nodes"] == "auto"


def test_a_run_folder_keeps_what_was_chosen(fitted, rows, monkeypatch):
    model, folder = fitted
    monkeypatch.setattr(choosing_nodes, "counted_nodes", lambda *_: pytest.fail("chosen again"))
    again = lt.load(folder)
    assert (again.nodes, again.nodes_, again.choices_) == ("auto", model.nodes_, model.choices_)
    np.testing.assert_array_equal(again.node_values(rows), model.node_values(rows))
    resumed = lt.CausalPIMA(nodes="auto", **SETTINGS).fit(rows, run=folder, resume=True)
    assert resumed.nodes_ == model.nodes_


def test_given_nodes_have_no_choices_and_describe_says_what_is_open(rows):
    words = lt.CausalPIMA(nodes="auto", **SETTINGS).describe(rows)
    assert "chosen by the fit" in words
    assert "chosen by the fit" not in lt.CausalPIMA(nodes=(2, 2), **SETTINGS).describe(rows)


@pytest.mark.parametrize(
    ("changes", "facts"),
    [
        ({"nodes": "automatic"}, ("nodes='automatic'", "'auto'")),
        ({"interventions": {"a": {"N1": 1}}}, ("interventions", "not known yet", "Give nodes=")),
        ({"graph_search__required": (("N1", "N2"),)}, ("graph_search", "not known yet")),
    ],
)
def test_what_cannot_be_chosen(rows, changes, facts):
    with pytest.raises(DataError) as error:
        lt.CausalPIMA(nodes="auto", **SETTINGS).set_params(**changes).fit(rows)
    assert all(fact in str(error.value) for fact in facts)


def test_too_few_rows_and_rows_without_groups():
    rng = np.random.default_rng(0)
    with pytest.raises(DataError, match=r"n_samples = 20 .*at least 40"):
        lt.CausalPIMA(nodes="auto", **SETTINGS).fit(rng.normal(size=(20, 3)))
    with pytest.raises(DataError, match=r"no groups were counted.*x 1.*VAE"):
        lt.CausalPIMA(nodes="auto", **SETTINGS).fit(rng.normal(size=(100, 3)))
