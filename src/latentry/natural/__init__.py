"""Natural latents: mediation and redundancy, in every domain and mixture."""

from latentry.natural.check import check
from latentry.natural.entropies import (
    conditional_entropy,
    divergence,
    dual_total_correlation,
    entropy,
    marginal,
    mutual_information,
    total_correlation,
)
from latentry.natural.laws import as_channel, as_law, as_laws, constant_channel, copy_channel
from latentry.natural.measures import mediation_error, redundancy_error, weighted_score
from latentry.natural.regions import Region, ball, box, simplex
from latentry.natural.report import Errors, Report

__all__ = [
    "Errors",
    "Region",
    "Report",
    "as_channel",
    "as_law",
    "as_laws",
    "ball",
    "box",
    "check",
    "conditional_entropy",
    "constant_channel",
    "copy_channel",
    "divergence",
    "dual_total_correlation",
    "entropy",
    "marginal",
    "mediation_error",
    "mutual_information",
    "redundancy_error",
    "simplex",
    "total_correlation",
    "weighted_score",
]
