"""The variational autoencoder."""

from latentry.models.vae.estimator import VAE

__all__ = ["VAE"]
