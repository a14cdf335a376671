"""What may not be said, and what would settle it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from latentry.certificate.on_trust import MADE_WITHOUT
from latentry.certificate.question import MIXED, Fields, Part
from latentry.certificate.statements.natural import naturality_errors
from latentry.certificate.statements.statement import are, at_least, at_most, capital, joined
from latentry.certificate.statements.write import called, contradicted, worthless
from latentry.evidence import STATUS_ORDER, Estimate

__all__ = ["may_not_say", "next_steps"]

_REACHED = ("certified", "supported")
_PLAN = re.compile(r"(more rows, about ([\d,]+) where there are [\d,]+ now[^;]*)")
_MEASURED = 1000  # rows of an estimate of information: more would not be looked at


def may_not_say(parts: Mapping[str, Part], subject: Fields, settings: Fields) -> tuple[str, ...]:
    """Return sentences that the rows do not allow, each with the reason.

    Args:
        parts: Of a certificate.
        subject: What was certified.
        settings: What was declared.

    Returns:
        Sentences that begin with "That".
    """
    return tuple(_limits(parts, called(subject), float(settings["epsilon"])))


def _limits(parts: Mapping[str, Part], name: str, epsilon: float) -> Iterator[str]:
    controls = parts.get("controls")
    if controls is not None and controls.verdict.refuted:
        yield f"That anything on this page holds: {controls.verdict.sentence}"
    elif controls is not None and not controls.verdict.certified:
        yield f"That the bounds on naturality hold: {controls.verdict.sentence}"
    if worthless(parts):
        yield f"That {name} {are(name)} of any use for these data: nothing beyond chance was found in any modality."
    yield from _contradicted(parts)
    yield from _on_trust(parts, name)
    yield from _not_true(parts, name)
    if "variables" in parts:
        yield from _warned(parts["variables"])
    if "natural" in parts:
        yield from _not_natural(parts["natural"], name, epsilon)
    if "causal" in parts:
        yield from _not_causal(parts["causal"])
    if "fit" in parts:
        yield from _not_fitting(parts["fit"])


def _warned(part: Part) -> Iterator[str]:
    """Carry over what the model warns of itself."""
    for note in part.notes:
        if note.startswith("The model warns: "):
            yield f"That the variables are as many as were asked for: {note.removeprefix('The model warns: ')}"


def _contradicted(parts: Mapping[str, Part]) -> Iterator[str]:
    """Name what every interval takes for granted of the rows, where rows contradict it."""
    for one in contradicted(parts):
        note = f" To do: {one.note}." if one.note else ""
        yield f"That the intervals hold: they take for granted that {one.name}, which rows contradict.{note}"


def _on_trust(parts: Mapping[str, Part], name: str) -> Iterator[str]:
    """Say that nothing is known of the rows that made the latents, where an answer rests on that."""
    if any(MADE_WITHOUT in part.verdict.assumptions for part in parts.values()):
        made = f"which rows had a part in making {name}, and these rows may agree because of it"
        yield f"That new rows would say the same: nothing is known about {made}. To do: {MADE_WITHOUT.note}."


def _not_true(parts: Mapping[str, Part], name: str) -> Iterator[str]:
    part = parts.get("identifiable")
    if part is not None and part.verdict.status not in _REACHED:
        yield f"That {name} {are(name)} the true hidden cause, or would be found by another model: {part.verdict.sentence}"


def _not_natural(part: Part, name: str, epsilon: float) -> Iterator[str]:
    """Name latents that are not natural within what was declared, and answers that do not reach mixtures."""
    if not part.details.get("table"):
        yield f"That {name} {are(name)} what several measurements have in common: {part.verdict.sentence}"
        return
    bad = [e for e in naturality_errors(part) if e.low > epsilon and not e.doubt]
    for errors in bad:
        which = name if errors.latent in ("Λ", "the cluster") else errors.latent
        some = " in at least one domain" if errors.where else ""
        shared = max((row["lower"] or 0.0 for row in errors.mediation if row["status"] == "refuted"), default=0.0)
        if shared > epsilon:
            least = f"given it they still share at least {at_least(shared)} nats{some}"
            yield f"That {which} {are(which)} all that the modalities have in common: {least}."
        else:
            least = f"one of them alone leaves at least {at_least(errors.low)} nats open{some}"
            yield f"That every modality shows {which}: {least}."
    doubt = next((errors.doubt for errors in naturality_errors(part) if errors.doubt), "")
    if doubt:
        yield f"That {name} {are(name)} natural: {doubt}."
    elif not bad and part.verdict.status not in _REACHED:
        yield f"That {name} {are(name)} natural within {epsilon:g} nats: {_why_open(part)}"
    mixed = [v for place, v in part.claims.items() if place == MIXED or place.endswith(f", {MIXED}")]
    best = max((v.status for v in mixed), key=STATUS_ORDER.index, default="certified")
    if part.verdict.status in _REACHED and best not in _REACHED:
        first = naturality_errors(part)[0].latent
        which = name if first in ("Λ", "the cluster") else first
        yield f"That {which} {are(which)} natural with the domains mixed: {_mixed_error(part, first)}."


def _mixed_error(part: Part, latent: str) -> str:
    """Say what is known of the error in every mixture of the domains."""
    rows = [row for row in part.details["table"] if row["latent"] == latent and row["place"] == MIXED]
    low = max((row["lower"] or 0.0 for row in rows), default=0.0)
    if low < 0.005:
        return "the answer holds within each domain"
    return f"for some mixture the error is at least {at_least(low)} nats, since the domain changes several modalities at once"


def _why_open(part: Part) -> str:
    """Say between which ends the error lies; where nothing bounds it, what the verdict rests on."""
    errors = naturality_errors(part)[0]
    if errors.high is not None:
        return (
            f"the error may be anywhere between {at_least(errors.low)} and {at_most(errors.high)} nats{errors.where}."
        )
    opened = part.verdict.sentence.partition(": ")
    return opened[2] or opened[0]


def _not_causal(part: Part) -> Iterator[str]:
    loose = part.details.get("cpdag", {}).get("reversible", ())
    if loose:
        edges = joined(f"{a} — {b}" for a, b in loose)
        yield f"Which way {edges} points: no observation decides it."
    if part.details.get("edges"):
        yield "That a link of the graph is a cause: a common cause of two nodes that was left out would look the same."
    if part.verdict.status == "refuted":
        yield f"That the graph is right: {part.verdict.sentence}"


def _not_fitting(part: Part) -> Iterator[str]:
    if part.verdict.status == "refuted":
        yield f"That the model describes new rows: {part.verdict.sentence}"
    alike = part.lines.get("samples look like new rows")
    if alike is not None and alike.refuted:
        yield f"That rows drawn from the model are like new rows: {alike.sentence}"
    dead = part.lines.get("no dead latents")
    if dead is not None and dead.refuted:
        yield f"That every latent means something: {dead.sentence}"
    again = part.lines.get("restarts agree")
    if again is not None and again.refuted:
        yield f"That these latents are the only ones the data allow: {again.sentence}"
    if again is not None and again.status == "cannot say" and not again.evidence:
        yield f"That another fit would find the same: {again.sentence}"


def next_steps(parts: Mapping[str, Part], subject: Fields, settings: Fields) -> tuple[str, ...]:
    """Return what would settle more: rows, domains, restarts or experiments, with numbers where they were planned.

    Args:
        parts: Of a certificate.
        subject: What was certified.
        settings: What was declared.

    Returns:
        Sentences.
    """
    return tuple(dict.fromkeys(_steps(parts, called(subject))))


def _steps(parts: Mapping[str, Part], name: str) -> Iterator[str]:
    asked = {
        "natural": f"whether {name} {are(name)} natural",
        "identifiable": "whether the data determine the latents",
        "causal": "the graph",
        "fit": "the fit",
    }
    for title, words in asked.items():
        part = parts.get(title)
        if part is not None and part.verdict.change and part.verdict.status not in _REACHED:
            yield f"To settle {words}: {_planned(part.verdict.change)}."
    fit = parts.get("fit")
    for claim in () if fit is None else fit.lines.values():
        if claim.change and claim.status not in _REACHED:
            yield f"{capital(claim.sentence).rstrip('.')}: {claim.change}."
    yield from _sharper(parts)
    natural = parts.get("natural")
    if natural is not None and natural.details.get("table") and "best" not in natural.details:
        yield (
            f"To see how far {name} {are(name)} from the most natural latent of these rows: best=True (--best), which learns one "
            "in less than a minute."
        )


def _planned(change: str) -> str:
    """Return what would change an answer; of several plans for more rows the largest, which serves them all."""
    hopeless = next((words for words in change.split("; ") if "alone may not certify" in words), None)
    if hopeless is not None:
        return hopeless
    plans = [(int(wanted.replace(",", "")), words) for words, wanted in _PLAN.findall(change)]
    others = [words for words in change.split("; ") if not _PLAN.search(words)]
    largest = [max(plans)[1]] if plans else []
    return "; ".join(dict.fromkeys([*largest, *others]))


def _sharper(parts: Mapping[str, Part]) -> Iterator[str]:
    """Plan the rows at which the widest interval of information would be half as wide: four times as many."""
    part = parts.get("informative")
    found = (
        []
        if part is None
        else [
            (n, e)
            for n, e in part.numbers.items()
            if isinstance(e, Estimate) and e.n < _MEASURED and e.high - e.low > 0.2
        ]
    )
    if found:
        name, widest = max(found, key=lambda pair: pair[1].high - pair[1].low)
        width = widest.high - widest.low
        yield f"To halve the interval of {name}, which is {width:.2f} nats wide on {widest.n:,} rows: about {4 * widest.n:,} rows."
