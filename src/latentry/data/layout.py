"""What a model must know of data before it sees them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from latentry.data.columns import FORMS, Coding, source_columns
from latentry.data.inputs import Label
from latentry.errors import DataError
from latentry.json_forms import Schema

__all__ = ["LAYOUT", "Layout"]

_WORDS = {"type": "array", "items": {"type": "string"}}
_RULE: Schema = {
    "type": "object",
    "required": ["column", "kind", "levels", "origin", "zone"],
    "additionalProperties": False,
    "properties": {
        "column": {"type": "string"},
        "kind": {"type": "string", "enum": ["number", "boolean", "category", "date", "duration"]},
        "levels": {"type": "array", "items": {"type": ["string", "integer"]}},
        "origin": {"type": ["string", "null"]},
        "zone": {"type": ["string", "null"]},
        "form": {"type": "string", "enum": list(FORMS)},
    },
}
LAYOUT: Schema = {
    "type": "object",
    "required": ["shapes", "columns", "domain_labels", "domain_size"],
    "properties": {
        "shapes": {
            "type": "object",
            "additionalProperties": {
                "type": "array",
                "items": {"type": "integer", "minimum": 1, "maximum": 2**40},
                "minItems": 1,
                "maxItems": 8,
            },
        },
        "columns": {"type": "object", "additionalProperties": _WORDS},
        "domain_labels": {"type": ["array", "null"], "items": {"type": ["string", "integer", "boolean", "number"]}},
        "domain_size": {"type": "integer", "minimum": 0, "maximum": 2**40},
        "coding": {"type": "object", "additionalProperties": {"type": "array", "items": _RULE}},
    },
}  # what Layout.to_json returns


@dataclass(frozen=True)
class Layout:
    """Shapes, feature names and domain labels: hashable, and plain JSON on disk."""

    shapes: tuple[tuple[str, tuple[int, ...]], ...]  # modality -> shape of one row
    columns: tuple[tuple[str, tuple[str, ...]], ...]  # modality -> feature names, where given
    domain_labels: tuple[Label, ...] | None
    domain_size: int  # labels or continuous columns; 0 without a domain
    coding: tuple[
        tuple[str, tuple[Coding, ...]], ...
    ] = ()  # modality -> how its columns became numbers, where some held none

    @property
    def modalities(self) -> tuple[str, ...]:
        """Return the names of the modalities, in order."""
        return tuple(name for name, _ in self.shapes)

    @property
    def without_forms(self) -> Layout:
        """Return the layout without types of columns in frames, which say nothing of the numbers."""
        plain = tuple((name, tuple(replace(rule, form=None) for rule in rules)) for name, rules in self.coding)
        return replace(self, coding=plain)

    def shape(self, modality: str) -> tuple[int, ...]:
        """Return the shape of one row of a modality.

        Args:
            modality: Its name.

        Returns:
            Lengths of the axes.
        """
        return dict(self.shapes)[modality]

    @property
    def size(self) -> int:
        """Return how many numbers a row holds, over all modalities."""
        total = 0
        for _, shape in self.shapes:
            count = 1
            for length in shape:
                count *= length
            total += count
        return total

    @property
    def sources(self) -> dict[str, tuple[str, ...]]:
        """Return for each modality the names of the columns that it is made of; none where they have no names."""
        columns, coding = dict(self.columns), dict(self.coding)
        return {name: source_columns(columns.get(name, ()), coding.get(name, ())) for name in self.modalities}

    def require(self, other: Layout) -> None:
        """Refuse data that differ from those the model was fitted on.

        Args:
            other: The layout of the data.

        Raises:
            DataError: By modality or column.
        """
        mine, theirs = dict(self.shapes), dict(other.shapes)
        missing = [name for name in mine if name not in theirs]
        extra = [name for name in theirs if name not in mine]
        if missing or extra:
            raise DataError(
                f"modalities={list(theirs)}: the model was fitted on modalities {', '.join(mine)}, "
                f"but the data have {', '.join(theirs)}. Give the same ones, with None in rows where they are missing."
            )
        for name, shape in mine.items():
            if shape != theirs[name]:
                raise DataError(_other_shape(name, shape, theirs[name]) + self._beside(name, other))
        known, given = dict(self.columns), dict(other.columns)
        for name, columns in known.items():
            if name in given and given[name] != columns:
                raise DataError(_other_columns(name, columns, given[name]))

    def _beside(self, name: str, other: Layout) -> str:
        """Say which column beside those of the fit may be its domain."""
        mine, theirs = self.sources[name], other.sources[name]
        new = [column for column in theirs if column not in mine]
        if not mine or not new or not set(mine) <= set(theirs) or not self.domain_size or other.domain_size:
            return ""
        return (
            f" Column {new[0]!r} was not among them: if it holds the domain of each row, pass its name second, as in "
            f"transform(frame, {new[0]!r}); else leave it out."
        )

    def to_json(self) -> dict[str, object]:
        """Return plain lists and strings."""
        return {
            "shapes": {name: list(shape) for name, shape in self.shapes},
            "columns": {name: list(columns) for name, columns in self.columns},
            "domain_labels": None if self.domain_labels is None else list(self.domain_labels),
            "domain_size": self.domain_size,
            **(
                {"coding": {name: [rule.to_json() for rule in rules] for name, rules in self.coding}}
                if self.coding
                else {}
            ),
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Layout:
        """Return the layout that :meth:`to_json` wrote.

        Args:
            record: Plain JSON.

        Returns:
            The same layout.
        """
        labels = record["domain_labels"]
        return cls(
            shapes=tuple((name, tuple(shape)) for name, shape in record["shapes"].items()),
            columns=tuple((name, tuple(columns)) for name, columns in record["columns"].items()),
            domain_labels=None if labels is None else tuple(labels),
            domain_size=record["domain_size"],
            coding=tuple(
                (name, tuple(map(Coding.from_json, rules))) for name, rules in record.get("coding", {}).items()
            ),
        )


def _other_shape(name: str, fitted: tuple[int, ...], given: tuple[int, ...]) -> str:
    if len(fitted) == len(given) == 1:
        # scikit-learn's own words, which its contract tests look for
        return (
            f"modality {name!r}: X has {given[0]} features, but the model is expecting {fitted[0]} features as input. "
            "Give the columns of the fit."
        )
    return f"modality {name!r}: rows of shape {given}, but the model was fitted on shape {fitted}. Give rows of that shape."


def _other_columns(name: str, fitted: tuple[str, ...], given: tuple[str, ...]) -> str:
    if set(fitted) == set(given):
        return (
            f"modality {name!r}: the columns are those of the fit but in another order. Reorder them to {list(fitted)}."
        )
    wrong = [column for column in given if column not in fitted]
    return f"modality {name!r}: column {wrong[0]!r} was not seen at fit. Give {list(fitted)}."
