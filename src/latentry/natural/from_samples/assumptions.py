"""What a verdict of an audit takes for granted: tested where it can be, named where it cannot, and never passed over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from latentry.evidence import Assumption, Verdict, assumptions_in_words
from latentry.natural.from_samples.error_verdicts import Claim

__all__ = ["ASSUMED_LEVEL", "in_its_sentence", "needing", "open_claim", "weighed"]

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
    named = (*claim.verdict.assumptions, *assumptions)
    if not against or (claim.verdict.refuted and not both):
        return replace(claim, verdict=replace(claim.verdict, assumptions=named))
    why = "; ".join(f"{one.name} ({one.test}, p = {one.p_value or 0.0:.2g})" for one in against)
    advice = "; ".join(dict.fromkeys(one.note for one in against if one.note))
    open_ = replace(
        claim.verdict,
        status="cannot say",
        assumptions=named,
        sentence=f"{claim.name} rests on an assumption that rows contradict: {why}.",
        change=advice,
    )
    return replace(claim, verdict=open_, retry=None)


def needing(claims: Sequence[Claim], what: str) -> list[Claim]:
    """Name what open claims would need.

    Args:
        claims: All.
        what: In words; empty for nothing.

    Returns:
        The claims; where they are open, they say what is needed.
    """
    if not what:
        return list(claims)
    return [_needing(claim, what) if claim.verdict.status == "cannot say" else claim for claim in claims]


def _needing(claim: Claim, what: str) -> Claim:
    sentence = f"{claim.verdict.sentence.rstrip('.')}; it takes {what}."
    return replace(claim, verdict=replace(claim.verdict, sentence=sentence, change=what))


def open_claim(error: str, place: str, why: str, epsilon: float) -> Claim:
    """Leave a claim open that nothing could be found out about.

    Args:
        error: Mediation, or redundancy of a block.
        place: A domain, or every mixture.
        why: What is missing, as a sentence.
        epsilon: The declared largest error, nats.

    Returns:
        A claim whose verdict is "cannot say".
    """
    verdict = Verdict("cannot say", f"{error} in {place}: {why}", {}, why.rstrip("."))
    return Claim(error, place, verdict, epsilon=epsilon)


def in_its_sentence(verdict: Verdict, empty: Sequence[str] = ()) -> Verdict:
    """Say in the sentence of a verdict what it takes for granted, and why it may be empty.

    Cost: constant.

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
