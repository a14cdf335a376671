"""Entries of zero and one."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from latentry.nets.heads.head import Entries, Head, Outputs

__all__ = ["Bernoulli"]


class Bernoulli(Head):
    """Zero or one (or a grey value between them), with the output as log-odds."""

    @property
    def parameters(self) -> int:
        """Return 1: the log-odds."""
        return 1

    def log_density(self, outputs: Outputs, x: Entries) -> Entries:
        """Return x log p + (1 - x) log(1 - p), without overflow.

        Args:
            outputs: Of the decoder, ``parameters`` numbers for each entry.
            x: A row.

        Returns:
            Log densities, in the shape of the row.
        """
        logits = outputs[..., 0]
        return x * logits - jax.nn.softplus(logits)

    def mean(self, outputs: Outputs) -> Entries:
        """Return the probability of 1.

        Args:
            outputs: Of the decoder, ``parameters`` numbers for each entry.

        Returns:
            A value for each entry.
        """
        return jax.nn.sigmoid(outputs[..., 0])

    def possible(self, means: Float[Array, "..."]) -> Float[Array, "..."]:
        """Return the nearest numbers from 0 to 1.

        Args:
            means: Any numbers.

        Returns:
            The same, kept where means can lie.
        """
        return jnp.clip(means, 0.0, 1.0)

    def draw(self, outputs: Outputs, key: PRNGKeyArray) -> Entries:
        """Draw zeros and ones.

        Args:
            outputs: Of the decoder, ``parameters`` numbers for each entry.
            key: Of random numbers.

        Returns:
            A row.
        """
        return jax.random.bernoulli(key, self.mean(outputs)).astype(outputs.dtype)
