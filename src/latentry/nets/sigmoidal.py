r"""Free-form distributions of latents in each domain: a conditional deep sigmoidal flow for each latent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from latentry.nets.dense import Dense
from latentry.nets.prior import ConditionalPrior, normal_log_density

__all__ = ["SigmoidalPrior", "sigmoidal", "sigmoidal_inverse", "sigmoidal_prior"]

_REACH, _NODES = 30.0, 4096  # grid on which moments are read, in deviations of the Gaussian
_BRACKET, _HALVINGS = 100.0, 60
_FLATTEST = 0.3  # steepness that no sigmoid falls below: the tails of a distribution stay near those of a Gaussian
_START = 0.0137  # softplus of it is 1 − _FLATTEST: the identity


def sigmoidal(z: Float[Array, ""], parameters: Float[Array, "layers 3 k"]) -> tuple[Float[Array, ""], Float[Array, ""]]:
    r"""Apply layers of :math:`y = \operatorname{logit}\sum_k w_k\,\sigma(a_k z + b_k)`, increasing in z.

    a ≥ 0.3 by softplus, w by softmax, so that each layer is an increasing map of the line onto itself (Huang et al., *Neural
    autoregressive flows*, 2018). Sums of sigmoids and of what they lack of 1 are kept as logarithms: nothing overflows.

    Args:
        z: A number.
        parameters: Of each layer: w before softmax, a before softplus, and b.

    Returns:
        The value, and the logarithm of its derivative.

    >>> identity = jnp.stack([jnp.zeros(4), jnp.full(4, jnp.log(jnp.expm1(0.7))), jnp.zeros(4)])[None]
    >>> value, log_derivative = sigmoidal(jnp.asarray(0.7), identity)
    >>> round(float(value), 5), abs(round(float(log_derivative), 5))
    (0.7, 0.0)
    """

    def layer(carry: tuple[Array, Array], part: Array) -> tuple[tuple[Array, Array], None]:
        value, total = carry
        log_weight, steepness = jax.nn.log_softmax(part[0]), _FLATTEST + jax.nn.softplus(part[1])
        reach = steepness * value + part[2]
        on, off = jax.nn.log_sigmoid(reach), jax.nn.log_sigmoid(-reach)
        above, below = jax.nn.logsumexp(log_weight + on), jax.nn.logsumexp(log_weight + off)
        log_derivative = jax.nn.logsumexp(log_weight + jnp.log(steepness) + on + off) - above - below
        return (above - below, total + log_derivative), None

    (value, log_derivative), _ = jax.lax.scan(layer, (z, jnp.zeros_like(z)), parameters)
    return value, log_derivative


def sigmoidal_inverse(y: Float[Array, ""], parameters: Float[Array, "layers 3 k"]) -> Float[Array, ""]:
    """Return the point whose image is y, by halving an interval; not differentiable.

    Args:
        y: A number.
        parameters: As in :func:`sigmoidal`.

    Returns:
        The point.
    """

    def halve(_: Array | int, ends: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = ends
        middle = 0.5 * (low + high)
        up = sigmoidal(middle, parameters)[0] < y
        return jnp.where(up, middle, low), jnp.where(up, high, middle)

    ends = (jnp.full_like(y, -_BRACKET), jnp.full_like(y, _BRACKET))
    low, high = cast(tuple[Array, Array], jax.lax.fori_loop(0, _HALVINGS, halve, ends))
    return 0.5 * (low + high)


class SigmoidalPrior(eqx.Module):
    r"""Given u, :math:`T_u\big((z_i - m_i(u))/s_i(u)\big) \sim \mathcal N(0, 1)` with a sigmoidal flow T for each latent.

    The Gaussian's location and scale come first, so that the flow starts as the identity and the prior as a Gaussian.
    """

    base: ConditionalPrior
    shape: Array | Dense  # parameters of the flows: table (domains, n * layers * 3 * k), or network in u
    layers: int = eqx.field(static=True)
    width: int = eqx.field(static=True)

    tilt: None = eqx.field(static=True, default=None)  # no further sufficient statistics with names of their own

    @property
    def latents(self) -> int:
        """Count the latents."""
        return self.base.latents

    def parameters(self, u: Array) -> Float[Array, "n layers 3 k"]:
        """Return the parameters of each latent's flow, for a row's domain.

        Args:
            u: Domain of a row: a label, or continuous columns.

        Returns:
            Parameters as :func:`sigmoidal` takes them.
        """
        free = self.shape(u) if isinstance(self.shape, Dense) else self.shape[u]
        free = free.reshape(self.latents, self.layers, 3, self.width)
        return free + jnp.array([0.0, _START, 0.0])[:, None]

    def at(self, u: Array) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        """Return location and log-scale of the Gaussian factor.

        Args:
            u: Domain of a row: a label, or continuous columns.

        Returns:
            Location and log-scale of each latent.
        """
        return self.base.at(u)

    def log_density(self, z: Float[Array, " n"], u: Array) -> Float[Array, ""]:
        """Return log p(z | u).

        Args:
            z: Latents of a row.
            u: Domain of a row: a label, or continuous columns.

        Returns:
            A scalar.
        """
        location, log_scale = self.base.at(u)
        standard = (z - location) * jnp.exp(-log_scale)
        value, log_derivative = jax.vmap(sigmoidal)(standard, self.parameters(u))
        return (
            normal_log_density(value, jnp.zeros_like(value), jnp.zeros_like(value)) + (log_derivative - log_scale).sum()
        )

    def divergence(
        self, mean: Float[Array, " n"], scale: Float[Array, " n"], drawn: Float[Array, " n"], u: Array
    ) -> Float[Array, ""]:
        """Estimate the divergence of a Gaussian posterior from the prior, from a single draw.

        Args:
            mean: Of the posterior.
            scale: Standard deviations of the posterior.
            drawn: Latents drawn from the posterior.
            u: Domain of a row: a label, or continuous columns.

        Returns:
            A scalar.
        """
        return normal_log_density(drawn, mean, jnp.log(scale)) - self.log_density(drawn, u)

    def draw(self, u: Array, key: PRNGKeyArray) -> Float[Array, " n"]:
        """Draw latents from the prior of a domain.

        Args:
            u: Domain of a row: a label, or continuous columns.
            key: Of random numbers.

        Returns:
            Latents.
        """
        location, log_scale = self.base.at(u)
        plain = jax.random.normal(key, (self.latents,))
        return location + jnp.exp(log_scale) * jax.vmap(sigmoidal_inverse)(plain, self.parameters(u))

    def moments(self, u: Array) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        """Return mean and standard deviation of each latent in a domain, on a grid.

        Args:
            u: Domain of a row: a label, or continuous columns.

        Returns:
            Means and standard deviations.
        """
        location, log_scale = self.base.at(u)
        steps = jnp.linspace(-_REACH, _REACH, _NODES)

        def masses(part: Array) -> Array:
            value, log_derivative = jax.vmap(sigmoidal, in_axes=(0, None))(steps, part)
            return jax.nn.softmax(log_derivative - 0.5 * value**2)

        mass = jax.vmap(masses)(self.parameters(u))
        mean = mass @ steps
        spread = jnp.sqrt((mass * (steps - mean[:, None]) ** 2).sum(axis=1))
        return location + jnp.exp(log_scale) * mean, jnp.exp(log_scale) * spread


def sigmoidal_prior(
    base: ConditionalPrior,
    *,
    domains: int,
    continuous: bool,
    layers: int = 2,
    width: int = 10,
    hidden: Sequence[int] = (32, 32),
    key: PRNGKeyArray,
) -> SigmoidalPrior:
    """Build sigmoidal flows on a Gaussian prior: free tables for labels, a network for a continuous u.

    Args:
        base: The Gaussian prior.
        domains: Number of labels, or of columns.
        continuous: Whether u has columns.
        layers: Of each flow.
        width: Sigmoids of each layer.
        hidden: Widths of the network.
        key: Of random numbers.

    Returns:
        The prior, near the Gaussian.

    >>> from latentry.nets.prior import prior_for
    >>> plain = prior_for("gaussian", 2, domains=3, continuous=False, hidden=(), key=jax.random.key(0))
    >>> prior = sigmoidal_prior(plain, domains=3, continuous=False, key=jax.random.key(1))
    >>> prior.draw(jnp.asarray(1), jax.random.key(2)).shape
    (2,)
    """
    outputs = base.latents * layers * 3 * width
    if continuous:
        shape: Array | Dense = Dense(domains, outputs, hidden, key=key)
    else:
        shape = 0.1 * jax.random.normal(key, (domains, outputs))  # equal sigmoids would stay equal
    return SigmoidalPrior(base, shape, layers, width)
