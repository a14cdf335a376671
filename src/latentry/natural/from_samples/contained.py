"""Bounds that hold because something larger is bounded: a domain is a mixture of the domains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from latentry.evidence import Bound, judge
from latentry.natural.from_samples.error_verdicts import Claim

__all__ = ["contained"]

_MIXED = "every mixture"


def contained(claims: Sequence[Claim]) -> list[Claim]:
    """Cap each domain's bound by that of every mixture, where the latter is smaller and the answer stays open.

    Students of one domain may extrapolate badly from few rows, while those of all rows do not. The smaller of two bounds fails
    when either does, so that their doubts add up; no verdict becomes better by it.

    Args:
        claims: About one latent, in each domain and in every mixture.

    Returns:
        The claims, in the same order.
    """
    mixed = {claim.error: claim.upper for claim in claims if claim.place == _MIXED}
    return [_capped(claim, mixed.get(claim.error)) for claim in claims]


def _capped(claim: Claim, whole: Bound | None) -> Claim:
    own = claim.upper
    if own is None or whole is None or claim.verdict.status != "cannot say":
        return claim
    if not claim.epsilon < whole.value < own.value:
        return claim
    least = replace(
        own,
        value=whole.value,
        confidence=max(0.0, own.confidence + whole.confidence - 1.0),
        method=f"{own.method}; no more than in every mixture",
    )
    if claim.lower is not None and claim.lower.value > least.value:
        return claim
    bounds = [bound for bound in (least, claim.lower, Bound(0.0, "lower")) if bound is not None]
    verdict = judge(claim.name, bounds, claim.epsilon, change=claim.verdict.change)
    return replace(claim, upper=least, verdict=replace(verdict, assumptions=claim.verdict.assumptions))
