"""What a discovery found, in words, as a page and as plain data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from latentry.certificate import Certificate, Opening, OpeningTable, write_whole
from latentry.contracts import HasLatentDistributions
from latentry.data import Dataset
from latentry.discovery.compare import Comparison
from latentry.discovery.latents import LatentCount
from latentry.discovery.plan import PlannedModel
from latentry.discovery.repeats import Repeats
from latentry.discovery.shape import Shape
from latentry.identifiability import mean_gain
from latentry.models import AnyModel

__all__ = ["Discovery", "changing_latents"]

_MOVES = 0.15  # change of a distribution, in its own deviations, above which its latent changes with the domain


@dataclass(frozen=True, eq=False)
class Discovery:
    """The model that suits the data, and how it was chosen.

    Args:
        shape: Of the data.
        count: How many latents.
        planned: Every registered model, and whether it applies.
        comparison: Candidates on rows that no fit saw.
        repeats: The chosen model, and the fits that it was matched with.
        certificate: Of the chosen model.
        training: Rows that fits could see.
        seconds: Of each fit, by name.
    """

    shape: Shape
    count: LatentCount
    planned: tuple[PlannedModel, ...]
    comparison: Comparison
    repeats: Repeats
    certificate: Certificate
    training: Dataset
    seconds: Mapping[str, float]

    @property
    def model(self) -> AnyModel:
        """Return the model that was chosen, fitted to all training rows."""
        return self.repeats.model

    @property
    def latents(self) -> int:
        """Return how many latents it has."""
        return self.model.n_features_out

    @cached_property
    def paragraph(self) -> str:
        """Return what was found, for somebody who was not there."""
        return " ".join([self._described, self._agreed, self._chosen, self._trusted])

    @property
    def _described(self) -> str:
        shape = self.shape
        held = " and ".join(f"{one.name!r} ({'×'.join(map(str, one.shape))})" for one in shape.modalities)
        where = (
            f" from {shape.domains} domains"
            if shape.domains
            else " with a continuous u"
            if shape.domains is None
            else ""
        )
        return (
            f"These {shape.rows} rows of {held}{where} are described by {self._number} ({type(self.model).__name__})."
        )

    @property
    def _number(self) -> str:
        values = self.certificate.subject["values"]
        if values is not None:
            return f"1 hidden variable with {values} values"
        return f"{self.latents} hidden variable{'s' * (self.latents > 1)}"

    @property
    def _agreed(self) -> str:
        matched = self.repeats.by_seed
        if matched is None:
            return "Whether another fit would find the same ones was not asked: the budget did not reach."
        found, all_of = self.repeats.reproduced, len(matched.latents)
        fits = len(self.repeats.restarts) + len(self.repeats.halves) + 1
        which = f" ({', '.join(found)})" if 0 < len(found) < all_of else ""
        lost = [name for name in matched.latents if name not in found]
        rest = f"; not reproduced: {', '.join(lost)}" if lost else ""
        agree = "none" if not found else f"{len(found)} of {all_of}" if lost else "all"
        parts = " and parts of the rows" * bool(self.repeats.halves)
        return f"{fits} fits, from other seeds{parts}, agree on {agree} of them{which}{rest}."

    @property
    def _chosen(self) -> str:
        best, others = self.comparison.best.name, len(self.comparison.scores) - 1
        if others < 1:
            return f"{best} was the only candidate{' that was fitted' if others == 0 else ''}."
        kinds, last = {one.kind for one in self.comparison.scores}, self.comparison.sentences[-1]
        if len(kinds) > 1:
            return f"{best} was chosen among {others + 1} models, not all of which have scores that can be compared. {last}"
        return (
            f"{best} was chosen among {others + 1} models by {self.comparison.rows} rows that they had not seen. {last}"
        )

    @property
    def _trusted(self) -> str:
        verdict = self.certificate.verdict
        audited = self.certificate.split.get("audited", self.certificate.split["rows"])
        return f"Checked on {audited} rows that no fit saw: {verdict.status}: {verdict.sentence}"

    @property
    def sentences(self) -> tuple[str, ...]:
        """Return every decision, with its number."""
        said = (self.shape.sentence, *self.count.sentences, *self.comparison.sentences, *self.repeats.sentences)
        return (*said, *changing_latents(self.model))

    def __str__(self) -> str:
        table = _lines(self._plan_table)
        return "\n".join([self.paragraph, "", *table, "", *(f"· {words}" for words in self.sentences)])

    # Tables -----------------------------------------------------------------------------------

    @property
    def _plan_table(self) -> OpeningTable:
        rows = tuple((one.name, "yes" if one.applies else "no", one.identifies, one.needs) for one in self.planned)
        return OpeningTable("Which models could apply", ("model", "applies", "could identify", "needs"), rows)

    @property
    def _score_table(self) -> OpeningTable:
        scored = self.comparison.scores
        rows = tuple((one.name, _number(one.mean), self._gap(one.name), one.kind or "no likelihood") for one in scored)
        return OpeningTable(
            "Candidates on rows set aside", ("candidate", "nats a row", "from the chosen one", "score"), rows
        )

    def _gap(self, name: str) -> str:
        by_name = {one.name: one for one in self.comparison.scores}
        one, best = by_name[name], by_name[self.comparison.best.name]
        if one is best or one.kind != best.kind or not len(one.rows):
            return "chosen" if one is best else "not compared"
        return str(mean_gain(one.rows - best.rows, self.comparison.units))

    @property
    def _count_table(self) -> OpeningTable:
        rows = tuple((str(one.latents), one.by, _number(one.mean)) for one in self.count.tried)
        return OpeningTable("Numbers of latents on rows set aside", ("latents", "by", "nats a row"), rows)

    @property
    def opening(self) -> Opening:
        """Return what stands at the top of the page."""
        tables = (*([self._score_table] if self.comparison.scores else []), self._plan_table, self._count_table)
        return Opening("What was found, and how", self.paragraph, self.sentences, tables)

    # Files ------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, object]:
        """Return plain data: sentences, tables, and the certificate whole."""
        return {
            "format": "latentry discovery",
            "paragraph": self.paragraph,
            "sentences": list(self.sentences),
            "model": type(self.model).__name__,
            "candidate": self.comparison.best.name,
            "latents": self.latents,
            "counted": self.count.latents,
            "reproduced": list(self.repeats.reproduced),
            "models": [vars(one) for one in self.planned],
            "candidates": [
                {"name": one.name, "score": one.mean if len(one.rows) else None, "kind": one.kind, "rank": one.rank}
                for one in self.comparison.scores
            ],
            "counts": [{"latents": one.latents, "by": one.by, "score": one.mean} for one in self.count.tried],
            "matched": None if self.repeats.by_seed is None else self.repeats.by_seed.to_dict(),
            "halves": None if self.repeats.by_half is None else self.repeats.by_half.to_dict(),
            "seconds": {name: round(seconds, 1) for name, seconds in self.seconds.items()},
            "certificate": self.certificate.to_dict(),
        }

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the discovery as JSON text, and write it to a file if a path is given.

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
        """Return one page: what was found and how, then the certificate.

        Args:
            path: Of a file to write the page to; None for none.
            title: Of the page.

        Returns:
            HTML.

        Raises:
            DataError: If the file could not be written.
        """
        name = title or f"{self._number} of {self.shape.rows} rows"
        return self.certificate.to_html(path, title=name, opening=self.opening)


def changing_latents(model: AnyModel) -> tuple[str, ...]:
    r"""Say which latents change with the domain: how many there are is no question for a map that keeps every column.

    The change of a latent is the root of the mean over domains of
    :math:`(m_u - \bar m)^2 / \bar\sigma^2 + (\log\sigma_u - \overline{\log\sigma})^2`.

    Args:
        model: Fitted.

    Returns:
        A sentence; none for a model without domains.
    """
    if not isinstance(model, HasLatentDistributions):
        return ()
    learned = model.latent_distributions()
    level = np.log(learned.scale).mean(axis=0)
    moved = (learned.location - learned.location.mean(axis=0)) * np.exp(-level)
    change = np.sqrt((moved**2 + (np.log(learned.scale) - level) ** 2).mean(axis=0))
    names = [f"{name} ({size:.2f})" for name, size in zip(model.latents_, change, strict=True) if size > _MOVES]
    which = f"{len(names)} of {len(change)} latent{'s' * (len(change) > 1)} change with the domain" + (
        f": {', '.join(names)}" if names else ""
    )
    return (f"{which}, in units of their own deviation.",)


def _number(value: float) -> str:
    return "" if value != value else f"{value:.3f}"


def _lines(table: OpeningTable) -> list[str]:
    rows = [table.head, *table.rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(table.head))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
