"""From data to the right model: plan, count, compare, repeat, certify."""

from latentry.discovery.budget import Budget, budget_of
from latentry.discovery.candidates import KINDS, Candidate, Setting, candidates
from latentry.discovery.compare import Comparison, Score, decide
from latentry.discovery.discover import discover
from latentry.discovery.discovery import Discovery
from latentry.discovery.fits import Fits
from latentry.discovery.latents import LatentCount, Tried, count_latents, is_worth, smallest_enough
from latentry.discovery.plan import PlannedModel, plan
from latentry.discovery.plane_mixture import PlaneMixture, fit_planes
from latentry.discovery.repeats import Repeats
from latentry.discovery.shape import ModalityShape, Shape, shape_of

__all__ = [
    "Budget",
    "Candidate",
    "Comparison",
    "Discovery",
    "Fits",
    "KINDS",
    "LatentCount",
    "ModalityShape",
    "PlaneMixture",
    "PlannedModel",
    "Repeats",
    "Score",
    "Setting",
    "Shape",
    "Tried",
    "budget_of",
    "candidates",
    "count_latents",
    "decide",
    "discover",
    "fit_planes",
    "is_worth",
    "plan",
    "shape_of",
    "smallest_enough",
]
