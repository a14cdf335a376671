"""What identifiability takes for granted, tested on rows that trained nothing."""

from latentry.identifiability.assumptions.family import latent_family
from latentry.identifiability.assumptions.independence import dependence, independent_latents
from latentry.identifiability.assumptions.latent_count import NUMBER_OF_LATENTS, number_of_latents
from latentry.identifiability.assumptions.left_out import (
    ONE_MIXING,
    ScoresDomains,
    one_mixing,
    scored_anew,
    worse_without,
)
from latentry.identifiability.assumptions.paired_scores import Gain, mean_gain
from latentry.identifiability.assumptions.rows import independent_rows
from latentry.identifiability.assumptions.samples import samples_look_like_rows, separability
from latentry.identifiability.assumptions.tested import (
    BEST_FIT,
    PART_OF_LEVEL,
    UNTESTABLE,
    tested_assumptions,
    too_weakly_tested,
)

__all__ = [
    "BEST_FIT",
    "NUMBER_OF_LATENTS",
    "ONE_MIXING",
    "PART_OF_LEVEL",
    "UNTESTABLE",
    "Gain",
    "ScoresDomains",
    "dependence",
    "independent_latents",
    "independent_rows",
    "latent_family",
    "mean_gain",
    "number_of_latents",
    "one_mixing",
    "samples_look_like_rows",
    "scored_anew",
    "separability",
    "tested_assumptions",
    "too_weakly_tested",
    "worse_without",
]
