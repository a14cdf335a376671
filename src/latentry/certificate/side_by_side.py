"""Several latents of the same rows: which is more natural, which says more about each modality, which shows the domain."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TypeVar

import numpy as np

from latentry.certificate.certificate import Certificate
from latentry.certificate.question import Fields, Part
from latentry.certificate.schema import VERSION, sealed
from latentry.certificate.statements import Errors, Statement, Topic, at_least, at_most, joined, nats, naturality_errors
from latentry.certificate.subject import Subject
from latentry.data import CategoricalChannel
from latentry.errors import DataError, nearest
from latentry.evidence import Estimate, Verdict
from latentry.natural import compare
from latentry.whole_files import write_whole

__all__ = ["SideBySide", "by_name", "compared", "named"]

One = TypeVar("One")
_ROUNDED = 8  # values to which continuous latents are rounded for a comparison
_OPEN = " is open: "
_MOST = 8  # latents that are compared at once


@dataclass(frozen=True, eq=False)
class SideBySide:
    """Certificates of several latents on the same rows, and what tells them apart.

    Args:
        certificates: By the name of the latent.
        pairs: Which of two is more natural, by at least how much.
    """

    certificates: Mapping[str, Certificate]
    pairs: tuple[Statement, ...]

    def __getitem__(self, name: str) -> Certificate:
        if name not in self.certificates:
            raise DataError(f"latent={name!r}: is none of those compared{nearest(name, self.certificates)}")
        return self.certificates[name]

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """Return which latent says most about each modality, which shows the domain most, and which is more natural."""
        return (*_information(self.certificates), *_domains(self.certificates), *self.pairs)

    @cached_property
    def rows(self) -> tuple[Fields, ...]:
        """Return a row of numbers for each latent, for a table."""
        return tuple(_row(name, one) for name, one in self.certificates.items())

    def __str__(self) -> str:
        width = max(len(name) for name in self.certificates)
        lines = [
            f"{row['latent']:<{width}}  "
            + "; ".join(f"{title} {cell}" for title, cell in _cells(row).items() if title != "latent")
            for row in self.rows
        ]
        return "\n".join([*lines, *(str(one) for one in self.statements)])

    def to_dict(self) -> Fields:
        """Return plain data: the comparison, and every certificate whole."""
        fields = {
            "format": "latentry side by side",
            "version": VERSION,
            "rows": list(self.rows),
            "statements": [one.to_json() for one in self.statements],
            "certificates": {name: one.to_dict() for name, one in self.certificates.items()},
        }
        return sealed(fields)

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the comparison as JSON text, and write it to a file if a path is given.

        Args:
            path: Of the file; None for none.

        Returns:
            The text.

        Raises:
            DataError: If the file could not be written.
        """
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        if path is not None:
            write_whole({path: text + "\n"})
        return text

    def to_html(self, path: str | Path | None = None, *, title: str = "") -> str:
        """Return one page: the table, what tells the latents apart, and what was found of each.

        Args:
            path: Of a file to write the page to; None for none.
            title: Of the page.

        Returns:
            HTML.

        Raises:
            DataError: If the file could not be written.
        """
        from latentry.certificate.report import comparison_page

        certificates = {name: (one, one.shown) for name, one in self.certificates.items()}
        page = comparison_page([_cells(row) for row in self.rows], self.statements, certificates, title)
        if path is not None:
            write_whole({path: page})
        return page


def named(latents: Mapping[str, One] | Sequence[One]) -> dict[str, One]:
    """Return latents by name, if they are so many that they can be compared.

    Args:
        latents: Models, channels or arrays.

    Returns:
        By name.

    Raises:
        DataError: If there are fewer than two, or too many.
    """
    found = by_name(latents)
    if not 2 <= len(found) <= _MOST:
        raise DataError(f"latents: {len(found)} were given. Compare two to {_MOST}; a single one goes without a list.")
    return found


def by_name(latents: Mapping[str, One] | Sequence[One]) -> dict[str, One]:
    """Return latents by name; those of a list are called by their kind and number.

    Args:
        latents: Models, channels or arrays.

    Returns:
        By name.
    """
    if isinstance(latents, Mapping):
        return {str(name): one for name, one in latents.items()}
    kinds = ["latents" if isinstance(one, np.ndarray) else type(one).__name__ for one in latents]
    return {f"{kind} {i + 1}": one for i, (kind, one) in enumerate(zip(kinds, latents, strict=True))}


def compared(certificates: Mapping[str, Certificate], progress: Callable[[str], None] | None = None) -> SideBySide:
    """Compare latents that were certified on the same rows.

    Args:
        certificates: Of this session, by the name of the latent.
        progress: Called with the name of each pair.

    Returns:
        The certificates, and which of each pair is more natural.
    """
    pairs = list(combinations(certificates, 2))
    written = []
    for a, b in pairs:
        if progress is not None:
            progress(f"{a} beside {b}")
        broken = next(
            (one["controls"].verdict.sentence for one in (certificates[a], certificates[b]) if not one.trusted), ""
        )
        if broken:
            written.append(
                Statement("natural", f"{a}, {b}", f"Which of {a} and {b} is more natural{_OPEN}{broken}", "cannot say")
            )
            continue
        apart = _apart(a, b, certificates[a], certificates[b])
        written.append(apart or _pair(a, b, certificates[a].shown, certificates[b].shown, len(pairs)))
    return SideBySide(dict(certificates), tuple(_gathered(written)))


def _gathered(written: Sequence[Statement]) -> Iterator[Statement]:
    """Yield what was decided of each pair; pairs that are open for one and the same reason share a sentence."""
    whys = [one.sentence.partition(_OPEN)[2] if one.low is None else "" for one in written]
    for i, (one, why) in enumerate(zip(written, whys, strict=True)):
        if not why or whys.count(why) == 1:
            yield one
        elif whys.index(why) == i:
            pairs = "; ".join(other.about for other, reason in zip(written, whys, strict=True) if reason == why)
            yield Statement("natural", pairs, f"Which is more natural{_OPEN}{why}", "cannot say")


def _apart(a: str, b: str, first: Certificate, second: Certificate) -> Statement | None:
    """Compare the ends of the largest errors, which the certificates hold already; None where they overlap."""
    if "natural" not in first.parts or "natural" not in second.parts:
        return None
    one, other = _whole(first["natural"]), _whole(second["natural"])
    if one is None or other is None or one.doubt or other.doubt or one.where != other.where:
        return None
    for better, worse, small, large in ((a, b, one, other), (b, a, other, one)):
        if small.high is not None and small.high < large.low:
            ends = f"its naturality error is at most {at_most(small.high)} nats, that of {worse} at least {at_least(large.low)}"
            doubt = first.settings["level"] + second.settings["level"]
            gap = large.low - small.high
            sentence = f"{better} is more natural than {worse}: {ends}."
            return Statement("natural", f"{a}, {b}", sentence, "certified", gap, None, confidence=1 - doubt)
    return None


def _whole(part: Part) -> Errors | None:
    """Return the errors of the latent as a whole, not of one of its nodes."""
    return next((errors for errors in naturality_errors(part) if errors.latent in ("Λ", "the cluster")), None)


def _pair(a: str, b: str, first: Subject | None, second: Subject | None, pairs: int) -> Statement:
    """Judge which of two latents is more natural; the level is divided among the pairs."""
    if first is None or second is None:
        return Statement("natural", f"{a}, {b}", f"{a} and {b} cannot be compared without their rows.", "cannot say")
    settings = first.settings
    try:
        result = compare(
            first.observables.with_domain(None), _finite(first), _finite(second),
            quantiser=_ROUNDED, level=min(settings.level, 2 * settings.level / pairs), seed=settings.seed,
        )  # fmt: skip
    except DataError as why:
        return Statement("natural", f"{a}, {b}", f"Which of {a} and {b} is more natural{_OPEN}{why}", "cannot say")
    return _ordered(a, b, result.total, 1 - settings.level)


def _finite(subject: Subject) -> CategoricalChannel | np.ndarray:
    """Return the latent with finitely many values, or numbers that will be rounded."""
    if subject.clusters is not None:
        return subject.clusters
    assert subject.latents is not None
    return subject.latents.mean


def _ordered(a: str, b: str, verdict: Verdict, confidence: float) -> Statement:
    ends = {name.rsplit(", ", 1)[1]: bound.value for name, bound in verdict.evidence.items()}
    low, high = ends["lower"], ends["upper"]
    against = next((one.name for one in verdict.assumptions if one.refuted), None)
    about = f"{a}, {b}"
    if against is not None:
        sentence = f"Which of {a} and {b} is more natural{_OPEN}rows contradict an assumption, that {against}."
        return Statement("natural", about, sentence, "cannot say")
    if low > 0 or high < 0:
        better, worse, gap = (a, b, low) if low > 0 else (b, a, -high)
        least = f"the sum of its errors, domains pooled, is smaller by at least {at_least(gap)} nats"
        sentence = f"{better} is more natural than {worse}: {least}."
        return Statement("natural", about, sentence, "certified", low, high, confidence=confidence)
    sentence = (
        f"Which of {a} and {b} is more natural{_OPEN}the sums of their errors differ by {low:.2f} to {high:.2f} nats."
    )
    return Statement("natural", about, sentence, "cannot say", low, high, confidence=confidence)


def _information(certificates: Mapping[str, Certificate]) -> Iterator[Statement]:
    """Yield, for each modality, the latent that says most about it."""
    parts = {name: one.parts["informative"] for name, one in certificates.items() if "informative" in one.parts}
    modalities = dict.fromkeys(row["about"] for part in parts.values() for row in part.details.get("table", ()))
    for modality in (one for one in modalities if one != "domain"):
        found = _measured({name: part.numbers.get(f"I(Λ; {modality})") for name, part in parts.items()})
        if len(found) > 1:
            yield _most(found, f"about {modality}", "says most", "say most")


def _domains(certificates: Mapping[str, Certificate]) -> Iterator[Statement]:
    """Yield the latent in which the domain shows most."""
    parts = {name: one.parts["domains"] for name, one in certificates.items() if "domains" in one.parts}
    found = _measured({name: part.numbers.get("domain told by the latents") for name, part in parts.items()})
    if len(found) < 2:
        return
    if all(one.low <= 0 for one in found.values()):
        high = max(max(one.high for one in found.values()), 0.0)
        sentence = f"None of {joined(found)} tells the domain of a row: at most {high:.2f} nats."
        yield Statement("domain", ", ".join(found), sentence, "measured", 0.0, high, confidence=0.95)
    else:
        yield _most(found, "of the domain", "shows most", "show most")


def _measured(numbers: Mapping[str, object]) -> dict[str, Estimate]:
    known = {name: one for name, one in numbers.items() if isinstance(one, Estimate) and one.low == one.low}
    return dict(sorted(known.items(), key=lambda pair: -float(pair[1])))


def _most(found: dict[str, Estimate], about: str, one: str, several: str) -> Statement:
    """Name the largest, or those whose intervals reach its own."""
    first, *rest = found
    level = [name for name in rest if found[name].high >= found[first].low]
    words = joined(f"{name} {nats(e)}" for name, e in found.items())
    who = (
        f"{first} {one} {about}"
        if not level
        else f"{joined([first, *level])} {several} {about}, and are not told apart"
    )
    topic: Topic = "domain" if "domain" in about else "information"
    largest = found[first]
    return Statement(
        topic,
        ", ".join([first, *level]),
        f"{who}: {words} nats.",
        "measured",
        largest.low,
        largest.high,
        confidence=0.95,
    )


def _row(name: str, certificate: Certificate) -> Fields:
    row: Fields = {"latent": name}
    part = certificate.parts.get("informative")
    if part is not None:
        row["information"] = {m: [float(e), e.low, e.high] for m, e in _by_modality(part).items()}
    natural = certificate.parts.get("natural")
    errors = None if natural is None else _whole(natural)
    if errors is not None and not errors.doubt:
        row["naturality"] = [
            errors.low,
            errors.high if errors.high is not None else errors.high_for_predictors,
        ]
        row["entropy"] = errors.entropy
    domains = certificate.parts.get("domains")
    told = None if domains is None else domains.numbers.get("domain told by the latents")
    if isinstance(told, Estimate):
        row["domain"] = [float(told), told.low, told.high]
    row["answers"] = {title: part.answer for title, part in certificate.parts.items()}
    return row


def _by_modality(part: Part) -> dict[str, Estimate]:
    names = dict.fromkeys(row["about"] for row in part.details.get("table", ()) if row["about"] != "domain")
    return _measured({name: part.numbers.get(f"I(Λ; {name})") for name in names})


def _cells(row: Fields) -> dict[str, str]:
    """Return a row of the table in words."""
    cells = {"latent": row["latent"]}
    cells |= {
        f"says of {m}": f"{max(e[0], 0):.2f} [{max(e[1], 0):.2f}, {max(e[2], 0):.2f}]"
        for m, e in row.get("information", {}).items()
    }
    if "naturality" in row:
        low, high = row["naturality"]
        cells["naturality error"] = f"at least {low:.2f}" if high is None else f"{low:.2f} to {high:.2f}"
        cells["holds"] = "" if row["entropy"] is None else f"{row['entropy']:.2f}"
    if "domain" in row:
        value, low, high = row["domain"]
        cells["shows of the domain"] = f"{max(value, 0):.2f} [{max(low, 0):.2f}, {max(high, 0):.2f}]"
    return cells
