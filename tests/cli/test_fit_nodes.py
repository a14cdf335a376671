"""latentry fit --model causal-pima."""

import json

import numpy as np
import pytest


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, size=(120, 2))
    bits[:, 1] = np.where(rng.random(120) < 0.8, bits[:, 0], bits[:, 1])
    rows = 3.0 * bits @ rng.normal(size=(2, 4)) + 0.1 * rng.normal(size=(120, 4))
    np.savez(tmp_path / "data.npz", x=rows)
    return tmp_path / "data.npz"


def test_the_graph_is_printed_at_the_end(call, table, tmp_path):
    words = [
        "fit",
        table,
        "--model",
        "causal-pima",
        "--nodes",
        "A=2,B=2",
        "--epochs",
        4,
        "--set",
        "hidden=[4]",
        "--quiet",
    ]
    code, out, err = call(*words, "--out", tmp_path / "run", "--json")
    assert code == 0, err
    assert json.loads(out)["graph"]["names"] == ["A", "B"]


def test_auto_leaves_the_nodes_to_the_fit(call, tmp_path):
    np.savez(tmp_path / "few.npz", x=np.random.default_rng(0).normal(size=(20, 3)))
    code, _, err = call(
        "fit", tmp_path / "few.npz", "--model", "causal-pima", "--nodes", "auto", "--out", tmp_path / "run"
    )
    assert code == 2
    assert "nodes='auto': n_samples = 20" in err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--model", "vae", "--nodes", "2,2"], "VAE has no nodes"),
        (["--model", "causal-pima", "--nodes", "two"], "Give the number of values of each node"),
    ],
)
def test_nodes_that_cannot_be(call, table, tmp_path, words, sentence):
    code, _, err = call("fit", table, *words, "--out", tmp_path / "run")
    assert code == 2
    assert sentence in err
