"""Normal entries."""

from __future__ import annotations

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from latentry.nets.heads.head import Entries, Head, Outputs

__all__ = ["Gaussian"]


class Gaussian(Head):
    r"""Normal with the output as mean and a standard deviation that is learned per column, or fixed.

    Curves and images have one standard deviation per channel.
    """

    log_scale: Float[Array, "..."]
    learned: bool = eqx.field(static=True)

    @property
    def parameters(self) -> int:
        """Return 1: the mean."""
        return 1

    def log_density(self, outputs: Outputs, x: Entries) -> Entries:
        """Return the normal log density of each entry.

        Args:
            outputs: Of the decoder, ``parameters`` numbers for each entry.
            x: A row.

        Returns:
            Log densities, in the shape of the row.
        """
        log_scale = self._log_scale()
        return -0.5 * ((x - outputs[..., 0]) * jnp.exp(-log_scale)) ** 2 - log_scale - 0.5 * math.log(2 * math.pi)

    def mean(self, outputs: Outputs) -> Entries:
        """Return the output itself.

        Args:
            outputs: Of the decoder, ``parameters`` numbers for each entry.

        Returns:
            A value for each entry.
        """
        return outputs[..., 0]

    def draw(self, outputs: Outputs, key: PRNGKeyArray) -> Entries:
        """Draw the mean plus noise.

        Args:
            outputs: Of the decoder, ``parameters`` numbers for each entry.
            key: Of random numbers.

        Returns:
            A row.
        """
        mean = outputs[..., 0]
        return mean + jnp.exp(self._log_scale()) * jax.random.normal(key, mean.shape)

    def _log_scale(self) -> Float[Array, "..."]:
        # Below e^-5 of the data's own spread a column counts as noiseless: a density has no upper bound there.
        return jnp.maximum(self.log_scale, -5.0) if self.learned else jax.lax.stop_gradient(self.log_scale)
