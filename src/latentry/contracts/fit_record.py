"""What a fit records: all that is needed to build its module again, and to know which rows trained it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from latentry.data import LAYOUT, Dataset, Layout, Standardiser
from latentry.json_forms import Schema

__all__ = ["FitRecord", "ModelFacts", "record_form"]


class ModelFacts(ABC):
    """What a model must know of the data besides their layout. Each model has a frozen dataclass of its own."""

    form: ClassVar[Schema] = {"type": "object"}  # of what to_json returns

    @abstractmethod
    def check(self, data: Dataset) -> None:
        """Refuse rows that are impossible under these facts.

        Args:
            data: The rows.

        Raises:
            DataError: By modality, row or column.
        """

    @abstractmethod
    def to_json(self) -> dict[str, object]:
        """Return plain lists, numbers and text."""

    @classmethod
    @abstractmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Return the facts that :meth:`to_json` wrote.

        Args:
            stored: Plain JSON.

        Returns:
            The same facts.
        """


@dataclass(frozen=True, eq=False)
class FitRecord:
    """What a fit keeps of its data.

    Args:
        layout: Shapes, feature names and domain labels.
        statistics: By which values were standardised; they come from the rows trained on.
        fingerprint: Of all rows that the fit was given.
        rows: How many they were.
        marks: A mark of every row, by which it is known in other data: "trained", and "held out" where there are such.
        sketches: A few projections of every row, by modality, by which a rounded copy of it is known.
        held_out: Numbers of the rows that took no part in the gradients, ascending.
        seed: Of everything random.
        facts: What the model itself noted.
        parameters: Of the model when it was fitted, as plain JSON: they may be set anew before a resume.
        latents: Names of the latents that a user gave; none where nobody has.
        changes: Of epochs and learning rate when the run was resumed: each with the epochs before it, and old and new values.
        origin: Where the rows come from, as the caller said it: file, columns, options.
    """

    layout: Layout
    statistics: Standardiser
    fingerprint: str
    rows: int
    marks: Mapping[str, np.ndarray]
    sketches: Mapping[str, np.ndarray]
    held_out: np.ndarray
    seed: int
    facts: ModelFacts
    parameters: Mapping[str, object]
    latents: tuple[str, ...] = ()
    changes: tuple[Mapping[str, Any], ...] = ()
    origin: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """Return all that is not an array, as plain JSON; the parameters stand beside it in a manifest."""
        return {
            "layout": self.layout.to_json(),
            "fingerprint": self.fingerprint,
            "rows": self.rows,
            "seed": self.seed,
            "facts": self.facts.to_json(),
            "latents": list(self.latents),
            "changes": [dict(change) for change in self.changes],
            "origin": dict(self.origin),
        }

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays by name, for a file."""
        named = {f"shift/{name}": value for name, value in self.statistics.shift.items()}
        named |= {f"scale/{name}": value for name, value in self.statistics.scale.items()}
        named |= {f"marks/{name}": marks.view(np.int64) for name, marks in self.marks.items()}
        named |= {f"sketch/{name}": sketch for name, sketch in self.sketches.items()}
        return named | {"held_out": self.held_out.astype(np.int64)}

    @classmethod
    def restore(
        cls,
        stored: Mapping[str, Any],
        arrays: Mapping[str, np.ndarray],
        facts: type[ModelFacts],
        parameters: Mapping[str, object],
    ) -> FitRecord:
        """Return the record that :meth:`to_json` and :meth:`arrays` wrote.

        Args:
            stored: Plain JSON.
            arrays: By name.
            facts: The class of the model's own facts.
            parameters: Of the model when it was fitted.

        Returns:
            The same record.
        """
        marks = {name: np.asarray(array).view(np.uint64) for name, array in _under("marks/", arrays).items()}
        return cls(
            layout=Layout.from_json(stored["layout"]),
            statistics=Standardiser(_under("shift/", arrays), _under("scale/", arrays)),
            fingerprint=stored["fingerprint"],
            rows=stored["rows"],
            marks=marks,
            sketches=_under("sketch/", arrays),
            held_out=np.asarray(arrays["held_out"]),
            seed=stored["seed"],
            facts=facts.from_json(stored["facts"]),
            parameters=parameters,
            latents=tuple(stored.get("latents", ())),  # older folders have none of these
            changes=tuple(stored.get("changes", ())),
            origin=stored.get("origin", {}),
        )


def record_form(facts: type[ModelFacts]) -> Schema:
    """Return the schema of what :meth:`FitRecord.to_json` writes.

    Args:
        facts: The class of the model's own facts.

    Returns:
        A schema.
    """
    count = {"type": "integer", "minimum": 0, "maximum": 2**53}
    return {
        "type": "object",
        "required": ["layout", "fingerprint", "rows", "seed", "facts"],
        "properties": {
            "layout": LAYOUT,
            "fingerprint": {"type": "string", "pattern": "[0-9a-f]{64}"},
            "rows": {**count, "minimum": 1},
            "seed": {**count, "maximum": 2**32 - 1},
            "facts": facts.form,
            "latents": {"type": "array", "items": {"type": "string"}},
            "changes": {"type": "array", "items": {"type": "object"}},
            "origin": {"type": "object"},
        },
    }


def _under(prefix: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
