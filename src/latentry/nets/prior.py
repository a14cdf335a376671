r"""Conditionally factorial priors :math:`p(z \mid u) = \prod_i p(z_i \mid u)` in the exponential family."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from latentry.errors import DataError, nearest
from latentry.nets.dense import Dense

__all__ = ["FAMILIES", "ConditionalPrior", "Family", "normal_log_density", "prior_for"]

_REACH, _CELLS, _NODES = 8.0, 1024, 128  # grids of the distribution function and of the normaliser, in deviations
_WIDEST = math.log(4.0)  # of the Gaussian factor under further statistics, so that the grid resolves those


class Family(NamedTuple):
    """Which parts of a prior change with u."""

    moves: bool = True  # the location
    stretches: bool = True  # the scale
    laplace: bool = False
    tilts: bool = False  # further sufficient statistics


FAMILIES = {
    "gaussian": Family(),
    "variance": Family(moves=False),
    "mean": Family(stretches=False),
    "laplace": Family(laplace=True),
    "exponential": Family(tilts=True),
}


class _OfLabel(eqx.Module):
    """A network that sees a label as an indicator vector."""

    net: Dense
    labels: int = eqx.field(static=True)

    def __call__(self, u: Array) -> Float[Array, " outputs"]:
        return self.net(jax.nn.one_hot(u, self.labels))


Part = Array | Dense | _OfLabel  # a table with a row for each label, or a network in u


class ConditionalPrior(eqx.Module):
    r"""The distribution of each latent for each domain: free tables, or networks in u.

    Location and scale as the family says; what does not change with u is learned too, as one number a latent. The
    location may move for the first few latents only: where hardly any does, a table for each is an invitation to add
    functions of one latent to the others, which costs the likelihood almost nothing.
    The family "exponential" has further statistics :math:`T_j(z) = \tanh(z - c_j)` with natural parameters
    :math:`\lambda_j(u)` of their own:

    .. math:: p(z \mid u) \propto \mathcal N(z; m(u), s(u)^2)\,\exp \sum_j \lambda_j(u)\,T_j(z),

    whose normaliser is a trapezoidal sum: bounded statistics leave the tails Gaussian, so that it always exists. There s is
    at most 4, which costs nothing, since latents have no scale of their own.
    """

    location: Part | None  # of the latents that move: table (domains, moving), network, or None
    still: Array  # of the others: (n - moving,)
    log_scale: Part  # table (domains, n), network, or the same everywhere (n,)
    tilt: Part | None  # table (domains, n * statistics), network, or None
    centres: tuple[float, ...] = eqx.field(static=True)
    family: str = eqx.field(static=True)
    latents: int = eqx.field(static=True)

    def at(self, u: Array) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        """Return location and log-scale for a row's domain; of the Gaussian factor, when there are further statistics.

        Args:
            u: Domain of a row: a label, or continuous columns.

        Returns:
            Location and log-scale of each latent.
        """
        location = self.still
        if self.location is not None:
            location = jnp.concatenate([_value(self.location, u, varies=True), self.still])
        log_scale = _value(self.log_scale, u, varies=FAMILIES[self.family].stretches)
        return location, log_scale if self.tilt is None else jnp.minimum(log_scale, _WIDEST)

    def tilt_at(self, u: Array) -> Float[Array, "n statistics"]:
        """Return natural parameters of the further statistics for a row's domain.

        Args:
            u: Domain of a row: a label, or continuous columns.

        Returns:
            A row for each latent; no columns without further statistics.
        """
        if self.tilt is None:
            return jnp.zeros((self.latents, 0))
        return _value(self.tilt, u, varies=True).reshape(self.latents, len(self.centres))

    def log_density(self, z: Float[Array, " n"], u: Array) -> Float[Array, ""]:
        """Return log p(z | u).

        Args:
            z: Latents of a row.
            u: Domain of a row: a label, or continuous columns.

        Returns:
            A scalar.
        """
        location, log_scale = self.at(u)
        standard = (z - location) * jnp.exp(-log_scale)
        if FAMILIES[self.family].laplace:
            return (-jnp.sqrt(2.0) * jnp.abs(standard) - 0.5 * math.log(2.0) - log_scale).sum()
        plain = (-0.5 * standard**2 - 0.5 * math.log(2 * math.pi) - log_scale).sum()
        return plain if self.tilt is None else plain + self._tilting(z, u) - self._log_normaliser(u)

    def divergence(
        self, mean: Float[Array, " n"], scale: Float[Array, " n"], drawn: Float[Array, " n"], u: Array
    ) -> Float[Array, ""]:
        r"""Return :math:`D(\mathcal N(\text{mean}, \text{scale}^2) \,\|\, p(\cdot \mid u))`.

        In closed form for Gaussian families, otherwise from the single draw.

        Args:
            mean: Of the posterior.
            scale: Standard deviations of the posterior.
            drawn: Latents drawn from the posterior.
            u: Domain of a row: a label, or continuous columns.

        Returns:
            A scalar.
        """
        if FAMILIES[self.family].laplace or self.tilt is not None:
            return normal_log_density(drawn, mean, jnp.log(scale)) - self.log_density(drawn, u)
        location, log_scale = self.at(u)
        squares = (scale**2 + (mean - location) ** 2) * jnp.exp(-2 * log_scale)
        return (0.5 * (squares - 1) + log_scale - jnp.log(scale)).sum()

    def draw(self, u: Array, key: PRNGKeyArray) -> Float[Array, " n"]:
        """Draw latents from the prior of a domain.

        Args:
            u: Domain of a row: a label, or continuous columns.
            key: Of random numbers.

        Returns:
            Latents.
        """
        location, log_scale = self.at(u)
        if FAMILIES[self.family].laplace:
            return location + jnp.exp(log_scale) * jax.random.laplace(key, (self.latents,)) / jnp.sqrt(2.0)
        if self.tilt is None:
            return location + jnp.exp(log_scale) * jax.random.normal(key, (self.latents,))
        grid, masses = self._grid(u)
        below = jnp.cumsum(masses, axis=1)
        return jax.vmap(jnp.interp)(jax.random.uniform(key, (self.latents,)), below, grid)

    def moments(self, u: Array) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        """Return mean and standard deviation of each latent in a domain.

        Args:
            u: Domain of a row: a label, or continuous columns.

        Returns:
            Means and standard deviations.
        """
        location, log_scale = self.at(u)
        if self.tilt is None:
            return location, jnp.exp(log_scale)
        grid, masses = self._grid(u)
        mean = (masses * grid).sum(axis=1)
        return mean, jnp.sqrt((masses * (grid - mean[:, None]) ** 2).sum(axis=1))

    def natural(self, u: Array) -> tuple[Float[Array, "n k"], Float[Array, "n k k"]]:
        r"""Return natural parameters of :math:`(z, z^2, T_3, \dots)` in a domain, and the covariance of those statistics there.

        Args:
            u: Domain of a row: a label, or continuous columns.

        Returns:
            Parameters and covariances of each latent.
        """
        location, log_scale = self.at(u)
        precision = jnp.exp(-2 * log_scale)
        parameters = jnp.column_stack([location * precision, -0.5 * precision, self.tilt_at(u)])
        grid, masses = self._grid(u)
        values = jnp.concatenate([grid[..., None], grid[..., None] ** 2, self.statistics_of(grid)], axis=-1)
        centred = values - jnp.einsum("np,npk->nk", masses, values)[:, None]
        return parameters, jnp.einsum("np,npk,npl->nkl", masses, centred, centred)

    def statistics_of(self, z: Float[Array, "..."]) -> Float[Array, "... statistics"]:
        """Return the statistics of z beyond z and z²: steps at the centres."""
        return jnp.tanh(z[..., None] - jnp.asarray(self.centres))

    def _tilting(self, z: Float[Array, " n"], u: Array) -> Float[Array, ""]:
        return (self.tilt_at(u) * self.statistics_of(z)).sum()

    def _log_normaliser(self, u: Array) -> Float[Array, ""]:
        location, log_scale = self.at(u)
        steps = jnp.linspace(-_REACH, _REACH, _NODES)
        points = location[:, None] + jnp.exp(log_scale)[:, None] * steps
        tilting = jnp.einsum("nps,ns->np", self.statistics_of(points), self.tilt_at(u))
        width = 2 * _REACH / (_NODES - 1)
        whole = jax.nn.logsumexp(tilting - 0.5 * steps**2, axis=1)
        return (whole + math.log(width) - 0.5 * math.log(2 * math.pi)).sum()

    def _grid(self, u: Array) -> tuple[Float[Array, "n cells"], Float[Array, "n cells"]]:
        location, log_scale = self.at(u)
        steps = jnp.linspace(-_REACH, _REACH, _CELLS)
        grid = location[:, None] + jnp.exp(log_scale)[:, None] * steps
        tilting = jnp.einsum("nps,ns->np", self.statistics_of(grid), self.tilt_at(u))
        return grid, jax.nn.softmax(tilting - 0.5 * steps**2, axis=1)


def normal_log_density(
    z: Float[Array, " n"], mean: Float[Array, " n"], log_scale: Float[Array, " n"]
) -> Float[Array, ""]:
    """Return the log density of independent normals.

    Args:
        z: A point.
        mean: Of each coordinate.
        log_scale: Logarithm of the standard deviation of each coordinate.

    Returns:
        A scalar.
    """
    return (-0.5 * ((z - mean) * jnp.exp(-log_scale)) ** 2 - log_scale - 0.5 * math.log(2 * math.pi)).sum()


def _value(part: Part, u: Array, *, varies: bool) -> Float[Array, " n"]:
    if isinstance(part, Dense | _OfLabel):
        return part(u)
    return part[u] if varies else part


def prior_for(
    family: str,
    latents: int,
    *,
    domains: int,
    continuous: bool,
    hidden: Sequence[int],
    key: PRNGKeyArray,
    table: bool = True,
    statistics: int = 2,
    moving: int | None = None,
) -> ConditionalPrior:
    """Build a prior over ``latents`` given a label of ``domains``, or that many continuous columns.

    Args:
        family: One of ``FAMILIES``.
        latents: How many.
        domains: Number of labels, or of columns.
        continuous: Whether u has columns rather than labels; columns always have networks.
        hidden: Widths of the networks.
        key: Of random numbers.
        table: Whether labels have a free table of parameters rather than a network.
        statistics: All sufficient statistics of "exponential", of which location and scale are two.
        moving: Latents whose location may move; all by default.

    Returns:
        The prior, almost alike in all domains.

    Raises:
        DataError: If the family is not known.
    """
    if family not in FAMILIES:
        raise DataError(f"prior={family!r} is not known{nearest(family, FAMILIES)}")
    keys = jax.random.split(key, 3)
    moves, stretches, _, tilts = FAMILIES[family]
    moving = (latents if moving is None else moving) if moves else 0

    def part(outputs: int, key: PRNGKeyArray, *, varies: bool = True) -> Part:
        if not varies:
            return jnp.zeros(outputs)
        if continuous:
            return Dense(domains, outputs, hidden, key=key)
        if not table:
            return _OfLabel(Dense(domains, outputs, hidden, key=key), domains)
        # Domains must not start alike: at equal priors the likelihood has no gradient that tells them apart.
        return 0.01 * jax.random.normal(key, (domains, outputs))

    further = statistics - 2 if tilts else 0
    centres = tuple(np.linspace(-2, 2, further).tolist()) if further > 1 else (0.0,) * further
    return ConditionalPrior(
        location=part(moving, keys[0]) if moving else None,
        still=jnp.zeros(latents - moving),
        log_scale=part(latents, keys[1], varies=stretches),
        tilt=part(latents * further, keys[2]) if further else None,
        centres=centres,
        family=family,
        latents=latents,
    )
