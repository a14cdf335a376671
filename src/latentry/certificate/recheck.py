"""Ask again, and compare: whether a certificate says what its run and its data say today."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from latentry.certificate.certificate import Certificate
from latentry.certificate.certify import certify
from latentry.certificate.given import Latents
from latentry.certificate.question import Number, Part
from latentry.contracts import HasChannel, KeepsFitRecord
from latentry.data import Dataset
from latentry.errors import DataError
from latentry.evidence import Bound, Verdict

__all__ = ["Comparison", "check", "compare"]

_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")


@dataclass(frozen=True)
class Comparison:
    """What came out differently.

    Args:
        verdicts: sentences about verdicts that changed.
        numbers: sentences about numbers that moved by more than the tolerance.
        largest: the largest relative change of a number.
        compared: how many numbers were compared.
    """

    verdicts: tuple[str, ...]
    numbers: tuple[str, ...]
    largest: float
    compared: int

    @property
    def same(self) -> bool:
        """Return whether everything came out again."""
        return not self.verdicts and not self.numbers

    def __str__(self) -> str:
        if self.same:
            return f"the certificate came out again: every verdict, and {self.compared} numbers to within {self.largest:.1g}."
        return "\n".join(["the certificate does not come out again:", *self.verdicts, *self.numbers])


def check(
    certificate: Certificate,
    latents: Latents,
    data: Dataset,
    *,
    seen: ArrayLike | None = None,
    others: Sequence[HasChannel] = (),
    tolerance: float = 1e-3,
    progress: Callable[[str], None] | None = None,
) -> Comparison:
    """Recompute a certificate from its run and its data with its own settings, and compare.

    Cost: that of the certificate, once more.

    Args:
        certificate: as read by `Certificate.from_json`.
        latents: the model, or the latents, that it is about.
        data: the rows it was made from; other rows are refused.
        seen: as for `certify`, if it was given there.
        others: as for `certify`, if they were given there.
        tolerance: relative change of a number that counts as the same: another machine may round differently.
        progress: as for `certify`.

    Returns:
        What came out differently.

    Raises:
        DataError: If the data or the fit are not those that the certificate is about.
    """
    if data.fingerprint != certificate.data["fingerprint"]:
        raise DataError(
            f"data: the certificate was made from other data: fingerprint {certificate.data['fingerprint'][:12]}…, these "
            f"have {data.fingerprint[:12]}…. Give the rows that it was made from."
        )
    mark = certificate.subject.get("fitted_on")
    record = latents.fit_record() if isinstance(latents, KeepsFitRecord) else None
    if mark is not None and (record is None or record.fingerprint != mark):
        raise DataError(
            "latents: the certificate is about another fit; this model was trained on other rows. Give the run that it is about."
        )
    options = {name: value for name, value in certificate.settings.items() if name in _OPTIONS}
    again = certify(
        latents, data, **options, seen=seen, others=others, only=tuple(certificate.parts), progress=progress
    )
    return compare(certificate, again, tolerance)


_OPTIONS = ("epsilon", "level", "seed", "noise", "quantiser", "blocks", "restarts", "refits", "best")


def compare(before: Certificate, after: Certificate, tolerance: float) -> Comparison:
    """Compare two certificates, verdict by verdict and number by number.

    Args:
        before: As it was.
        after: As it comes out now.
        tolerance: Relative change of a number that counts as the same.

    Returns:
        What differs.
    """
    verdicts = [
        f"{name}: {status} then, {_answers(after)[name]} now."
        for name, status in _answers(before).items()
        if _answers(after).get(name, status) != status
    ]
    verdicts += [f"{name}: there then, not there now." for name in _answers(before) if name not in _answers(after)]
    then, now = before.split.get("audited"), after.split.get("audited")
    verdicts += [] if then == now else [f"rows: {then} audited then, {now} now; were seen= rows given?"]
    fresh = [name for name in _answers(after) if name not in _answers(before)]
    verdicts += [f"{name}: not there then, {_answers(after)[name]} now." for name in fresh]
    verdicts += list(_words(before, after))
    moves = [move for name in after.parts if name in before.parts for move in _moves(before[name], after[name])]
    words = [f"{name}: {old:.5g} then, {new:.5g} now." for name, old, new, gap in moves if gap > tolerance]
    largest = max((gap for *_, gap in moves), default=0.0)
    return Comparison(tuple(verdicts), tuple(words), largest, len(moves))


def _words(before: Certificate, after: Certificate) -> Iterator[str]:
    """Yield what is printed and differs; numbers within it may differ by two of a hundred."""
    old, new = _sayings(before), _sayings(after)
    for name in (name for name in old if name in new):
        (plain, numbers), (other, others) = old[name], new[name]
        same = plain == other and len(numbers) == len(others) and np.allclose(numbers, others, rtol=0.02, atol=1e-12)
        if not same:
            yield f"{name}: it does not say the same now."


def _sayings(certificate: Certificate) -> dict[str, tuple[str, list[float]]]:
    """Return everything that a certificate prints, by its place: words with # for each number, and the numbers."""
    sayings = {"the certificate": _saying(certificate.verdict), "rows": str(certificate.split["sentence"])}
    sayings["what was certified"] = json.dumps(certificate.subject, sort_keys=True, default=str)
    sayings["citations"] = certificate.citations()
    sayings |= {f"statement {i + 1}": str(one) for i, one in enumerate(certificate.statements)}
    sayings["what may not be said"] = " ".join(certificate.may_not_say)
    sayings["what would settle more"] = " ".join(certificate.next_steps)
    for name, part in certificate.parts.items():
        for claim, verdict in {"": part.verdict, **part.claims}.items():
            sayings[f"{name}, {claim}".rstrip(", ")] = _saying(verdict)
        for title, number in part.numbers.items():
            sayings[f"{name}, number {title}"] = number.direction if isinstance(number, Bound) else ""
        sayings[f"{name}, notes"] = " ".join(part.notes)
        sayings[f"{name}, methods"] = "; ".join(part.methods)
        sayings[f"{name}, details"] = json.dumps(part.details, sort_keys=True, default=str)
    return {name: (_NUMBER.sub("#", text), [float(n) for n in _NUMBER.findall(text)]) for name, text in sayings.items()}


def _saying(verdict: Verdict) -> str:
    bounds = "; ".join(f"{b.direction} {b.confidence} {b.value:.6g}" for b in verdict.evidence.values())
    power = "" if verdict.power is None else f"{verdict.power:.3g}"
    return f"{verdict.sentence} [{bounds}] [{verdict.change}] [{power}] [{'; '.join(map(str, verdict.assumptions))}]"


def _answers(certificate: Certificate) -> dict[str, str]:
    """Return the status of every part, and of every claim that it rests on."""
    answers: dict[str, str] = {}
    for name, part in certificate.parts.items():
        answers |= {name: part.verdict.status} | {f"{name}, {claim}": v.status for claim, v in part.claims.items()}
    return answers


def _moves(before: Part, after: Part) -> Iterator[tuple[str, float, float, float]]:
    old, new = _values(before.numbers), _values(after.numbers)
    for name in sorted({*old, *new}):
        a, b = old.get(name, np.nan), new.get(name, np.nan)
        if np.isnan(a) and np.isnan(b) or a == b:
            yield f"{before.name}, {name}", a, b, 0.0
        else:
            gap = abs(a - b) / max(abs(a), abs(b), 1.0) if np.isfinite([a, b]).all() else np.inf
            yield f"{before.name}, {name}", a, b, float(gap)


def _values(numbers: Mapping[str, Number]) -> dict[str, float]:
    return {name: n.value if isinstance(n, Bound) else float(n) for name, n in numbers.items()}
