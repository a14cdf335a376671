"""A graph that takes what is known from elsewhere."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Self

from latentry.contracts.capabilities import HasGraph

__all__ = ["CanBeOriented"]


class CanBeOriented(HasGraph):
    """A model whose graph takes directions and edges that are known from elsewhere, after its fit."""

    @abstractmethod
    def orient(
        self,
        directions: Iterable[tuple[str, str]] = (),
        *,
        required: Iterable[tuple[str, str]] = (),
        forbidden: Iterable[tuple[str, str]] = (),
    ) -> Self:
        """Give directions to reversible edges, or require and forbid edges, without a refit.

        Args:
            directions: Of reversible edges, as (cause, effect).
            required: Edges that must be there.
            forbidden: Edges that must not be there.

        Returns:
            The model itself.
        """
