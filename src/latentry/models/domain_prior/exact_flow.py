"""An invertible map to latents whose distribution changes with the domain: the likelihood is exact."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from latentry.contracts import GenerativeModule
from latentry.data import Batch
from latentry.models.domain_prior.conditional import drawn_domains
from latentry.nets import ConditionalPrior, Flow

__all__ = ["IdentifiableFlow"]


class IdentifiableFlow(GenerativeModule):
    """An invertible map to latents, their prior in each domain, and some domains as they occurred."""

    flow: Flow
    prior: ConditionalPrior
    seen: jax.Array  # u of some training rows, from which new rows take theirs; never trained

    def encode(self, batch: Batch, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return the latents themselves, without noise."""
        latents, _ = self.flow.forward_rows(batch.values["x"])
        return latents, jnp.zeros_like(latents)

    def log_evidence(self, batch: Batch, key: jax.Array) -> jax.Array:
        r"""Return, per row, :math:`\log p(g(x) \mid u) + \log|\det J_g(x)|`."""
        latents, log_det = self.flow.forward_rows(batch.values["x"])
        return jax.vmap(self.prior.log_density)(latents, batch.domain) + log_det

    def generate(self, key: jax.Array, count: int) -> dict[str, jax.Array]:
        """Draw rows of domains that occur as often as they did in the data."""
        domain_key, row_key = jax.random.split(key)
        return self.generate_at(drawn_domains(self.seen, domain_key, count), row_key)

    def generate_at(self, u: jax.Array, key: jax.Array) -> dict[str, jax.Array]:
        """Draw, for each domain, latents from its prior, and map them back to data."""
        return self.decode(jax.vmap(self.prior.draw)(u, jax.random.split(key, len(u))))

    def decode(self, latents: jax.Array) -> dict[str, jax.Array]:
        """Return the data that have these latents."""
        return {"x": jax.vmap(self.flow.inverse)(latents)}

    def reconstruct(self, batch: Batch) -> dict[str, jax.Array]:
        """Return the data themselves: an invertible map loses nothing."""
        return {"x": batch.values["x"]}
