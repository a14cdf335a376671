"""The certificate: what was asked, what was answered, and everything needed to ask again."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from latentry.certificate.citations import bibtex
from latentry.certificate.opening import Opening
from latentry.certificate.question import MIXED, Fields, Part
from latentry.certificate.schema import CERTIFICATE, VERSION, require_seal, sealed
from latentry.certificate.statements import (
    Statement,
    may_not_say,
    may_say,
    naturality_errors,
    next_steps,
    statements,
)
from latentry.certificate.subject import Subject
from latentry.errors import DataError, LatentryError, nearest
from latentry.evidence import STATUS_ORDER, Status, Verdict, all_of
from latentry.whole_files import write_whole

__all__ = ["Certificate"]

_DECISIVE = ("identifiable", "natural", "causal")
_ALWAYS = ("identifiable", "natural", "controls")


@dataclass(frozen=True, eq=False)
class Certificate:
    """Verdicts about the latents of some rows.

    Args:
        parts: the audits, by name, in the order of the report.
        subject: what was certified: kind, latent, and the model's name and parameters.
        data: fingerprint, rows, modalities and domains of the data.
        split: which rows were audited, and how it is known that they are new.
        settings: epsilon, level, seed and the like, as declared.
        versions: of the software.
        made: when, and in how many seconds.
    """

    parts: Mapping[str, Part]
    subject: Fields
    data: Fields
    split: Fields
    settings: Fields
    versions: Mapping[str, str]
    made: Fields
    _shown: Subject | None = field(default=None, repr=False)  # rows and model, for the images of the report

    def __getitem__(self, name: str) -> Part:
        if name not in self.parts:
            raise DataError(f"part={name!r}: the certificate has no part {name!r}{nearest(name, self.parts)}")
        return self.parts[name]

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """Return the answer of each part."""
        return {name: part.verdict for name, part in self.parts.items()}

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """Return what was found, as sentences with numbers and a grade each; findings first."""
        return statements(self.parts, self.subject, self.settings)

    @property
    def may_say(self) -> tuple[str, ...]:
        """Return what may be quoted: nothing where a control failed, nothing of naturality where its controls did not run."""
        if any(one.topic == "rows" for one in self.statements):  # rows contradict what every interval rests on
            return ()
        if self.trusted:
            return may_say(self.statements)
        if self.parts["controls"].verdict.refuted:
            return ()
        return may_say(tuple(one for one in self.statements if one.topic != "natural"))

    @property
    def may_not_say(self) -> tuple[str, ...]:
        """Return what these rows do not allow to say, each with the reason."""
        return may_not_say(self.parts, self.subject, self.settings)

    @property
    def next_steps(self) -> tuple[str, ...]:
        """Return what would settle more: rows, domains, restarts or experiments."""
        return next_steps(self.parts, self.subject, self.settings)

    @property
    def shown(self) -> Subject | None:
        """Return the rows and their latents, if this session made the certificate."""
        return self._shown

    def natural_within(self, epsilon: float) -> dict[str, Verdict]:
        """Ask afterwards whether each latent is natural within another threshold: the bounds hold for all of them at once.

        Args:
            epsilon: The largest error that counts as natural, nats.

        Returns:
            A verdict for each latent, in each domain.

        Raises:
            DataError: If the threshold is not positive, or naturality was not asked.
        """
        if not 0 < epsilon < math.inf:
            raise DataError(f"epsilon={epsilon}: is no size of an error. Give a positive, finite number of nats.")
        judged = naturality_errors(self["natural"])
        if not self.trusted:
            return {errors.latent: Verdict("cannot say", self["controls"].verdict.sentence) for errors in judged}
        return {errors.latent: errors.within(epsilon, self.settings["level"]) for errors in judged}

    @property
    def trusted(self) -> bool:
        """Return whether all controls came out as expected."""
        return "controls" not in self.parts or self.parts["controls"].verdict.certified

    @property
    def verdict(self) -> Verdict:
        """Judge whether the latent is identifiable, natural, and (where there is a graph) agrees with new rows; controls first."""
        if not self.trusted:
            return Verdict(
                "cannot say", self.parts["controls"].verdict.sentence, {}, self.parts["controls"].verdict.change
            )
        unasked = [name for name in _ALWAYS if name not in self.parts]
        if unasked:
            return Verdict("cannot say", f"not all was asked: {', '.join(unasked)} was left out.", {}, "all parts")
        asked = [self.parts[name].verdict for name in _DECISIVE if name in self.parts]
        return all_of(asked, "the latent can be relied on")

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Return what must hold for the bounds to hold, over all parts."""
        return tuple(dict.fromkeys(a for part in self.parts.values() for a in part.assumptions))

    @property
    def methods(self) -> tuple[str, ...]:
        """Return everything that was used, by name."""
        return tuple(dict.fromkeys(["latentry", *(m for part in self.parts.values() for m in part.all_methods)]))

    def citations(self) -> str:
        """Return BibTeX of the methods that were used, and of no others."""
        return bibtex(self.methods)

    def status(self, name: str) -> Status:
        """Return the answer of a part.

        Args:
            name: Of the part; "mixtures" asks for the best answer to whether a latent is natural in every mixture of
                the domains.

        Returns:
            `certified`, `supported`, `refuted`, `not refuted` or `cannot say`.

        Raises:
            DataError: If the certificate has no such part.
        """
        if name != "mixtures":
            return self[name].verdict.status
        part = self["natural"]
        mixed = [claim.status for place, claim in part.claims.items() if place == MIXED or place.endswith(f", {MIXED}")]
        return max(mixed, key=STATUS_ORDER.index) if mixed else "cannot say"

    def reached(self, name: str) -> bool:
        """Return whether a part was certified or supported, on a certificate whose controls hold.

        Args:
            name: Of the part, or "mixtures".

        Returns:
            True or False.

        Raises:
            DataError: If the certificate has no such part.
        """
        return self.trusted and self.status(name) in ("certified", "supported")

    def __str__(self) -> str:
        width = max(map(len, self.parts))
        answers = [f"  {name:<{width}}  {part.answer}: {part.verdict.sentence}" for name, part in self.parts.items()]
        blocks = {
            "You may say:": self.may_say,
            "You may not say:": self.may_not_say,
            "What would settle more:": self.next_steps,
        }
        found = [line for title, said in blocks.items() if said for line in (title, *(f"  {words}" for words in said))]
        return "\n".join([*found, "Answers:", *answers, f"rows: {self.split['sentence']}"])

    # To files and back ------------------------------------------------------------------------

    def to_dict(self) -> Fields:
        """Return plain data, of the form of :data:`latentry.certificate.SCHEMA`, with a checksum of all of it."""
        fields = {
            "format": "latentry certificate",
            "version": VERSION,
            "subject": dict(self.subject),
            "data": dict(self.data),
            "split": dict(self.split),
            "settings": dict(self.settings),
            "versions": dict(self.versions),
            "made": dict(self.made),
            "statements": [one.to_json() for one in self.statements],
            "may_say": list(self.may_say),
            "may_not_say": list(self.may_not_say),
            "next_steps": list(self.next_steps),
            "verdict": self.verdict.to_json(),
            "parts": [part.to_json() for part in self.parts.values()],
            "citations": self.citations(),
        }
        return sealed(fields)

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the certificate as JSON text, and write it to a file if a path is given.

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

    @classmethod
    def from_json(cls, source: str | Path | Fields) -> Certificate:
        """Read a certificate from a file or from plain data; form and checksum are checked, and that it can be shown.

        Certificates of version 3, which have no checksum, are read too.

        Args:
            source: The path of a file that `to_json` wrote; the text that it gave; or what `to_dict` gave.

        Returns:
            The certificate, without the rows that its report would show.

        Raises:
            DataError: If the file could not be read, is no certificate, or was changed after it was written.
        """
        place = str(source) if isinstance(source, str | Path) and not _is_text(source) else "the certificate"
        fields = _read(source, place)
        require_seal(fields, place)
        try:
            parts = {part["name"]: Part.from_json(part) for part in fields["parts"]}
            names = ("subject", "data", "split", "settings", "versions", "made")
            found = cls(parts, *(fields[name] for name in names))
            found.to_html()
        except LatentryError as problem:
            raise DataError(f"{place}: {problem}") from None
        except (
            Exception
        ) as problem:  # tables of parts have many forms: whatever does not fit is found by using all of them
            raise DataError(
                f"{place}: its parts cannot be shown ({type(problem).__name__}: {problem}). Give a file that to_json wrote."
            ) from problem
        return found

    def to_html(self, path: str | Path | None = None, *, title: str = "", opening: Opening | None = None) -> str:
        """Return the report as one page that needs no network; images of rows are there if this session made the certificate.

        Args:
            path: Of a file to write the page to; None for none.
            title: Of the page.
            opening: What stands above the certificate; None where nothing does.

        Returns:
            HTML.

        Raises:
            DataError: If the file could not be written.
        """
        from latentry.certificate.report import page_of

        page = page_of(self, self._shown, title, opening)
        if path is not None:
            write_whole({path: page})
        return page


_TEXT = re.compile(r"\s*\{\s*([\"{]|\}?\s*$)")  # a record, whole or cut short; {x}.json is the name of a file


def _is_text(source: object) -> bool:
    """Return whether a source is the text of a record, and no path."""
    return isinstance(source, str) and _TEXT.match(source) is not None


def _read(source: str | Path | Fields, place: str) -> Fields:
    if isinstance(source, str) and _is_text(source):
        fields: Fields = CERTIFICATE.parse(source, place)
    elif isinstance(source, str | Path):
        fields = CERTIFICATE.read(source)
    else:
        try:
            text = json.dumps(source)  # tuples become lists, and numbers that are keys text, as in a file
        except (TypeError, ValueError, RecursionError) as problem:
            raise DataError(f"{place} is no plain data: {problem}. Give what to_dict gave.") from None
        fields = CERTIFICATE.parse(text, place)
    return fields
