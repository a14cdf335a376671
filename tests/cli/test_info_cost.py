"""latentry info says what a fit to a file would use and cost."""

import numpy as np


def images(folder):
    np.savez(folder / "images.npz", image=np.random.default_rng(0).normal(size=(30, 8, 8)))
    return folder / "images.npz"


def test_networks_and_cost_of_a_default_fit(call, tmp_path):
    code, text, _ = call("info", images(tmp_path))
    assert code == 0
    assert "convolutions, 16 channels" in text
    assert "s an epoch on one core" in text


def test_a_model_that_cannot_be_fitted_says_why(call, tmp_path):
    code, text, _ = call("info", images(tmp_path), "--model", "ivae")
    assert code == 0
    assert "IVAE, with these settings, cannot be fitted" in text


def test_a_model_that_is_not_known(call, tmp_path):
    code, _, error = call("info", images(tmp_path), "--model", "vaee")
    assert code == 2
    assert "did you mean 'vae'" in error
