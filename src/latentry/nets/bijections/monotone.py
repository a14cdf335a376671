"""An increasing function for each coordinate."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

__all__ = ["Monotone"]


class Monotone(eqx.Module):
    r""":math:`y_i = a_i x_i + \sum_k w_{ik} \tanh(s_{ik}(x_i - c_{ik}))` with :math:`a, w, s > 0`.

    The slope never falls below a, so the inverse exists everywhere and Newton's method, kept inside a bracket, finds it.

    >>> layer = Monotone(2, components=4, key=jax.random.key(0))
    >>> y, _ = layer.forward(jnp.array([0.3, -2.0]))
    >>> jnp.allclose(layer.inverse(y), jnp.array([0.3, -2.0]), atol=1e-5).item()
    True
    """

    slope: Float[Array, " n"]  # before softplus
    height: Float[Array, "n components"]  # before softplus
    steepness: Float[Array, "n components"]  # before softplus
    centre: Float[Array, "n components"]

    def __init__(self, size: int, *, components: int, key: PRNGKeyArray) -> None:
        self.slope = jnp.full(size, _inverse_softplus(1.0))
        self.height = jnp.full((size, components), -4.0)  # almost the identity
        self.steepness = jnp.full((size, components), _inverse_softplus(1.0))
        spread = jnp.linspace(-2.5, 2.5, components)
        self.centre = spread + 0.1 * jax.random.normal(key, (size, components))

    def forward(self, x: Float[Array, " n"]) -> tuple[Float[Array, " n"], Float[Array, ""]]:
        """The image and the log-determinant."""
        value, slope = self._value_and_slope(x)
        return value, jnp.log(slope).sum()

    def inverse(self, y: Float[Array, " n"]) -> Float[Array, " n"]:
        """The point whose image is y, differentiable in y and in the parameters."""
        found = jax.lax.stop_gradient(self._root(y))
        value, slope = self._value_and_slope(found)
        # One more Newton step, whose derivative is that of the implicit function.
        return found - (value - y) / jax.lax.stop_gradient(slope)

    def _value_and_slope(self, x: Float[Array, " n"]) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        a, w, s = (jax.nn.softplus(part) for part in (self.slope, self.height, self.steepness))
        bend = jnp.tanh(s * (x[:, None] - self.centre))
        return a * x + (w * bend).sum(axis=1), a + (w * s * (1 - bend**2)).sum(axis=1)

    def _root(self, y: Float[Array, " n"]) -> Float[Array, " n"]:
        a, reach = jax.nn.softplus(self.slope), jax.nn.softplus(self.height).sum(axis=1)
        low, high = (y - reach) / a, (y + reach) / a

        def narrow(_: Any, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            low, high, x = state
            value, slope = self._value_and_slope(x)
            low, high = jnp.where(value < y, x, low), jnp.where(value < y, high, x)
            step = x - (value - y) / slope
            inside = (step > low) & (step < high)
            return low, high, jnp.where(inside, step, 0.5 * (low + high))

        return jax.lax.fori_loop(0, 40, narrow, (low, high, 0.5 * (low + high)))[2]


def _inverse_softplus(value: float) -> Float[Array, ""]:
    return jnp.log(jnp.expm1(value))
