"""latentry fit --latents auto."""

import json

import numpy as np
import pytest

import latentry as lt

SMALL = ("--epochs", 2, "--set", "hidden=[4]", "--quiet", "--json")


@pytest.fixture(scope="module")
def flat(tmp_path_factory):
    """Two directions in five columns, with noise of its own in each."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 5)) + 0.2 * rng.normal(size=(200, 5))
    path = tmp_path_factory.mktemp("rows") / "rows.npz"
    np.savez(path, x=rows)
    return path


def test_latents_are_counted_and_all_rows_are_fitted(flat, tmp_path, call):
    code, out, _ = call("fit", flat, "--latents", "auto", "--out", tmp_path / "run", *SMALL)
    assert (code, json.loads(out)["model"]) == (0, "vae")
    model = lt.load(tmp_path / "run")
    assert (model.latent_dim, model.record_.rows) == (2, 200)


def test_a_number_that_is_none(flat, tmp_path, call):
    code, _, err = call("fit", flat, "--latents", "some", "--out", tmp_path / "run")
    assert code == 2
    assert "--latents some" in err
    assert "auto" in err
