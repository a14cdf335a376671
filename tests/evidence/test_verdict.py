"""Verdicts: no certificate without a bound, no 'not refuted' without a power."""

import json

import pytest

from latentry.errors import DataError
from latentry.evidence import Bound, DirectionError, Verdict, all_of, judge

CERTIFIED = judge("a", [Bound(0.01)], 0.05)
REFUTED = judge("b", [Bound(0.2, "lower")], 0.05)
OPEN = judge("c", [Bound(0.2, "upper")], 0.05)
QUIET = Verdict("not refuted", "nothing seen", {"p": Bound(0.4, "estimate")}, "more rows", power=0.7)


def test_judge_reads_directions():
    assert CERTIFIED.status == "certified"
    assert REFUTED.status == "refuted"
    assert OPEN.status == "cannot say"
    assert judge("d", [Bound(0.0, "estimate")], 0.05).status == "cannot say"
    assert judge("e", [Bound(0.01, "lower")], 0.05).status == "cannot say"
    assert judge("f", [Bound(0.05)], 0.05).status == "certified"


def test_a_tolerance_counts_against_the_claim():
    assert judge("g", [Bound(0.0499, tolerance=0.001)], 0.05).status == "cannot say"


@pytest.mark.parametrize(
    ("parts", "status"),
    [
        ([CERTIFIED, CERTIFIED], "certified"),
        ([CERTIFIED, REFUTED, OPEN, QUIET], "refuted"),
        ([CERTIFIED, OPEN, QUIET], "cannot say"),
        ([CERTIFIED, QUIET], "not refuted"),
    ],
)
def test_conjunction_takes_the_weakest(parts, status):
    whole = all_of(parts, "all hold")
    assert whole.status == status
    assert "all hold: " in whole.sentence


def test_conjunction_reports_the_smallest_power():
    other = Verdict("not refuted", "quiet", {}, "", power=0.2)
    assert all_of([QUIET, other], "both").power == 0.2


def test_refused_verdicts():
    with pytest.raises(DataError, match="only estimates were given"):
        Verdict("refuted", "no", {"p": Bound(0.4, "estimate")})
    with pytest.raises(DataError, match="none was given"):
        Verdict("certified", "yes")
    with pytest.raises(DataError, match="needs the power"):
        Verdict("not refuted", "quiet")
    with pytest.raises(DataError, match="power=2: is not a probability"):
        Verdict("not refuted", "quiet", power=2)
    with pytest.raises(DataError, match="did you mean 'certified'"):
        Verdict("certifed", "yes")
    with pytest.raises(DataError, match="no verdicts"):
        all_of([], "nothing")


def test_a_verdict_has_no_truth_value():
    with pytest.raises(DirectionError, match="five answers, not two"):
        bool(QUIET)


@pytest.mark.parametrize("verdict", [CERTIFIED, REFUTED, OPEN, QUIET])
def test_json_round_trip(verdict):
    text = json.dumps(verdict.to_json(), allow_nan=False)
    assert Verdict.from_json(json.loads(text)).to_json() == verdict.to_json()
