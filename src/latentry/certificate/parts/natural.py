"""Whether a latent is natural over the modalities: in each domain, pooled, and under the worst mixture."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from latentry.certificate.gist import some_rows
from latentry.certificate.part import Number, Part
from latentry.certificate.subject import Subject
from latentry.data import CategoricalChannel, Channel
from latentry.errors import DataError
from latentry.evidence import Bound, Verdict
from latentry.natural import Audit, audit

__all__ = ["natural"]

_MOST = 4000  # rows of an audit
_ORDER = ("refuted", "cannot say", "not refuted", "certified")
_POOLED = "all rows pooled"


@dataclass(frozen=True, eq=False)
class _Judged:
    """One latent: by domains if there are several, and with all rows pooled."""

    name: str
    split: Audit | None
    pooled: Audit | None
    problem: str

    @property
    def main(self) -> Audit | None:
        return self.split or self.pooled

    @property
    def verdict(self) -> Verdict:
        if self.main is None:
            return Verdict("cannot say", self.problem, {}, "more rows")
        found = self.main.verdict
        if self.problem and found.certified:  # what holds for all rows together is not certified for the domains
            sentence = f"natural on all rows together. {self.problem}"
            found = Verdict("cannot say", sentence, found.evidence, "more rows in each domain")
        return replace(found, sentence=found.sentence.replace("Λ", self.name, 1)) if self.name != "Λ" else found

    @property
    def rank(self) -> tuple[float, ...]:
        """The better answer first; among equals, more certified claims, then the smaller of the largest bounds."""
        claims = () if self.main is None else self.main.claims
        uppers = [claim.upper.value for claim in claims if claim.upper is not None]
        return (
            _ORDER.index(self.verdict.status),
            sum(c.verdict.certified for c in claims),
            -max(uppers, default=math.inf),
        )

    @property
    def claims(self) -> dict[str, Verdict]:
        of = "" if self.name == "Λ" else f"{self.name}, "
        found = {f"{of}{place}": v for place, v in (self.main.verdicts if self.main else {}).items()}
        return found | ({f"{of}{_POOLED}": self.pooled.verdict} if self.split and self.pooled else {})


def natural(subject: Subject) -> Part:
    """Mediation, redundancy and drift of the latent; where it is made of nodes, of each node too.

    Any of several latents may be the natural one: they share the level.
    """
    names = subject.observables.names
    if len(names) < 2:
        return Part("natural", _one_block(names[0]))
    fewer = subject.take(some_rows(len(subject.data), _MOST, subject.settings.seed))
    latents = {name: channel for name, channel in fewer.candidates.items() if _varies(channel)} or fewer.candidates
    level = subject.settings.level / len(latents)
    judged = [_judged(fewer, name, channel, level) for name, channel in latents.items()]
    best = max(judged, key=lambda one: one.rank)
    audits = [found for one in judged for found in (one.split, one.pooled) if found is not None]
    return Part(
        "natural",
        best.verdict,
        {name: claim for one in judged for name, claim in one.claims.items()},
        {name: number for one in judged for name, number in _numbers(one).items()},
        tuple(dict.fromkeys(note for one in judged for note in _notes(one))),
        ("mediation and redundancy errors", *_tests(audits)) if audits else (),
        {
            "table": [row for one in judged for row in _table(one)],
            "epsilon": subject.settings.epsilon,
            "rows": list(audits[0].rows) if audits else [],
        },
    )


def _one_block(name: str) -> Verdict:
    sentence = f"naturality is about what several observables share, and {name!r} is the only one."
    return Verdict("cannot say", sentence, {}, "two modalities, or blocks={'name': [columns], ...} of one table")


def _varies(channel: Channel) -> bool:
    """Whether a latent has any entropy to speak of: a constant is redundant for nothing."""
    if not isinstance(channel, CategoricalChannel):
        return True
    share = channel.probabilities.mean(axis=0)
    return bool(-(share[share > 0] * np.log(share[share > 0])).sum() > 0.01)


def _judged(subject: Subject, name: str, channel: Channel, level: float) -> _Judged:
    split, problem = None, ""
    domain = subject.domain
    if subject.data.domain is not None and domain is None:
        problem = "The domain is continuous: naturality was judged on all rows together, not domain by domain."
    try:
        if domain is not None and len(np.unique(domain)) > 1:
            split = _audit(subject, channel, level, domain)
    except DataError as why:
        problem = f"Not judged domain by domain: {why}."
    if split is not None and name.startswith("node"):  # its pooled rows would cost as much again and decide nothing
        return _Judged(name, split, None, problem)
    try:
        return _Judged(name, split, _audit(subject, channel, level, None), problem)
    except DataError as why:
        return _Judged(name, split, None, str(why))


def _audit(subject: Subject, channel: Channel, level: float, domain: np.ndarray | None) -> Audit:
    data, settings = subject.observables.with_domain(None), subject.settings
    return audit(
        data,
        channel,
        epsilon=settings.epsilon,
        domain=domain,
        level=level,
        drift=domain is not None,
        seed=settings.seed,
    )


def _notes(one: _Judged) -> list[str]:
    notes = [one.problem] if one.problem and one.main is not None else []
    notes += one.main.notes if one.main is not None else ()
    if one.split and one.pooled and one.split.verdict.refuted and not one.pooled.verdict.refuted:
        notes.append(f"The pooled rows alone do not show the failure of {one.name}: it is seen only domain by domain.")
    return notes


def _numbers(one: _Judged) -> dict[str, Number]:
    numbers: dict[str, Number] = {}
    of = "" if one.name == "Λ" else f"{one.name}: "
    for found in filter(None, (one.split, one.pooled)):
        for claim in found.claims:
            what = f"{of}{claim.error} in {_place(claim.place)}"
            bounds: Mapping[str, Bound | None] = {
                "lower": claim.lower,
                "upper": claim.upper,
                "for boosted trees": claim.class_gain,
            }
            numbers |= {f"{what}, {kind}": bound for kind, bound in bounds.items() if bound is not None}
    if one.main is not None:
        numbers |= {f"{of}{name}": bound for name, bound in one.main.drift.items()}
        entropy = one.main.latent_entropy
        numbers |= {} if entropy is None else {f"{of}H(Λ)": entropy}
    return numbers


def _tests(audits: list[Audit]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(test.name for found in audits for c in found.claims for test in c.tests))


def _place(name: str) -> str:
    return _POOLED if name == "all rows" else name


def _table(one: _Judged) -> list[dict[str, Any]]:
    """One row per error and place, for the chart."""
    return [
        {
            "latent": one.name,
            "place": _place(claim.place),
            "error": claim.error,
            "lower": _finite(claim.lower),
            "upper": _finite(claim.upper),
            "status": claim.verdict.status,
            "p": min((t.p_value for t in claim.tests), default=None),
        }
        for found in filter(None, (one.split, one.pooled))
        for claim in found.claims
    ]


def _finite(bound: Bound | None) -> float | None:
    return None if bound is None or not math.isfinite(bound.value) else bound.value
