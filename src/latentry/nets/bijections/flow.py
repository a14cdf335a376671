"""Linear and monotone maps in turn: a flow that can represent any layered invertible mixing."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from latentry.nets.bijections.linear import InvertibleLinear
from latentry.nets.bijections.monotone import Monotone

__all__ = ["Flow"]


class _Block(eqx.Module):
    linear: InvertibleLinear
    bend: Monotone

    def inverse(self, y: Array) -> Array:
        """Invert the bend, then the linear map."""
        return self.linear.inverse(self.bend.inverse(y))


class Flow(eqx.Module):
    r""":math:`g = L_B \circ (\sigma_B \circ L_{B-1}) \circ \dots \circ (\sigma_1 \circ L_0)`, with its exact log-determinant.

    The blocks are stacked and scanned, so that compilation does not grow with depth.

    >>> flow = Flow(3, blocks=2, components=4, key=jax.random.key(0))
    >>> z, log_det = flow.forward(jnp.array([0.5, -1.0, 2.0]))
    >>> jnp.allclose(flow.inverse(z), jnp.array([0.5, -1.0, 2.0]), atol=1e-4).item()
    True
    """

    blocks: _Block  # every leaf has a leading axis, one entry a block
    last: InvertibleLinear

    def __init__(self, size: int, *, blocks: int, components: int, key: PRNGKeyArray) -> None:
        first, last = jax.random.split(key)

        def block(key: PRNGKeyArray) -> _Block:
            linear, bend = jax.random.split(key)
            return _Block(InvertibleLinear(size, key=linear), Monotone(size, components=components, key=bend))

        self.blocks = eqx.filter_vmap(block)(jax.random.split(first, blocks))
        self.last = InvertibleLinear(size, key=last)

    def straightened(self, last: Float[Array, "n n"]) -> Flow:
        """Return the same bends, each on a coordinate of its own until the last layer, which gets a weight.

        Args:
            last: Weight of the last layer.

        Returns:
            A flow whose bends of single columns are easy to learn first.
        """
        size = last.shape[0]
        plain = jnp.broadcast_to(jnp.eye(size, dtype=last.dtype), self.blocks.linear.weight.shape)
        straight: Flow = eqx.tree_at(lambda flow: (flow.blocks.linear.weight, flow.last.weight), self, (plain, last))
        return straight

    def forward(self, x: Float[Array, " n"]) -> tuple[Float[Array, " n"], Float[Array, ""]]:
        """Map data to latents.

        Args:
            x: A row.

        Returns:
            Latents, and the log-determinant.
        """
        z, log_det = self.forward_rows(x[None])
        return z[0], log_det[0]

    def forward_rows(self, x: Float[Array, "rows n"]) -> tuple[Float[Array, "rows n"], Float[Array, " rows"]]:
        """Map data to latents, many rows at once: much faster than row by row.

        Args:
            x: Rows of data.

        Returns:
            Latents, and the log-determinant of each row.
        """
        # One determinant call for all layers; inside the scan they would cost more than everything else.
        constant = self.blocks.linear.log_determinant().sum() + self.last.log_determinant()

        def step(carry: tuple[Array, Array], block: _Block) -> tuple[tuple[Array, Array], None]:
            value, derivative = block.bend.value_and_derivative(block.linear.columns(carry[0]))
            return (value, carry[1] + jnp.log(derivative).sum(axis=0)), None

        (columns, total), _ = jax.lax.scan(step, (x.T, jnp.zeros(len(x))), self.blocks)
        return self.last.columns(columns).T, total + constant

    def inverse(self, z: Float[Array, " n"]) -> Float[Array, " n"]:
        """Map latents to data.

        Args:
            z: Latents of a row.

        Returns:
            The row.
        """

        def step(value: Array, block: _Block) -> tuple[Array, None]:
            return block.inverse(value), None

        return jax.lax.scan(step, self.last.inverse(z), self.blocks, reverse=True)[0]
