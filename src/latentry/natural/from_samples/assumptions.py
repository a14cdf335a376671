"""What a verdict of an audit takes for granted: tested where it can be, named where it cannot, and never passed over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from latentry.evidence import Assumption, Verdict, assumptions_in_words
from latentry.natural.from_samples.error_verdicts import Claim

__all__ = ["ASSUMED_LEVEL", "in_its_sentence", "weighed"]

ASSUMED_LEVEL = 0.01  # of the test of an assumption: so often a certificate is withheld although the assumption holds
_POSITIVE = ("certified", "supported", "not refuted")


def weighed(claims: Sequence[Claim], assumptions: Sequence[Assumption], *, both: bool = True) -> list[Claim]:
    """Give claims their assumptions; where one is refuted, claims that rest on it become "cannot say".

    Args:
        claims: As bounds and tests answer them.
        assumptions: What the answers take for granted.
        both: Whether refutations rest on them too.

    Returns:
        The claims, with the assumptions in their verdicts.
    """
    against = [one for one in assumptions if one.refuted]
    return [_weighed(claim, assumptions, against, both) for claim in claims]


def _weighed(claim: Claim, assumptions: Sequence[Assumption], against: list[Assumption], both: bool) -> Claim:
    verdict = replace(claim.verdict, assumptions=(*claim.verdict.assumptions, *assumptions))
    if not against or not (verdict.status in _POSITIVE or (both and verdict.refuted)):
        return replace(claim, verdict=verdict)
    why = "; ".join(f"{one.name}: refuted by {one.test} (p = {one.p_value or 0.0:.2g})" for one in against)
    advice = "; ".join(dict.fromkeys(one.note for one in against if one.note))
    open_ = replace(
        verdict, status="cannot say", sentence=f"{claim.name} rests on an assumption that fails. {why}.", change=advice
    )
    return replace(claim, verdict=open_, retry=None)


def in_its_sentence(verdict: Verdict, empty: Sequence[str] = ()) -> Verdict:
    """Say in the sentence of a verdict what it takes for granted, and why it may be empty.

    Args:
        verdict: Any.
        empty: Reasons why the claim would hold whatever the data.

    Returns:
        The verdict, with a longer sentence where it speaks for the latent.
    """
    if verdict.status not in _POSITIVE:
        return verdict
    hollow = f"This says little: {'; '.join(empty)}." if empty else ""
    words = [verdict.sentence.rstrip("."), hollow.rstrip("."), assumptions_in_words(verdict.assumptions).rstrip(".")]
    return replace(verdict, sentence=". ".join(word for word in words if word) + ".")
