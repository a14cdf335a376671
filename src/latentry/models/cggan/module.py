"""The players of a CGGAN: a generator with its encoder, their running average, and a discriminator."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from latentry.contracts import LatentModule
from latentry.data import Batch
from latentry.nets import ContentDistribution, Discriminator, ImageEncoder, Mapping, Synthesis

__all__ = ["Adversaries", "Generator", "Makers"]


class Generator(eqx.Module):
    """Noise to codes, codes and domain to latents, latents to a style, style to pictures."""

    content: ContentDistribution
    domains: Any  # DomainFlow or DomainEmbedding
    mapping: Mapping
    synthesis: Synthesis

    def __call__(self, codes: jax.Array, domain: jax.Array, pixels: Any = None) -> jax.Array:
        """Pictures on about −1 to 1; ``pixels`` is the noise of each layer, None for none."""
        return self.picture(self.domains(codes, domain), pixels)

    def codes(self, noise: jax.Array) -> jax.Array:
        """Content as the encodings of pictures are spread."""
        return self.content(noise, self.domains.still())

    def code_density(self, codes: jax.Array) -> jax.Array:
        """The logarithm, row by row, of the density that codes of noise have."""
        return self.content.log_density(codes, self.domains.still())

    def picture(self, latents: jax.Array, pixels: Any = None) -> jax.Array:
        """The mixing: latents to pictures."""
        return self.synthesis(self.mapping(latents), pixels)


class Makers(eqx.Module):
    """What makes pictures, and what finds the codes behind them."""

    generator: Generator
    encoder: ImageEncoder


class Adversaries(LatentModule):
    """All that a run changes, besides the optimisers."""

    makers: Makers
    average: Makers  # over the last rows: what is used after training
    discriminator: Discriminator
    augmentation: jax.Array  # probability of each change
    path: jax.Array  # running mean of path lengths
    rows: jax.Array  # seen so far
    low: float = eqx.field(static=True)
    high: float = eqx.field(static=True)
    size: int = eqx.field(static=True)
    modality: str = eqx.field(static=True)
    kinds: tuple[str, ...] = eqx.field(static=True)  # of augmentation

    def encode(self, batch: Batch, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return the encoder's mean and deviation of the code, taken through the flows of the row's domain."""
        mean, scale = self.average.encoder(self.inward(batch.values[self.modality]))
        latents, derivatives = self.average.generator.domains.with_derivatives(mean, batch.domain)
        return latents, scale * derivatives

    @property
    def domains(self) -> int:
        """How many there are."""
        return self.discriminator.verdict.bias.shape[0]

    def inward(self, values: jax.Array) -> jax.Array:
        """Rows of data as (rows, size, size, channels) on −1 to 1."""
        x = values[..., None] if values.ndim == 3 else values
        x = 2 * (x - self.low) / (self.high - self.low) - 1
        if x.shape[1] == self.size:
            return x
        return jax.image.resize(x, (len(x), self.size, self.size, x.shape[-1]), "linear", antialias=True)

    def outward(self, pictures: jax.Array, *, flat: bool) -> jax.Array:
        """Back to the data's range and shape; what is generated beyond it is cut."""
        x = self.low + (self.high - self.low) * (jnp.clip(pictures, -1, 1) + 1) / 2
        return x[..., 0] if flat else x
