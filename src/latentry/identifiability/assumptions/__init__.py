"""What identifiability takes for granted, tested on rows that trained nothing."""

from latentry.identifiability.assumptions.family import latent_family
from latentry.identifiability.assumptions.independence import dependence, independent_latents
from latentry.identifiability.assumptions.rows import independent_rows
from latentry.identifiability.assumptions.samples import samples_look_like_rows, separability
from latentry.identifiability.assumptions.tested import PART_OF_LEVEL, UNTESTABLE, tested_assumptions

__all__ = [
    "PART_OF_LEVEL",
    "UNTESTABLE",
    "dependence",
    "independent_latents",
    "independent_rows",
    "latent_family",
    "samples_look_like_rows",
    "separability",
    "tested_assumptions",
]
