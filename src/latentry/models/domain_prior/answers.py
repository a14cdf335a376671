"""Rows of a chosen domain, drawn by any model whose prior changes with the domain."""

from __future__ import annotations

from typing import Protocol

import jax
from jaxtyping import Array, PRNGKeyArray

from latentry.data import DomainLike
from latentry.models.domain_prior.priors import Priors
from latentry.models.estimator import AnyModel, Values, check_draws, drawn, outward

__all__ = ["drawn_by_domain"]


class GeneratesAt(Protocol):
    """A module that draws rows of chosen domains."""

    def generate_at(self, u: Array, key: PRNGKeyArray) -> dict[str, Array]:
        """Draw one row for each domain."""


def drawn_by_domain(model: AnyModel, priors: Priors, n: int, domain: DomainLike | None, seed: int) -> Values:
    """Draw new rows in the units of the data.

    Args:
        model: Fitted.
        priors: Its own.
        n: How many.
        domain: Of all of them, or of each; None lets domains occur as often as they did in the data.
        seed: Of the draws.

    Returns:
        An array, or one for each modality by name.

    Raises:
        DataError: If a domain is not one of the fit, or there are not as many as rows.
    """
    if domain is None:
        return drawn(model, n, seed)
    check_draws(model, n, seed)
    module: GeneratesAt = model.module_
    return outward(model, module.generate_at(priors.wanted(domain, n), jax.random.key(seed)))
