"""Whether the latents could be found at all, and how well they were."""

from latentry.identifiability.agreement import Agreement, agreement
from latentry.identifiability.changes import SufficientChanges, sufficient_changes
from latentry.identifiability.collapse import Collapse, collapse
from latentry.identifiability.disentanglement import DCI, dci, mig, sap
from latentry.identifiability.matching import Match, correlations, match, mcc, r_squared
from latentry.identifiability.pictures import attribute_leakage, content_agreement, frechet_distance, kernel_distance
from latentry.identifiability.sparsity import SparsityAudit, sparsity
from latentry.identifiability.unmixing import unmix

__all__ = [
    "DCI",
    "Agreement",
    "Collapse",
    "Match",
    "SparsityAudit",
    "SufficientChanges",
    "agreement",
    "attribute_leakage",
    "collapse",
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
    "sparsity",
    "sufficient_changes",
    "unmix",
]
