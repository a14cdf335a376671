"""Whether the latents can be identified at all, and how well they were estimated."""

from latentry.identifiability.assumptions import BEST_FIT, Gain, independent_rows, mean_gain
from latentry.identifiability.collapse import Collapse, collapse
from latentry.identifiability.known_targets import TargetAudit, known_targets
from latentry.identifiability.metrics import (
    DCI,
    Agreement,
    Match,
    agreement,
    as_columns,
    assigned,
    attribute_leakage,
    content_agreement,
    correlations,
    dci,
    frechet_distance,
    kernel_distance,
    match,
    mcc,
    mig,
    r_squared,
    sap,
)
from latentry.identifiability.mixture_components import MixtureAudit, mixture_components
from latentry.identifiability.refits import refit_assumptions
from latentry.identifiability.sparsity import SparsityAudit, sparsity
from latentry.identifiability.sufficient_changes import SufficientChanges, sufficient_changes
from latentry.identifiability.unmixing import unmix

__all__ = [
    "BEST_FIT",
    "DCI",
    "Agreement",
    "Collapse",
    "Gain",
    "Match",
    "MixtureAudit",
    "SparsityAudit",
    "SufficientChanges",
    "TargetAudit",
    "agreement",
    "as_columns",
    "assigned",
    "attribute_leakage",
    "collapse",
    "content_agreement",
    "correlations",
    "dci",
    "frechet_distance",
    "independent_rows",
    "known_targets",
    "kernel_distance",
    "match",
    "mcc",
    "mean_gain",
    "mig",
    "mixture_components",
    "r_squared",
    "refit_assumptions",
    "sap",
    "sparsity",
    "sufficient_changes",
    "unmix",
]
