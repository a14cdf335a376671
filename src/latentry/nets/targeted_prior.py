r"""Latents of which each domain changes known ones, with known linear causes among them."""

from __future__ import annotations

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from latentry.nets.prior import normal_log_density

__all__ = ["TargetedPrior", "targeted_prior"]

Pattern = tuple[tuple[bool, ...], ...]


class TargetedPrior(eqx.Module):
    r"""Gaussian latents with linear causes; a domain replaces the distribution of the latents that it targets.

    Elsewhere a latent has one mechanism for all domains: :math:`z_i = b_i + \sum_{j \in pa(i)} w_{ij} z_j + s_i \varepsilon_i`.
    Where it is targeted, :math:`z_i = b_i(u) + s_i(u)\,\varepsilon_i`: its causes are cut (a perfect intervention, as in
    Liang et al., *Causal component analysis*, 2023).
    """

    base: Float[Array, " n"]
    log_base: Float[Array, " n"]
    location: Float[Array, "domains n"]  # used where a latent is targeted
    log_scale: Float[Array, "domains n"]
    weights: Float[Array, "n n"]
    targets: Pattern = eqx.field(static=True)  # of each domain
    parents: Pattern = eqx.field(static=True)  # of each latent
    latents: int = eqx.field(static=True)

    def _targeted(self, u: Array) -> Array:
        return jnp.asarray(np.array(self.targets))[u]

    def _couplings(self, u: Array) -> Float[Array, "n n"]:
        return jnp.where(self._targeted(u)[:, None] | ~jnp.asarray(np.array(self.parents)), 0.0, self.weights)

    def at(self, u: Array) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        """Return location and log-scale of each latent's own part in a domain.

        Args:
            u: The domain.

        Returns:
            Locations and log-scales.
        """
        targeted = self._targeted(u)
        return jnp.where(targeted, self.location[u], self.base), jnp.where(targeted, self.log_scale[u], self.log_base)

    def own_parts(self, z: Float[Array, " n"], u: Array) -> Float[Array, " n"]:
        """Return what causes do not explain, in standard deviations: independent standard normals if the model is right.

        Args:
            z: Latents of a row.
            u: Its domain.

        Returns:
            One number for each latent.
        """
        location, log_scale = self.at(u)
        return (z - location - self._couplings(u) @ z) * jnp.exp(-log_scale)

    def untargeted_parts(self, z: Float[Array, " n"]) -> Float[Array, " n"]:
        """Return the same by the mechanisms of domains that target nothing.

        Args:
            z: Latents of a row.

        Returns:
            One number for each latent.
        """
        causes = jnp.where(jnp.asarray(np.array(self.parents)), self.weights, 0.0)
        return (z - self.base - causes @ z) * jnp.exp(-self.log_base)

    def log_density(self, z: Float[Array, " n"], u: Array) -> Float[Array, ""]:
        """Return log p(z | u).

        Args:
            z: Latents of a row.
            u: Its domain.

        Returns:
            A scalar.
        """
        _, log_scale = self.at(u)
        return (-0.5 * self.own_parts(z, u) ** 2 - log_scale - 0.5 * math.log(2 * math.pi)).sum()

    def divergence(
        self, mean: Float[Array, " n"], scale: Float[Array, " n"], drawn: Float[Array, " n"], u: Array
    ) -> Float[Array, ""]:
        r"""Return :math:`D(\mathcal N(\text{mean}, \text{scale}^2) \,\|\, p(\cdot \mid u))` from a single draw.

        Args:
            mean: Of the posterior.
            scale: Standard deviations of the posterior.
            drawn: Latents drawn from the posterior.
            u: The domain.

        Returns:
            A scalar.
        """
        return normal_log_density(drawn, mean, jnp.log(scale)) - self.log_density(drawn, u)

    def draw(self, u: Array, key: PRNGKeyArray) -> Float[Array, " n"]:
        """Draw latents of a domain.

        Args:
            u: The domain.
            key: Of random numbers.

        Returns:
            Latents.
        """
        location, log_scale = self.at(u)
        own = location + jnp.exp(log_scale) * jax.random.normal(key, (self.latents,))
        return self._mixing(u) @ own

    def moments(self, u: Array) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        """Return mean and standard deviation of each latent in a domain.

        Args:
            u: The domain.

        Returns:
            Means and standard deviations.
        """
        location, log_scale = self.at(u)
        mixing = self._mixing(u)
        return mixing @ location, jnp.sqrt(mixing**2 @ jnp.exp(2 * log_scale))

    def _mixing(self, u: Array) -> Float[Array, "n n"]:
        """Return what own parts become: (I − W)⁻¹, a finite sum since no latent causes itself."""
        couplings, whole = self._couplings(u), jnp.eye(self.latents)
        power = whole
        for _ in range(self.latents - 1):
            power = power @ couplings
            whole = whole + power
        return whole


def targeted_prior(targets: np.ndarray, parents: np.ndarray, key: PRNGKeyArray) -> TargetedPrior:
    """Build a prior in which each domain changes the latents that it targets.

    Args:
        targets: Truth values (domains, latents).
        parents: Truth values (latents, latents): whether the column's latent causes the row's. No latent may cause itself.
        key: Of random numbers.

    Returns:
        The prior, almost alike in all domains.

    >>> prior = targeted_prior(np.eye(3, 2, -1, dtype=bool), np.tri(2, 2, -1, dtype=bool), jax.random.key(0))
    >>> prior.moments(jnp.asarray(1))[0].shape
    (2,)
    """
    domains, n = targets.shape
    return TargetedPrior(
        base=jnp.zeros(n),
        log_base=jnp.zeros(n),
        location=0.01 * jax.random.normal(key, (domains, n)),  # domains that start alike have no gradient between them
        log_scale=jnp.zeros((domains, n)),
        weights=jnp.zeros((n, n)),
        targets=_pattern(targets),
        parents=_pattern(parents),
        latents=n,
    )


def _pattern(table: np.ndarray) -> Pattern:
    return tuple(tuple(bool(cell) for cell in row) for row in table)
