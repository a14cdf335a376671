"""latentry fit --model natural."""

import json

import numpy as np

import latentry as lt


def test_a_natural_latent_is_fitted_and_certified(call, tmp_path):
    rng = np.random.default_rng(0)
    z = rng.integers(0, 2, size=(300, 1))
    np.savez(tmp_path / "views.npz", **{name: 3 * z + 0.3 * rng.normal(size=(300, 3)) for name in ("left", "right")})
    words = [
        "fit",
        tmp_path / "views.npz",
        "--model",
        "natural",
        "--out",
        tmp_path / "run",
        "--epochs",
        60,
        "--restarts",
        1,
    ]
    words += [
        "--set",
        "values=2",
        "--set",
        "hidden=[8]",
        "--set",
        "learning_rate=0.01",
        "--certify",
        "--json",
        "--quiet",
    ]
    code, printed, errors = call(*words)
    assert code == 0, errors
    assert json.loads(printed)["model"] == "natural"
    assert lt.load(tmp_path / "run").n_features_out == 2
    assert "NaturalLatents" in (tmp_path / "run" / "report.html").read_text()


def test_one_modality_is_refused_with_what_to_do(call, tmp_path):
    np.savez(tmp_path / "one.npz", x=np.random.default_rng(0).normal(size=(60, 4)))
    code, _, errors = call("fit", tmp_path / "one.npz", "--model", "natural", "--out", tmp_path / "run", "--quiet")
    assert code == 2
    assert "Cut it into blocks" in errors
