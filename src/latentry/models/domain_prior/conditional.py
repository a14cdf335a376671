r"""Networks whose latents have a distribution in each domain: :math:`p(x, z \mid u) = p(x \mid z)\,p(z \mid u)`."""

from __future__ import annotations

import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from latentry.contracts import GenerativeModule
from latentry.data import Batch
from latentry.models.networks import ModalityNets
from latentry.nets import ConditionalPrior, Flow, normal_log_density

__all__ = ["SIGHTS", "Conditional", "drawn_domains"]

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
    prior: ConditionalPrior
    seen: jax.Array  # u of some training rows, from which new rows take theirs; never trained
    draws: int = eqx.field(static=True)  # of the bound that scores rows
    sight: str = eqx.field(static=True)
    labels: int = eqx.field(static=True)  # number of domains, 0 for a continuous u

    def coordinates(self, batch: Batch) -> tuple[jax.Array, jax.Array]:
        """Posterior mean and standard deviation of each coordinate; without a domain, from the data alone."""
        if self.sight == "joint":
            return self.networks.encode(batch, self._flat(batch), (self._indicators(batch.domain),))
        if self.sight == "data":
            return self.networks.encode(batch)
        known = batch.domain is not None
        return self.networks.encode(batch, jax.vmap(self.prior.at)(batch.domain) if known else self._flat(batch))

    def _flat(self, batch: Batch) -> tuple[jax.Array, jax.Array]:
        shape = (len(batch.weight), self.networks.latents)
        return jnp.zeros(shape), jnp.full(shape, _FLAT)

    def _indicators(self, u: jax.Array) -> jax.Array:
        return jax.nn.one_hot(u, self.labels) if self.labels else u

    def log_prior(self, coordinates: jax.Array, u: jax.Array) -> jax.Array:
        """Log p(c | u) of each row."""
        if self.flow is None:
            return jax.vmap(self.prior.log_density)(coordinates, u)
        latents, log_det = self.flow.forward_rows(coordinates)
        return jax.vmap(self.prior.log_density)(latents, u) + log_det

    def encode(self, batch: Batch, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        r"""Return mean and standard deviation of each latent; through a flow, to first order: :math:`J\,\Sigma J^\top`."""
        mean, scale = self.coordinates(batch)
        if self.flow is None:
            return mean, scale
        image = lambda c: self.flow.forward(c)[0]  # noqa: E731
        jacobians = jax.vmap(jax.jacfwd(image))(mean)
        return self.flow.forward_rows(mean)[0], jnp.sqrt(jnp.einsum("rij,rj->ri", jacobians**2, scale**2))

    def elbo(self, batch: Batch, key: jax.Array, seen: Any = None) -> tuple[jax.Array, jax.Array]:
        r"""Per row, the two parts of :math:`\mathbb E_q \log p(x \mid c) - D(q(c \mid x, u) \,\|\, p(c \mid u))`."""
        mean, scale = self.coordinates(batch if seen is None else batch._replace(observed=seen))
        drawn = mean + scale * jax.random.normal(key, mean.shape)
        if self.flow is None:
            divergence = jax.vmap(self.prior.divergence)(mean, scale, drawn, batch.domain)
        else:
            log_q = jax.vmap(normal_log_density)(drawn, mean, jnp.log(scale))
            divergence = log_q - self.log_prior(drawn, batch.domain)
        return self.networks.fit_of(drawn, batch), divergence

    def bound(self, batch: Batch, key: jax.Array, draws: int, seen: Any = None) -> jax.Array:
        r"""Per row :math:`\log \frac1K \sum_k p(x, c_k \mid u) / q(c_k \mid x, u)`: tighter with every draw.

        (Burda, Grosse and Salakhutdinov, *Importance weighted autoencoders*, 2016.)
        """
        mean, scale = self.coordinates(batch if seen is None else batch._replace(observed=seen))

        def ratio(key: jax.Array) -> jax.Array:
            drawn = mean + scale * jax.random.normal(key, mean.shape)
            log_q = jax.vmap(normal_log_density)(drawn, mean, jnp.log(scale))
            return self.networks.fit_of(drawn, batch) + self.log_prior(drawn, batch.domain) - log_q

        ratios = jax.lax.map(ratio, jax.random.split(key, draws))
        return jax.nn.logsumexp(ratios, axis=0) - math.log(draws)

    def log_evidence(self, batch: Batch, key: jax.Array) -> jax.Array:
        """Return the bound that scores rows."""
        if self.draws > 1:
            return self.bound(batch, key, self.draws)
        fit, divergence = self.elbo(batch, key)
        return fit - divergence

    def generate(self, key: jax.Array, count: int) -> dict[str, jax.Array]:
        """Draw rows of domains that occur as often as they did in the data."""
        domain_key, row_key = jax.random.split(key)
        return self.generate_at(drawn_domains(self.seen, domain_key, count), row_key)

    def generate_at(self, u: jax.Array, key: jax.Array) -> dict[str, jax.Array]:
        """For each domain, latents from its prior, decoded, with observation noise."""
        latent_key, noise_key = jax.random.split(key)
        latents = jax.vmap(self.prior.draw)(u, jax.random.split(latent_key, len(u)))
        return self.networks.draw(self._own(latents), noise_key)

    def decode(self, latents: jax.Array) -> dict[str, jax.Array]:
        """Return the expected values of every modality given the latents."""
        return self.networks.means(self._own(latents))

    def _own(self, latents: jax.Array) -> jax.Array:
        """The networks' own coordinates of latents."""
        return latents if self.flow is None else jax.vmap(self.flow.inverse)(latents)

    def reconstruct(self, batch: Batch) -> dict[str, jax.Array]:
        """Expected values of every modality."""
        return self.networks.means(self.coordinates(batch)[0])


def drawn_domains(seen: jax.Array, key: jax.Array, count: int) -> jax.Array:
    """Draw domains as often as they occurred among some training rows."""
    return seen[jax.random.randint(key, (count,), 0, len(seen))]
