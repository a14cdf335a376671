"""What every likelihood head can do."""

from __future__ import annotations

from abc import abstractmethod
from typing import TypeAlias

import equinox as eqx
from jaxtyping import Array, Float, PRNGKeyArray

__all__ = ["Entries", "Head", "Outputs"]

Entries: TypeAlias = Float[Array, "*shape"]
Outputs: TypeAlias = Float[Array, "*shape parameters"]


class Head(eqx.Module):
    """What a decoder's output means: ``parameters`` numbers per entry go in."""

    @property
    @abstractmethod
    def parameters(self) -> int:
        """Count the numbers per entry."""

    def features(self, x: Entries) -> Float[Array, "..."]:
        """Return what an encoder sees of a row.

        Args:
            x: A row.

        Returns:
            The row, or a transformation of it.
        """
        return x

    def known_features(self, x: Entries, known: Entries) -> Float[Array, "..."]:
        """Return what an encoder sees of a row of which some entries are missing: zeros in their place.

        Args:
            x: A row, with any number where an entry is missing.
            known: 1 where an entry was observed, 0 where it is missing.

        Returns:
            As :meth:`features`.
        """
        return self.features(x) * known

    @abstractmethod
    def log_density(self, outputs: Outputs, x: Entries) -> Entries:
        """Return the log density of each entry.

        Args:
            outputs: Of the decoder, ``parameters`` numbers for each entry.
            x: A row.

        Returns:
            Log densities, in the shape of the row.
        """

    @abstractmethod
    def mean(self, outputs: Outputs) -> Entries:
        """Return the expected value of each entry.

        Args:
            outputs: Of the decoder, ``parameters`` numbers for each entry.

        Returns:
            Means, in the shape of a row.
        """

    def possible(self, means: Float[Array, "..."]) -> Float[Array, "..."]:
        """Return the nearest values that a mean can have.

        Args:
            means: Any numbers.

        Returns:
            The same, kept where means can lie.
        """
        return means

    @abstractmethod
    def draw(self, outputs: Outputs, key: PRNGKeyArray) -> Entries:
        """Draw a sample of each entry.

        Args:
            outputs: Of the decoder, ``parameters`` numbers for each entry.
            key: Of random numbers.

        Returns:
            A row.
        """
