"""An increasing function for each coordinate."""

from __future__ import annotations

from typing import cast

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

__all__ = ["Monotone"]


class Monotone(eqx.Module):
    r""":math:`y_i = a_i x_i + \sum_k w_{ik} \tanh(s_{ik}(x_i - c_{ik})) + \sum_l v_{il}\, h_{il}(x_i)` with :math:`a, w, s, v > 0`.

    Bends flatten the tails and hinges :math:`h(x) = \pm\operatorname{softplus}(\pm t(x - b))/t` steepen them on one side:
    a map and its inverse are then equally easy. The derivative never falls below a, so the inverse exists everywhere and
    Newton's method, kept inside a bracket, finds it.

    >>> layer = Monotone(2, components=4, key=jax.random.key(0))
    >>> y, _ = layer.forward(jnp.array([0.3, -2.0]))
    >>> jnp.allclose(layer.inverse(y), jnp.array([0.3, -2.0]), atol=1e-5).item()
    True
    """

    slope: Float[Array, " n"]  # before softplus
    height: Float[Array, "n components"]  # before softplus; the first half bends, the rest hinges
    steepness: Float[Array, "n components"]  # before softplus
    centre: Float[Array, "n components"]

    def __init__(self, size: int, *, components: int, key: PRNGKeyArray) -> None:
        self.slope = jnp.full(size, _inverse_softplus(1.0))
        self.height = jnp.full((size, components), -4.0)  # almost the identity
        self.steepness = jnp.full((size, components), _inverse_softplus(1.0))
        bends, hinges = -(-components // 2), components // 2
        spread = jnp.concatenate([jnp.linspace(-2.5, 2.5, bends), jnp.linspace(-2.5, 2.5, hinges)])
        self.centre = spread + 0.1 * jax.random.normal(key, (size, components))

    def forward(self, x: Float[Array, " n"]) -> tuple[Float[Array, " n"], Float[Array, ""]]:
        """Map a point.

        Args:
            x: A point.

        Returns:
            Its image, and the log-determinant.
        """
        value, derivative = self.value_and_derivative(x[:, None])
        return value[:, 0], jnp.log(derivative).sum()

    def inverse(self, y: Float[Array, " n"]) -> Float[Array, " n"]:
        """Return the point whose image is y, differentiable in y and in the parameters.

        Args:
            y: An image.

        Returns:
            The point.
        """
        root = jax.lax.stop_gradient(self._root(y[:, None]))
        value, derivative = self.value_and_derivative(root)
        # One more Newton step, whose derivative is that of the implicit function.
        return (root - (value - y[:, None]) / jax.lax.stop_gradient(derivative))[:, 0]

    def value_and_derivative(self, x: Float[Array, "n rows"]) -> tuple[Float[Array, "n rows"], Float[Array, "n rows"]]:
        """Return image and derivative of each coordinate, for many points side by side.

        Args:
            x: Points as columns.

        Returns:
            Images and derivatives as columns.
        """
        # Rows come last and bends first: sums over bends then run over whole vectors of rows, which a CPU likes.
        a, w, s = (jax.nn.softplus(part) for part in (self.slope[:, None], self.height, self.steepness))
        w, s, c = (part.T[:, :, None] for part in (w, s, self.centre))
        bends, hinges = -(-len(w) // 2), len(w) // 2
        bend = jnp.tanh(s[:bends] * (x - c[:bends]))
        value = a * x + (w[:bends] * bend).sum(axis=0)
        derivative = a + (w[:bends] * s[:bends] * (1 - bend**2)).sum(axis=0)
        side = jnp.where(jnp.arange(hinges) < hinges // 2, -1.0, 1.0)[:, None, None]  # those on the left turn left
        w, s, reach = w[bends:], s[bends:], side * s[bends:] * (x - c[bends:])
        value = value + (side * w / s * jax.nn.softplus(reach)).sum(axis=0)
        return value, derivative + (w * jax.nn.sigmoid(reach)).sum(axis=0)

    def _root(self, y: Float[Array, "n rows"]) -> Float[Array, "n rows"]:
        # The derivative is at least a: the root lies between 0 and where a line of that steepness would get.
        middle, _ = self.value_and_derivative(jnp.zeros_like(y))
        far = (y - middle) / jax.nn.softplus(self.slope)[:, None]
        low, high = jnp.minimum(far, 0), jnp.maximum(far, 0)

        def narrow(_: Array | int, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            low, high, x = state
            value, derivative = self.value_and_derivative(x)
            low, high = jnp.where(value < y, x, low), jnp.where(value < y, high, x)
            step = x - (value - y) / derivative
            inside = (step > low) & (step < high)
            return low, high, jnp.where(inside, step, 0.5 * (low + high))

        ends = jax.lax.fori_loop(0, 40, narrow, (low, high, 0.5 * (low + high)))
        return cast(Array, ends[2])


def _inverse_softplus(value: float) -> Float[Array, ""]:
    return jnp.log(jnp.expm1(value))
