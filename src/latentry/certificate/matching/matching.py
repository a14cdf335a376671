"""Matched latents: which partner each has in every other model, how far they agree, and what reappears."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np

from latentry.certificate.matching.alignment import Alignment
from latentry.certificate.matching.columns import LatentsElsewhere, LatentsToMatch, as_given, encoded
from latentry.certificate.question import Fields
from latentry.certificate.statements import joined
from latentry.contracts import HasChannel
from latentry.data import DataLike
from latentry.errors import DataError, nearest
from latentry.evidence import Estimate

__all__ = ["Matching", "Outcome", "Partner"]

Outcome = Literal["same", "open", "different", "no partner"]
_MEASURES = {False: ("Spearman", "Pearson"), True: ("adjusted information", "kappa")}


@dataclass(frozen=True, eq=False)
class Partner:
    """A latent of the reference in another model.

    Args:
        latent: Its name in the reference.
        model: The name of the other model.
        name: Of the partner there; None where it has none.
        sign: 1, or −1 where the partner falls as the latent rises; 0 without a partner.
        agreement: Absolute Spearman correlation, or for categories adjusted mutual information, with its interval.
        beside: Absolute Pearson correlation, or Cohen's kappa after outcomes were matched.
        chance: What the best pair reaches when rows are put together at random, but in 5 of 100 cases.
        rivals: Other latents of that model that agree with it no worse than the interval reaches.
        outcome: "same" if the whole interval is above the threshold, and the agreement above chance; "different" if the
            whole interval is below; else "open".
    """

    latent: str
    model: str
    name: str | None
    sign: int
    agreement: Estimate
    beside: float
    chance: float
    rivals: tuple[str, ...]
    outcome: Outcome

    def to_json(self) -> Fields:
        """Return plain data for a JSON file."""
        return {**vars(self), "agreement": self.agreement.to_json(), "rivals": list(self.rivals)}


@dataclass(frozen=True, eq=False)
class Matching:
    """Latents of several models, matched with those of the first.

    Args:
        models: Names of the models; the first is the reference.
        latents: Names of the reference's latents.
        partners: One for each latent in each other model.
        unmatched: By model, the latents that are no partner of any latent of the reference.
        threshold: The correlation from which on latents count as the same.
        least: The agreement that this means: the threshold itself, or for categories the information of even coins.
        categories: Whether the latents are categories.
        rows: How many were looked at.
        about_rows: Which they were.
    """

    models: tuple[str, ...]
    latents: tuple[str, ...]
    partners: tuple[Partner, ...]
    unmatched: Mapping[str, tuple[str, ...]]
    threshold: float
    least: float
    categories: bool
    rows: int
    about_rows: str
    _sources: Mapping[str, LatentsToMatch]
    _alignments: Mapping[str, Alignment]

    # What reappears -------------------------------------------------------------------------

    @property
    def reappearing(self) -> tuple[str, ...]:
        """Return the latents that are the same in every model."""
        return tuple(name for name in self.latents if self._outcomes(name) == {"same"})

    @property
    def open(self) -> tuple[str, ...]:
        """Return the latents of which these rows do not say whether they are the same in every model."""
        return tuple(name for name in self.latents if name not in (*self.reappearing, *self.missing))

    @property
    def missing(self) -> tuple[str, ...]:
        """Return the latents that some model does not have."""
        return tuple(name for name in self.latents if self._outcomes(name) & {"different", "no partner"})

    def _outcomes(self, latent: str) -> set[Outcome]:
        return {one.outcome for one in self.of(latent)}

    def of(self, latent: str) -> tuple[Partner, ...]:
        """Return the partners of a latent, one for each other model.

        Args:
            latent: Its name in the reference.

        Returns:
            Its partners.

        Raises:
            DataError: If the reference has no such latent.
        """
        if latent not in self.latents:
            raise DataError(f"latent={latent!r}: {self.models[0]} has none of that name{nearest(latent, self.latents)}")
        return tuple(one for one in self.partners if one.latent == latent)

    @property
    def agreement(self) -> dict[str, Estimate]:
        """Return the lowest agreement of each latent over the other models."""
        return {name: min(one.agreement for one in self.of(name)) for name in self.latents}

    # Latents in the words of the reference --------------------------------------------------

    def aligned(self, model: int | str, data: DataLike | LatentsElsewhere | None = None) -> dict[str, np.ndarray]:
        """Return a model's latents of given rows in the reference's order, sign and names, standardised.

        Means and standard deviations are those of the rows that were matched, so that new rows keep their places.

        Args:
            model: Its name, or its number from 0, the reference.
            data: Rows that the model encodes; or, where latents were matched that came as an array, such an array.

        Returns:
            A column for each latent of the reference that has a partner, by name; outcomes for categories, −1 where an outcome
            has no partner.

        Raises:
            DataError: If there is no such model, or the data do not suit it.
        """
        name = self._name(model)
        source = self._sources[name]
        if not isinstance(source, HasChannel):
            columns = as_given(source if data is None else cast("LatentsElsewhere", data))
        elif data is None:
            raise DataError(f"data: {name} is a model, which encodes rows. Give them.")
        else:
            columns = encoded(source, cast("DataLike", data))
        return self._alignments[name].apply(columns)

    def _name(self, model: int | str) -> str:
        if isinstance(model, str) and model in self.models:
            return model
        if not isinstance(model, str) and 0 <= model < len(self.models):
            return self.models[model]
        raise DataError(f"model={model!r}: is none of those matched{nearest(str(model), self.models)}")

    # In words -------------------------------------------------------------------------------

    @property
    def sentence(self) -> str:
        """Return what reappears and what does not."""
        count, models = len(self.latents), len(self.models)
        where = "both models" if models == 2 else f"all {models} models"
        found = [f"{len(self.reappearing)} of {count} latent{'s' * (count > 1)} reappear in {where}"]
        if self.reappearing:
            lowest = min(self.agreement[name].low for name in self.reappearing)
            found[0] += f": {joined(self.reappearing)} (agreement at least {lowest:.2f})"
        if self.open:
            found.append(f"open is {joined(self._lowest(name) for name in self.open)}")
        if self.missing:
            found.append(f"not so {joined(self._lowest(name) for name in self.missing)}")
        return "; ".join(found) + "."

    def _lowest(self, latent: str) -> str:
        worst = min(self.of(latent), key=lambda one: float(one.agreement))
        return f"{latent} ({'no partner' if worst.name is None else f'{worst.agreement:.2f}'} in {worst.model})"

    def __repr__(self) -> str:
        measure, second = _MEASURES[self.categories]
        title = ("latent", "model", "partner", f"{measure} [95 %]", second, "chance", "")
        table = [title, *(_cells(one) for one in self.partners)]
        widths = [max(len(row[i]) for row in table) for i in range(len(title))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in table]
        spare = [f"Of {model} only: {joined(names)}." for model, names in self.unmatched.items() if names]
        return "\n".join([*(line.rstrip() for line in lines), self.sentence, *spare, self.about_rows])

    def to_dict(self) -> Fields:
        """Return plain data: every partner, what reappears, and the sentences."""
        return {
            "models": list(self.models),
            "latents": list(self.latents),
            "partners": [one.to_json() for one in self.partners],
            "unmatched": {model: list(names) for model, names in self.unmatched.items()},
            "reappearing": list(self.reappearing),
            "open": list(self.open),
            "missing": list(self.missing),
            "threshold": self.threshold,
            "rows": self.rows,
            "about_rows": self.about_rows,
            "sentence": self.sentence,
        }


def _cells(one: Partner) -> tuple[str, ...]:
    if one.name is None:
        return (one.latent, one.model, "none", "", "", "", one.outcome)
    name = f"{'−' * (one.sign < 0)}{one.name}"
    rivals = f" ({joined(one.rivals)} as well)" if one.rivals and one.outcome != "different" else ""
    agreement = f"{one.agreement:.2f} [{one.agreement.low:.2f}, {one.agreement.high:.2f}]"
    return (one.latent, one.model, name, agreement, f"{one.beside:.2f}", f"{one.chance:.2f}", one.outcome + rivals)
