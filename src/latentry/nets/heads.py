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

__all__ = ["HEADS", "Bernoulli", "Categorical", "Concrete", "Gaussian", "Head", "Poisson", "head_for"]

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

    def draw(self, outputs: Outputs, key: PRNGKeyArray) -> Entries:
        """Draw counts.

        Args:
            outputs: Of the decoder, ``parameters`` numbers for each entry.
            key: Of random numbers.

        Returns:
            A row.
        """
        return jax.random.poisson(key, self.mean(outputs)).astype(outputs.dtype)


HEADS = ("gaussian", "bernoulli", "categorical", "poisson", "concrete")


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
        return Gaussian(_log_scales(shape, scale), learned=scale is None)
    if name == "categorical":
        return Categorical(levels)
    if name == "concrete":
        return Concrete(temperature)
    if name in HEADS:
        return {"bernoulli": Bernoulli, "poisson": Poisson}[name]()
    raise DataError(f"likelihood={name!r} is not known{nearest(name, HEADS)}")


def _log_scales(shape: tuple[int, ...], scale: float | None) -> Array:
    columns = shape if len(shape) == 1 else shape[-1:] if shape[-1] <= 4 else ()
    # A learned scale starts below the data's own spread: at the spread, a latent may look not worth its cost.
    start: Array = jax.device_put(np.full(columns, -1.0 if scale is None else math.log(scale), dtype=np.float32))
    return start
