"""Losses of latents whose distribution changes with the domain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray, Shaped

from latentry.contracts import GenerativeModule
from latentry.data import Batch
from latentry.models.domain_prior.conditional import Conditional, Prior
from latentry.models.networks import seen_in_part
from latentry.training import Loss

__all__ = ["Identify", "Metrics", "NegativeBound", "Shrunk", "negative_log_likelihood", "row_mean"]

_POINTS = 500  # of a continuous u, where each is a pass through a network
Metrics = tuple[Float[Array, ""], dict[str, Float[Array, ""]]]  # the loss, and parts of it by name


@runtime_checkable
class HasPrior(Protocol):
    """A module with a prior in each domain."""

    @property
    def prior(self) -> Prior:
        """Return the distribution of the latents in each domain."""

    @property
    def seen(self) -> Shaped[Array, "some ..."]:
        """Return domains of some training rows."""


def row_mean(values: Float[Array, " rows"], batch: Batch) -> Float[Array, ""]:
    """Return the mean over the rows of a batch, fillers left out.

    Args:
        values: One a row.
        batch: Whose weights are 0 at fillers.

    Returns:
        A scalar.
    """
    mean: Array = (batch.weight * values).sum() / batch.weight.sum()
    return mean


def negative_log_likelihood(module: GenerativeModule, batch: Batch, key: PRNGKeyArray) -> Metrics:
    """Return minus the exact log likelihood, mean over the rows of a batch.

    Args:
        module: With an exact likelihood.
        batch: Standardised rows.
        key: Not used.

    Returns:
        The loss, and no parts.
    """
    evidence = module.log_evidence(batch, key)
    return -(batch.weight * evidence).sum() / batch.weight.sum(), {}


@dataclass(frozen=True)
class Identify:
    """Second stage: the flow and the priors, by the exact likelihood of coordinates that stay as they are."""

    def __call__(self, module: Conditional, batch: Batch, key: PRNGKeyArray) -> Metrics:
        """Return minus log p(c | u) at the posterior means."""
        mean, _ = jax.lax.stop_gradient(module.networks.encode(batch))
        return -row_mean(module.log_prior(mean, batch.domain), batch), {}


@dataclass(frozen=True)
class NegativeBound:
    """Minus the evidence lower bound, or its importance-weighted form when ``draws`` is above 1."""

    beta: float = 1.0
    draws: int = 1
    hide: float = 0.0

    def __call__(self, module: Conditional, batch: Batch, key: PRNGKeyArray) -> Metrics:
        """Return the mean over the rows of a batch."""
        seen = seen_in_part(batch, self.hide, jax.random.fold_in(key, 1))
        if self.draws > 1:
            return -row_mean(module.bound(batch, key, self.draws, seen), batch), {}
        fit, divergence = module.elbo(batch, key, seen)
        parts = {"reconstruction": -row_mean(fit, batch), "divergence": row_mean(divergence, batch)}
        return parts["reconstruction"] + self.beta * parts["divergence"], parts


@dataclass(frozen=True)
class Shrunk:
    r"""A loss, and ``weight`` times :math:`\sum_i \operatorname{Var}_u \log s_i(u)`: scales differ only where the data ask for it.

    Where one latent tells the domains apart, others may be stretched by any function of it while the scales of the
    domains undo the stretching; within a domain the function hardly varies, so that the likelihood hardly minds. Of the
    models that fit alike, this takes the one whose distributions change least. It draws the scales themselves together too, by
    about weight / (1 + weight) of their differences: a last phase without it fits the distributions to the latents as they are.
    """

    loss: Loss
    weight: float

    def __call__(self, module: HasPrior, batch: Batch, key: PRNGKeyArray) -> Metrics:
        """Return the sum; the variance is over domains as they occurred, not those of the batch, which may come sorted."""
        value, parts = self.loss(module, batch, key)
        some = module.seen[:_POINTS] if jnp.issubdtype(module.seen.dtype, jnp.floating) else module.seen
        uneven = jax.vmap(module.prior.at)(some)[1].var(axis=0).sum()
        return value + self.weight * uneven, parts | {"uneven": uneven}
