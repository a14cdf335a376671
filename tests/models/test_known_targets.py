"""Known targets through a fit: learned, kept on disk, asked about by certificates."""

import numpy as np
import pytest

import latentry as lt
from latentry.errors import DataError

SMALL = {"epochs": 25, "flow__blocks": 2, "flow__components": 4, "progress": False}


@pytest.fixture(scope="module")
def law():
    return lt.generators.causal_components_law(latents=2, layers=1, edges=1.0, seed=5)


@pytest.fixture(scope="module")
def model(law):
    prior = lt.models.DomainPrior(targets=law.targets, parents=law.parents)
    return lt.IFlow(domain_prior=prior).set_params(**SMALL).fit(law.draw(1500, 0))


def test_latents_are_found_in_the_order_of_their_targets(law, model):
    """Means alone move: without targets this map is not identified."""
    fresh = law.draw(500, 1)
    true, found = np.column_stack([*fresh.factors.values()]), model.transform(fresh)
    each = np.abs(np.corrcoef(true.T, found.T)[:2, 2:])
    assert np.diag(each).min() > 0.95
    own = model.own_parts(fresh)
    assert np.abs(own.mean(axis=0)).max() < 0.2
    assert np.abs(np.corrcoef(own.T)[0, 1]) < 0.2 < np.abs(np.corrcoef(found.T)[0, 1])


def test_a_run_keeps_what_was_told(model, law, tmp_path):
    model.save(tmp_path / "run")
    again = lt.load(tmp_path / "run")
    data = law.draw(50, 2)
    np.testing.assert_array_equal(again.own_parts(data), model.own_parts(data))
    assert again.known_targets().targets.tolist() == [[True, False], [False, True], [False, False]]
    assert model.sample(5, domain="change of z1").shape == (5, 2)


def test_certificates_ask_about_known_targets(model, law):
    part = lt.certify(model, law.draw(400, 3), only=["identifiable"])["identifiable"]
    claim = part.claims["known targets"]
    assert "each domain changes the latents that it was said to change" in {one.name for one in claim.assumptions}
    assert "sufficient changes" not in part.claims, "which are of latents that do not cause each other"


def test_a_model_that_was_not_told(law):
    plain = lt.IFlow().set_params(**{**SMALL, "epochs": 1}).fit(law.draw(100, 0))
    assert plain.known_targets() is None
    with pytest.raises(DataError, match="was not told which latents"):
        plain.own_parts(law.draw(10, 0))
