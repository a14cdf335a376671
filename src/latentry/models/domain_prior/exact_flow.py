"""An invertible map to latents whose distribution changes with the domain: the likelihood is exact."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray, Shaped

from latentry.contracts import GenerativeModule
from latentry.data import Batch
from latentry.models.domain_prior.conditional import Domains, MeanAndScale, Modalities, Prior, drawn_domains
from latentry.nets import Flow

__all__ = ["IdentifiableFlow"]


class IdentifiableFlow(GenerativeModule):
    """An invertible map to latents, their prior in each domain, and some domains as they occurred."""

    flow: Flow
    prior: Prior
    seen: Shaped[Array, "some ..."]  # u of some training rows, from which new rows take theirs; never trained
    modality: str = eqx.field(static=True, default="x")  # the only one

    def encode(self, batch: Batch, key: PRNGKeyArray) -> MeanAndScale:
        """Return the latents themselves, without noise.

        Args:
            batch: Standardised rows.
            key: Not used.

        Returns:
            Two arrays (rows, latents).
        """
        latents, _ = self.flow.forward_rows(batch.values[self.modality])
        return latents, jnp.zeros_like(latents)

    def log_evidence(self, batch: Batch, key: PRNGKeyArray) -> Float[Array, " rows"]:
        r"""Return, per row, :math:`\log p(g(x) \mid u) + \log|\det J_g(x)|`.

        Args:
            batch: Standardised rows.
            key: Not used.

        Returns:
            One number a row.
        """
        latents, log_det = self.flow.forward_rows(batch.values[self.modality])
        return jax.vmap(self.prior.log_density)(latents, batch.domain) + log_det

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
        """Draw, for each domain, latents from its prior, and map them back to data.

        Args:
            u: The domain of each row: codes, or columns of a continuous u.
            key: Of random numbers.

        Returns:
            By modality.
        """
        return self.decode(jax.vmap(self.prior.draw)(u, jax.random.split(key, len(u))))

    def decode(self, latents: Float[Array, "rows latents"]) -> Modalities:
        """Return the data that have these latents.

        Args:
            latents: (rows, latents).

        Returns:
            By modality.
        """
        return {self.modality: jax.vmap(self.flow.inverse)(latents)}

    def reconstruct(self, batch: Batch) -> Modalities:
        """Return the data themselves: an invertible map loses nothing.

        Args:
            batch: Standardised rows.

        Returns:
            By modality.
        """
        return {self.modality: batch.values[self.modality]}
