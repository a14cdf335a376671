"""Answers that must not be given: each of these once was."""

import numpy as np
import pytest

import latentry as lt
from latentry.contracts import HasChannel, HasLatentDistributions, LatentDistributions
from latentry.data import GaussianChannel
from latentry.identifiability import agreement, collapse, mcc, sufficient_changes


def test_latents_that_were_lost_are_not_forgiven_by_a_canonical_analysis(rng):
    s = rng.normal(size=(400, 3))
    lost = s * [1, 0, 0]
    assert mcc(lost[:200], s[:200], weak_on=(lost[200:], s[200:])) == pytest.approx(1 / 3, abs=0.02)


def test_a_latent_that_only_follows_a_continuous_domain_is_collapsed(rng):
    u = rng.uniform(-2, 2, size=1000)
    channel = GaussianChannel(np.column_stack([np.sin(u), u]), np.full((1000, 2), 0.3))
    assert collapse(channel, u).collapsed == (0, 1)


def test_divergences_are_for_normal_priors_only(rng):
    channel = GaussianChannel(rng.normal(size=(60, 1)), np.full((60, 1), 0.3))
    laws = LatentDistributions(np.zeros((2, 1)), np.ones((2, 1)), "laplace")
    assert np.isnan(collapse(channel, np.arange(60) % 2, distributions=laws).divergence).all()


def test_rows_do_not_certify_statistics_that_they_cannot_show(rng):
    """A learned table whose parameters change, and rows in which nothing does."""
    natural = rng.normal(size=(12, 1, 3)) * 3
    fisher = np.broadcast_to(np.eye(3), (12, 1, 3, 3))
    shown = {"rows": np.full(12, 500.0), "natural": natural, "fisher": fisher}
    laws = LatentDistributions(np.zeros((12, 1)), np.ones((12, 1)), "natural", **shown)

    class Model(HasLatentDistributions):
        def latent_distributions(self, u=None):
            return laws

    found = sufficient_changes(Model(), (rng.normal(size=(2400, 1)), np.arange(2400) % 12))
    assert found.verdict.status != "certified"


@pytest.mark.parametrize("family", ["mean", "gaussian", "laplace"])
def test_one_latent_that_follows_only_its_domain_is_no_finding(family, rng):
    u = np.repeat(np.arange(6), 200)
    laws = LatentDistributions(np.arange(6.0)[:, None], np.ones((6, 1)), family, rows=np.full(6, 1000.0))

    class Model(HasLatentDistributions, HasChannel):
        def latent_distributions(self, u=None):
            return laws

        def channel(self, data, y=None):
            scale = 1.0 if family != "laplace" else 0.01
            spread = 0.01 if family != "laplace" else 1.0
            return GaussianChannel(u[:, None] + spread * rng.laplace(size=(1200, 1)), np.full((1200, 1), scale))

        def transform(self, data):
            return self.channel(data).mean

    found = sufficient_changes(Model(), lt.Dataset(rng.normal(size=(1200, 2)), domain=u))
    assert found.verdict.status != "certified"


def test_too_few_rows_say_nothing_about_linear_maps(rng):
    found = agreement([rng.normal(size=(5, 2)), rng.normal(size=(5, 2))])
    assert "linear map" not in str(found.verdict) or np.isfinite(found.weak[0, 1])


def identified(rng, rows):
    """Two latents with enough changes in eight domains."""
    u = np.repeat(np.arange(8), rows)
    law = np.random.default_rng(1)
    mean, scale = law.uniform(-3, 3, size=(8, 2)), law.uniform(0.5, 3, size=(8, 2))
    return mean[u] + scale[u] * rng.normal(size=(8 * rows, 2)), u, mean, scale


def test_a_poor_fit_is_no_ground_for_a_no(rng):
    z, u, mean, scale = identified(rng, 2000)
    laws = LatentDistributions(mean, scale, "gaussian", rows=np.full(8, 2000.0))
    assert sufficient_changes(laws, (z, u)).verdict.status == "supported"
    for angle in np.linspace(0.3, 1.3, 6):
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        found = sufficient_changes(laws, (z @ turn, u))
        assert found.verdict.status != "refuted", angle
        assert not found.proved_impossible
        if found.dependence > 0.15:
            assert "better fit" in found.verdict.change


def test_a_table_without_rows_proves_nothing():
    same = LatentDistributions(np.zeros((8, 2)), np.ones((8, 2)), "gaussian", rows=np.full(8, 2000.0))

    class Model(HasLatentDistributions):
        def latent_distributions(self, u=None):
            return same

    found = sufficient_changes(Model())
    assert found.verdict.status == "cannot say"
    assert not found.proved_impossible
    assert "held-out rows" in found.verdict.change


def test_few_rows_of_a_continuous_domain_leave_it_open(rng):
    u = rng.uniform(-1, 1, size=360)
    z = np.column_stack([u, -u]) + rng.normal(size=(360, 2)) * np.exp(np.column_stack([u, np.sin(3 * u)]))
    laws = LatentDistributions(np.zeros((3, 2)), np.ones((3, 2)), "gaussian", rows=np.full(3, 120.0))
    found = sufficient_changes(laws, (z, u))
    assert found.verdict.status == "cannot say"
    assert found.verdict.change.endswith("rows") or "more" in found.verdict.change


def test_latents_that_are_copies_get_a_sentence(rng):
    z, u, mean, scale = identified(rng, 200)
    laws = LatentDistributions(mean, scale, "gaussian", rows=np.full(8, 200.0))
    with pytest.raises(lt.DataError, match="latents 0 and 1 are copies of each other in domain 0"):
        sufficient_changes(laws, (z[:, [0, 0]], u))
    with pytest.raises(lt.DataError, match="latent 0 has fewer than 5 distinct values"):
        sufficient_changes(laws, (np.sign(z), u))
