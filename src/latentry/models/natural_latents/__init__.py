"""Natural latents, learned from rows."""

from latentry.models.natural_latents.estimator import NaturalLatents
from latentry.models.natural_latents.settings import Naturality

__all__ = ["NaturalLatents", "Naturality"]
