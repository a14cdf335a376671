r"""How sparse a decoder is: sizes of :math:`\partial x_i / \partial z_j`, free of units, and penalties on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from latentry.errors import DataError, nearest

__all__ = ["DERIVATIVES", "PENALTIES", "SparsityTerm", "jacobians", "penalty", "strengths"]

PENALTIES = ("l1", "l2", "capped")
DERIVATIVES = ("exact", "random", "differences")
Rowwise = Callable[[Array], Array]  # (rows, n) to (rows, d), each row by itself


def jacobians(
    function: Rowwise, points: Float[Array, "rows n"], *, directions: int | None = None
) -> Float[Array, "rows d n"]:
    """Return the exact Jacobian of a function at every row, by forward derivatives along all axes.

    Args:
        function: Maps rows to rows, each by itself.
        points: Rows.
        directions: Axes worked on at once, which bounds the memory: that many times what the function needs. All by default.

    Returns:
        A Jacobian for each row.

    >>> double = lambda z: jnp.column_stack([z[:, 0] * z[:, 1], z[:, 1]])
    >>> jacobians(double, jnp.array([[2.0, 3.0]]))[0].tolist()
    [[3.0, 2.0], [0.0, 1.0]]
    """
    size = points.shape[1]

    def along(direction: Array) -> Array:
        tangent = jnp.broadcast_to(direction, points.shape)
        _, derivative = jax.jvp(function, (points,), (tangent,))
        return cast(Array, derivative)

    at_once = size if directions is None else min(directions, size)
    short = -size % at_once
    axes = jnp.concatenate([jnp.eye(size), jnp.zeros((short, size))]).reshape(-1, at_once, size)
    columns = jax.vmap(along)(axes[0])[None] if len(axes) == 1 else jax.lax.map(jax.vmap(along), axes)
    return jnp.moveaxis(columns.reshape(-1, *columns.shape[2:])[:size], 0, -1)


def strengths(
    jacobian: Float[Array, "rows d n"], latent_scale: Float[Array, " n"], data_scale: Float[Array, " d"]
) -> Float[Array, "rows d n"]:
    r"""Return :math:`|\partial x_i/\partial z_j|\,\sigma(z_j)/\sigma(x_i)`: the same in whatever units latents and data come.

    Args:
        jacobian: Of each row.
        latent_scale: Standard deviations of the latents.
        data_scale: Standard deviations of the variables.

    Returns:
        Strengths, without units.
    """
    return jnp.abs(jacobian) * latent_scale / data_scale[:, None]


def penalty(strength: Float[Array, "rows d k"], kind: str, threshold: float) -> Float[Array, ""]:
    r"""Sum a function of each strength a over variables and latents, and return the mean over rows.

    "l1": a. "l2": a², which spreads rather than selects; there for comparison. "capped": :math:`\min(a/\tau, 1)`, the
    number of strengths above the threshold τ, with a derivative below it.

    Args:
        strength: Of each row.
        kind: "l1", "l2" or "capped".
        threshold: τ of "capped".

    Returns:
        A scalar.
    """
    if kind == "l2":
        strength = strength**2
    elif kind == "capped":
        strength = jnp.minimum(strength / threshold, 1.0)
    return strength.sum(axis=(1, 2)).mean()


@dataclass(frozen=True)
class SparsityTerm:
    """The penalty on a decoder, exact or estimated.

    Args:
        kind: "l1", "l2" or "capped".
        threshold: Of "capped".
        derivative: "exact" (all axes by forward derivatives), "random" (each row along a few axes drawn at random: an
            unbiased estimate that costs as many passes as axes are drawn), or "differences" (the same axes, by forward
            differences with a step in deviations of the latent).
        directions: Axes worked on at once ("exact"; None for all), or drawn for each row (the others; None for one).
        step: Of "differences".

    >>> term = SparsityTerm()
    >>> decode = lambda z: jnp.column_stack([z[:, 0], z[:, 0] - 2 * z[:, 1]])
    >>> float(term(decode, jnp.ones((5, 2)), jnp.ones(2), jnp.ones(2), jax.random.key(0)))
    4.0
    """

    kind: str = "l1"
    threshold: float = 0.1
    derivative: str = "exact"
    directions: int | None = None
    step: float = 0.01

    def __post_init__(self) -> None:
        for name, known in (("kind", PENALTIES), ("derivative", DERIVATIVES)):
            if getattr(self, name) not in known:
                raise DataError(
                    f"{name}={getattr(self, name)!r} is not known{nearest(str(getattr(self, name)), known)}"
                )

    def __call__(
        self,
        decode: Rowwise,
        points: Float[Array, "rows n"],
        latent_scale: Float[Array, " n"],
        data_scale: Float[Array, " d"],
        key: PRNGKeyArray,
    ) -> Float[Array, ""]:
        """Return the penalty of the decoder at the given latents."""
        if self.derivative == "exact":
            exact = jacobians(decode, points, directions=self.directions)
            return self.of(strengths(exact, latent_scale, data_scale))
        count, size = self.directions or 1, points.shape[1]
        axes = jax.vmap(lambda k: jax.random.permutation(k, size)[:count])(jax.random.split(key, len(points)))
        columns = [self._derivative(decode, points, axes[:, i], latent_scale) for i in range(min(count, size))]
        strength = jnp.abs(jnp.stack(columns, axis=-1)) / data_scale[:, None]
        return self.of(strength) * size / strength.shape[-1]

    def of(self, strength: Float[Array, "rows d k"]) -> Float[Array, ""]:
        """Return the penalty of given strengths.

        Args:
            strength: Of each row.

        Returns:
            A scalar.
        """
        return penalty(strength, self.kind, self.threshold)

    def _derivative(self, decode: Rowwise, points: Array, axis: Array, latent_scale: Array) -> Array:
        """Return the change of each variable along an axis for each row, per deviation of that latent."""
        direction = jax.nn.one_hot(axis, points.shape[1]) * latent_scale
        if self.derivative == "differences":
            return (decode(points + self.step * direction) - decode(points)) / self.step
        _, derivative = jax.jvp(decode, (points,), (direction,))
        return cast(Array, derivative)
