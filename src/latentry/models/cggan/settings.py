"""Settings of the networks and of the game of a CGGAN that few users touch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
from jax.typing import DTypeLike

from latentry.models.cggan.losses import Weights
from latentry.models.estimator import Choice, Names, Real, Rule, Settings, Whole
from latentry.nets import AUGMENTATIONS

__all__ = ["Adversarial", "ImageNetworks"]


@dataclass(frozen=True)
class ImageNetworks(Settings):
    """The networks that make and judge images.

    Args:
        channels: Of the convolutions at the finest resolution; doubled at each coarser one.
        most_channels: Up to which they are doubled.
        style_width: Of w.
        mapping_layers: Dense layers from latents to w.
        law_layers: Layers of the distribution of content, an invertible map of noise N(0, I); 0 for independent normal
            content, which it also is without an encoder (``regression=0, reconstruction=0``).
        precision: Of the convolutions: "auto" (bfloat16 on accelerators, float32 on processors), "float32", "bfloat16".
    """

    channels: int = 16
    most_channels: int = 256
    style_width: int = 64
    mapping_layers: int = 2
    law_layers: int = 8
    precision: str = "auto"

    constraints: ClassVar[Mapping[str, Rule]] = {
        "channels": Whole(1),
        "most_channels": Whole(1),
        "style_width": Whole(1),
        "mapping_layers": Whole(1),
        "law_layers": Whole(0),
        "precision": Choice(("auto", "float32", "bfloat16")),
    }

    @property
    def dtype(self) -> DTypeLike:
        """Return the type of the convolutions' numbers."""
        wide = self.precision == "float32" or (self.precision == "auto" and jax.default_backend() == "cpu")
        precision: DTypeLike = jnp.float32 if wide else jnp.bfloat16
        return precision


_WEIGHT, _FRACTION = Real(least=0), Real(least=0, below=1)


@dataclass(frozen=True)
class Adversarial(Settings):
    """What the players are paid for, and when.

    Args:
        autoencode: Fraction of the epochs in which generator and encoder learn by themselves, as a variational autoencoder:
            they cost less than half, and the discriminator then meets a generator that knows what images look like.
        pretrain: Fraction of the other epochs before sparsity begins.
        r1: Weight of the discriminator's squared gradient at real images, computed every 16th step.
        path: Weight of the spread of path lengths, computed every 8th step.
        regression: Weight of recovering codes from the images that are generated from them.
        reconstruction: Weight of rebuilding real images from draws of the encoder, in the manner of a variational autoencoder.
        divergence: Weight, per latent, of the divergence of each encoding from N(0, I).
        matching: Weight of how far the encodings of each domain, taken together, are from N(0, I). It keeps the domain out of
            them; it rises over the first 200 000 rows.
        translation: Fraction of generated rows that are real ones in another domain.
        augmentation: Changes that the discriminator may see: "flip", "shift", "scale", "rotate", "brightness", "hue".
        adapt_rows: Rows over which their probability may rise by one; 0 for no augmentation.
        average_rows: Half-life, in rows, of the average of generator and encoder that is used after training.
    """

    autoencode: float = 0.6
    pretrain: float = 0.3
    r1: float = 0.1
    path: float = 0.5
    regression: float = 0.5
    reconstruction: float = 100.0
    divergence: float = 0.5
    matching: float = 500.0
    translation: float = 0.5
    augmentation: Sequence[str] = ("shift", "scale")
    adapt_rows: float = 100_000
    average_rows: float = 20_000

    constraints: ClassVar[Mapping[str, Rule]] = {
        **dict.fromkeys(("autoencode", "pretrain", "translation"), _FRACTION),
        **dict.fromkeys(("r1", "path", "regression", "reconstruction", "divergence", "matching"), _WEIGHT),
        **dict.fromkeys(("adapt_rows", "average_rows"), _WEIGHT),
        "augmentation": Names('("shift", "scale")', AUGMENTATIONS),
    }

    def weights(self, sparsity: float, mask: float) -> Weights:
        """Return the weights of the terms of the loss.

        Args:
            sparsity: Weight of sparsity.
            mask: Weight of the mask.

        Returns:
            In the order of the terms.
        """
        rest = (self.regression, self.reconstruction, self.divergence, self.matching)
        return Weights(self.r1, self.path, sparsity, mask, *rest)

    @property
    def encodes(self) -> bool:
        """Return whether an encoder is trained."""
        return bool(self.regression or self.reconstruction)
