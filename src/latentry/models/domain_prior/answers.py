"""What any model whose prior changes with the domain answers: rows of a chosen domain, and what causes do not explain."""

from __future__ import annotations

from typing import Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from latentry.data import DataLike, DomainLike
from latentry.errors import DataError
from latentry.models.domain_prior.priors import Priors
from latentry.models.estimator import AnyModel, Values, check_draws, drawn, outward, read
from latentry.nets import TargetedPrior

__all__ = ["drawn_by_domain", "own_parts"]


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


def own_parts(
    model: AnyModel, priors: Priors, prior: TargetedPrior, X: DataLike, y: DomainLike | None, *, untargeted: bool
) -> np.ndarray:
    """Return of each latent what its causes do not explain, in standard deviations.

    Args:
        model: Fitted.
        priors: Its own.
        prior: Learned.
        X: Rows.
        y: Their domains, if ``X`` has none.
        untargeted: By the mechanisms of domains that change nothing, whatever the row's domain.

    Returns:
        (rows, latents).

    Raises:
        DataError: If rows have no domain.
    """
    data = read(model, X, y, fitting=False)
    latents = jnp.asarray(model.transform(data))
    if untargeted:
        return np.asarray(jax.vmap(prior.untargeted_parts)(latents), np.float64)
    if data.domain is None:
        raise DataError(
            "the rows have no domain: which latents are changed depends on it. Give y=, or a Dataset with a domain."
        )
    return np.asarray(jax.vmap(prior.own_parts)(latents, priors.wanted(data.domain, len(data))), np.float64)
