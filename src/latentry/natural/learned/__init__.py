"""The most natural latent of some rows, and how far other latents are from it."""

from latentry.natural.learned.best import Best, best, quick_learner
from latentry.natural.learned.naturalness import Naturalness, beside_the_best, naturalness

__all__ = ["Best", "Naturalness", "beside_the_best", "best", "naturalness", "quick_learner"]
