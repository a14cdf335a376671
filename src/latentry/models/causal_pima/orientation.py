"""What a user says of the graph after the fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from latentry.graphs import Knowledge
from latentry.json_forms import Schema

__all__ = ["ORIENTATION", "Orientation"]

Edge = tuple[str, str]

_EDGES: Schema = {
    "type": "array",
    "items": {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "string"}},
}
ORIENTATION: Schema = {
    "type": "object",
    "properties": {"directions": _EDGES, "required": _EDGES, "forbidden": _EDGES},
}


@dataclass(frozen=True)
class Orientation:
    """Directions and edges that are known from elsewhere; none where nothing was said.

    Args:
        directions: Of reversible edges, as (cause, effect).
        required: Edges that must be there.
        forbidden: Edges that must not be there.
    """

    directions: tuple[Edge, ...] = ()
    required: tuple[Edge, ...] = ()
    forbidden: tuple[Edge, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.directions or self.required or self.forbidden)

    def beside(self, known: Knowledge) -> Knowledge:
        """Return what was known before the fit, and this.

        Args:
            known: Before the fit.

        Returns:
            Both.

        Raises:
            DataError: If they contradict each other.
        """
        required = (*known.required, *self.directions, *self.required)
        return Knowledge(known.names, known.tiers, required, (*known.forbidden, *self.forbidden))

    def to_json(self) -> dict[str, object]:
        """Return plain data."""
        named = {"directions": self.directions, "required": self.required, "forbidden": self.forbidden}
        return {name: [list(edge) for edge in edges] for name, edges in named.items()}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Orientation:
        """Return what :meth:`to_json` wrote.

        Args:
            stored: Plain JSON.

        Returns:
            The same.
        """
        known = ("directions", "required", "forbidden")
        return cls(*(tuple((a, b) for a, b in stored.get(name, ())) for name in known))
