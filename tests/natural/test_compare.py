"""Comparisons of latents against closed forms of finite distributions, staged bets, and planned rows."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.stats import binom

from latentry.data import CategoricalChannel
from latentry.errors import DataError
from latentry.generators import finite_laws
from latentry.natural import audit, compare, mediation_error, redundancy_error
from latentry.natural.from_samples.mean_bounds import staged_upper
from latentry.natural.from_samples.rows_needed import rows_needed, rows_needed_in_words


def drawn(law, n, seed):
    cells = np.random.default_rng(seed).choice(law.size, n, p=law.ravel())
    return np.unravel_index(cells, law.shape)


def sum_of_errors(law, channel):
    return mediation_error(law, channel) + sum(redundancy_error(law, channel, i) for i in range(law.ndim))


def with_any_channels(rng):
    law = rng.dirichlet(np.full(12, 0.5)).reshape(2, 3, 2)
    return law, [rng.dirichlet(np.full(2, 0.3), size=law.shape) for _ in range(2)]


def with_common_cause(rng):
    """A coin behind three observables, the channel that guesses it from them and one that does not look, in any order."""
    middle = np.array([[0.9, 0.05, 0.05], [0.05, 0.05, 0.9]])
    shown = [np.array([[0.95, 0.05], [0.05, 0.95]]), middle, np.array([[0.9, 0.1], [0.1, 0.9]])]
    joint = np.einsum("za,zb,zc->abcz", *shown) / 2
    law = joint.sum(axis=-1)
    return law, [[joint / law[..., None], np.broadcast_to([0.9, 0.1], joint.shape)][i] for i in rng.permutation(2)]


@pytest.mark.parametrize("soft", [False, True])
def test_differences_are_covered(soft):
    """Random laws of three observables and random channels, 25 runs with four bounds at level 0.05 each: once in a million.

    In every other run one of the two channels tells the common cause, so that bounds for latents in the wrong order miss."""
    missed, clear = 0, []
    for seed in range(25):
        rng = np.random.default_rng([seed, soft])
        law, channels = with_common_cause(rng) if seed % 2 else with_any_channels(rng)
        if not soft:
            channels = [np.eye(2)[channel.argmax(axis=-1)] for channel in channels]
        place = drawn(law, 1200, seed)
        rows = {str(i): column for i, column in enumerate(place)}
        found = compare(rows, *(CategoricalChannel(channel[place]) for channel in channels), seed=seed)
        for verdict, error in ((found.mediation, mediation_error), (found.total, sum_of_errors)):
            truth = error(law, channels[1]) - error(law, channels[0])
            low, high = (bound.value for bound in verdict.evidence.values())
            missed += (low > truth) + (high < truth)
            if seed % 2 and error is mediation_error:
                clear += [low > truth, high < truth]
                assert low > 0 or high < 0, "a difference so clear that latents in the wrong order would miss it"
    assert sum(clear) <= binom.isf(1e-6, len(clear), 0.05) < len(clear) / 2
    assert missed <= binom.isf(1e-6, 100, 0.05)


def test_a_natural_latent_is_better_than_a_constant():
    """The difference is the entropy of the part that both observables show."""
    family = finite_laws.planted_natural(domains=1)
    rows = drawn(family.laws[0], 4000, 0)
    views = {"left": rows[0], "right": rows[1]}
    common = CategoricalChannel(family.channel[rows])
    found = compare(views, common, np.zeros(4000, dtype=int), margin=0.3)
    assert found.mediation.status == found.total.status == "certified"
    assert compare(views, np.zeros(4000, dtype=int), common).mediation.status == "refuted"
    assert compare(views, common, common, margin=0.3).mediation.status == "refuted"
    assert compare(views, common, common).mediation.status == "cannot say"
    assert "level 0.05" in str(found)


def test_latents_that_are_both_far_from_natural_are_ordered():
    """Errors of .18 and .55 nats, on 4,000 rows: bounds are a quarter of a nat away from the difference, not the whole entropy."""
    law = np.random.default_rng([0, 4000]).dirichlet(np.full(12, 0.5)).reshape(2, 3, 2)
    first, second = np.eye(2)[np.indices(law.shape).sum(axis=0) % 2], np.eye(2)[np.indices(law.shape)[0]]
    place = drawn(law, 4000, 0)
    rows = {str(i): column for i, column in enumerate(place)}
    found = compare(rows, CategoricalChannel(first[place]), CategoricalChannel(second[place]))
    for verdict, error in ((found.mediation, mediation_error), (found.total, sum_of_errors)):
        low, high = (bound.value for bound in verdict.evidence.values())
        truth = error(law, second) - error(law, first)
        assert low <= truth <= high
        assert high - low < 1.0
        assert verdict.status == ("certified" if truth > 0 else "refuted")


def test_noise_in_labels_is_not_taken_for_what_blocks_do_not_tell():
    """Λ is a coin of its own: no block tells it, nor do all together, so that its redundancy errors are zero."""
    rng, rows = np.random.default_rng(0), 3000
    views = {"a": rng.integers(0, 2, rows), "b": rng.integers(0, 2, rows)}
    coin, nothing = rng.integers(0, 2, rows), np.zeros(rows, dtype=int)
    for found, sign in ((compare(views, coin, nothing), 1), (compare(views, nothing, coin), -1)):
        for verdict in (found.mediation, found.total):
            low, high = (sign * bound.value for bound in verdict.evidence.values())
            assert min(low, high) <= 0 <= max(low, high)


def test_what_cannot_be_compared():
    rng = np.random.default_rng(0)
    views = {"a": rng.standard_normal((200, 2)), "b": rng.standard_normal((200, 2))}
    numbers = rng.standard_normal((200, 1))
    with pytest.raises(DataError, match="quantiser"):
        compare(views, numbers, numbers)
    with pytest.raises(DataError, match="margin=-1"):
        compare(views, rng.integers(0, 2, 200), rng.integers(0, 2, 200), margin=-1.0)
    assert compare(views, numbers, rng.integers(0, 2, 200), quantiser=2).rows == 200


def test_bets_over_stages_and_domains_cover():
    """The worst domain changes from stage to stage: 200 runs at level 0.1, fails once in a million."""
    rng, missed = np.random.default_rng(0), 0
    for _ in range(200):
        stages = [[rng.binomial(1, p, 40) * 1.0 for p in means] for means in ((0.3, 0.05), (0.1, 0.3), (0.3, 0.2))]
        missed += staged_upper(stages, 1.0, 0.1) < 0.3
    assert 0 < missed <= binom.isf(1e-6, 200, 0.1)


def test_stages_add_up():
    """Two stages of one student are worth as much as all its losses at once, and more than the last of them."""
    losses = np.random.default_rng(0).uniform(0, 0.1, 400)
    split = staged_upper([[losses[:150]], [losses[150:]]], 1.0, 0.05)
    assert split == pytest.approx(staged_upper([[losses]], 1.0, 0.05), abs=3e-3)
    assert split < staged_upper([[losses[150:]]], 1.0, 0.05)


def test_planned_rows_suffice():
    """At one and a half times the planned rows most of 10 data sets reach the threshold; at a third of them, few."""
    family, reached = finite_laws.planted_natural(seed=3), {}

    def mediation(rows, seed):
        sample = family.sample(rows, seed)
        views = {f"x{i}": sample.observables[:, i] for i in range(2)}
        claims = audit(views, sample.latent, domain=sample.domain, epsilon=0.1, drift=False, seed=seed).claims
        return next(c for c in claims if c.error == "mediation error" and c.place == "every mixture")

    first = mediation(300, 0)
    planned = int(re.search(r"about (\d+) where there are 150 now", first.verdict.change)[1])  # in each of two domains
    for rows in (2 * planned // 3, 3 * planned):
        reached[rows] = sum(mediation(rows, seed).upper.value <= 0.1 for seed in range(1, 11))
    low, high = reached.values()
    assert low <= 5 <= high


def test_rows_in_words():
    assert rows_needed(500, np.inf, 0.0, 0.0, 0.1, 0.05) is None
    assert "more rows alone may not certify" in rows_needed_in_words(None, 100, 0.2, 0.1)
    assert "no number of rows" in rows_needed_in_words(None, 100, 0.0999999, 0.1)
    slow = rows_needed(1000, 0.2, 0.0, 1.0, 0.1, 0.05)
    assert slow > rows_needed(1000, 0.2, 0.0, 0.0, 0.1, 0.05)


def test_rows_in_order_leave_a_comparison_open():
    rng = np.random.default_rng(0)
    subject = np.repeat(np.arange(12), 400)
    views = {"scan": rng.permutation(12)[subject], "voice": rng.permutation(12)[subject]}
    diagnosis = (rng.permutation(12) % 2)[subject]
    found = compare(views, diagnosis, np.zeros(len(subject), int), margin=0.05)
    assert (found.mediation.status, found.total.status) == ("cannot say", "cannot say")
    assert "rows contradict an assumption" in found.mediation.sentence
    order = rng.permutation(len(subject))
    shuffled = compare(
        {k: v[order] for k, v in views.items()}, diagnosis[order], np.zeros(len(order), int), margin=0.05
    )
    assert "Untested: rows are independent" in shuffled.mediation.sentence
