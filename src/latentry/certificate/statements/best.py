"""Statements about the most natural latent of the rows, and how far the latent that is certified is from it."""

from __future__ import annotations

from collections.abc import Iterator

from latentry.certificate.question import ABOVE_BEST, BESIDE_BEST, BEST_FOUND, Part
from latentry.certificate.statements.natural import naturality_errors
from latentry.certificate.statements.statement import Statement, are, at_most, capital
from latentry.evidence import Bound, Estimate

__all__ = ["about_the_best"]


def about_the_best(part: Part, called: str, level: float) -> Iterator[Statement]:
    """Yield the errors of both latents, which bounds hold at once, and how far their scores are apart, an estimate.

    Args:
        part: "natural" of a certificate.
        called: What Λ is called.
        level: Probability that a bound is wrong.

    Returns:
        An iterator over statements; none where nothing was learned, or where the rows do not carry bounds.
    """
    told = part.details.get("best")
    if not told or any(
        errors.doubt for errors in naturality_errors(part)
    ):  # what was said to speak against bounds does so here
        return
    found, yours, gap = (part.numbers[name] for name in (BEST_FOUND, BESIDE_BEST, ABOVE_BEST))
    assert isinstance(found, Bound)
    assert isinstance(yours, Bound)
    assert isinstance(gap, Estimate)
    name = called if told["latent"] in ("Λ", "the cluster") else told["latent"]
    which = f"{name}, rounded to {told['values']} values," if told["rounded"] else name
    ends = f"redundancy errors of at most {at_most(found.value)} nats, {which} of at most {at_most(yours.value)}"
    rows = "these rows, all domains together," if told["pooled"] else "these rows"
    where = ", in every mixture of the domains," if told.get("mixtures") else " and"
    sentence = f"The most natural latent that was learned from {rows} has {told['values']} values{where} {ends}."
    yield Statement("natural", told["latent"], sentence, "certified", None, yours.value, "nats", None, 1 - level)
    yield Statement(
        "natural", told["latent"], _apart(gap, which), "measured", gap.low, gap.high, "nats", None, gap.confidence
    )


def _apart(gap: Estimate, which: str) -> str:
    interval = f"{float(gap):.2f} nats [{gap.low:.2f}, {gap.high:.2f}]"
    if gap.low > 0:
        return f"{capital(which)} {are(which)} less natural than it: the sum of all errors is higher by {interval}."
    if gap.high < 0:
        return f"{capital(which)} {are(which)} more natural than what was learned: the sum of all errors differs by {interval}."
    return f"{capital(which)} {are(which)} about as natural as it: the sums of all errors differ by {interval}."
