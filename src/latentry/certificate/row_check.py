"""A look at the rows of a certificate, for parts that take none: every interval rests on their independence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from latentry.certificate.leading_components import is_label
from latentry.certificate.question import MEASURED, Part
from latentry.certificate.subject import Subject
from latentry.data import Dataset, numbers_of_rows
from latentry.evidence import Assumption, Verdict, assumptions_in_words
from latentry.identifiability import independent_rows

__all__ = ["ABOUT_ROWS", "with_rows_looked_at"]

ABOUT_ROWS = ("rows in their order do not depend", "rows are independent")  # how the names of these assumptions begin
_JUDGED = ("natural", "identifiable", "causal")  # which look at what they count
_POSITIVE = ("certified", "supported", "not refuted")
_ASKED = ("fit", *MEASURED)  # what counts rows one by one and does not look at them


def with_rows_looked_at(parts: Mapping[str, Part], subject: Subject) -> dict[str, Part]:
    """Give the fit, and parts that measure, what is known of the independence of rows; answers on dependent rows are left open.

    Audits look at what they count: naturality at tables of labels, which repeat by nature. Here all numbers of a row are compared.

    Args:
        parts: Of a certificate, by name.
        subject: Rows and their latents.

    Returns:
        The parts.
    """
    known = [one for part in parts.values() for one in part.tested if one.name.startswith(ABOUT_ROWS)]
    looked = _looked_at(subject)
    if known and (any(one.refuted for one in known) or not any(one.refuted for one in looked)):
        looked = tuple(dict.fromkeys(known))
    against = next((one for one in looked if one.refuted), None)
    return {name: _beside(part, looked, against) if _rests(part, against) else part for name, part in parts.items()}


def _rests(part: Part, against: Assumption | None) -> bool:
    """Say whether a part has not named the rows itself, and rests on them."""
    if part.name in _ASKED:
        return True
    judged = part.name in _JUDGED and part.verdict.status in _POSITIVE
    judged |= part.name == "natural" and part.verdict.refuted
    return judged and against is not None and against not in part.tested


def _looked_at(subject: Subject) -> tuple[Assumption, ...]:
    data = subject.data
    strata = None if data.domain is None or data.domain.labels is None else data.domain.values.astype(np.int64)
    return independent_rows(_columns(data), strata, data.units, subject.settings.level, numbers_of_rows(data))


def _columns(data: Dataset) -> list[np.ndarray]:
    """Return numbers of each row, and labels."""
    labels = [np.asarray(data[name]).reshape(len(data)) for name in data.names if is_label(data, name)]
    numbers = numbers_of_rows(data)
    return [*([] if numbers is None else [numbers]), *labels]


def _beside(part: Part, looked: tuple[Assumption, ...], against: Assumption | None) -> Part:
    verdict = part.verdict
    assumptions = tuple(dict.fromkeys((*verdict.assumptions, *looked)))
    if part.name in MEASURED or verdict.status == "cannot say":
        return replace(part, verdict=replace(verdict, assumptions=assumptions))
    if against is None:
        sentence = f"{verdict.sentence} {assumptions_in_words(assumptions)}".rstrip()
        return replace(part, verdict=replace(verdict, sentence=sentence, assumptions=assumptions))
    sentence = f"rows contradict an assumption: {against.name} ({against.note}). As if it held: {verdict.sentence}"
    verdict = Verdict("cannot say", sentence, verdict.evidence, "groups= or time=", assumptions=assumptions)
    return replace(part, verdict=verdict)
