"""Whether the latents could be found at all, and how well they were."""

from latentry.identifiability.changes import SufficientChanges, sufficient_changes
from latentry.identifiability.matching import Match, correlations, match, mcc, r_squared

__all__ = ["Match", "SufficientChanges", "correlations", "match", "mcc", "r_squared", "sufficient_changes"]
