"""Entries that are counts."""

from __future__ import annotations

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from latentry.nets.heads.head import Entries, Head, Outputs

__all__ = ["NegativeBinomial", "Poisson"]


class _Counts(Head):
    """What both distributions of counts share: an output that is the logarithm of the mean."""

    largest: ClassVar[float] = 20.0  # e^20 counts per entry; beyond, a wild start would overflow

    @property
    def parameters(self) -> int:
        """Return 1: the logarithm of the mean."""
        return 1

    def features(self, x: Entries) -> Float[Array, "..."]:
        """Return logarithms: counts span orders of magnitude.

        Args:
            x: A row.

        Returns:
            What an encoder sees.
        """
        return jnp.log1p(x)

    def mean(self, outputs: Outputs) -> Entries:
        """Return the mean.

        Args:
            outputs: Of the decoder, ``parameters`` numbers for each entry.

        Returns:
            A value for each entry.
        """
        return jnp.exp(self._log_mean(outputs))

    def possible(self, means: Float[Array, "..."]) -> Float[Array, "..."]:
        """Return the nearest numbers of at least 0.

        Args:
            means: Any numbers.

        Returns:
            The same, kept where means can lie.
        """
        return jnp.maximum(means, 0.0)

    def _log_mean(self, outputs: Outputs) -> Entries:
        return jnp.minimum(outputs[..., 0], self.largest)


class Poisson(_Counts):
    """Counts, with the output as log-rate."""

    def log_density(self, outputs: Outputs, x: Entries) -> Entries:
        """Return x log r - r - log x!.

        Args:
            outputs: Of the decoder, ``parameters`` numbers for each entry.
            x: A row.

        Returns:
            Log densities, in the shape of the row.
        """
        log_rate = self._log_mean(outputs)
        return x * log_rate - jnp.exp(log_rate) - jax.lax.lgamma(x + 1)

    def draw(self, outputs: Outputs, key: PRNGKeyArray) -> Entries:
        """Draw counts.

        Args:
            outputs: Of the decoder, ``parameters`` numbers for each entry.
            key: Of random numbers.

        Returns:
            A row.
        """
        return jax.random.poisson(key, self.mean(outputs)).astype(outputs.dtype)


class NegativeBinomial(_Counts):
    r"""Counts that vary more than Poisson counts, with the output as the logarithm of the mean.

    With mean :math:`\mu` and size :math:`\theta`, learned per column, the variance is :math:`\mu + \mu^2/\theta`:

    .. math:: p(x) = \frac{\Gamma(x + \theta)}{\Gamma(\theta)\, x!}
        \left(\frac{\theta}{\theta + \mu}\right)^\theta \left(\frac{\mu}{\theta + \mu}\right)^x.

    A large size is a Poisson distribution. Curves and images have one size per channel. (Lopez and others, *Deep generative
    modeling for single-cell transcriptomics*, Nature Methods 2018.)
    """

    log_size: Float[Array, "..."]
    bounds: ClassVar[tuple[float, float]] = (-5.0, 7.0)  # beyond e^7 it is Poisson for means far below that

    def log_density(self, outputs: Outputs, x: Entries) -> Entries:
        """Return the log probability of each count.

        Args:
            outputs: Of the decoder, ``parameters`` numbers for each entry.
            x: A row.

        Returns:
            Log probabilities, in the shape of the row.
        """
        log_mean, log_size = self._log_mean(outputs), self._log_size()
        size = jnp.exp(log_size)
        ways = jax.lax.lgamma(x + size) - jax.lax.lgamma(size) - jax.lax.lgamma(x + 1)
        return ways - size * jax.nn.softplus(log_mean - log_size) - x * jax.nn.softplus(log_size - log_mean)

    def draw(self, outputs: Outputs, key: PRNGKeyArray) -> Entries:
        """Draw counts: Poisson, with a rate that varies as a gamma distribution.

        Args:
            outputs: Of the decoder, ``parameters`` numbers for each entry.
            key: Of random numbers.

        Returns:
            A row.
        """
        mean, (first, second) = self.mean(outputs), jax.random.split(key)
        size = jnp.broadcast_to(jnp.exp(self._log_size()), mean.shape)
        rate = mean * jax.random.gamma(first, size) / size
        return jax.random.poisson(second, rate).astype(outputs.dtype)

    def _log_size(self) -> Float[Array, "..."]:
        return jnp.clip(self.log_size, *self.bounds)
