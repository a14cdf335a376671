"""Whether a latent is natural over the modalities: in each domain, pooled, and under the worst mixture."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from scipy.special import entr

from latentry.certificate.audits.natural_best import beside_the_best_of_rows
from latentry.certificate.audits.natural_verdict import Judged, place_words
from latentry.certificate.leading_components import is_label, rows_in_words, some_rows
from latentry.certificate.question import Fields, Number, Part
from latentry.certificate.subject import Subject
from latentry.contracts import HasFrontier
from latentry.data import CategoricalChannel, Channel
from latentry.errors import DataError
from latentry.evidence import Bound, Verdict
from latentry.natural import Audit, Claim, Judge, Rows, as_rows, audit_of, choose_family

__all__ = ["natural"]

_MOST = 10_000  # rows of an audit that looks at numbers; tables of labels are counted whole


def natural(subject: Subject) -> Part:
    """Judge mediation, redundancy and drift of the latent; where it is made of nodes, of each node too.

    Any of several latents may be the natural one: the level is divided among them.

    Args:
        subject: Rows and their latents.

    Returns:
        The part.
    """
    names = subject.observables.names
    if len(names) < 2:
        return Part("natural", _one_block(names[0]))
    fewer = (
        subject if _all_labels(subject) else subject.take(some_rows(len(subject.data), _MOST, subject.settings.seed))
    )
    latents = {name: channel for name, channel in fewer.candidates.items() if _varies(channel)} or fewer.candidates
    asked = _Asked(fewer, subject.settings.level / len(latents))
    judged = {name: asked.judged(name, channel) for name, channel in latents.items()}
    first = max(judged, key=lambda name: judged[name].rank)
    best = judged[first] = asked.pooled_too(judged[first], latents[first])
    ordered = [best, *(one for one in judged.values() if one is not best)]
    audits = [result for one in ordered for result in (one.split, one.pooled) if result is not None]
    lines = {one.name: one.line for one in ordered[1:]}
    beside, told, unable = _beside_the_best(fewer, first, latents[first])
    return Part(
        "natural",
        best.verdict,
        lines | {name: claim for one in ordered for name, claim in one.claims.items()},
        {name: number for one in ordered for name, number in _numbers(one).items()} | beside,
        tuple(
            dict.fromkeys([*_subsampled(fewer, subject), *(note for one in ordered for note in _notes(one)), *unable])
        ),
        ("mediation and redundancy errors", *_tests(audits), *(("NaturalLatents",) if beside else ()))
        if audits
        else (),
        {
            "lines": list(lines),
            "table": [row for one in ordered for row in _table(one)],
            "epsilon": subject.settings.epsilon,
            "rows": list(audits[0].rows) if audits else [],
            "entropies": {
                one.name: one.main.latent_entropy.value
                for one in ordered
                if one.main is not None and one.main.latent_entropy is not None
            },
            "determined": {
                one.name: _determined(channel)
                for one in ordered
                if isinstance(channel := latents[one.name], CategoricalChannel)
            },
            "problems": {one.name: one.problem for one in ordered if one.problem},
            "empty": {one.name: list(one.main.empty) for one in ordered if one.main is not None and one.main.empty},
            **({"best": told} if told else {}),
            **({"frontier": points} if (points := _frontier(subject)) else {}),
        },
    )


def _beside_the_best(subject: Subject, name: str, channel: Channel) -> tuple[dict[str, Number], Fields, list[str]]:
    """Numbers and words about the most natural latent of the rows, where that was asked; or why there are none."""
    if not subject.settings.best:
        return {}, {}, []
    try:
        numbers, told = beside_the_best_of_rows(subject, name, channel)
    except DataError as why:
        return {}, {}, [f"The most natural latent of these rows was not learned: {why}"]
    return numbers, told, []


def _frontier(subject: Subject) -> list[Fields]:
    """How natural the model's latent would be with fewer values or columns, where the model knows."""
    if not isinstance(subject.model, HasFrontier):
        return []
    return [
        {
            "size": point.size,
            "score": point.score,
            "information": point.information,
            "errors": float(sum(point.errors.values())),
            "chosen": point.chosen,
        }
        for point in subject.model.frontier_
    ]


def _one_block(name: str) -> Verdict:
    sentence = f"naturality is about what several observables share, and {name!r} is the only one."
    return Verdict("cannot say", sentence, {}, "two modalities, or blocks={'name': [columns], ...} of one table")


def _all_labels(subject: Subject) -> bool:
    """Return whether latent and observables are labels: counting them costs little however many rows there are."""
    named = subject.observables
    return subject.clusters is not None and all(is_label(named, name) for name in named.names)


def _varies(channel: Channel) -> bool:
    """Return whether a latent has any entropy to speak of: a constant is redundant whatever the data."""
    if not isinstance(channel, CategoricalChannel):
        return True
    mass = channel.probabilities.mean(axis=0)
    return bool(-(mass[mass > 0] * np.log(mass[mass > 0])).sum() > 0.01)


class _Asked:
    """The audits of one set of rows: blocks and split are made once, and what was learned for a latent is kept for its pool."""

    def __init__(self, subject: Subject, level: float) -> None:
        self._subject, self._level = subject, level
        self._data, self._domain = subject.observables.with_domain(None), subject.domain
        self._units = subject.data.units
        self._gathered: dict[bool, Rows] = {}
        self._judges: dict[str, Judge] = {}

    def judged(self, name: str, channel: Channel) -> Judged:
        """Judge one latent by domains where that can be done, else on all rows together.

        Args:
            name: Of the latent.
            channel: The latent of each row.

        Returns:
            Its audits.
        """
        problem = ""
        if self._subject.data.domain is not None and self._domain is None:
            problem = "The domain is continuous: naturality was judged on all rows together, not domain by domain."
        try:
            if self._domain is not None and len(np.unique(self._domain)) > 1:
                self._judges[name] = self._judge(channel, by_domain=True)
                return Judged(name, audit_of(self._judges[name]), None)
        except DataError as why:
            problem = f"Not judged domain by domain: {why}."
        return self.pooled_too(Judged(name, None, None, problem), channel)

    def pooled_too(self, one: Judged, channel: Channel) -> Judged:
        """Judge one latent with all rows pooled too: not every latent, since it decides nothing.

        Args:
            one: The latent, judged by domains.
            channel: The latent of each row.

        Returns:
            Its audits, with that of all rows.
        """
        if one.pooled is not None:
            return one
        try:
            known = self._judges.get(one.name)
            judge = known.pooled() if known and known.rows.plain else self._judge(channel, by_domain=False)
            return replace(one, pooled=audit_of(judge))
        except DataError as why:
            return one if one.split else replace(one, problem=str(why))

    def _judge(self, channel: Channel, *, by_domain: bool) -> Judge:
        settings = self._subject.settings
        if by_domain not in self._gathered:
            domain = self._domain if by_domain else None
            self._gathered[by_domain] = as_rows(
                self._data,
                channel,
                blocks=None,
                domain=domain,
                noise=None,
                quantiser=None,
                fit=0.5,
                seed=settings.seed,
                units=self._units,
            )
        rows = self._gathered[by_domain].of(channel)
        return Judge(rows, choose_family("auto", rows), settings.epsilon, self._level, "betting", settings.seed)


def _subsampled(fewer: Subject, whole: Subject) -> list[str]:
    """Say how many rows of how many were audited, where that is not all of them."""
    if len(fewer.data) == len(whole.data):
        return []
    return [
        f"Judged on {rows_in_words(len(fewer.data), len(whole.data))}, because tests of numbers take time; "
        "natural.audit draws more of them."
    ]


def _notes(one: Judged) -> list[str]:
    notes = [one.problem] if one.problem and one.main is not None else []
    notes += one.main.notes if one.main is not None else ()
    if one.split and one.pooled and one.split.verdict.refuted and not one.pooled.verdict.refuted:
        notes.append(f"The pooled rows alone do not show the failure of {one.name}: it is seen only domain by domain.")
    return notes


def _numbers(one: Judged) -> dict[str, Number]:
    numbers: dict[str, Number] = {}
    of = "" if one.name == "Λ" else f"{one.name}: "
    for result in filter(None, (one.split, one.pooled)):
        for claim in result.claims:
            what = f"{of}{claim.error} in {place_words(claim.place)}"
            bounds: Mapping[str, Bound | None] = {
                "lower": claim.lower,
                "upper": claim.upper,
                "for predictors": claim.class_gain,
            }
            numbers |= {f"{what}, {kind}": bound for kind, bound in bounds.items() if bound is not None}
    if one.main is not None:
        numbers |= {f"{of}{name}": bound for name, bound in one.main.drift.items()}
        entropy = one.main.latent_entropy
        numbers |= {} if entropy is None else {f"{of}H(Λ)": entropy}
    return numbers


def _tests(audits: list[Audit]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(test.name for result in audits for c in result.claims for test in c.tests))


def _table(one: Judged) -> list[Fields]:
    """Return one row per error and place, for the chart."""
    return [
        {
            "latent": one.name,
            "place": place_words(claim.place),
            "error": claim.error,
            "lower": _finite(claim.lower),
            "upper": _finite(claim.upper),
            "for_predictors": _finite(claim.class_gain),
            "confidence": None if claim.upper is None else claim.upper.confidence,
            "status": claim.verdict.status,
            "power": claim.verdict.power,
            "doubt": _doubt(claim),
            "p": min((t.p_value for t in claim.tests), default=None),
        }
        for result in filter(None, (one.split, one.pooled))
        for claim in result.claims
    ]


def _determined(channel: CategoricalChannel) -> float:
    """Return what rows determine of a latent, H(Λ) − H(Λ|X): less than its entropy where the model is undecided."""
    mass = channel.probabilities.mean(axis=0)
    return float(entr(mass).sum() - entr(channel.probabilities).sum(axis=1).mean())


def _doubt(claim: Claim) -> str:
    """Say why the bounds of a claim do not hold; empty where nothing speaks against them."""
    if claim.lower is not None and claim.upper is not None and claim.lower.value > claim.upper.value:
        return "its two bounds contradict each other"
    against = [one.name for one in claim.verdict.assumptions if one.refuted]
    return "" if not against or claim.verdict.refuted else f"rows contradict an assumption, that {against[0]}"


def _finite(bound: Bound | None) -> float | None:
    return None if bound is None or not math.isfinite(bound.value) else bound.value
