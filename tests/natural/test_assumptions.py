"""Audits on rows that break what they take for granted: nothing is certified there, and the reason is named."""

import re

import numpy as np
import pytest

from latentry import Dataset
from latentry.errors import DataError
from latentry.evidence import Bound
from latentry.natural import as_rows, audit, mean_upper
from latentry.natural.from_samples.error_verdicts import by_bounds
from latentry.natural.from_samples.normality import normality_p_value
from latentry.natural.from_samples.row_order import independence, units_needed
from latentry.row_order import label_order_p_value

UNTESTED = "Untested: rows are independent"


def flipped(rng, labels, rate=0.02):
    return np.where(rng.random(len(labels)) < rate, 1 - labels, labels)


@pytest.fixture(scope="module")
def subjects():
    """Twelve subjects of 200 rows: the scan shows the subject, the latent is the subject's diagnosis."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(12), 200)
    latent = (np.arange(12) % 2)[who]
    return who, {"scan": who, "report": flipped(rng, latent)}, latent


def test_rows_sorted_by_subject_are_noticed(subjects):
    _, views, latent = subjects
    found = audit(views, latent, epsilon=0.3)
    assert found.verdict.status == "cannot say"
    assert "rows in their order" in found.verdict.sentence
    assert "groups=" in found.verdict.change
    assert found.simultaneous == ()


def test_shuffled_subjects_leave_independence_untested(subjects):
    _, views, latent = subjects
    order = np.random.default_rng(1).permutation(len(latent))
    found = audit({name: column[order] for name, column in views.items()}, latent[order], epsilon=0.3)
    assert found.verdict.certified
    assert UNTESTED in found.verdict.sentence


def test_groups_are_what_counts(subjects):
    who, views, latent = subjects
    found = audit(views, latent, epsilon=0.3, groups=who)
    assert found.verdict.status == "cannot say"
    assert "groups or blocks of time to audit" in found.verdict.sentence
    assert "there are 6" in found.verdict.sentence
    assert found.claims[1].upper.n == 6
    same = audit(Dataset({n: c[:, None] for n, c in views.items()}, groups=who), latent, epsilon=0.3)
    assert same.verdict.sentence == found.verdict.sentence


def test_the_least_number_of_groups_is_what_a_bet_without_loss_needs(subjects):
    who, views, latent = subjects
    gathered = {"blocks": None, "domain": None, "noise": None, "quantiser": None, "fit": 0.5, "seed": 0}
    said = units_needed(as_rows(views, latent, units=who, **gathered), 0.3, 0.05)
    least = int(re.search(r"at least (\d+) groups", said)[1])
    allowed = [mean_upper(np.zeros(n), np.log(2 / 0.1), 0.05) <= 0.3 for n in (least - 1, least)]
    assert allowed == [False, True]


def test_groups_stay_whole_and_many_of_them_certify():
    rng = np.random.default_rng(2)
    who = rng.permutation(np.repeat(np.arange(900), 3))
    latent = rng.integers(0, 2, 900)[who]
    found = audit({name: flipped(rng, latent, 0.005) for name in "ab"}, latent, epsilon=0.3, groups=who)
    assert found.verdict.certified
    assert "groups, or blocks of time, are independent" in found.verdict.sentence
    assert found.claims[1].upper.n == 450


def test_few_groups_of_numbers_say_how_many_are_needed():
    rng = np.random.default_rng(3)
    z = rng.standard_normal((300, 1))
    views = {name: z + rng.standard_normal((300, 1)) for name in "ab"}
    found = audit(views, z, noise=0.5, epsilon=0.3, groups=np.arange(300) % 10)
    assert {claim.verdict.status for claim in found.claims} == {"cannot say"}
    assert "5 of them to fit students and 5 to audit, and at least 20 of each are needed" in found.verdict.sentence


def test_a_state_that_lasts_counts_in_blocks_of_time():
    rng = np.random.default_rng(4)
    state = np.repeat(rng.integers(0, 2, 20), 100)
    views = {name: flipped(rng, state) for name in "ab"}
    assert audit(views, state, epsilon=0.3).verdict.status == "cannot say"
    timed = audit(views, state, epsilon=0.3, time=np.arange(2000.0))
    assert timed.verdict.status == "cannot say"
    assert timed.claims[1].upper.n <= 10


def test_copies_of_rows_are_noticed():
    rng = np.random.default_rng(5)
    z = rng.standard_normal((60, 1))
    order = rng.permutation(np.repeat(np.arange(60), 2))
    views = {name: (z + rng.standard_normal((60, 2)))[order] for name in "ab"}
    found = audit(views, z[order], noise=0.5, epsilon=0.3)
    assert {claim.verdict.status for claim in found.claims} == {"cannot say"}
    assert "repeat another" in found.verdict.change


def test_a_latent_that_the_domain_fixes_is_said_to_be_empty():
    rng = np.random.default_rng(6)
    lab = rng.integers(0, 2, 2000)
    views = {name: flipped(rng, lab, 0.005) for name in "ab"}
    assert "function of the domain" in audit(views, lab, domain=lab, epsilon=0.3).verdict.sentence
    assert "function of the domain" not in audit(views, lab, epsilon=0.3).verdict.sentence


@pytest.mark.parametrize("kind", ["labels", "numbers"])
def test_observables_that_share_a_column_are_named(kind):
    rng = np.random.default_rng(7)
    table = rng.integers(0, 2, (400, 3)) if kind == "labels" else rng.standard_normal((400, 3))
    latent = table[:, 1] if kind == "labels" else np.zeros(400, dtype=int)
    found = audit(table, latent, blocks={"a": [0, 1], "b": [1, 2]}, epsilon=1.0)
    assert any("a and b share 1 of their columns" in reason for reason in found.empty)
    assert audit(table, latent, blocks={"a": [0, 1], "b": [2]}, epsilon=1.0).empty == ()


@pytest.mark.parametrize("where", ["with the other", "at random"])
def test_rows_that_are_missing_for_a_reason_are_not_certified(where):
    rng = np.random.default_rng(8)
    label = rng.integers(0, 2, 4000)
    a, b = flipped(rng, label), flipped(rng, label, 0.08).astype(float)
    gone = (a != b) & (rng.random(4000) < 0.5) if where == "with the other" else rng.random(4000) < 0.05
    b[gone] = np.nan
    verdict = audit({"a": a, "b": b}, label, labels=["b"], epsilon=0.4).verdict
    assert "rows with a missing block" in verdict.sentence
    assert verdict.certified == (where == "at random")
    if verdict.certified:  # half of what disagrees with the label may be missing: no comparison of rows shows that
        assert "no block is missing because of its own value" in verdict.sentence.split("Untested: ")[1]


def outcome_of_gaps(views, latent, **options):
    fixed = {"blocks": None, "noise": 1.0, "quantiser": None, "fit": 0.5, "seed": 0, "domain": None}
    rows = as_rows(views, latent, **{**fixed, **options})
    return rows.gaps.assumption(rows.given, 0).outcome


@pytest.mark.parametrize("where", ["at random", "where a is large"])
def test_domains_may_miss_a_block_at_different_rates(where):
    rng = np.random.default_rng(13)
    domain = rng.integers(0, 2, 1200)
    z = 2.0 * domain[:, None] + rng.standard_normal((1200, 1))
    a, b = z + rng.standard_normal((2, 1200, 1))
    rate = np.where(domain, 0.5, 0.05)[:, None]
    b[rng.random((1200, 1)) < (rate if where == "at random" else rate * (a > 2.0 * domain[:, None]))] = np.nan
    found = outcome_of_gaps({"a": a, "b": b}, z, domain=domain)
    assert found == ("not refuted" if where == "at random" else "refuted")


def test_gaps_of_one_unit_count_once():
    """Half of 60 subjects miss a block in all of 20 rows: no reason to think that the others differ from them."""
    rng = np.random.default_rng(14)
    who = np.arange(1200) % 60
    z = rng.standard_normal((60, 1))[who]
    b = np.where((rng.random((60, 1)) < 0.5)[who], np.nan, z)
    views = {"a": z + 0.1 * rng.standard_normal((1200, 1)), "b": b}
    assert [outcome_of_gaps(views, z, units=units) for units in (who, None)] == ["not refuted", "refuted"]


@pytest.mark.parametrize("square", [True, False])
def test_the_gaussian_family_is_tested(square):
    rng = np.random.default_rng(9)
    z, e, f = rng.standard_normal((3, 600, 1))
    views = {"a": z + e, "b": z + ((e**2 - 1) / np.sqrt(2) if square else f)}
    claim = audit(views, z, noise=0.1, family="gaussian", epsilon=0.1).claims[0]
    assert claim.verdict.certified != square
    if not square:
        assert any(one.name == "rows and latent are jointly Gaussian" for one in claim.verdict.assumptions)


def test_redundancy_is_not_refuted_by_a_gaussian_family_that_is():
    """Λ = z² is a function of a = z; a Gaussian likelihood ratio, which sees lines only, would say at least 2 nats."""
    rng = np.random.default_rng(0)
    z, e = rng.standard_normal((2, 400, 1))
    claim = audit({"a": z, "b": z**2 + 0.05 * e}, z**2, noise=0.1, family="gaussian", epsilon=0.05).claims[1]
    assert claim.lower is None
    assert not claim.verdict.refuted


def test_bounds_that_contradict_each_other_decide_nothing():
    upper, lower = Bound(0.04, "upper"), Bound(0.2, "lower")
    assert by_bounds("error", "x", 0.05, upper, None).verdict.certified
    for epsilon in (0.01, 0.05, 0.1):
        claim = by_bounds("error", "x", epsilon, upper, lower, retry=lambda delta: 0.0)
        assert claim.verdict.status == "cannot say"
        assert "contradict" in claim.verdict.sentence
        assert claim.p_certify == 1.0


def test_rows_that_only_look_gaussian_one_by_one_are_not():
    """A sign that is shared: each column is normal, both together are not."""
    rng = np.random.default_rng(10)
    x = rng.standard_normal(800)
    table = np.column_stack([x, np.where(rng.random(800) < 0.5, x, -x)])
    assert normality_p_value(table) < 1e-6
    kept = [normality_p_value(rng.standard_normal((200, 3))) <= 0.1 for _ in range(100)]
    assert sum(kept) <= 20  # more of 100 at level 0.1 has probability 0.001


def test_rows_sorted_by_domain_are_compared_within_domains_when_pooled():
    rng = np.random.default_rng(12)
    domain = np.repeat([0, 1], 100)
    z = 3.0 * domain[:, None] + rng.standard_normal((200, 1))
    gathered = {"blocks": None, "domain": domain, "noise": 1.0, "quantiser": None, "fit": 0.5, "seed": 0}
    rows = as_rows({"a": z + 1.0, "b": domain}, z, **gathered)
    assert rows.as_one().domains == ("all rows",)
    assert [one.outcome for one in independence(rows.as_one())] == ["not refuted", "untested"]


def test_nothing_is_refuted_on_subjects_who_take_turns():
    """Twelve subjects in turn, a trait of each in both blocks: rows depend on each other, and Λ is not to blame."""
    for seed in range(2):
        rng, subject = np.random.default_rng([13, seed]), np.arange(1200) % 12
        trait = rng.standard_normal((12, 2))[subject]
        rows = {"a": trait + rng.standard_normal((1200, 2)), "b": trait + rng.standard_normal((1200, 2))}
        found = audit(rows, rng.integers(0, 2, 12)[subject], epsilon=0.05).verdict
        assert found.status == "cannot say"
        assert found.assumptions[0].refuted
        assert "order" in found.assumptions[0].name


def test_labels_in_order_are_known_at_their_level():
    """Rare labels too: more than 12 of 300 at level 0.01 has probability 1e-5."""
    rng = np.random.default_rng(11)
    p = [label_order_p_value(np.minimum(rng.zipf(1.6, 300), 40), rng.integers(0, 3, 300)) for _ in range(300)]
    assert sum(value <= 0.01 for value in p) <= 12
    assert label_order_p_value(np.sort(rng.integers(0, 30, 300)), np.zeros(300, dtype=int)) < 1e-6


def test_groups_that_are_the_domains_are_named():
    rng, domain = np.random.default_rng(14), np.repeat(np.arange(4), 60)
    z = rng.standard_normal((240, 1))
    with pytest.raises(DataError, match="Each domain is a single group"):
        audit({"a": z, "b": z + 0.1}, z, domain=domain, groups=domain, noise=0.3, epsilon=0.1)
