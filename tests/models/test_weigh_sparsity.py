"""Which weight is taken: losses, errors, agreement and supports planted by hand."""

from dataclasses import replace

import numpy as np
import pytest

import latentry as lt
from latentry.contracts import MixingSupport
from latentry.models.selection.weigh_sparsity import (
    FitFacts,
    Weighed,
    alike,
    behind,
    choose_weight,
    free_agreement,
    latents_agree,
    weigh,
)

CYCLE = MixingSupport(np.eye(4) + np.roll(np.eye(4), 1, axis=1))
STAIRS = MixingSupport(np.tril(np.ones((4, 4))))
TWINS = MixingSupport([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 1]])
GOOD = Weighed(
    best=0,
    behind=0.002,
    error=0.004,
    slack=0.001,
    reached=2,
    stability=1.0,
    agreement=0.99,
    nearest=0.95,
    support=CYCLE,
)
FREE = Weighed(
    best=0,
    behind=0.0,
    error=0.0,
    slack=0.0,
    reached=3,
    stability=0.2,
    agreement=0.9,
    nearest=1.0,
    support=MixingSupport(np.ones((4, 4))),
)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, ""),
        ({"behind": 0.0081}, "costs likelihood"),  # more than two standard errors
        ({"behind": 0.0081, "slack": 0.01}, ""),  # no more than another start without a penalty
        ({"behind": np.nan}, "costs likelihood"),
        ({"behind": -0.1}, ""),
        ({"support": STAIRS}, "10 edges explain any data"),
        ({"support": TWINS}, "latents 1 and 2 act on the same variables"),
        ({"stability": 0.4}, "starts find different mixings"),
        ({"agreement": 0.8}, "less steady"),
        ({"stability": np.nan, "agreement": np.nan, "reached": 1}, ""),  # the others were stuck: no rival
        ({"nearest": 0.89}, "none of those that are as likely"),
    ],
)
def test_one_objection_is_enough(change, words):
    found = replace(GOOD, **change).refusal(free=0.9)
    assert (words in found) if words else found == ""
    assert choose_weight([FREE, replace(GOOD, **change)], free=0.9) == (0 if words else 1)


def test_edges_saved_do_not_make_up_for_likelihood():
    """A mixing with half the edges at a clear loss: no number of edges takes it back."""
    few = MixingSupport(np.eye(4))
    assert choose_weight([FREE, replace(GOOD, support=few, behind=0.05, error=0.01)], free=0.5) == 0


def test_of_several_weights_the_steadiest_and_then_the_largest():
    shaky, steady = replace(GOOD, stability=0.8), replace(GOOD, stability=0.998)
    assert choose_weight([FREE, GOOD, shaky], free=0.9) == 1
    assert choose_weight([FREE, GOOD, steady, shaky], free=0.9) == 2
    with pytest.raises(lt.DataError, match="no fit has a finite score"):
        choose_weight([replace(FREE, behind=np.nan)], free=0.9)


def fact(rng, support, shift=0.0, noise=0.0, price=0.0, seed=0):
    rows, latents = np.random.default_rng(9).normal(size=(500,)), np.random.default_rng(8).normal(size=(500, 4))
    scores = rows - shift + 0.02 * rng.normal(size=500)
    return FitFacts(scores, float(-scores.mean() + price), support, latents + noise * rng.normal(size=(500, 4)))


def test_starts_count_that_are_as_likely_with_as_few_edges(rng):
    """The second is the same in another order, the third has more edges, the fourth is stuck, far below."""
    turned = MixingSupport(CYCLE.present[:, [2, 0, 3, 1]])
    starts = [
        fact(rng, CYCLE),
        fact(rng, turned, noise=0.1, price=0.1),
        fact(rng, STAIRS, noise=9, price=0.2),
        fact(rng, CYCLE, shift=1.0, noise=9),
    ]
    found = weigh(starts, [fact(rng, STAIRS, shift=-0.01, noise=9), fact(rng, STAIRS, noise=0.5)])
    assert found.slack == pytest.approx(0.01, abs=0.005)
    assert found.nearest == pytest.approx(0.89, abs=0.03)
    assert found.best == 0
    assert (found.reached, found.stability) == (2, 1.0)
    assert found.agreement == pytest.approx(0.995, abs=0.01)
    assert found.behind == pytest.approx(0.01, abs=0.005)
    assert found.error == pytest.approx(0.02 * np.sqrt(2 / 500), rel=0.2)


def test_agreement_without_a_penalty_is_that_of_starts_as_likely_as_the_best(rng):
    same, far = fact(rng, STAIRS), fact(rng, STAIRS, shift=1.0, noise=9)
    assert free_agreement(alike([far, same, fact(rng, STAIRS, price=0.1)])) == pytest.approx(1.0)
    assert free_agreement(alike([same, fact(rng, STAIRS, noise=9, price=0.1), far])) < 0.5
    assert np.isnan(free_agreement(alike([same, far])))
    assert alike([far, same])[0] is same


def test_latents_are_compared_up_to_order_sign_and_monotone_maps(rng):
    z = rng.normal(size=(300, 3))
    assert latents_agree(z, np.exp(-z[:, [2, 0, 1]])) == pytest.approx(1)
    assert latents_agree(z, rng.normal(size=(300, 3))) < 0.3
    assert behind(np.ones(4), np.array([0.0, 1, 0, 1])) == (0.5, 0.25)
