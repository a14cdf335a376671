r"""Conditionally factorial priors :math:`p(z \mid u) = \prod_i p(z_i \mid u)` in the exponential family."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from latentry.errors import DataError, nearest
from latentry.nets.dense import Dense

__all__ = ["FAMILIES", "ConditionalPrior", "prior_for"]

# family -> (does the mean change with u, does the scale, is it Laplace)
FAMILIES = {
    "gaussian": (True, True, False),
    "variance": (False, True, False),
    "mean": (True, False, False),
    "laplace": (True, True, True),
}


class ConditionalPrior(eqx.Module):
    """Location and scale of each latent for each domain: a free table, or a network in a continuous u.

    What does not change with u is learned too, as one number a latent.
    """

    location: Any  # table (domains, n), network, or shared (n,)
    log_scale: Any
    family: str = eqx.field(static=True)
    latents: int = eqx.field(static=True)

    def at(self, u: Array) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        """Location and log-scale for one row's domain."""
        moves, stretches, _ = FAMILIES[self.family]
        return _value(self.location, u, varies=moves), _value(self.log_scale, u, varies=stretches)

    def log_density(self, z: Float[Array, " n"], u: Array) -> Float[Array, ""]:
        """Log p(z | u)."""
        location, log_scale = self.at(u)
        standard = (z - location) * jnp.exp(-log_scale)
        if FAMILIES[self.family][2]:
            return (-jnp.sqrt(2.0) * jnp.abs(standard) - 0.5 * math.log(2.0) - log_scale).sum()
        return (-0.5 * standard**2 - 0.5 * math.log(2 * math.pi) - log_scale).sum()

    def draw(self, u: Array, key: PRNGKeyArray) -> Float[Array, " n"]:
        """A latent from the prior of a domain."""
        location, log_scale = self.at(u)
        if FAMILIES[self.family][2]:
            return location + jnp.exp(log_scale) * jax.random.laplace(key, (self.latents,)) / jnp.sqrt(2.0)
        return location + jnp.exp(log_scale) * jax.random.normal(key, (self.latents,))


def _value(part: Any, u: Array, *, varies: bool) -> Float[Array, " n"]:
    if not varies:
        return part
    return part(u) if callable(part) else part[u]


def prior_for(
    family: str, latents: int, *, domains: int, continuous: bool, hidden: Sequence[int], key: PRNGKeyArray
) -> ConditionalPrior:
    """A prior over ``latents`` given one of ``domains`` labels, or that many continuous columns."""
    if family not in FAMILIES:
        raise DataError(f"prior {family!r} is not known{nearest(family, FAMILIES)}")
    keys = jax.random.split(key)

    def part(varies: bool, key: PRNGKeyArray) -> Any:
        if not varies:
            return jnp.zeros(latents)
        if continuous:
            return Dense(domains, latents, hidden, key=key)
        # Domains must not start alike: at equal priors the likelihood has no gradient that tells them apart.
        return 0.01 * jax.random.normal(key, (domains, latents))

    moves, stretches, _ = FAMILIES[family]
    return ConditionalPrior(part(moves, keys[0]), part(stretches, keys[1]), family, latents)
