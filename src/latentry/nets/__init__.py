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
from latentry.nets.images.convolution_networks import ConvolutionDecoder, ConvolutionEncoder
from latentry.nets.jacobian_sparsity import SparsityTerm
from latentry.nets.network_choice import ARCHITECTURES, FlatDecoder, FlatEncoder, decoder_for, encoder_for
from latentry.nets.posterior_product import product_of_experts
from latentry.nets.prior import FAMILIES, ConditionalPrior, normal_log_density, prior_for

__all__ = [
    "ConvolutionDecoder",
    "ConvolutionEncoder",
    "FlatDecoder",
    "FlatEncoder",
    "ARCHITECTURES",
    "EXPERTS",
    "FAMILIES",
    "HEADS",
    "ConditionalPrior",
    "Dense",
    "Expert",
    "Flow",
    "Head",
    "SparsityTerm",
    "Parameter",
    "damped_oscillator",
    "decoder_for",
    "encoder_for",
    "expert",
    "exponential",
    "head_for",
    "michaelis_menten",
    "normal_log_density",
    "power_law",
    "prior_for",
    "product_of_experts",
    "sinusoid",
    "two_piece_linear",
]
