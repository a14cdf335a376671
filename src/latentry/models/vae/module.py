"""The module of a variational autoencoder: networks, and a standard normal prior."""

from __future__ import annotations

import jax
from jaxtyping import Array, Float, PRNGKeyArray

from latentry.contracts import GenerativeModule
from latentry.data import Batch
from latentry.models.networks import ModalityNets

__all__ = ["Autoencoder"]


class Autoencoder(GenerativeModule):
    """Encoders and decoders around a standard normal latent."""

    networks: ModalityNets

    def encode(
        self, batch: Batch, key: PRNGKeyArray
    ) -> tuple[Float[Array, "rows latents"], Float[Array, "rows latents"]]:
        """Return posterior mean and standard deviation of each latent.

        Args:
            batch: Standardised rows.
            key: Not used.

        Returns:
            Two arrays (rows, latents).
        """
        return self.networks.encode(batch)

    def log_evidence(self, batch: Batch, key: PRNGKeyArray) -> Float[Array, " rows"]:
        """Return the evidence lower bound of each row.

        Args:
            batch: Standardised rows.
            key: Of random numbers.

        Returns:
            One number a row.
        """
        fit, divergence = self.networks.elbo(batch, key)
        return fit - divergence

    def generate(self, key: PRNGKeyArray, count: int) -> dict[str, Float[Array, "rows ..."]]:
        """Draw latents from the prior, and decode them with observation noise.

        Args:
            key: Of random numbers.
            count: How many.

        Returns:
            By modality.
        """
        latent_key, noise_key = jax.random.split(key)
        return self.networks.draw(jax.random.normal(latent_key, (count, self.networks.latents)), noise_key)

    def decode(self, latents: Float[Array, "rows latents"]) -> dict[str, Float[Array, "rows ..."]]:
        """Return the expected values of every modality.

        Args:
            latents: (rows, latents).

        Returns:
            By modality.
        """
        return self.networks.means(latents)

    def reconstruct(self, batch: Batch) -> dict[str, Float[Array, "rows ..."]]:
        """Return the expected values of every modality at the posterior means.

        Args:
            batch: Standardised rows.

        Returns:
            By modality.
        """
        return self.networks.means(self.networks.encode(batch)[0])
