"""Nodes that were given or chosen, as a fit keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from latentry.json_forms import Schema

__all__ = ["NODES", "NodeChoice"]

_WORDS = {"type": "array", "items": {"type": "string"}}
NODES: Schema = {
    "type": "object",
    "required": ["names", "outcomes", "modalities", "sentences"],
    "properties": {
        "names": {**_WORDS, "minItems": 1},
        "outcomes": {"type": "array", "items": {"type": "integer", "minimum": 2, "maximum": 2**24}, "minItems": 1},
        "modalities": {"type": "array", "items": _WORDS},
        "sentences": _WORDS,
    },
}  # what NodeChoice.to_json returns


@dataclass(frozen=True)
class NodeChoice:
    """Names and outcomes of the nodes; where they were chosen, on which modalities each acts, and why.

    Args:
        names: Of the nodes.
        outcomes: Of each node.
        modalities: For each node, those it acts on; empty where the user gave the nodes.
        sentences: Every decision with its numbers; empty where the user gave the nodes.
    """

    names: tuple[str, ...]
    outcomes: tuple[int, ...]
    modalities: tuple[tuple[str, ...], ...] = ()
    sentences: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Return plain data."""
        return {
            "names": list(self.names),
            "outcomes": list(self.outcomes),
            "modalities": [list(part) for part in self.modalities],
            "sentences": list(self.sentences),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> NodeChoice:
        """Return what :meth:`to_json` wrote.

        Args:
            stored: Plain JSON.

        Returns:
            The nodes.
        """
        return cls(
            tuple(stored["names"]),
            tuple(stored["outcomes"]),
            tuple(tuple(part) for part in stored["modalities"]),
            tuple(stored["sentences"]),
        )
