"""Entries of unordered levels."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from latentry.nets.heads.head import Entries, Head, Outputs

__all__ = ["Categorical"]


class Categorical(Head):
    """A level of ``levels`` per entry, coded 0, 1, 2, ...; the outputs are unnormalised log-probabilities."""

    levels: int = eqx.field(static=True)

    @property
    def parameters(self) -> int:
        """Count the levels."""
        return self.levels

    def features(self, x: Entries) -> Float[Array, "..."]:
        """Return indicators of the levels: their order means nothing.

        Args:
            x: A row.

        Returns:
            What an encoder sees.
        """
        return jax.nn.one_hot(x.astype(jnp.int32), self.levels).reshape(-1)

    def known_features(self, x: Entries, known: Entries) -> Float[Array, "..."]:
        """Return indicators of the levels: none is set where an entry is missing.

        Args:
            x: A row, with any level where an entry is missing.
            known: 1 where an entry was observed, 0 where it is missing.

        Returns:
            As :meth:`features`.
        """
        return self.features(x) * jnp.repeat(known.reshape(-1), self.levels)

    def log_density(self, outputs: Outputs, x: Entries) -> Entries:
        """Return the log probability of the observed level.

        Args:
            outputs: Of the decoder, ``parameters`` numbers for each entry.
            x: A row.

        Returns:
            Log densities, in the shape of the row.
        """
        code = x.astype(jnp.int32)[..., None]
        return jnp.take_along_axis(jax.nn.log_softmax(outputs, axis=-1), code, axis=-1)[..., 0]

    def mean(self, outputs: Outputs) -> Entries:
        """Return the most probable level: levels have no average.

        Args:
            outputs: Of the decoder, ``parameters`` numbers for each entry.

        Returns:
            A value for each entry.
        """
        return outputs.argmax(axis=-1).astype(outputs.dtype)

    def draw(self, outputs: Outputs, key: PRNGKeyArray) -> Entries:
        """Draw a level.

        Args:
            outputs: Of the decoder, ``parameters`` numbers for each entry.
            key: Of random numbers.

        Returns:
            A row.
        """
        return jax.random.categorical(key, outputs, axis=-1).astype(outputs.dtype)
