r"""Likelihood heads: :math:`\log p(x \mid \text{decoder output})`, entry by entry."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from latentry.errors import DataError, nearest

__all__ = [
    "DISCRETE",
    "HEADS",
    "Bernoulli",
    "Categorical",
    "Concrete",
    "Gaussian",
    "Head",
    "NegativeBinomial",
    "Poisson",
    "head_for",
]

Entries = Float[Array, "*shape"]
Outputs = Float[Array, "*shape parameters"]


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


_EDGE = 1e-6


def _inside(x: Entries) -> Entries:
    return jnp.clip(x, _EDGE, 1 - _EDGE)


def _logit(x: Entries) -> Entries:
    return jnp.log(_inside(x)) - jnp.log1p(-_inside(x))


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


class Poisson(Head):
    """Counts, with the output as log-rate."""

    largest: ClassVar[float] = 20.0  # e^20 counts per entry; beyond, a wild start would overflow

    @property
    def parameters(self) -> int:
        """Return 1: the log-rate."""
        return 1

    def features(self, x: Entries) -> Float[Array, "..."]:
        """Return logarithms: counts span orders of magnitude.

        Args:
            x: A row.

        Returns:
            What an encoder sees.
        """
        return jnp.log1p(x)

    def log_density(self, outputs: Outputs, x: Entries) -> Entries:
        """Return x log r - r - log x!.

        Args:
            outputs: Of the decoder, ``parameters`` numbers for each entry.
            x: A row.

        Returns:
            Log densities, in the shape of the row.
        """
        log_rate = jnp.minimum(outputs[..., 0], self.largest)
        return x * log_rate - jnp.exp(log_rate) - jax.lax.lgamma(x + 1)

    def mean(self, outputs: Outputs) -> Entries:
        """Return the rate.

        Args:
            outputs: Of the decoder, ``parameters`` numbers for each entry.

        Returns:
            A value for each entry.
        """
        return jnp.exp(jnp.minimum(outputs[..., 0], self.largest))

    def possible(self, means: Float[Array, "..."]) -> Float[Array, "..."]:
        """Return the nearest numbers of at least 0.

        Args:
            means: Any numbers.

        Returns:
            The same, kept where means can lie.
        """
        return jnp.maximum(means, 0.0)

    def draw(self, outputs: Outputs, key: PRNGKeyArray) -> Entries:
        """Draw counts.

        Args:
            outputs: Of the decoder, ``parameters`` numbers for each entry.
            key: Of random numbers.

        Returns:
            A row.
        """
        return jax.random.poisson(key, self.mean(outputs)).astype(outputs.dtype)


class NegativeBinomial(Head):
    r"""Counts that vary more than Poisson counts, with the output as the logarithm of the mean.

    With mean :math:`\mu` and size :math:`\theta`, learned per column, the variance is :math:`\mu + \mu^2/\theta`:

    .. math:: p(x) = \frac{\Gamma(x + \theta)}{\Gamma(\theta)\, x!}
        \left(\frac{\theta}{\theta + \mu}\right)^\theta \left(\frac{\mu}{\theta + \mu}\right)^x.

    A large size is a Poisson distribution. Curves and images have one size per channel. (Lopez and others, *Deep generative
    modeling for single-cell transcriptomics*, Nature Methods 2018.)
    """

    log_size: Float[Array, "..."]
    bounds: ClassVar[tuple[float, float]] = (-5.0, 7.0)  # beyond e^7 it is Poisson for means far below that

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

    def log_density(self, outputs: Outputs, x: Entries) -> Entries:
        """Return the log probability of each count.

        Args:
            outputs: Of the decoder, ``parameters`` numbers for each entry.
            x: A row.

        Returns:
            Log probabilities, in the shape of the row.
        """
        log_mean, log_size = jnp.minimum(outputs[..., 0], Poisson.largest), self._log_size()
        size = jnp.exp(log_size)
        ways = jax.lax.lgamma(x + size) - jax.lax.lgamma(size) - jax.lax.lgamma(x + 1)
        return ways - size * jax.nn.softplus(log_mean - log_size) - x * jax.nn.softplus(log_size - log_mean)

    def mean(self, outputs: Outputs) -> Entries:
        """Return the mean.

        Args:
            outputs: Of the decoder, ``parameters`` numbers for each entry.

        Returns:
            A value for each entry.
        """
        return jnp.exp(jnp.minimum(outputs[..., 0], Poisson.largest))

    def possible(self, means: Float[Array, "..."]) -> Float[Array, "..."]:
        """Return the nearest numbers of at least 0.

        Args:
            means: Any numbers.

        Returns:
            The same, kept where means can lie.
        """
        return jnp.maximum(means, 0.0)

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


HEADS = ("gaussian", "bernoulli", "categorical", "poisson", "negative_binomial", "concrete")
DISCRETE = frozenset({"bernoulli", "categorical", "poisson", "negative_binomial"})


def head_for(
    name: str, shape: tuple[int, ...], *, levels: int = 0, scale: float | None = None, temperature: float = 0.5
) -> Head:
    """Return the head of that name for rows of a shape.

    Args:
        name: One of ``HEADS``.
        shape: Of a row.
        levels: Of "categorical".
        scale: Fixes the standard deviation of "gaussian"; None learns it.
        temperature: Of "concrete".

    Returns:
        The head.

    Raises:
        DataError: If the name is not known.
    """
    if name == "gaussian":
        # A learned scale starts below the data's own spread: at the spread, a latent may look not worth its cost.
        return Gaussian(_constants(shape, -1.0 if scale is None else math.log(scale)), learned=scale is None)
    if name == "categorical":
        return Categorical(levels)
    if name == "concrete":
        return Concrete(temperature)
    if name == "negative_binomial":
        return NegativeBinomial(_constants(shape, 0.0))
    if name in HEADS:
        return {"bernoulli": Bernoulli, "poisson": Poisson}[name]()
    raise DataError(f"likelihood={name!r} is not known{nearest(name, HEADS)}")


def _constants(shape: tuple[int, ...], value: float) -> Array:
    """One for each column of a table, or for each channel of curves and images."""
    columns = shape if len(shape) == 1 else shape[-1:] if shape[-1] <= 4 else ()
    start: Array = jax.device_put(np.full(columns, value, dtype=np.float32))
    return start
