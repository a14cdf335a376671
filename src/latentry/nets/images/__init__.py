"""Networks between images (or curves) and vectors: convolutions, style synthesis, discriminators, augmentation."""

from latentry.nets.images.augmentation import AUGMENTATIONS, augment
from latentry.nets.images.content_distribution import ContentDistribution
from latentry.nets.images.convolution_networks import ConvolutionDecoder, ConvolutionEncoder, spatial
from latentry.nets.images.domain_style import DomainEmbedding, DomainFlow
from latentry.nets.images.equalised_layers import EqualLinear, leaky
from latentry.nets.images.residual_networks import Discriminator, ImageEncoder, trunk_for
from latentry.nets.images.style_synthesis import Mapping, Synthesis, resolutions

__all__ = [
    "AUGMENTATIONS",
    "ContentDistribution",
    "ConvolutionDecoder",
    "ConvolutionEncoder",
    "Discriminator",
    "DomainEmbedding",
    "DomainFlow",
    "EqualLinear",
    "Mapping",
    "ImageEncoder",
    "Synthesis",
    "augment",
    "leaky",
    "resolutions",
    "spatial",
    "trunk_for",
]
