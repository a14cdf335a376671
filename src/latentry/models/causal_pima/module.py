r"""The module of causalPIMA: networks, a mixture prior tied to a graph's table, and experts in place of decoders."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from latentry.contracts import GenerativeModule
from latentry.data import Batch
from latentry.models.causal_pima.mixture import HodgeTable, Mixture, Table
from latentry.models.networks import ModalityNets
from latentry.nets import Expert, Network

__all__ = ["ExpertDecoder", "Pima"]

MeanAndScale: TypeAlias = tuple[Float[Array, "rows latents"], Float[Array, "rows latents"]]
Modalities: TypeAlias = dict[str, Float[Array, "rows ..."]]

_NEVER = 1e-30  # probability of what a row was not read as


class ExpertDecoder(eqx.Module):
    """An expert with its fitted parameters; a cluster's curve does not depend on the latents."""

    values: dict[str, Float[Array, "..."]]  # one number per group of clusters
    errors: dict[str, Float[Array, "..."]]  # standard errors of the same
    log_scale: Float[Array, " clusters"]  # noise, in the data's own units
    fitted: Float[
        Array, "clusters ..."
    ]  # the rows as they were when fitted: a function given to load must make the same
    shift: Float[Array, "..."]  # of the standardised modality
    scale: Float[Array, "..."]
    expert: Expert = eqx.field(static=True)
    groups: tuple[tuple[str, tuple[int, ...]], ...] = eqx.field(static=True)  # parameter: group of each cluster

    def rows(self) -> Float[Array, "clusters ..."]:
        """Return every cluster's row, in the data's own units."""
        chosen = {name: self.values[name][jnp.asarray(group)] for name, group in self.groups}
        curves: Array = jax.vmap(lambda values: self.expert(**values))(chosen)
        return curves

    def means(self) -> Float[Array, "clusters ..."]:
        """Return every cluster's row, standardised."""
        return (self.rows() - self.shift) / self.scale

    def log_density(self, values: Float[Array, "rows ..."]) -> Float[Array, "rows clusters"]:
        """Return the log density of standardised rows in each cluster.

        Args:
            values: Standardised rows.

        Returns:
            (rows, clusters).
        """
        raw = (values * self.scale + self.shift)[:, None]
        away = ((raw - self.rows()) ** 2).reshape(len(values), len(self.log_scale), -1)
        size = away.shape[2]
        volume = jnp.log(jnp.broadcast_to(self.scale, values.shape[1:])).sum()
        constant = volume - size * (self.log_scale + 0.5 * math.log(2 * math.pi))
        return constant - 0.5 * away.sum(axis=2) * jnp.exp(-2 * self.log_scale)


class Pima(GenerativeModule):
    """Latents with clusters, clusters with nodes, nodes with a graph."""

    networks: ModalityNets
    mixture: Mixture
    table: Table | HodgeTable
    experts: dict[str, ExpertDecoder]
    own: dict[str, Network]  # decoders that differ between clusters, stacked along their first axis
    counts: Float[Array, "experiments clusters"]  # expected, over the training rows
    labels: Int[Array, " all"]  # first reading of each training row as a cluster, -1 where there is none
    age: Int[Array, ""]  # updates of the mixture so far
    sampled: bool = eqx.field(static=True)  # whether the clusters' probabilities are those of a draw

    def coordinates(self, batch: Batch) -> MeanAndScale:
        """Return mean and standard deviation of the networks' own coordinates.

        Args:
            batch: Standardised rows.

        Returns:
            Two arrays (rows, latents).
        """
        return self.networks.encode(batch)

    def encode(self, batch: Batch, key: PRNGKeyArray | None = None) -> MeanAndScale:
        """Return mean and standard deviation of each latent.

        Args:
            batch: Standardised rows.
            key: Not used.

        Returns:
            Two arrays (rows, latents).
        """
        return self.mixture.latents(*self.coordinates(batch))

    def log_evidence(self, batch: Batch, key: PRNGKeyArray) -> Float[Array, " rows"]:
        """Return the evidence lower bound of each row.

        Args:
            batch: Standardised rows.
            key: Of random numbers.

        Returns:
            One number a row.
        """
        fit, rest = self.bound(batch, key)
        return fit + rest

    def generate(self, key: PRNGKeyArray, count: int) -> Modalities:
        """Draw clusters as often as the table says, then latents, then data.

        Args:
            key: Of random numbers.
            count: How many.

        Returns:
            By modality.
        """
        cluster_key, row_key = jax.random.split(key)
        return self.draw(self.draw_clusters(count, cluster_key), row_key)

    def fit_of(self, coordinates: Float[Array, "rows latents"], batch: Batch) -> Float[Array, " rows"]:
        """Return the log density of the modalities that networks decode.

        Args:
            coordinates: Of the networks, (rows, latents).
            batch: Standardised rows.

        Returns:
            One number a row.
        """
        apart = {*self.experts, *self.own}
        known = {name: decoder for name, decoder in self.networks.decoders.items() if name not in apart}
        net = self.networks
        return ModalityNets(net.encoders, known, net.heads, net.latents, net.masked).fit_of(coordinates, batch)

    def beside(self, batch: Batch, coordinates: Float[Array, "rows latents"]) -> Float[Array, "rows clusters"]:
        """Return what speaks for each cluster beside the latents: experts, and decoders of its own at these coordinates.

        Args:
            batch: Standardised rows.
            coordinates: Of the networks, (rows, latents).

        Returns:
            (rows, clusters).
        """
        return self.by_experts(batch) + self.by_own(batch, coordinates)

    def by_experts(self, batch: Batch) -> Float[Array, "rows clusters"]:
        """Return the log-likelihood of each cluster by the experts.

        Args:
            batch: Standardised rows.

        Returns:
            (rows, clusters).
        """
        total = jnp.zeros((len(batch.weight), len(self.mixture.means)))
        for name, decoder in self.experts.items():
            total = total + batch.observed[name][:, None] * decoder.log_density(batch.values[name])
        return total

    def by_own(self, batch: Batch, coordinates: Float[Array, "rows latents"]) -> Float[Array, "rows clusters"]:
        """Return the log-likelihood of each cluster by decoders of the clusters' own.

        Args:
            batch: Standardised rows.
            coordinates: Of the networks, (rows, latents).

        Returns:
            (rows, clusters).
        """
        total = jnp.zeros((len(batch.weight), len(self.mixture.means)))
        for name, outputs in self.own_outputs(coordinates).items():
            density = jax.vmap(jax.vmap(self.networks.heads[name].log_density, (0, None)))(outputs, batch.values[name])
            if name in batch.cells:
                density = density * batch.cells[name][:, None]
            total = total + batch.observed[name][:, None] * density.reshape(*total.shape, -1).sum(axis=2)
        return total

    def own_outputs(self, coordinates: Float[Array, "rows latents"]) -> dict[str, Float[Array, "rows clusters ..."]]:
        """Return, for each modality with decoders of the clusters' own, what each puts out.

        Args:
            coordinates: Of the networks, (rows, latents).

        Returns:
            Parameters of likelihoods, by modality.
        """
        each: Callable[[Network], Array] = eqx.filter_vmap(
            lambda net: jax.vmap(net)(coordinates), in_axes=(eqx.if_array(0),), out_axes=1
        )
        return {name: each(stack) for name, stack in self.own.items()}

    def log_table(self, batch: Batch, key: PRNGKeyArray | None = None) -> Float[Array, "rows clusters"]:
        """Return the log-probability of each cluster before anything is seen of a row but its experiment.

        Args:
            batch: Standardised rows.
            key: Of noise on the graph; None for none.

        Returns:
            (rows, clusters).
        """
        return self.table.log_table(key)[batch.experiment]

    def prior_logits(
        self,
        batch: Batch,
        mean: Float[Array, "rows latents"],
        scale: Float[Array, "rows latents"],
        key: PRNGKeyArray | None = None,
    ) -> Float[Array, "rows clusters"]:
        r"""Return :math:`\log A_c + E_q \log p(z \mid c)`, and what experts say: all that needs no network.

        Args:
            batch: Standardised rows.
            mean: Of each coordinate, (rows, latents).
            scale: Its standard deviation, (rows, latents).
            key: Of noise on the graph; None for none.

        Returns:
            (rows, clusters).
        """
        return self.log_table(batch, key) + self.mixture.expected_log_density(mean, scale) + self.by_experts(batch)

    def logits(
        self,
        batch: Batch,
        mean: Float[Array, "rows latents"],
        scale: Float[Array, "rows latents"],
        key: PRNGKeyArray | None = None,
    ) -> Float[Array, "rows clusters"]:
        r"""Return :math:`\log A_c + E_q \log p(z \mid c) + \log p(x \mid c)`, whose softmax is the exact mean-field optimum.

        Decoders of the clusters' own are read at the mean of z.

        Args:
            batch: Standardised rows.
            mean: Of each coordinate, (rows, latents).
            scale: Its standard deviation, (rows, latents).
            key: Of noise on the graph; None for none.

        Returns:
            (rows, clusters).
        """
        return self.prior_logits(batch, mean, scale, key) + self.by_own(batch, mean)

    def probabilities(self, batch: Batch) -> Float[Array, "rows clusters"]:
        """Return the probability of each cluster.

        Args:
            batch: Standardised rows.

        Returns:
            (rows, clusters).
        """
        return jax.nn.softmax(self.logits(batch, *self.coordinates(batch)), axis=1)

    def bound(
        self,
        batch: Batch,
        key: PRNGKeyArray,
        seen: Batch | None = None,
        noise: PRNGKeyArray | None = None,
        *,
        guided: bool = False,
    ) -> tuple[Float[Array, " rows"], Float[Array, " rows"]]:
        """Return, per row, the two parts of the evidence lower bound: fit of the networks, and all the rest.

        Any probabilities of the clusters give a bound. The exact ones give the best; "sample" takes those at the drawn z
        (Equation 16 of the paper); guided, a row that has a first reading counts as what it was read as.

        Args:
            batch: Standardised rows.
            key: Of random numbers.
            seen: What the encoder sees of the batch; by default all of it.
            noise: Key of noise on the graph; None for none.
            guided: Whether rows count as what they were first read as.

        Returns:
            Two numbers a row, in nats.
        """
        mean, scale = self.networks.encode(batch if seen is None else seen)
        drawn = mean + scale * jax.random.normal(key, mean.shape)
        prior = self.prior_logits(batch, mean, scale, noise)
        log_gamma = self._log_gamma(batch, prior, mean, drawn, noise)
        if guided:
            labels = self.labels[batch.row]
            certain = jnp.log(jnp.maximum(jax.nn.one_hot(labels, prior.shape[1]), _NEVER))
            log_gamma = jnp.where(labels[:, None] >= 0, certain, log_gamma)
        gamma = jnp.exp(log_gamma)
        entropy = (jnp.log(scale) + 0.5 * math.log(2 * math.pi * math.e)).sum(axis=1)
        fit = self.fit_of(drawn, batch) + (gamma * self.by_own(batch, drawn)).sum(axis=1)
        return fit, (gamma * (prior - log_gamma)).sum(axis=1) + entropy

    def _log_gamma(
        self,
        batch: Batch,
        prior: Float[Array, "rows clusters"],
        mean: Float[Array, "rows latents"],
        drawn: Float[Array, "rows latents"],
        noise: PRNGKeyArray | None,
    ) -> Float[Array, "rows clusters"]:
        if self.sampled:
            return jax.nn.log_softmax(self.logits(batch, drawn, jnp.zeros_like(drawn), noise), axis=1)
        exact: Array = jax.lax.stop_gradient(jax.nn.log_softmax(prior + self.by_own(batch, mean), axis=1))
        return exact  # an optimum: its gradient is zero

    def reconstruct(self, batch: Batch) -> Modalities:
        """Return the expected values of every modality.

        Args:
            batch: Standardised rows.

        Returns:
            By modality.
        """
        mean, scale = self.coordinates(batch)
        gamma = jax.nn.softmax(self.logits(batch, mean, scale), axis=1)
        return self.decoded(mean, gamma)

    def decoded(self, coordinates: Float[Array, "rows latents"], gamma: Float[Array, "rows clusters"]) -> Modalities:
        """Return expected values for given coordinates and probabilities of the clusters.

        Args:
            coordinates: Of the networks, (rows, latents).
            gamma: Probability of each cluster, (rows, clusters).

        Returns:
            By modality.
        """
        expected = self.networks.means(coordinates)
        for name, decoder in self.experts.items():
            expected[name] = jnp.tensordot(gamma, decoder.means(), axes=1)
        for name, outputs in self.own_outputs(coordinates).items():
            expected[name] = jnp.einsum("rc,rc...->r...", gamma, self.networks.heads[name].mean(outputs))
        return expected

    def decode(self, latents: Float[Array, "rows latents"]) -> Modalities:
        """Return expected values for given latents; experts' rows by the probabilities of the clusters at that place.

        Args:
            latents: (rows, latents).

        Returns:
            By modality.
        """
        coordinates = self.mixture.coordinates(latents)
        density = self.mixture.expected_log_density(coordinates, jnp.zeros_like(coordinates))
        return self.decoded(coordinates, jax.nn.softmax(self.table.log_table()[-1] + density, axis=1))

    def draw_clusters(self, count: int, key: PRNGKeyArray) -> Int[Array, " rows"]:
        """Draw clusters as often as the table says.

        Args:
            count: How many.
            key: Of random numbers.

        Returns:
            Numbers of clusters.
        """
        return jax.random.categorical(key, self.table.log_table()[-1], shape=(count,))

    def draw(self, clusters: Int[Array, " rows"], key: PRNGKeyArray, *, noise: bool = True) -> Modalities:
        """Draw new rows of these clusters, standardised; without noise, expected values given the latents drawn.

        Args:
            clusters: One a row.
            key: Of random numbers.
            noise: Whether observation noise is added.

        Returns:
            By modality.
        """
        latent_key, data_key, expert_key, own_key = jax.random.split(key, 4)
        coordinates = self.mixture.coordinates(self.mixture.draw(clusters, latent_key))
        if not noise:
            return self.decoded(coordinates, jax.nn.one_hot(clusters, len(self.mixture.means)))
        drawn = self.networks.draw(coordinates, data_key)
        for name, decoder in self.experts.items():
            expert_key = jax.random.fold_in(expert_key, 1)
            rows = decoder.means()[clusters]
            spread = jnp.exp(decoder.log_scale)[clusters].reshape(-1, *[1] * (rows.ndim - 1)) / decoder.scale
            drawn[name] = rows + spread * jax.random.normal(expert_key, rows.shape)
        for name, outputs in self.own_outputs(coordinates).items():
            chosen = outputs[jnp.arange(len(clusters)), clusters]
            drawn[name] = jax.vmap(self.networks.heads[name].draw)(chosen, jax.random.split(own_key, len(clusters)))
        return drawn
