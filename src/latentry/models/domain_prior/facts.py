"""What models of latents that change with the domain note of the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from latentry.contracts import ModelFacts
from latentry.data import Dataset
from latentry.json_forms import Schema
from latentry.models.domain_prior.domains import DomainFacts
from latentry.models.networks import Observations

__all__ = ["DomainModelFacts"]


@dataclass(frozen=True, eq=False)
class DomainModelFacts(ModelFacts):
    """Likelihoods, domains, and whether the likelihood is exact.

    Args:
        observations: Likelihoods of the modalities.
        domains: How often each domain occurs.
        exact: Whether an invertible map has an exact likelihood on these data.
        starts: Linear maps (k, latents, columns) with which restarts begin; none where k is 0.
    """

    observations: Observations
    domains: DomainFacts
    exact: bool
    starts: np.ndarray

    form: ClassVar[Schema] = {
        "type": "object",
        "required": ["observations", "domains", "exact", "starts"],
        "properties": {
            "observations": Observations.form,
            "domains": DomainFacts.form,
            "exact": {"type": "boolean"},
            "starts": {
                "type": "array",
                "items": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
            },
        },
    }

    @property
    def gaussian(self) -> tuple[str, ...]:
        """Return the modalities that are standardised."""
        return self.observations.gaussian

    def check(self, data: Dataset) -> None:
        """Refuse values that are impossible under their likelihood.

        Args:
            data: Rows.

        Raises:
            DataError: At the first such value.
        """
        self.observations.check(data)

    def to_json(self) -> dict[str, object]:
        """Return plain data."""
        return {
            "observations": self.observations.to_json(),
            "domains": self.domains.to_json(),
            "exact": self.exact,
            "starts": self.starts.tolist(),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> DomainModelFacts:
        """Return what :meth:`to_json` wrote.

        Args:
            stored: Plain JSON.

        Returns:
            The facts.
        """
        parts = Observations.from_json(stored["observations"]), DomainFacts.from_json(stored["domains"])
        return cls(*parts, exact=stored["exact"], starts=np.asarray(stored["starts"]))
