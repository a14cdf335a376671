"""Relaxed coins: entries strictly between 0 and 1."""

from __future__ import annotations

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from latentry.nets.heads.head import Entries, Head, Outputs

__all__ = ["Concrete"]

_EDGE = 1e-6


class Concrete(Head):
    r"""A relaxed coin: :math:`x = \operatorname{sigmoid}((f + \epsilon)/T)` with logistic noise, output :math:`f`.

    Observations lie strictly between 0 and 1; as the temperature T falls they become coins with log-odds f, and
    x > 1/2 has that probability at every temperature. (Maddison, Mnih and Teh, *The concrete distribution*, 2017.)
    """

    temperature: float = eqx.field(static=True)

    @property
    def parameters(self) -> int:
        """Return 1: the log-odds."""
        return 1

    def features(self, x: Entries) -> Float[Array, "..."]:
        """Return the noisy log-odds.

        Args:
            x: A row.

        Returns:
            What an encoder sees.
        """
        return self.temperature * _logit(x)

    def log_density(self, outputs: Outputs, x: Entries) -> Entries:
        """Return the logistic log density of the noise, with the Jacobian of the squashing.

        Single precision cannot tell values near 0 or 1 apart: beyond a millionth they count as "that far or farther", with
        the probability of it, which is the coin's as the temperature falls.

        Args:
            outputs: Of the decoder, ``parameters`` numbers for each entry.
            x: A row.

        Returns:
            Log densities, in the shape of the row.
        """
        noise = self.temperature * _logit(x) - outputs[..., 0]
        stretch = math.log(self.temperature) - jnp.log(_inside(x)) - jnp.log1p(-_inside(x))
        inner = -jax.nn.softplus(noise) - jax.nn.softplus(-noise) + stretch
        outer = jnp.where(x > 0.5, -jax.nn.softplus(noise), -jax.nn.softplus(-noise))
        return jnp.where((x > _EDGE) & (x < 1 - _EDGE), inner, outer)

    def mean(self, outputs: Outputs) -> Entries:
        """Return the median: the mean has no closed form.

        Args:
            outputs: Of the decoder, ``parameters`` numbers for each entry.

        Returns:
            A value for each entry.
        """
        return jax.nn.sigmoid(outputs[..., 0] / self.temperature)

    def possible(self, means: Float[Array, "..."]) -> Float[Array, "..."]:
        """Return the nearest numbers from 0 to 1.

        Args:
            means: Any numbers.

        Returns:
            The same, kept where means can lie.
        """
        return jnp.clip(means, 0.0, 1.0)

    def draw(self, outputs: Outputs, key: PRNGKeyArray) -> Entries:
        """Draw values strictly between 0 and 1.

        Args:
            outputs: Of the decoder, ``parameters`` numbers for each entry.
            key: Of random numbers.

        Returns:
            A row.
        """
        noise = jax.random.logistic(key, outputs[..., 0].shape)
        return _inside(jax.nn.sigmoid((outputs[..., 0] + noise) / self.temperature))


def _inside(x: Entries) -> Entries:
    return jnp.clip(x, _EDGE, 1 - _EDGE)


def _logit(x: Entries) -> Entries:
    return jnp.log(_inside(x)) - jnp.log1p(-_inside(x))
