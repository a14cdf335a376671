r"""Networks whose latents have a distribution in each domain: :math:`p(x, z \mid u) = p(x \mid z)\,p(z \mid u)`."""

from __future__ import annotations

import math
from typing import TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray, Shaped

from latentry.contracts import GenerativeModule
from latentry.data import Batch
from latentry.models.networks import ModalityNets
from latentry.nets import ConditionalPrior, Flow, SigmoidalPrior, TargetedPrior, normal_log_density

__all__ = ["SIGHTS", "Conditional", "Prior", "drawn_domains"]

Prior: TypeAlias = ConditionalPrior | SigmoidalPrior | TargetedPrior
Domains: TypeAlias = Shaped[Array, "rows ..."]  # codes (rows,), or columns of a continuous u (rows, columns)
MeanAndScale: TypeAlias = tuple[Float[Array, "rows latents"], Float[Array, "rows latents"]]
Modalities: TypeAlias = dict[str, Float[Array, "rows ..."]]

SIGHTS = ("product", "joint", "data")
_FLAT = 10.0  # log-scale of a prior that says nothing


class Conditional(GenerativeModule):
    r"""Networks, the distribution of the latents in each domain, and perhaps a flow between the two.

    The networks' own coordinates c are the latents, or an invertible image of them: :math:`z = g(c)`, so that
    :math:`p(c \mid u) = p(g(c) \mid u)\,|\det J_g(c)|` and the decoder of z is that of :math:`g^{-1}(z)`.

    What the posterior sees (``sight``): "data" is :math:`q(c \mid x)`; "product" is proportional to
    :math:`q(c \mid x)\,p(c \mid u)`; "joint" is an encoder of x and u.
    """

    networks: ModalityNets
    flow: Flow | None
    prior: Prior
    seen: Shaped[Array, "some ..."]  # u of some training rows, from which new rows take theirs; never trained
    draws: int = eqx.field(static=True)  # of the bound that scores rows
    sight: str = eqx.field(static=True)
    labels: int = eqx.field(static=True)  # number of domains, 0 for a continuous u

    def coordinates(self, batch: Batch) -> MeanAndScale:
        """Return the posterior mean and standard deviation of each coordinate; without a domain, from the data alone.

        Args:
            batch: Standardised rows.

        Returns:
            Two arrays (rows, latents).
        """
        if self.sight == "joint":
            return self.networks.encode(batch, self._flat(batch), (self._indicators(batch.domain),))
        if self.sight == "data":
            return self.networks.encode(batch)
        known = batch.domain is not None
        return self.networks.encode(batch, jax.vmap(self.prior.at)(batch.domain) if known else self._flat(batch))

    def _flat(self, batch: Batch) -> MeanAndScale:
        shape = (len(batch.weight), self.networks.latents)
        return jnp.zeros(shape), jnp.full(shape, _FLAT)

    def _indicators(self, u: Domains) -> Float[Array, "rows columns"]:
        return jax.nn.one_hot(u, self.labels) if self.labels else u

    def log_prior(self, coordinates: Float[Array, "rows latents"], u: Domains) -> Float[Array, " rows"]:
        """Return log p(c | u) of each row.

        Args:
            coordinates: Of the networks, (rows, latents).
            u: The domain of each row: codes, or columns of a continuous u.

        Returns:
            One number a row.
        """
        if self.flow is None:
            return jax.vmap(self.prior.log_density)(coordinates, u)
        latents, log_det = self.flow.forward_rows(coordinates)
        return jax.vmap(self.prior.log_density)(latents, u) + log_det

    def encode(self, batch: Batch, key: PRNGKeyArray) -> MeanAndScale:
        r"""Return mean and standard deviation of each latent; through a flow, to first order: :math:`J\,\Sigma J^\top`.

        Args:
            batch: Standardised rows.
            key: Not used.

        Returns:
            Two arrays (rows, latents).
        """
        mean, scale = self.coordinates(batch)
        flow = self.flow
        if flow is None:
            return mean, scale
        jacobians = jax.vmap(jax.jacfwd(lambda c: flow.forward(c)[0]))(mean)
        return flow.forward_rows(mean)[0], jnp.sqrt(jnp.einsum("rij,rj->ri", jacobians**2, scale**2))

    def elbo(
        self, batch: Batch, key: PRNGKeyArray, seen: Batch | None = None
    ) -> tuple[Float[Array, " rows"], Float[Array, " rows"]]:
        r"""Return, per row, the two parts of :math:`\mathbb E_q \log p(x \mid c) - D(q(c \mid x, u) \,\|\, p(c \mid u))`.

        Args:
            batch: Standardised rows.
            key: Of random numbers.
            seen: What the encoder sees of the batch; by default all of it.

        Returns:
            Fit and divergence, one number a row each.
        """
        mean, scale = self.coordinates(batch if seen is None else seen)
        drawn = mean + scale * jax.random.normal(key, mean.shape)
        if self.flow is None:
            divergence = jax.vmap(self.prior.divergence)(mean, scale, drawn, batch.domain)
        else:
            log_q = jax.vmap(normal_log_density)(drawn, mean, jnp.log(scale))
            divergence = log_q - self.log_prior(drawn, batch.domain)
        return self.networks.fit_of(drawn, batch), divergence

    def bound(self, batch: Batch, key: PRNGKeyArray, draws: int, seen: Batch | None = None) -> Float[Array, " rows"]:
        r"""Return, per row, :math:`\log \frac1K \sum_k p(x, c_k \mid u) / q(c_k \mid x, u)`: tighter with every draw.

        (Burda, Grosse and Salakhutdinov, *Importance weighted autoencoders*, 2016.)

        Args:
            batch: Standardised rows.
            key: Of random numbers.
            draws: Of the bound.
            seen: What the encoder sees of the batch; by default all of it.

        Returns:
            One number a row.
        """
        mean, scale = self.coordinates(batch if seen is None else seen)

        def ratio(key: PRNGKeyArray) -> Float[Array, " rows"]:
            drawn = mean + scale * jax.random.normal(key, mean.shape)
            log_q = jax.vmap(normal_log_density)(drawn, mean, jnp.log(scale))
            return self.networks.fit_of(drawn, batch) + self.log_prior(drawn, batch.domain) - log_q

        ratios = jax.lax.map(ratio, jax.random.split(key, draws))
        return jax.nn.logsumexp(ratios, axis=0) - math.log(draws)

    def log_evidence(self, batch: Batch, key: PRNGKeyArray) -> Float[Array, " rows"]:
        """Return the bound that scores rows.

        Args:
            batch: Standardised rows.
            key: Of random numbers.

        Returns:
            One number a row.
        """
        if self.draws > 1:
            return self.bound(batch, key, self.draws)
        fit, divergence = self.elbo(batch, key)
        return fit - divergence

    def generate(self, key: PRNGKeyArray, count: int) -> Modalities:
        """Draw rows of domains that occur as often as they did in the data.

        Args:
            key: Of random numbers.
            count: How many.

        Returns:
            By modality.
        """
        domain_key, row_key = jax.random.split(key)
        return self.generate_at(drawn_domains(self.seen, domain_key, count), row_key)

    def generate_at(self, u: Domains, key: PRNGKeyArray) -> Modalities:
        """Draw, for each domain, latents from its prior, and decode them with observation noise.

        Args:
            u: The domain of each row: codes, or columns of a continuous u.
            key: Of random numbers.

        Returns:
            By modality.
        """
        latent_key, noise_key = jax.random.split(key)
        latents = jax.vmap(self.prior.draw)(u, jax.random.split(latent_key, len(u)))
        return self.networks.draw(self._own(latents), noise_key)

    def decode(self, latents: Float[Array, "rows latents"]) -> Modalities:
        """Return the expected values of every modality given the latents.

        Args:
            latents: (rows, latents).

        Returns:
            By modality.
        """
        return self.networks.means(self._own(latents))

    def _own(self, latents: Float[Array, "rows latents"]) -> Float[Array, "rows latents"]:
        """Return the networks' own coordinates of latents."""
        return latents if self.flow is None else jax.vmap(self.flow.inverse)(latents)

    def reconstruct(self, batch: Batch) -> Modalities:
        """Return expected values of every modality.

        Args:
            batch: Standardised rows.

        Returns:
            By modality.
        """
        return self.networks.means(self.coordinates(batch)[0])


def drawn_domains(seen: Shaped[Array, "some ..."], key: PRNGKeyArray, count: int) -> Domains:
    """Draw domains as often as they occurred among some training rows.

    Args:
        seen: Domains of those rows: codes, or columns of a continuous u.
        key: Of the draws.
        count: How many.

    Returns:
        Rows of ``seen``.
    """
    return seen[jax.random.randint(key, (count,), 0, len(seen))]
