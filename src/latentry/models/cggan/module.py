"""The players of a CGGAN: a generator with its encoder, their running average, and a discriminator."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from latentry.contracts import LatentModule
from latentry.data import Batch
from latentry.nets import (
    ContentDistribution,
    Discriminator,
    DomainEmbedding,
    DomainFlow,
    ImageEncoder,
    Mapping,
    Synthesis,
)

__all__ = ["Adversaries", "Generator", "Makers"]

Noise = tuple[Float[Array, "rows ..."], ...]  # of the pixels of each layer


class Generator(eqx.Module):
    """Noise to codes, codes and domain to latents, latents to a style, style to images."""

    content: ContentDistribution
    domains: DomainFlow | DomainEmbedding
    mapping: Mapping
    synthesis: Synthesis

    def __call__(
        self, codes: Float[Array, "rows latents"], domain: Int[Array, " rows"], pixels: Noise | None = None
    ) -> Float[Array, "rows h w c"]:
        """Return images on about −1 to 1; ``pixels`` is the noise of each layer, None for none."""
        return self.image(self.domains(codes, domain), pixels)

    def codes(self, noise: Float[Array, "rows latents"]) -> Float[Array, "rows latents"]:
        """Return content as the encodings of images are spread.

        Args:
            noise: N(0, I), (rows, latents).

        Returns:
            Codes, (rows, latents).
        """
        return self.content(noise, self.domains.still())

    def code_density(self, codes: Float[Array, "rows latents"]) -> Float[Array, " rows"]:
        """Return the logarithm, row by row, of the density that codes of noise have.

        Args:
            codes: (rows, latents).

        Returns:
            One number a row.
        """
        return self.content.log_density(codes, self.domains.still())

    def image(self, latents: Float[Array, "rows inputs"], pixels: Noise | None = None) -> Float[Array, "rows h w c"]:
        """Return images of latents: the mixing.

        Args:
            latents: (rows, latents), and the domain's vector beside them where there is one.
            pixels: Noise of each layer; None for none.

        Returns:
            (rows, height, width, channels).
        """
        return self.synthesis(self.mapping(latents), pixels)


class Makers(eqx.Module):
    """What makes images, and what finds the codes behind them."""

    generator: Generator
    encoder: ImageEncoder


class Adversaries(LatentModule):
    """All that a run changes, besides the optimisers."""

    makers: Makers
    average: Makers  # over the last rows: what is used after training
    discriminator: Discriminator
    augmentation: Float[Array, ""]  # probability of each change
    path: Float[Array, ""]  # running mean of path lengths
    rows: Float[Array, ""]  # seen so far
    low: float = eqx.field(static=True)
    high: float = eqx.field(static=True)
    size: int = eqx.field(static=True)
    modality: str = eqx.field(static=True)
    kinds: tuple[str, ...] = eqx.field(static=True)  # of augmentation

    def encode(
        self, batch: Batch, key: PRNGKeyArray
    ) -> tuple[Float[Array, "rows latents"], Float[Array, "rows latents"]]:
        """Return the encoder's mean and deviation of the code, taken through the flows of the row's domain.

        Args:
            batch: Standardised rows.
            key: Not used.

        Returns:
            Two arrays (rows, latents).
        """
        mean, scale = self.average.encoder(self.inward(batch.values[self.modality]))
        latents, derivatives = self.average.generator.domains.with_derivatives(mean, batch.domain)
        return latents, scale * derivatives

    @property
    def domains(self) -> int:
        """Return how many there are."""
        count: int = self.discriminator.verdict.bias.shape[0]
        return count

    def inward(self, values: Float[Array, "rows ..."]) -> Float[Array, "rows h w c"]:
        """Return rows of data as (rows, size, size, channels) on −1 to 1.

        Args:
            values: Images in the data's own range.

        Returns:
            (rows, height, width, channels).
        """
        x = values[..., None] if values.ndim == 3 else values
        x = 2 * (x - self.low) / (self.high - self.low) - 1
        if x.shape[1] == self.size:
            return x
        shape = (len(x), self.size, self.size, x.shape[-1])
        resized: Array = jax.image.resize(x, shape, "linear", antialias=True)
        return resized

    def outward(self, images: Float[Array, "rows h w c"], *, flat: bool) -> Float[Array, "rows ..."]:
        """Return images in the data's range and shape; what is generated beyond it is cut.

        Args:
            images: On −1 to 1.
            flat: Whether the axis of channels is left out.

        Returns:
            Images in the data's own range.
        """
        x = self.low + (self.high - self.low) * (jnp.clip(images, -1, 1) + 1) / 2
        return x[..., 0] if flat else x
