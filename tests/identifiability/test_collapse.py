import numpy as np
import pytest

import latentry as lt
from latentry.contracts import HasChannel, HasLatentDistributions, LatentDistributions
from latentry.data import GaussianChannel
from latentry.identifiability import collapse


def test_the_divergence_has_its_closed_form(rng):
    u = np.repeat([0, 1], 50)
    laws = LatentDistributions([[0.0], [3.0]], [[1.0], [2.0]], "gaussian")
    mean, scale = laws.location[u] + rng.normal(size=(100, 1)), np.full((100, 1), 0.5)
    prior = laws.scale[u]
    expected = np.log(prior / scale) + (scale**2 + (mean - laws.location[u]) ** 2) / (2 * prior**2) - 0.5
    found = collapse(GaussianChannel(mean, scale), u, distributions=laws)
    assert np.isclose(found.divergence[0], expected.mean())


def test_a_posterior_that_is_the_prior_is_collapsed_though_its_mean_moves():
    """The mean follows u perfectly, and x not at all: active, and yet collapsed."""
    u = np.repeat([0, 1], 50)
    laws = LatentDistributions([[0.0], [3.0]], [[1.0], [1.0]], "gaussian")
    found = collapse(GaussianChannel(laws.location[u], laws.scale[u]), u, distributions=laws)
    assert found.active.all()
    assert found.collapsed == (0,)
    assert np.isclose(found.divergence[0], 0)
    assert found.verdict.refuted


def test_shares_are_shares_of_variance(rng):
    mean = rng.normal(size=(20_000, 2)) * [2.0, 0.5]
    found = collapse(GaussianChannel(mean, np.ones_like(mean)))
    assert np.allclose(found.fraction, [4 / 5, 0.25 / 1.25], atol=0.02)
    assert np.isnan(found.divergence).all()
    assert found.verdict.certified


def test_a_noiseless_encoder_is_not_collapsed(rng):
    u = rng.integers(0, 2, size=60)
    laws = LatentDistributions(np.zeros((2, 2)), np.ones((2, 2)), "variance")
    found = collapse(GaussianChannel(rng.normal(size=(60, 2)), np.zeros((60, 2))), u, distributions=laws)
    assert np.isinf(found.divergence).all()
    assert (found.fraction == 1).all()
    assert "at least 100 %" in found.verdict.sentence


class Model(HasChannel, HasLatentDistributions):
    def __init__(self, channel, laws):
        self._channel, self._laws = channel, laws

    def channel(self, X, y=None):
        return self._channel

    def latent_distributions(self, u=None):
        return self._laws


def test_a_model_brings_its_own_prior(rng):
    u = rng.integers(0, 2, size=60)
    laws = LatentDistributions(np.zeros((2, 1)), np.ones((2, 1)), "variance")
    model = Model(GaussianChannel(np.zeros((60, 1)), np.ones((60, 1))), laws)
    found = collapse(model, lt.Dataset(np.zeros((60, 1)), domain=u))
    assert np.isclose(found.divergence[0], 0)
    assert found.verdict.sentence.startswith("1 of 1 latents is collapsed")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda c: collapse(c, [0, 1]), "data has 2 domains and the channel has 10 rows"),
        (lambda c: collapse(c, threshold=0), "threshold=0:"),
        (lambda c: collapse("model", None), "source=str: has no channel"),
        (lambda c: collapse(Model(c, None), None), "held-out rows as a Dataset"),
        (
            lambda c: collapse(c, ["a"] * 10, distributions=LatentDistributions([[0]], [[1]], "mean")),
            "domain='a': has no distribution",
        ),
    ],
)
def test_bad_input(rng, call, sentence):
    with pytest.raises(lt.DataError, match=sentence):
        call(GaussianChannel(rng.normal(size=(10, 1)), np.ones((10, 1))))
