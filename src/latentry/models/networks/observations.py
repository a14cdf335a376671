"""The likelihood of each modality: what variational models note of the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from latentry.contracts import ModelFacts
from latentry.data import Dataset
from latentry.models.estimator.values import check_rows, levels_of, likelihoods

__all__ = ["Observations", "observe"]


@dataclass(frozen=True)
class Observations(ModelFacts):
    """Which likelihood each modality has, and how many levels a categorical one.

    Args:
        likelihoods: A name for each modality.
        levels: A number for each categorical modality.
    """

    likelihoods: Mapping[str, str]
    levels: Mapping[str, int]

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
        return {"likelihoods": dict(self.likelihoods), "levels": dict(self.levels)}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Observations:
        """Return what :meth:`to_json` wrote.

        Args:
            stored: Plain JSON.

        Returns:
            The facts.
        """
        return cls(stored["likelihoods"], stored["levels"])


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
    observations = Observations(kinds, levels)
    observations.check(data)
    return observations
