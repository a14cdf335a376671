"""Encoders, decoders, bijections and likelihood heads."""

from latentry.nets.bijections import Flow
from latentry.nets.chosen import ARCHITECTURES, decoder_for, encoder_for
from latentry.nets.dense import Dense
from latentry.nets.experts import product_of_experts
from latentry.nets.heads import HEADS, Head, head_for
from latentry.nets.prior import FAMILIES, ConditionalPrior, normal_log_density, prior_for

__all__ = [
    "ARCHITECTURES",
    "FAMILIES",
    "HEADS",
    "ConditionalPrior",
    "Dense",
    "Flow",
    "Head",
    "decoder_for",
    "encoder_for",
    "head_for",
    "normal_log_density",
    "prior_for",
    "product_of_experts",
]
