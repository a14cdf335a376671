"""Latent-variable models, one file each."""
