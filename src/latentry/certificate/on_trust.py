"""What is taken on trust: that the rows of a certificate had no part in making what it certifies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from latentry.certificate.question import Part
from latentry.certificate.splitting import Split
from latentry.evidence import Assumption, Verdict, assumptions_in_words

__all__ = ["MADE_WITHOUT", "taken_on_trust"]

MADE_WITHOUT = Assumption(
    "none of these rows had a part in making the latents",
    "untested",
    note="name the rows that did in seen=, or give seen=[] if there are none",
)
_ASKED = ("natural", "identifiable")  # what latents that were fitted to the audited rows can feign
_POSITIVE = ("certified", "supported", "not refuted")


def taken_on_trust(parts: Mapping[str, Part], split: Split) -> dict[str, Part]:
    """Name, beside every answer that speaks for the latents, that the audited rows are taken on trust as new to them.

    Canonical variates of many columns agree on the rows that they were fitted to, whatever these are: no test of the latents of
    those rows can tell.

    Args:
        parts: Of a certificate, by name.
        split: How it is known that the rows are new.

    Returns:
        The parts; as they were where it is known which rows trained the latents.
    """
    if split.origin != "trust":
        return dict(parts)
    return {name: _named(part) if name in _ASKED else part for name, part in parts.items()}


def _named(part: Part) -> Part:
    claims = {name: _with_assumption(claim) for name, claim in part.claims.items()}
    return replace(part, verdict=_with_assumption(part.verdict), claims=claims)


def _with_assumption(verdict: Verdict) -> Verdict:
    if verdict.status not in _POSITIVE:
        return verdict
    old, assumptions = assumptions_in_words(verdict.assumptions), (*verdict.assumptions, MADE_WITHOUT)
    new = assumptions_in_words(assumptions)
    known = bool(old) and old in verdict.sentence
    sentence = verdict.sentence.replace(old, new) if known else f"{verdict.sentence} {new}"
    return replace(verdict, sentence=sentence, assumptions=assumptions)
