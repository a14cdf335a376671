"""The two kinds of latents: finitely many values, or numbers with Gaussian noise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from latentry.nets import product_of_experts

__all__ = ["CategoricalLatent", "GaussianLatent", "LatentKind", "Table"]

Rows = Float[Array, " rows"]
Table = Float[Array, "rows columns"]
_TINY = 1e-9
_STEEPEST = 4.0  # a Gaussian latent is at least e^-4 wide: its information stays within reach of a batch


@dataclass(frozen=True)
class LatentKind(ABC):
    """What networks say about a latent, and how two such answers are compared.

    Args:
        size: Number of values, or of columns.
    """

    size: int

    @property
    @abstractmethod
    def outputs(self) -> int:
        """Count the parameters of a distribution, which a student gives for each row."""

    @property
    @abstractmethod
    def linear_path(self) -> bool:
        """Say whether an affine map of the row is added to each network: all its outputs then differ from the first step on."""

    @abstractmethod
    def agreed(self, experts: Mapping[str, Table]) -> Table:
        """Say where the channel of a row with every modality begins: with columns, at the mean of what the students say.

        Args:
            experts: (rows, outputs) for each modality.

        Returns:
            (rows, outputs), to which the channel's network adds.
        """

    @abstractmethod
    def of_channel(self, raw: Table, width: Float[Array, " size"], apart: Float[Array, ""]) -> Table:
        """Return the distribution that the channel's network stands for.

        Args:
            raw: (rows, outputs).
            width: Logarithm of each column's noise.
            apart: 1 where rows have noise of their own, 0 where a column's is the same for every row.

        Returns:
            Parameters of the distribution, (rows, outputs).
        """

    @abstractmethod
    def product(
        self, prior: Float[Array, " size"], experts: Mapping[str, Table], observed: Mapping[str, Rows]
    ) -> Table:
        """Multiply a prior by the experts of the modalities that were observed.

        Args:
            prior: Of the latent.
            experts: (rows, outputs) for each modality.
            observed: 1 where a row has the modality.

        Returns:
            Parameters of the distribution, (rows, outputs).
        """

    @abstractmethod
    def divergence(self, first: Table, second: Table) -> Rows:
        """Compute D(first ‖ second) of each row, in nats.

        Args:
            first: Parameters of distributions.
            second: Of others.

        Returns:
            One number a row.
        """

    @abstractmethod
    def information(self, latent: Table, groups: Float[Array, "rows groups"], weight: Rows, key: PRNGKeyArray) -> Rows:
        """Compute each row's part of I(X; Λ) within its group: the mean over its rows is a lower bound.

        Args:
            latent: Parameters of K(·|x).
            groups: 1 in the column of the row's group.
            weight: Of the rows.
            key: Of draws.

        Returns:
            Nats, one number a row.
        """

    @abstractmethod
    def moments(self, latent: Table) -> tuple[Table, Table]:
        """Return mean and standard deviation: of numbers, or of the indicator of each value.

        Args:
            latent: Parameters of K(·|x).

        Returns:
            Two arrays (rows, size).
        """


@dataclass(frozen=True)
class CategoricalLatent(LatentKind):
    """A latent with finitely many values; its parameters are log-probabilities."""

    @property
    def outputs(self) -> int:
        """Count the values."""
        return self.size

    @property
    def linear_path(self) -> bool:
        """Say no: values are told apart by layers."""
        return False

    def agreed(self, experts: Mapping[str, Table]) -> Table:
        """Return nothing to add to: values that students agree on early are too few.

        Args:
            experts: (rows, values) for each modality.

        Returns:
            Zeros, (rows, values).
        """
        return jnp.zeros_like(next(iter(experts.values())))

    def of_channel(self, raw: Table, width: Float[Array, " size"], apart: Float[Array, ""]) -> Table:
        """Return log-probabilities.

        Args:
            raw: (rows, values).
            width: Not used.
            apart: Not used.

        Returns:
            (rows, values).
        """
        return jax.nn.log_softmax(raw, axis=1)

    def product(
        self, prior: Float[Array, " size"], experts: Mapping[str, Table], observed: Mapping[str, Rows]
    ) -> Table:
        """Add logits: exact where the modalities are independent given the latent.

        Args:
            prior: Logits.
            experts: Logits of each modality.
            observed: 1 where a row has the modality.

        Returns:
            (rows, values).
        """
        total = sum((observed[name][:, None] * raw for name, raw in experts.items()), start=prior[None, :])
        return jax.nn.log_softmax(jnp.asarray(total), axis=1)

    def divergence(self, first: Table, second: Table) -> Rows:
        """Compute Σ p ln(p/q).

        Args:
            first: Log-probabilities.
            second: Log-probabilities.

        Returns:
            One number a row.
        """
        return (jnp.exp(first) * (first - second)).sum(axis=1)

    def information(self, latent: Table, groups: Float[Array, "rows groups"], weight: Rows, key: PRNGKeyArray) -> Rows:
        """Compute Σ p ln(p/p̄), with the mean p̄ over the rows of the group.

        Args:
            latent: Log-probabilities.
            groups: 1 in the column of the row's group.
            weight: Of the rows.
            key: Not used.

        Returns:
            Nats, one number a row.
        """
        mass = groups * weight[:, None]
        mean = mass.T @ jnp.exp(latent) / jnp.maximum(mass.sum(axis=0), _TINY)[:, None]
        return self.divergence(latent, jnp.log(groups @ mean + _TINY))

    def moments(self, latent: Table) -> tuple[Table, Table]:
        """Return the probability of each value, and the standard deviation of its indicator.

        Args:
            latent: Log-probabilities.

        Returns:
            Two arrays (rows, values).
        """
        probability = jnp.exp(latent)
        return probability, jnp.sqrt(jnp.maximum(probability * (1 - probability), 0.0))


@dataclass(frozen=True)
class GaussianLatent(LatentKind):
    """A latent of numbers with independent Gaussian noise; its parameters are means and log-scales.

    The channel's noise in a column is the same for every row in one restart, and each row's own in the next. Noise of a row's own
    fits more, but lets a column fall silent: it grows to its bound in all rows, where it has no gradient. Held-out rows choose.
    """

    @property
    def outputs(self) -> int:
        """Count means and scales."""
        return 2 * self.size

    @property
    def linear_path(self) -> bool:
        """Say yes: a column that hardly varies at the start is drowned in its noise."""
        return True

    def agreed(self, experts: Mapping[str, Table]) -> Table:
        """Average means; the noise of a column is the channel's own.

        Args:
            experts: (rows, outputs) for each modality.

        Returns:
            (rows, outputs), of noise 0.
        """
        mean: Table = jnp.mean(jnp.stack([self._parts(raw)[0] for raw in experts.values()]), axis=0)
        return jnp.concatenate([mean, jnp.zeros_like(mean)], axis=1)

    def of_channel(self, raw: Table, width: Float[Array, " size"], apart: Float[Array, ""]) -> Table:
        """Return means, and the bounded logarithm of the noise.

        Args:
            raw: Means and logarithms of noise, (rows, outputs).
            width: Logarithm of each column's noise.
            apart: 1 where rows have noise of their own, else 0.

        Returns:
            (rows, outputs).
        """
        mean, own = self._parts(raw)
        return jnp.concatenate([mean, _bounded(width + apart * own)], axis=1)

    def product(
        self, prior: Float[Array, " size"], experts: Mapping[str, Table], observed: Mapping[str, Rows]
    ) -> Table:
        """Multiply Gaussian densities; the prior has unit variance.

        Args:
            prior: Means.
            experts: Means and log-scales of each modality.
            observed: 1 where a row has the modality.

        Returns:
            (rows, outputs).
        """
        means = {name: raw[:, : self.size] for name, raw in experts.items()}
        scales = {name: _bounded(raw[:, self.size :]) for name, raw in experts.items()}
        first = next(iter(means.values()))
        before = (jnp.broadcast_to(prior, first.shape), jnp.zeros_like(first))
        mean, scale = product_of_experts(means, scales, observed, before)
        return jnp.concatenate([mean, jnp.log(scale)], axis=1)

    def divergence(self, first: Table, second: Table) -> Rows:
        """Compute Σ ln(s/σ) + (σ² + (μ − m)²)/(2s²) − ½.

        Args:
            first: Means and log-scales.
            second: Others.

        Returns:
            One number a row.
        """
        (mean, log_scale), (other, other_log) = self._parts(first), self._parts(second)
        wide = jnp.exp(-2 * other_log)
        apart = other_log - log_scale + 0.5 * wide * (jnp.exp(2 * log_scale) + (mean - other) ** 2) - 0.5
        return apart.sum(axis=1)

    def information(self, latent: Table, groups: Float[Array, "rows groups"], weight: Rows, key: PRNGKeyArray) -> Rows:
        """Compute ln K(λ|x) − ln mean K(λ|x') for a draw λ, over the rows x' of the group (Poole et al., 2019).

        Args:
            latent: Means and log-scales.
            groups: 1 in the column of the row's group.
            weight: Of the rows.
            key: Of the draw.

        Returns:
            Nats, one number a row, at most the logarithm of the rows in the group on average.
        """
        mean, log_scale = self._parts(latent)
        drawn = mean + jnp.exp(log_scale) * jax.random.normal(key, mean.shape)
        # The square is expanded: matrix products are quicker than the differences of all pairs of rows.
        centre = mean.mean(axis=0)
        there, here, precision = drawn - centre, mean - centre, jnp.exp(-2 * log_scale)
        away = there**2 @ precision.T - 2 * there @ (here * precision).T + (here**2 * precision).sum(axis=1)
        density = -0.5 * away - log_scale.sum(axis=1)
        near = groups @ (groups * weight[:, None]).T
        near = near / jnp.maximum(near.sum(axis=1, keepdims=True), _TINY)
        parts: Rows = jnp.diagonal(density) - jax.scipy.special.logsumexp(density + jnp.log(near + 1e-30), axis=1)
        return parts

    def moments(self, latent: Table) -> tuple[Table, Table]:
        """Return mean and standard deviation.

        Args:
            latent: Means and log-scales.

        Returns:
            Two arrays (rows, columns).
        """
        mean, log_scale = self._parts(latent)
        return mean, jnp.exp(log_scale)

    def _parts(self, latent: Table) -> tuple[Table, Table]:
        return latent[:, : self.size], latent[:, self.size :]


def _bounded(log_scale: Array) -> Array:
    return jnp.clip(log_scale, -_STEEPEST, _STEEPEST)
