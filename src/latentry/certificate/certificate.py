"""The certificate: what was asked, what was answered, and everything needed to ask again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from latentry.certificate.citations import bibtex
from latentry.certificate.question import MIXED, Part
from latentry.certificate.schema import VERSION, require_form
from latentry.certificate.subject import Subject
from latentry.certificate.whole_files import write_whole
from latentry.errors import DataError, nearest
from latentry.evidence import STATUS_ORDER, Status, Verdict, all_of

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
    subject: Mapping[str, Any]
    data: Mapping[str, Any]
    split: Mapping[str, Any]
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    made: Mapping[str, Any]
    _shown: Subject | None = field(default=None, repr=False)  # rows and model, for the images of the report

    def __getitem__(self, name: str) -> Part:
        if name not in self.parts:
            raise DataError(f"the certificate has no part {name!r}{nearest(name, self.parts)}")
        return self.parts[name]

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The answer of each part."""
        return {name: part.verdict for name, part in self.parts.items()}

    @property
    def trusted(self) -> bool:
        """Whether the controls came out as they should."""
        return "controls" not in self.parts or self.parts["controls"].verdict.certified

    @property
    def verdict(self) -> Verdict:
        """Identifiable, natural, and (where there is a graph) in agreement with new rows; controls first."""
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
        """What must hold for the bounds to hold, over all parts."""
        return tuple(dict.fromkeys(a for part in self.parts.values() for a in part.assumptions))

    @property
    def methods(self) -> tuple[str, ...]:
        """Everything that was used, by name."""
        return tuple(dict.fromkeys(["latentry", *(m for part in self.parts.values() for m in part.all_methods)]))

    def citations(self) -> str:
        """BibTeX of the methods that were used, and of no others."""
        return bibtex(self.methods)

    def status(self, name: str) -> Status:
        """The answer of a part; of "mixtures", the best answer to whether a latent is natural in every mixture of the domains."""
        if name != "mixtures":
            return self[name].verdict.status
        part = self["natural"]
        found = [claim.status for place, claim in part.claims.items() if place == MIXED or place.endswith(f", {MIXED}")]
        return max(found, key=STATUS_ORDER.index) if found else "cannot say"

    def reached(self, name: str) -> bool:
        """Whether a part (or "mixtures") was certified, on a certificate whose controls hold."""
        return self.trusted and self.status(name) == "certified"

    def __str__(self) -> str:
        width = max(map(len, self.parts))
        lines = [f"{name:<{width}}  {part.verdict}" for name, part in self.parts.items()]
        return "\n".join([*lines, f"rows: {self.split['sentence']}"])

    # To files and back ------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain data, of the form of :data:`latentry.certificate.SCHEMA`."""
        names = ("subject", "data", "split", "settings", "versions", "made")
        return {
            "format": "latentry certificate",
            "version": VERSION,
            **{name: dict(getattr(self, name)) for name in names},
            "verdict": self.verdict.to_json(),
            "parts": [part.to_json() for part in self.parts.values()],
            "citations": self.citations(),
        }

    def to_json(self, path: str | Path | None = None) -> str:
        """The certificate as JSON text, also written to a file if a path is given."""
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        if path is not None:
            write_whole({path: text + "\n"})
        return text

    @classmethod
    def from_json(cls, source: str | Path | Mapping[str, Any]) -> Certificate:
        """Read a certificate from a file or from plain data; the form is checked, place by place."""
        fields = _read(source) if isinstance(source, str | Path) else source
        require_form(fields)
        parts = {part["name"]: Part.from_json(part) for part in fields["parts"]}
        names = ("subject", "data", "split", "settings", "versions", "made")
        return cls(parts, *(fields[name] for name in names))

    def to_html(self, path: str | Path | None = None, *, title: str = "") -> str:
        """The report: one page that needs no network; images of rows are there if this session made the certificate."""
        from latentry.certificate.report import page_of

        page = page_of(self, self._shown, title)
        if path is not None:
            write_whole({path: page})
        return page


def _read(path: str | Path) -> Any:
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as problem:
        raise DataError(f"{path} could not be read: {problem}.") from None
    except ValueError as problem:
        raise DataError(f"{path} is not JSON: {problem}.") from None
