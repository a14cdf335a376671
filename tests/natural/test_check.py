"""The report: what it says, in words, and what it refuses."""

import json

import numpy as np
import pytest

from latentry.errors import DataError
from latentry.generators import finite_laws
from latentry.natural import as_channel, as_law, as_laws, ball, check
from latentry.natural.distributions import MAX_CELLS

FAIR = np.full((2, 2), 0.25)
CONSTANT = np.ones((2, 2, 1))


@pytest.mark.parametrize("observables", [2, 3])
def test_a_planted_natural_latent_is_certified_everywhere(observables):
    family = finite_laws.planted_natural(domains=3, observables=observables)
    report = check(family.laws, family.channel, epsilon=0.001)
    assert report.verdict.certified
    assert all(v.certified for v in report.verdicts.values())
    assert report.worst.mediation.upper.value < 2e-5
    assert report.baselines["constant"].mediation.value > 0.1


@pytest.mark.parametrize(
    ("family", "reason"),
    [
        (finite_laws.leaked_noise(), "redundancy error of X_2"),
        (finite_laws.synergy(), "error"),
        (finite_laws.constant_latent(), "mediation error"),
        (finite_laws.near_miss(0.15), "mediation error"),
        (finite_laws.xor_across_domains(shared=True), "mediation error"),
    ],
    ids=lambda x: getattr(x, "planted", x),
)
def test_planted_failures_are_refuted_for_the_right_reason(family, reason):
    report = check(family.laws, family.channel, epsilon=0.1)
    assert report.verdict.refuted
    assert reason in report.verdict.sentence


def test_near_miss_has_the_planted_error():
    family = finite_laws.near_miss(0.05)
    report = check(family.laws, family.channel)
    assert [d.mediation.value for d in report.domains] == pytest.approx([0.05, 0.05], abs=1e-12)
    assert report.verdict is None


def test_noisy_copies_of_a_bit():
    family = finite_laws.noisy_copies(3, 0.05)
    errors = check(family.laws, family.channel).pooled
    assert errors.mediation.value == pytest.approx(0.0, abs=1e-12)
    assert [b.value for b in errors.redundancy] == pytest.approx([0.169] * 3, abs=5e-4)
    assert sum(b.value for b in errors.redundancy) == pytest.approx(0.507, abs=1e-3)


def test_the_tangent_bound_is_the_tightest():
    family = finite_laws.random_family((2, 3), 2, 3, seed=5)
    report = check(family.laws, family.channel, [0.2, 0.3, 0.5])
    for row in report.theorem:
        for truth, tangent, refined, ratio in zip(
            row.redundancy, row.redundancy_tangent, row.redundancy_refined, row.redundancy_ratio, strict=True
        ):
            assert truth.value <= tangent.value + 1e-12
            assert truth.value <= refined.value + 1e-12 <= ratio.value + 2e-12
            assert tangent.direction == "upper"


def test_a_domain_without_weight_gets_an_infinite_bound():
    family = finite_laws.xor_across_domains()
    report = check(family.laws, family.channel, [1.0, 0.0])
    assert report.theorem[1].redundancy_ratio[0].value == np.inf
    assert not report.stationary
    json.dumps(report.to_json(), allow_nan=False)


def test_text_and_json():
    family = finite_laws.xor_across_domains(shared=True)
    report = check(family.laws, family.channel, epsilon=0.1, names=["north", "south"], observables=["left", "right"])
    text = str(report)
    assert "redundancy right" in text.splitlines()[0]
    assert "north" in text
    assert "worst mixture" in text
    assert "[copy of left]" in text
    assert "Pooled mediation does not bound the domains" in text
    written = json.loads(json.dumps(report.to_json(), allow_nan=False))
    assert written["pooled"]["mediation"]["direction"] == "exact"
    assert written["verdicts"]["worst mixture"]["status"] == "refuted"


def test_an_almost_constant_latent_is_called_out():
    channel = np.stack([np.full((2, 2), 0.9999), np.full((2, 2), 0.0001)], axis=-1)
    assert "almost constant" in " ".join(check(FAIR, channel).notes)


def test_one_distribution_is_one_domain_and_counts_can_be_scaled():
    report = check(4 * FAIR, CONSTANT, normalize=True)
    assert report.names == ("domain 0",)
    assert report.worst.region == "the only domain"
    assert "pooled" not in str(report)
    only = check(FAIR, CONSTANT, epsilon=0.1)
    assert list(only.verdicts) == ["domain 0"]
    assert only.verdict.certified


def test_a_worst_case_in_a_ball():
    family = finite_laws.xor_across_domains()
    report = check(family.laws, family.channel, region=ball([0.5, 0.5], 0.1), epsilon=0.05)
    # P(agree) = 0.6 at the edge of the ball: ln 2 − h(0.6).
    assert report.worst.mediation.upper.value == pytest.approx(0.0201355, abs=3e-5)
    assert report.verdict.certified
    assert report.verdicts["domain 0"].refuted


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: check([FAIR * 8, FAIR], CONSTANT), r"laws\[0\].* 8, not 1.*normalize=True"),
        (lambda: check([FAIR, -FAIR], CONSTANT), r"laws\[1\].*negative entry -0.25 at cell \(0, 0\)"),
        (lambda: check([FAIR, np.full((2, 3), 1 / 6)], CONSTANT), r"laws\[1\].*\(2, 3\).*laws\[0\].*\(2, 2\)"),
        (lambda: check([FAIR], np.ones((2, 3, 1))), r"channel.*\(2, 3, 1\).*expected \(2, 2\) \+"),
        (lambda: check([FAIR], 0.5 * CONSTANT), r"not a probability row at cell \(0, 0\), which occurs"),
        (lambda: check(FAIR, CONSTANT, [1.0]), "one distribution.*weights or region ask for a mixture"),
        (lambda: check([FAIR, FAIR], CONSTANT, [0.5]), r"weights.*\(1,\).*2 domains"),
        (lambda: check([FAIR, FAIR], CONSTANT, [0.9, 0.9]), "weights: sums to 1.8"),
        (lambda: check([FAIR], CONSTANT, epsilon=0), "epsilon=0: must be positive"),
        (lambda: check([FAIR], CONSTANT, names=["a", "b"]), r"names=\['a', 'b'\].*1 domains"),
        (lambda: check([FAIR], CONSTANT, observables=["a"]), r"observables=\['a'\].*2 observables"),
        (lambda: check([FAIR], CONSTANT, region=ball([0.5, 0.5], 0.1)), "region=.*2 domains.* 1"),
        (lambda: check([[[np.nan, 1], [0, 0]]], CONSTANT), r"laws\[0\].* nan at cell \(0, 0\)"),
        (lambda: check([[["a", 1], [0, 0]]], CONSTANT), r"laws\[0\].*not a table of numbers"),
        (lambda: check([], CONSTANT), "laws: is empty"),
        (lambda: check(3.0, CONSTANT), "laws=3.0: is one number"),
        (lambda: check([FAIR, FAIR], np.ones((2, 2, 2, 1))), r"channel.*\(2, 2, 2, 1\).*look like 2 domains"),
        (lambda: check([FAIR, FAIR], np.ones((2, 2))), r"channel.*\(2, 2\).*one axis per observable"),
        (lambda: check([FAIR, FAIR], np.ones(4)), r"channel.*\(4,\).* 3 axes if"),
        (lambda: check([FAIR], [[["a"]]]), "channel: is not a table of numbers"),
        (lambda: check([FAIR, FAIR], CONSTANT, names=["pooled", "x"]), "names: 'pooled' is given twice or has another"),
        (lambda: check([FAIR, FAIR], CONSTANT, names=["x", "x"]), "names: 'x' is given twice"),
        (lambda: as_laws([[0.5, 0.5]]), "at least two observables"),
        (lambda: as_law(np.zeros((2, 2))), "law: has no mass"),
        (lambda: as_law([]), "empty table"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(DataError, match=words):
        call()


def test_a_table_that_is_too_large_says_its_size_and_the_alternative():
    huge = np.broadcast_to(np.float64(0.0), (MAX_CELLS + 1,))
    with pytest.raises(DataError, match="67,108,865 cells.*audit samples with latentry.natural.audit"):
        as_law(huge)
    with pytest.raises(DataError, match="channel: needs a table of"):
        as_channel(np.broadcast_to(np.float64(0.0), (2, 2**14, 2**12)), np.ones((2, 2**14), dtype=bool))


def test_the_channel_may_be_undefined_where_nothing_happens():
    law = np.array([[0.5, 0.0], [0.0, 0.5]])
    channel = np.full((2, 2, 2), np.nan)
    channel[0, 0], channel[1, 1] = [1, 0], [0, 1]
    assert check([law], channel, epsilon=0.01).verdict.certified


def test_many_observables_look_at_the_ends_of_the_deletion_budget_only():
    law = np.full((2,) * 9, 2.0**-9)
    report = check(law, np.ones((2,) * 9 + (1,)))
    assert sorted(report.pooled.deletion) == [1, 8]
    assert report.pooled.mediation.value == pytest.approx(0.0, abs=1e-10)
