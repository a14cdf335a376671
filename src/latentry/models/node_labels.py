"""One name for two things: ``model.nodes`` are the outcomes that were asked for, ``model.nodes(data)`` the rows' labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["NodeLabels", "NodesParameter"]


class NodesParameter:
    """A parameter that can be called once the model is fitted; it is stored as it was given."""

    def __init__(self, default: Any) -> None:
        self._default = default

    def __get__(self, model: Any, owner: Any = None) -> Any:
        return self._default if model is None else NodeLabels(model)

    def __set__(self, model: Any, value: Any) -> None:
        model.__dict__["nodes"] = value


class NodeLabels:
    """The outcomes of the nodes; called with data, the most probable value of each node in each row."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __call__(self, X: Any, y: Any = None) -> Any:
        """Labels (rows, nodes); see ``node_probabilities`` for how sure they are."""
        found = self._model.node_probabilities(X, y)
        import numpy as np

        return np.stack([part.argmax(axis=1) for part in found.values()], axis=1)

    @property
    def given(self) -> Any:
        """As the parameter was given."""
        return self._model.__dict__["nodes"]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.given)

    def __len__(self) -> int:
        return len(self.given)

    def __eq__(self, other: object) -> bool:
        return bool(self.given == (other.given if isinstance(other, NodeLabels) else other))

    def __hash__(self) -> int:
        return hash(str(self.given))

    def __repr__(self) -> str:
        return repr(self.given)
