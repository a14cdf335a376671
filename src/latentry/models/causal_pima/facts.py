"""What causalPIMA notes of the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from latentry.contracts import ModelFacts
from latentry.data import Dataset
from latentry.errors import CheckpointError
from latentry.json_forms import Schema
from latentry.models.causal_pima.node_choice import NODES, NodeChoice
from latentry.models.causal_pima.orientation import ORIENTATION, Orientation
from latentry.models.networks import Observations

__all__ = ["PimaFacts"]


@dataclass(frozen=True)
class PimaFacts(ModelFacts):
    """Likelihoods, what was set in each domain, and the nodes.

    Args:
        observations: Likelihoods of the modalities.
        experiments: For each label of the domain, the nodes that were set in its rows.
        nodes: As they were given, or chosen.
        orientation: What a user has said of the graph since the fit.
    """

    observations: Observations
    experiments: tuple[Mapping[str, int], ...]
    nodes: NodeChoice
    orientation: Orientation = Orientation()

    form: ClassVar[Schema] = {
        "type": "object",
        "required": ["observations", "experiments"],
        "properties": {
            "observations": Observations.form,
            "experiments": {
                "type": "array",
                "items": {
                    "type": "object",
                    "additionalProperties": {"type": "integer", "minimum": 0, "maximum": 2**24},
                },
            },
            "nodes": NODES,
            "orientation": ORIENTATION,
        },
    }

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
            "experiments": [dict(do) for do in self.experiments],
            "nodes": self.nodes.to_json(),
            "orientation": self.orientation.to_json(),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> PimaFacts:
        """Return what :meth:`to_json` wrote.

        Args:
            stored: Plain JSON.

        Returns:
            The facts.

        Raises:
            CheckpointError: If an earlier version wrote them.
        """
        if "nodes" not in stored:
            raise CheckpointError("the run was saved by an earlier version, which kept no nodes: fit the model again.")
        return cls(
            Observations.from_json(stored["observations"]),
            tuple(stored["experiments"]),
            NodeChoice.from_json(stored["nodes"]),
            Orientation.from_json(stored.get("orientation", {})),  # older folders have none
        )
