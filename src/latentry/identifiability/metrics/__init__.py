"""Scores of estimated latents: against known factors, against other fits, and of generated images."""

from latentry.identifiability.metrics.agreement import Agreement, agreement
from latentry.identifiability.metrics.disentanglement import DCI, dci, mig, sap
from latentry.identifiability.metrics.images import (
    attribute_leakage,
    content_agreement,
    frechet_distance,
    kernel_distance,
)
from latentry.identifiability.metrics.matching import Match, as_columns, assigned, correlations, match, mcc, r_squared

__all__ = [
    "DCI",
    "Agreement",
    "Match",
    "agreement",
    "as_columns",
    "assigned",
    "attribute_leakage",
    "content_agreement",
    "correlations",
    "dci",
    "frechet_distance",
    "kernel_distance",
    "match",
    "mcc",
    "mig",
    "r_squared",
    "sap",
]
