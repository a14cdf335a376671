"""What a CGGAN notes of the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from latentry.contracts import ModelFacts
from latentry.data import Dataset
from latentry.json_forms import Schema
from latentry.models.domain_prior import DomainFacts

__all__ = ["ImageFacts"]


@dataclass(frozen=True, eq=False)
class ImageFacts(ModelFacts):
    """The images and their domains.

    Args:
        domains: How often each domain occurs.
        modality: The name of the images.
        size: Height and width of what is learned.
    """

    domains: DomainFacts
    modality: str
    size: int

    form: ClassVar[Schema] = {
        "type": "object",
        "required": ["domains", "modality", "size"],
        "properties": {
            "domains": DomainFacts.form,
            "modality": {"type": "string"},
            "size": {"type": "integer", "minimum": 1, "maximum": 4096},
        },
    }

    def check(self, data: Dataset) -> None:
        """Refuse nothing: the range of images is checked when they are prepared.

        Args:
            data: Rows.
        """

    def to_json(self) -> dict[str, object]:
        """Return plain data."""
        return {"domains": self.domains.to_json(), "modality": self.modality, "size": self.size}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> ImageFacts:
        """Return what :meth:`to_json` wrote.

        Args:
            stored: Plain JSON.

        Returns:
            The facts.
        """
        return cls(DomainFacts.from_json(stored["domains"]), stored["modality"], stored["size"])
