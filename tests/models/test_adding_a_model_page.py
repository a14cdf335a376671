"""The model of docs/adding-a-model.md, defined as printed and put through what every model must do."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA

import latentry as lt
from latentry.models import MODELS

from pages import DOCS, run_page


@pytest.fixture(scope="module")
def page():
    return run_page(DOCS / "adding-a-model.md")


def test_the_page_runs_as_printed(page):
    assert page["latents"].shape == (400, 2)
    assert "held-out score" in page["certificate"]["fit"].numbers
    assert page["model"].sample(5).shape == page["model"].decode(np.zeros((5, 2))).shape == (5, 6)


def test_the_model_reaches_the_closed_form(page):
    """The best likelihood is that of principal components: the fit comes within 0.05 nats a row of it."""
    rows, model = page["rows"], page["model"]
    trained = np.setdiff1d(np.arange(400), model.record_.held_out)
    centre, spread = rows[trained].mean(axis=0), rows[trained].std(axis=0)
    scaled = (rows - centre) / spread
    best = PCA(2).fit(scaled[trained])
    wanted = best.score(scaled[trained]) - np.log(spread).sum()  # in the units of the data
    assert abs(model.score_rows(rows[trained]).mean() - wanted) < 0.05
    latents, target = page["latents"], best.transform(scaled)
    missed = target - latents @ np.linalg.lstsq(latents, target)[0]
    assert (missed**2).sum() < 0.01 * (target**2).sum()  # the same plane


def test_one_entry_in_the_registry_is_enough_for_files(page, tmp_path, monkeypatch):
    monkeypatch.setitem(MODELS, "ppca", page["PPCA"])
    page["model"].save(tmp_path / "run")
    back = lt.load(tmp_path / "run")
    np.testing.assert_array_equal(back.transform(page["rows"]), page["latents"])
    assert clone(back).set_params(training__clip=None).training.clip is None


def test_bad_parameters_are_named(page):
    with pytest.raises(lt.DataError, match="epochs=0"):
        page["PPCA"](epochs=0).fit(page["rows"])
