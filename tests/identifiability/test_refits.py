"""Assumptions that further fits test: the number of latents, and one mixing for all domains; toy models that fit at once."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import minimize
from scipy.stats import norm
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA

import latentry as lt
from latentry.contracts import (
    HasChannel,
    HasLatentDistributions,
    HasLikelihood,
    KeepsFitRecord,
    LatentDistributions,
    Where,
)
from latentry.data import GaussianChannel
from latentry.identifiability import refit_assumptions
from latentry.identifiability.assumptions import Gain, mean_gain, number_of_latents, one_mixing, scored_anew

DOMAINS, ROWS = 8, 300
U = np.repeat(np.arange(DOMAINS), ROWS)
LARGEST = 5
LEVEL = 0.05


class _Stopped:
    stopped = "end"


class _Toy(BaseEstimator, HasChannel, KeepsFitRecord, HasLikelihood):
    score_name = "log likelihood"
    state_ = _Stopped()

    def __init__(self, latent_dim=2, progress=False):
        self.latent_dim, self.progress = latent_dim, progress

    def fit_record(self):
        return "fitted"

    def fit_history(self):
        return ()

    def score(self, X, y=None):
        return float(self.score_rows(X).mean())

    def likelihoods(self):
        return {"x": "gaussian"}


class Components(_Toy):
    """Probabilistic principal components."""

    def fit(self, X):
        self.pca_ = PCA(self.latent_dim).fit(np.asarray(X["x"]))
        return self

    def channel(self, X, y=None):
        return GaussianChannel(*(self.pca_.transform(np.asarray(X["x"])) * s for s in (1.0, 0.0)))

    def score_rows(self, X, y=None, *, seed=0):
        return self.pca_.score_samples(np.asarray(X["x"]))


class Linear(_Toy, HasLatentDistributions):
    """A linear unmixing of Gaussian latents by maximum likelihood: covariances of all domains as diagonal as can be."""

    def fit(self, X):
        x, labels = np.asarray(X["x"]), X.domain.as_labels()
        self.labels_ = tuple(np.unique(labels).tolist())
        shapes = np.array([np.cov(x[labels == label].T) for label in self.labels_])
        weights = [np.mean(labels == label) for label in self.labels_]

        def loss(entries):
            turned = np.einsum("ji,djk,kl->dil", entries.reshape(2, 2), shapes, entries.reshape(2, 2))
            misfits = [np.log(np.diag(one)).sum() - np.linalg.slogdet(one)[1] for one in turned]
            return np.dot(weights, misfits)

        start = eigh(shapes[0], shapes[-1])[1].ravel()
        self.unmixing_ = minimize(loss, start, method="BFGS").x.reshape(2, 2)
        z = x @ self.unmixing_
        self.moments_ = [(z[labels == label].mean(axis=0), z[labels == label].std(axis=0)) for label in self.labels_]
        return self

    def latent_distributions(self, u=None):
        means, scales = map(np.array, zip(*self.moments_, strict=True))
        return LatentDistributions(means, scales, "gaussian", self.labels_)

    def channel(self, X, y=None):
        z = np.asarray(X["x"]) @ self.unmixing_
        return GaussianChannel(z, np.zeros_like(z))

    def score_rows(self, X, y=None, *, seed=0):
        z = np.asarray(X["x"]) @ self.unmixing_
        place = [self.labels_.index(label) for label in X.domain.as_labels().tolist()]
        means, scales = (np.array(part)[place] for part in zip(*self.moments_, strict=True))
        return norm.logpdf(z, means, scales).sum(axis=1) + np.log(abs(np.linalg.det(self.unmixing_)))


def rows(seed, *, turned=False):
    """Two latents whose spreads change with the domain, mixed; if asked for, in another way in the domain with most rows."""
    rng = np.random.default_rng([17, seed])
    scale, mixing = rng.uniform(0.5, 3, size=(DOMAINS, 2)), rng.normal(size=(2, 2)) + 2 * np.eye(2)
    u = np.concatenate([U, np.full(3000, LARGEST)])
    scale[LARGEST] = 0.5, 1.5
    z = scale[u] * rng.normal(size=(len(u), 2))
    other = np.where((u == LARGEST)[:, None], z @ [[0.7, 0.7], [-0.7, 0.7]], z)
    return lt.Dataset((other if turned else z) @ mixing, u)


def refitted(model, data, seed, progress=None):
    training, fresh = data.split(0.5, 0.5)
    return refit_assumptions(model.fit(training), training, fresh, level=LEVEL, seed=seed, where=Where(say=progress))


def test_a_domain_scored_anew_is_scored_as_by_its_own_distribution():
    """Fitted anew from the very rows of the domain, its distribution is the model's own."""
    training = rows(0)
    model, here = Linear().fit(training), training.take(training.domain.as_labels() == 3)
    assert np.allclose(scored_anew(model, here, here), model.score_rows(here), atol=1e-9)


@pytest.mark.parametrize("turned", [False, True])
def test_one_mixing_is_refuted_where_a_domain_has_another(turned, monkeypatch):
    """Left out in turn are all of eight domains. The level is 0.05 / 8, against a loss above 0."""
    monkeypatch.setattr("latentry.identifiability.refits.MOST_DOMAINS", DOMAINS)
    for seed in range(3):
        said = []
        number, one = refitted(Linear(), rows(seed, turned=turned), seed, said.append)
        assert number.outcome == "untested"
        assert "as many latents as columns" in number.note
        assert sorted(said) == [f"refit without domain {label}" for label in range(DOMAINS)]
        assert one.refuted == turned
        assert not turned or f"worse without {LARGEST} by" in one.note


@pytest.mark.parametrize(("true", "refuted"), [(2, False), (3, True)])
def test_the_number_of_latents_is_refuted_where_one_more_describes_rows_better(true, refuted):
    for seed in range(4):
        rng = np.random.default_rng([18, seed])
        data = lt.Dataset(rng.normal(size=(800, true)) @ rng.normal(size=(true, 6)) + 0.3 * rng.normal(size=(800, 6)))
        number, one = refitted(Components(), data, seed)
        assert number.refuted == refuted
        assert "1 latents: -" in number.note
        assert "3 latents: " in number.note
        assert one.outcome == "untested"


def test_few_domains_cannot_be_left_out():
    data = rows(0)
    few = data.take(data.domain.as_labels() < 5)
    _, one = refitted(Linear(), few.with_domain(few.domain.as_labels()), 0)
    assert one.outcome == "untested"
    assert "fewer than the 5" in one.note


def test_errors_count_units():
    """Ten copies of each difference, as one unit, have the error of a tenth of the rows."""
    single = np.random.default_rng(0).normal(size=100)
    repeated = mean_gain(np.repeat(single, 10), np.repeat(np.arange(100), 10))
    assert np.isclose(repeated.error, mean_gain(single).error)
    assert mean_gain(np.repeat(single, 10)).error < repeated.error / 2


def test_a_difference_within_the_tolerance_refutes_nothing():
    small, large = Gain(0.02, 0.001, 500), Gain(0.2, 0.01, 500)
    assert not number_of_latents(2, {3: small}, LEVEL).refuted
    assert number_of_latents(2, {1: small, 3: large}, LEVEL).refuted
    assert "one fewer describes them as well" in number_of_latents(2, {1: small}, LEVEL).note
    assert not one_mixing({"a": small, "b": small}, LEVEL).refuted
    assert one_mixing({"a": small, "b": large}, LEVEL).refuted
    assert one_mixing({"a": large}, LEVEL).power > 0.99
