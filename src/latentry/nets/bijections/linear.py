"""A dense invertible linear map."""

from __future__ import annotations

from typing import cast

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

__all__ = ["InvertibleLinear"]


class InvertibleLinear(eqx.Module):
    r""":math:`y = W x + b` with :math:`\log|\det W|`; W starts as a rotation.

    >>> layer = InvertibleLinear(3, key=jax.random.key(0))
    >>> y, log_det = layer.forward(jnp.ones(3))
    >>> bool(jnp.allclose(layer.inverse(y), 1, atol=1e-5)), round(float(log_det), 5)
    (True, 0.0)
    """

    weight: Float[Array, "*stack n n"]
    bias: Float[Array, "*stack n"]

    def __init__(self, size: int, *, key: PRNGKeyArray) -> None:
        self.weight = jax.random.orthogonal(key, size)
        self.bias = jnp.zeros(size)

    def forward(self, x: Float[Array, " n"]) -> tuple[Float[Array, " n"], Float[Array, ""]]:
        """Map a point.

        Args:
            x: A point.

        Returns:
            Its image, and the log-determinant.
        """
        return self.columns(x[:, None])[:, 0], self.log_determinant()

    def columns(self, x: Float[Array, "n rows"]) -> Float[Array, "n rows"]:
        """Map many points, side by side.

        Args:
            x: Points as columns.

        Returns:
            Their images as columns.
        """
        return self.weight @ x + self.bias[:, None]

    def log_determinant(self) -> Float[Array, "..."]:
        """Return the log-determinant of the weight, or of each weight in a stack."""
        return cast(Array, jnp.linalg.slogdet(self.weight)[1])

    def inverse(self, y: Float[Array, " n"]) -> Float[Array, " n"]:
        """Return the point whose image is y.

        Args:
            y: An image.

        Returns:
            The point.
        """
        return cast(Array, jnp.linalg.solve(self.weight, y - self.bias))
