"""Assumptions, and the verdicts that rest on them."""

import pytest

from latentry.errors import DataError
from latentry.evidence import Assumption, Bound, Verdict, all_of, assumptions_in_words

TESTED = Assumption("rows are independent", "not refuted", "lag one", 0.4, 0.9)
UNTESTED = Assumption("no sensor drifts", "untested", note="a drift can hide in the latents")
AGAINST = Assumption("latents are independent", "refuted", "correlation", 1e-9)


def test_supported_names_what_it_rests_on():
    verdict = Verdict("supported", "identifiable.", assumptions=(TESTED, UNTESTED))
    assert Verdict.from_json(verdict.to_json()) == verdict
    with pytest.raises(DataError, match="none was"):
        Verdict("supported", "identifiable.", assumptions=(UNTESTED,))
    with pytest.raises(DataError, match="latents are independent"):
        Verdict("supported", "identifiable.", assumptions=(TESTED, AGAINST))


def test_supported_stands_between_not_refuted_and_certified():
    certified = Verdict("certified", "yes.", {"a": Bound(0.0)})
    supported = Verdict("supported", "by a theorem.", assumptions=(TESTED,))
    unseen = Verdict("not refuted", "no sign.", power=0.9)
    both = all_of([certified, supported], "claim")
    assert both.status == "supported"
    assert both.assumptions == (TESTED,)
    assert "by a theorem" in both.sentence
    assert all_of([supported, unseen], "claim").status == "not refuted"


def test_the_words_name_tested_and_untested_apart():
    words = assumptions_in_words([UNTESTED, TESTED, AGAINST])
    assert (
        words.index("latents are independent") < words.index("rows are independent") < words.index("no sensor drifts")
    )
    assert assumptions_in_words([]) == ""


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"outcome": "maybe"}, "maybe"),
        ({"outcome": "refuted"}, "needs a test"),
        ({"outcome": "refuted", "test": "t", "p_value": 2.0}, "p_value=2.0"),
    ],
)
def test_wrong_assumptions_are_refused(fields, words):
    with pytest.raises(DataError, match=words):
        Assumption("rows are independent", **fields)
