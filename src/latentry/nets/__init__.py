"""Encoders, decoders, bijections and likelihood heads."""

from latentry.nets.bijections import Flow
from latentry.nets.dense import Dense
from latentry.nets.expert_decoders import (
    EXPERTS,
    Expert,
    Parameter,
    damped_oscillator,
    expert,
    exponential,
    michaelis_menten,
    power_law,
    sinusoid,
    two_piece_linear,
)
from latentry.nets.heads import HEADS, Head, head_for
from latentry.nets.images import (
    AUGMENTATIONS,
    ContentDistribution,
    ConvolutionDecoder,
    ConvolutionEncoder,
    Discriminator,
    DomainEmbedding,
    DomainFlow,
    EqualLinear,
    ImageEncoder,
    Mapping,
    Synthesis,
    augment,
    leaky,
    resolutions,
    trunk_for,
)
from latentry.nets.jacobian_sparsity import PENALTIES, SparsityTerm, jacobians, penalty, strengths
from latentry.nets.network_choice import ARCHITECTURES, FlatDecoder, FlatEncoder, decoder_for, encoder_for
from latentry.nets.posterior_product import product_of_experts
from latentry.nets.prior import FAMILIES, ConditionalPrior, normal_log_density, prior_for
from latentry.nets.sigmoidal import SigmoidalPrior, sigmoidal_prior

__all__ = [
    "ARCHITECTURES",
    "AUGMENTATIONS",
    "EXPERTS",
    "FAMILIES",
    "HEADS",
    "PENALTIES",
    "ConditionalPrior",
    "ContentDistribution",
    "ConvolutionDecoder",
    "ConvolutionEncoder",
    "Dense",
    "Discriminator",
    "DomainEmbedding",
    "DomainFlow",
    "EqualLinear",
    "Expert",
    "FlatDecoder",
    "FlatEncoder",
    "Flow",
    "Head",
    "Mapping",
    "Parameter",
    "ImageEncoder",
    "SigmoidalPrior",
    "SparsityTerm",
    "Synthesis",
    "augment",
    "damped_oscillator",
    "decoder_for",
    "encoder_for",
    "expert",
    "exponential",
    "head_for",
    "jacobians",
    "leaky",
    "michaelis_menten",
    "normal_log_density",
    "penalty",
    "power_law",
    "prior_for",
    "product_of_experts",
    "resolutions",
    "sigmoidal_prior",
    "sinusoid",
    "strengths",
    "trunk_for",
    "two_piece_linear",
]
