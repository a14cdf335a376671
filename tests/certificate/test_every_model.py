"""Every registered model certifies; a new one is tested here the day it is registered."""

import numpy as np
import pytest

import latentry as lt
from latentry.contracts import HasChannel, HasGraph, HasLatentDistributions, HasMixing
from latentry.models import MODELS

SETTINGS = {"latent_dim": 2, "epochs": 2, "batch_size": 32, "progress": False, "validation": 0.2, "hidden": (4,)}
SETTINGS |= {
    "flow__blocks": 1,
    "flow__components": 2,
    "domain_prior__hidden": (4,),
    "restarts": 1,
    "nodes": (2, 2),
    "flow__optimiser": "adam",
}
SETTINGS |= {"estimation": "elbo"}
# What certify asks of a model: latents of rows as a channel. Latents of any other come as an array: lt.certify(array, data).
ABLE = sorted(
    n for n, kind in MODELS.items() if issubclass(kind, HasChannel) and kind.takes_tables and kind.least_modalities == 1
)


def tiny(name):
    kind = MODELS[name]
    known = {key: value for key, value in SETTINGS.items() if key in kind().get_params()}
    known |= {"latent_dim": None} if kind.takes_latents_from_data else {}
    return kind().set_params(**known)


@pytest.fixture(scope="module", params=ABLE)
def certified(request, curved, few_tries_in_module, quick_students_in_module):
    training, _ = curved.split(0.6, 0.4)
    model = tiny(request.param).fit(training)
    return model, lt.certify(model, curved, epsilon=0.1)


def test_every_question_is_answered(certified):
    model, found = certified
    assert found.split["origin"] == "set aside"
    assert found.split["audited"] == 120
    wanted = {"variables", "fit", "identifiable", "informative", "natural", "domains", "controls"}
    assert set(found.parts) - {"causal"} == wanted
    assert ("causal" in found.parts) == isinstance(model, HasGraph)
    assert "held-out score" in found["fit"].numbers
    assert found.trusted


def test_nothing_is_certified_of_two_epochs(certified):
    """Two passes over 180 rows prove nothing about latents; a level of 0.05 leaves room for little else."""
    found = certified[1]
    assert not found.reached("natural")
    assert not found.verdict.certified


def test_it_has_a_page_and_comes_out_again(certified, tmp_path):
    model, found = certified
    page = found.to_html(tmp_path / "report.html")
    assert type(model).__name__ in page
    read = lt.Certificate.from_json(found.to_dict())
    assert read.to_dict() == found.to_dict()


def test_theorems_are_those_of_the_model(certified):
    model, found = certified
    claims = set(found["identifiable"].claims)
    assert ("sufficient changes" in claims) == isinstance(model, HasLatentDistributions)
    assert ("sparsity of the mixing" in claims) == isinstance(model, HasMixing)


@pytest.mark.long
@pytest.mark.usefixtures("few_tries")
def test_a_sparse_mixing_is_audited_over_restarts():
    """Planted: three latents, each with a variable of its own; two fits are compared."""
    data = lt.generators.sparse_mixing(latents=3, rows_per_domain=150, seed=0)
    training, _ = data.split(0.7, 0.3)
    model = tiny("cgvae").set_params(latent_dim=3, epochs=3).fit(training)
    part = lt.certify(model, data, only=["identifiable"], restarts=1)["identifiable"]
    assert {"sufficient changes", "sparsity of the mixing"} == set(part.claims)
    assert part.claims["sparsity of the mixing"].sentence
    assert np.isfinite(part.numbers["domains present"].value)
