"""Whether the latent is natural over the modalities: in each domain, pooled, and under the worst mixture."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from latentry.certificate.gist import some_rows
from latentry.certificate.part import Number, Part
from latentry.certificate.subject import Subject
from latentry.errors import DataError
from latentry.evidence import Bound, Verdict
from latentry.natural import Audit, audit

__all__ = ["natural"]

_MOST = 6000  # rows of an audit


def natural(subject: Subject) -> Part:
    """Mediation, redundancy and drift; the domains one by one and together, then all rows as one."""
    names = subject.observables.names
    if len(names) < 2:
        return Part("natural", _one_block(names[0]))
    fewer = subject.take(some_rows(len(subject.data), _MOST, subject.settings.seed))
    notes: list[str] = []
    split, problem = _by_domain(fewer)
    notes += [problem] if problem else []
    try:
        pooled = _audit(fewer, None, drift=split is None)
    except DataError as why:
        return Part("natural", Verdict("cannot say", f"{why}", {}, "more rows"), notes=tuple(notes))
    audits = {"domains": split, "pooled": pooled} if split else {"pooled": pooled}
    main = split or pooled
    notes += [*main.notes, *_compared(split, pooled)]
    return Part(
        "natural",
        main.verdict if problem is None else _downgraded(main.verdict, problem),
        {**main.verdicts, **({"all rows pooled": pooled.verdict} if split else {})},
        _numbers(main, pooled if split else None),
        tuple(notes),
        ("mediation and redundancy errors", *_tests(audits)),
        {"table": [row for found in audits.values() for row in _table(found)], "epsilon": main.epsilon, "rows": list(main.rows)},
    )


def _one_block(name: str) -> Verdict:
    sentence = f"naturality is about what several observables share, and {name!r} is the only one."
    return Verdict("cannot say", sentence, {}, "two modalities, or blocks={'name': [columns], ...} of one table")


def _by_domain(subject: Subject) -> tuple[Audit | None, str | None]:
    """The audit by domains if there are several, and why it could not be made if that is so."""
    if subject.data.domain is not None and subject.domain is None:
        return None, "The domain is continuous: naturality was judged on all rows together, not domain by domain."
    if subject.domain is None or len(np.unique(subject.domain)) < 2:
        return None, None
    try:
        return _audit(subject, subject.domain, drift=True), None
    except DataError as why:
        return None, f"Not judged domain by domain: {why}."


def _audit(subject: Subject, domain: np.ndarray | None, *, drift: bool) -> Audit:
    data = subject.observables.with_domain(None)
    settings = subject.settings
    return audit(
        data, subject.channel, epsilon=settings.epsilon, domain=domain, level=settings.level, drift=drift, seed=settings.seed
    )


def _downgraded(verdict: Verdict, problem: str) -> Verdict:
    """What holds for all rows together is not certified for the domains."""
    if not verdict.certified:
        return verdict
    return Verdict("cannot say", f"natural on all rows together. {problem}", verdict.evidence, "more rows in each domain")


def _compared(split: Audit | None, pooled: Audit) -> list[str]:
    if split is None or not split.verdict.refuted or pooled.verdict.refuted:
        return []
    return ["The pooled rows alone do not show the failure: it is seen only domain by domain."]


def _numbers(main: Audit, pooled: Audit | None) -> dict[str, Number]:
    numbers: dict[str, Number] = {}
    for found in filter(None, (main, pooled)):
        for claim in found.claims:
            place = "all rows pooled" if found is pooled else claim.place
            for bound in (claim.lower, claim.upper):
                if bound is not None:
                    numbers[f"{claim.error} in {place}, {bound.direction}"] = bound
            if claim.class_gain is not None:
                numbers[f"{claim.error} in {place}, for boosted trees"] = claim.class_gain
    numbers |= main.drift
    if main.latent_entropy is not None:
        numbers["H(Λ)"] = main.latent_entropy
    return numbers


def _tests(audits: dict[str, Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(test.name for found in audits.values() for c in found.claims for test in c.tests))


def _table(found: Audit) -> list[dict[str, Any]]:
    """One row per error and place, for the chart."""
    place = {"all rows": "all rows pooled"}
    return [
        {
            "place": place.get(claim.place, claim.place),
            "error": claim.error,
            "lower": _finite(claim.lower),
            "upper": _finite(claim.upper),
            "status": claim.verdict.status,
            "p": min((t.p_value for t in claim.tests), default=None),
        }
        for claim in found.claims
    ]


def _finite(bound: Bound | None) -> float | None:
    return None if bound is None or not math.isfinite(bound.value) else bound.value
