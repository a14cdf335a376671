"""Whether the latents could be found at all, and how well they were."""

from latentry.identifiability.matching import Match, correlations, match, mcc, r_squared

__all__ = ["Match", "correlations", "match", "mcc", "r_squared"]
