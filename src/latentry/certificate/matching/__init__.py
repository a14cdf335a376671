"""Which latent of one fit is which of another: order, sign and outcomes, with an agreement for each."""

from latentry.certificate.matching.match import match_latents
from latentry.certificate.matching.matching import Matching, Partner

__all__ = ["Matching", "Partner", "match_latents"]
