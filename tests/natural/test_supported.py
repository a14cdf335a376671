"""Mediation that is supported by tests and predictors, and what withholds the support."""

from __future__ import annotations

import numpy as np

from latentry.evidence import Bound
from latentry.natural import audit
from latentry.natural.from_samples.error_verdicts import by_tests
from latentry.natural.from_samples.independence_tests import Refutation
from latentry.natural.from_samples.observables import block_of
from latentry.natural.from_samples.prediction_gain import predictive_gain


def views_of(rng, rows, shared=None):
    z = rng.integers(0, 2, rows)
    private = rng.standard_normal((2, rows, 2))
    if shared is not None:
        private[1, :, 0] = shared(private[0, :, 0]) + 0.3 * private[1, :, 0]
    return {"a": 6.0 * z[:, None] + private[0], "b": 6.0 * z[:, None] + private[1]}, z


def test_a_mediated_pair_is_supported_and_its_assumptions_are_named():
    views, z = views_of(np.random.default_rng(0), 800)
    found = audit(views, z, epsilon=0.1, drift=False)
    assert found.verdict.status == "supported"
    claim = found.claims[0]
    outcomes = {one.name: one.outcome for one in claim.verdict.assumptions}
    assert set(outcomes.values()) == {"not refuted", "untested"}
    assert outcomes["rows are independent"] == "untested"
    assert "boosted trees, kernel regressions and nets" in claim.verdict.sentence
    assert claim.class_gain.value <= 0.1


def test_predictors_see_what_is_bent():
    """The second view holds the square of the first one's private part: every predictor with one bend gains."""
    views, z = views_of(np.random.default_rng(1), 800, shared=np.square)
    every = np.arange(800)
    blocks = [block_of(name, column, every, label=False, fit=every, seed=0) for name, column in views.items()]
    assert predictive_gain(blocks, np.eye(2)[z], every, 0.05, 0).value > 0.5


def test_gains_above_epsilon_withhold_support():
    tests = (Refutation("test", 0.5, 0.0, 100, 0.1),)
    gains = [by_tests("mediation error", "x", 0.1, 0.05, tests, 0.9, Bound(g, "upper")) for g in (0.05, 0.2)]
    assert [claim.verdict.status for claim in gains] == ["supported", "not refuted"]
