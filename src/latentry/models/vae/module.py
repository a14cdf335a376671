"""The module of a variational autoencoder: networks, and a standard normal prior."""

from __future__ import annotations

import jax

from latentry.contracts import GenerativeModule
from latentry.data import Batch
from latentry.models.networks import ModalityNets

__all__ = ["Autoencoder"]


class Autoencoder(GenerativeModule):
    """Encoders and decoders around a standard normal latent."""

    networks: ModalityNets

    def encode(self, batch: Batch, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return posterior mean and standard deviation of each latent."""
        return self.networks.encode(batch)

    def log_evidence(self, batch: Batch, key: jax.Array) -> jax.Array:
        """Return the evidence lower bound of each row."""
        fit, divergence = self.networks.elbo(batch, key)
        return fit - divergence

    def generate(self, key: jax.Array, count: int) -> dict[str, jax.Array]:
        """Draw latents from the prior, and decode them with observation noise."""
        latent_key, noise_key = jax.random.split(key)
        return self.networks.draw(jax.random.normal(latent_key, (count, self.networks.latents)), noise_key)

    def decode(self, latents: jax.Array) -> dict[str, jax.Array]:
        """Return the expected values of every modality."""
        return self.networks.means(latents)

    def reconstruct(self, batch: Batch) -> dict[str, jax.Array]:
        """Return the expected values of every modality at the posterior means."""
        return self.networks.means(self.networks.encode(batch)[0])
