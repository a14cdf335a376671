"""Whether the distributions of the latents change enough between domains to identify the latents."""

from latentry.identifiability.sufficient_changes.audit import SufficientChanges, sufficient_changes

__all__ = ["SufficientChanges", "sufficient_changes"]
