"""Mediation of numbers at a declared resolution, against Gaussian closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from latentry.data import GaussianChannel
from latentry.errors import DataError
from latentry.natural import as_rows, audit
from latentry.natural.from_samples.resolution_bounds import resolution_lessons, resolution_upper


def mediation(views, latent, **settings):
    return audit(views, latent, drift=False, **settings).claims[0]


@pytest.mark.parametrize("bent", [False, True])
def test_what_two_columns_share_is_covered(bent):
    """A constant latent, and what a Gaussian pair shares in closed form. 60 runs at level 0.2; fails once in a million.

    With noise on one column only, the other may be bent by any one-to-one map.
    """
    missed, shared = 0, 0.8
    truth = -0.5 * np.log(1 - shared**2 / (2 if bent else 4))
    for seed in range(60):
        pair = np.random.default_rng(seed).multivariate_normal([0, 0], [[1, shared], [shared, 1]], 300)
        views = {"a": pair[:, :1], "b": pair[:, 1:] ** 3 if bent else pair[:, 1:]}
        rows = as_rows(
            views, np.zeros(300, int), blocks=None, domain=None, noise=None, quantiser=None, fit=0.5, seed=seed
        )
        lessons = resolution_lessons(rows, {"a": 1.0} if bent else {"a": 1.0, "b": 1.0}, rows.fit, rows.audit, seed)
        missed += resolution_upper([lessons], 2, 0.2, seed) < truth
    assert missed <= binom.isf(1e-6, 60, 0.2)


def test_sensors_are_certified_at_their_resolution_and_not_below():
    rng = np.random.default_rng(0)
    z = rng.integers(0, 2, 2000)
    views = {
        name: sign * 3.0 * z[:, None] + 0.1 * rng.standard_normal((2000, 1)) for name, sign in (("a", 1), ("b", -1))
    }
    coarse = audit(views, z, epsilon=0.1, resolution=0.5, drift=False)
    assert coarse.verdict.certified
    assert "at resolution σ = 0.5 (a), 0.5 (b)" in coarse.verdict.sentence
    fine = audit(views, z, epsilon=0.1, resolution=0.05, drift=False)
    assert fine.verdict.status == "cannot say"
    assert "a coarser resolution" in fine.verdict.change


def test_labels_need_no_resolution_and_one_block_goes_without():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((1500, 1))
    latent = GaussianChannel(z, np.full_like(z, 0.3))
    views = {"number": z + 0.05 * rng.standard_normal((1500, 1)), "label": rng.integers(0, 2, 1500)}
    claim = mediation(views, latent, epsilon=0.5, resolution={"number": 1.0})
    assert claim.upper.value < 0.25
    pair = {"a": z, "b": z + 0.05 * rng.standard_normal((1500, 1))}
    assert mediation(pair, latent, epsilon=0.5, resolution={"b": 1.0}).upper.value < 0.25


def test_dependence_beyond_the_latent_is_not_certified():
    """Two views share a column of size σ that Λ does not show: 0.5 ln(4/3) = 0.144 nats after the noise."""
    rng = np.random.default_rng(0)
    z, common = rng.integers(0, 2, 4000), rng.standard_normal((4000, 1))
    views = {"a": 3.0 * z[:, None] + common, "b": 3.0 * z[:, None] + common}
    claim = mediation(views, z, epsilon=0.14, resolution=1.0)
    assert not claim.verdict.certified
    assert claim.upper.value > 0.144


def test_every_mixture_and_several_blocks():
    rng = np.random.default_rng(0)
    z, place = rng.integers(0, 2, 3000), rng.integers(0, 2, 3000)
    views = {name: 3.0 * z[:, None] + 0.1 * rng.standard_normal((3000, 1)) for name in "abc"}
    found = audit(views, z, domain=place, epsilon=0.2, resolution=1.0, drift=False)
    assert found.verdict.certified
    assert list(found.verdicts)[-1] == "every mixture"


@pytest.mark.parametrize(
    ("resolution", "words"),
    [(0.0, "positive"), ({"c": 1.0}, "'c' is no block of numbers"), ({}, "only one block may go without")],
)
def test_resolutions_that_are_none(resolution, words):
    rng = np.random.default_rng(0)
    views = {"a": rng.standard_normal((100, 1)), "b": rng.standard_normal((100, 1))}
    with pytest.raises(DataError, match=words):
        audit(views, rng.integers(0, 2, 100), epsilon=0.1, resolution=resolution)
