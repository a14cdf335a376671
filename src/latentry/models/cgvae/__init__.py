"""Sufficient changes and sparse mixing together."""

from latentry.models.cgvae.estimator import CGVAE
from latentry.models.cgvae.settings import MixingPenalty

__all__ = ["CGVAE", "MixingPenalty"]
