"""Natural latents: mediation and redundancy, in every domain and mixture."""

from latentry.natural.check import check
from latentry.natural.distributions import as_channel, as_law, as_laws, constant_channel, copy_channel
from latentry.natural.entropies import (
    conditional_entropy,
    divergence,
    dual_total_correlation,
    entropy,
    marginal,
    mutual_information,
    total_correlation,
)
from latentry.natural.from_samples import (
    Audit,
    Claim,
    Comparison,
    Judge,
    Rows,
    as_rows,
    audit,
    audit_of,
    choose_family,
    compare,
    in_its_sentence,
    independence,
    mean_upper,
    noise_curve,
    reasons_to_call_it_empty,
    units_needed,
)
from latentry.natural.gaussian import GaussianPair, gaussian_pair, gaussian_total_correlation
from latentry.natural.learned import Best, Naturalness, beside_the_best, best, naturalness
from latentry.natural.mixtures import Family
from latentry.natural.naturality_errors import mediation_error, redundancy_error, weighted_score
from latentry.natural.report import Errors, Report
from latentry.natural.search import (
    FoundLatent,
    functional_common_information,
    gacs_korner,
    resampling,
    search,
    search_shared,
    two_by_two,
    wyner,
)
from latentry.natural.tables import Tables, from_columns
from latentry.natural.translate import Translation, translate
from latentry.natural.weight_regions import Region, ball, box, simplex
from latentry.natural.worst_mixture import worst_mediation, worst_redundancy

__all__ = [
    "Audit",
    "Best",
    "Claim",
    "Comparison",
    "Errors",
    "Family",
    "FoundLatent",
    "GaussianPair",
    "Judge",
    "Naturalness",
    "Region",
    "Report",
    "Rows",
    "Tables",
    "Translation",
    "as_channel",
    "as_law",
    "as_laws",
    "as_rows",
    "audit",
    "audit_of",
    "ball",
    "beside_the_best",
    "best",
    "box",
    "check",
    "choose_family",
    "compare",
    "conditional_entropy",
    "constant_channel",
    "copy_channel",
    "divergence",
    "dual_total_correlation",
    "entropy",
    "from_columns",
    "functional_common_information",
    "gacs_korner",
    "gaussian_pair",
    "gaussian_total_correlation",
    "in_its_sentence",
    "independence",
    "marginal",
    "mean_upper",
    "mediation_error",
    "mutual_information",
    "naturalness",
    "noise_curve",
    "reasons_to_call_it_empty",
    "units_needed",
    "redundancy_error",
    "resampling",
    "search",
    "search_shared",
    "simplex",
    "total_correlation",
    "translate",
    "two_by_two",
    "weighted_score",
    "worst_mediation",
    "worst_redundancy",
    "wyner",
]
