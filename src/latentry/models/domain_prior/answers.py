"""Rows of a chosen domain, drawn by any model whose prior changes with the domain."""

from __future__ import annotations

from typing import Any

import jax

from latentry.models.domain_prior.priors import Priors
from latentry.models.estimator import LatentModel, check_draws, drawn, outward

__all__ = ["drawn_by_domain"]


def drawn_by_domain(model: LatentModel, priors: Priors, n: int, domain: Any, seed: int) -> Any:
    """Draw new rows in the units of the data.

    Args:
        model: Fitted.
        priors: Its own.
        n: How many.
        domain: Of all of them, or of each; None lets domains occur as often as they did in the data.
        seed: Of the draws.
    """
    if domain is None:
        return drawn(model, n, seed)
    check_draws(model, n, seed)
    return outward(model, model.module_.generate_at(priors.wanted(domain, n), jax.random.key(seed)))
