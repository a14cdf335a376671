"""What identifiability takes for granted, tested on rows that trained nothing."""

from latentry.identifiability.assumptions.independence import dependence
from latentry.identifiability.assumptions.rows import independent_rows
from latentry.identifiability.assumptions.samples import separability
from latentry.identifiability.assumptions.tested import PART_OF_LEVEL, UNTESTABLE, tested_assumptions

__all__ = ["PART_OF_LEVEL", "UNTESTABLE", "dependence", "independent_rows", "separability", "tested_assumptions"]
