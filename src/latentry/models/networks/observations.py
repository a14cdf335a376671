"""The likelihood of each modality: what variational models note of the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from latentry.contracts import ModelFacts
from latentry.data import Dataset
from latentry.json_forms import Schema
from latentry.models.estimator.values import check_rows, levels_of, likelihoods

__all__ = ["Observations", "observe"]


@dataclass(frozen=True)
class Observations(ModelFacts):
    """Which likelihood each modality has, and how many levels a categorical one.

    Args:
        likelihoods: A name for each modality.
        levels: A number for each categorical modality.
        partial: Modalities of which single cells were missing in the fit: their encoders see which.
    """

    likelihoods: Mapping[str, str]
    levels: Mapping[str, int]
    partial: tuple[str, ...] = ()

    form: ClassVar[Schema] = {
        "type": "object",
        "required": ["likelihoods", "levels"],
        "properties": {
            "likelihoods": {"type": "object", "additionalProperties": {"type": "string"}},
            "levels": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1, "maximum": 2**24}},
            "partial": {"type": "array", "items": {"type": "string"}},
        },
    }

    @property
    def gaussian(self) -> tuple[str, ...]:
        """Return the modalities that are standardised: counts, codes and probabilities have units of their own."""
        return tuple(name for name, kind in self.likelihoods.items() if kind == "gaussian")

    def check(self, data: Dataset) -> None:
        """Refuse values that are impossible under their likelihood.

        Args:
            data: Rows.

        Raises:
            DataError: At the first such value.
        """
        check_rows(data, self.likelihoods, self.levels)

    def to_json(self) -> dict[str, object]:
        """Return plain data."""
        some = {"partial": list(self.partial)} if self.partial else {}
        return {"likelihoods": dict(self.likelihoods), "levels": dict(self.levels), **some}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Observations:
        """Return what :meth:`to_json` wrote.

        Args:
            stored: Plain JSON.

        Returns:
            The facts.
        """
        return cls(stored["likelihoods"], stored["levels"], tuple(stored.get("partial", ())))


def observe(chosen: str | Mapping[str, str], data: Dataset) -> Observations:
    """Note the likelihood of each modality, and check the data against it.

    Args:
        chosen: One name for all modalities, or a mapping.
        data: The rows of a fit.

    Returns:
        Likelihoods and levels.

    Raises:
        DataError: If a likelihood is not known, or a value is impossible under it.
    """
    kinds = likelihoods(chosen, data.names)
    levels = {name: levels_of(data, name) for name, kind in kinds.items() if kind == "categorical"}
    observations = Observations(kinds, levels, tuple(name for name in data.names if name in data.partial))
    observations.check(data)
    return observations
