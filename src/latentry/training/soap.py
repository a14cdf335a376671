"""Adam in the eigenbasis of the gradient's second moments."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.typing import DTypeLike
from jaxtyping import PyTree

__all__ = ["scale_by_soap"]


class SoapState(NamedTuple):
    """Running moments, and the bases in which the squares are kept; each is a tree like the parameters."""

    taken: jax.Array
    mean: PyTree
    square: PyTree  # in the rotated basis
    left: PyTree  # second moments of rows, or an empty array where a side is not rotated
    right: PyTree
    left_basis: PyTree
    right_basis: PyTree


def scale_by_soap(
    b1: float = 0.95, b2: float = 0.95, epsilon: float = 1e-8, every: int = 10, largest: int = 64, most: float = 10.0
) -> optax.GradientTransformation:
    r"""Return :math:`Q_L \frac{\hat M}{\sqrt{\hat V} + \epsilon} Q_R^\top`, with Adam's moments of :math:`Q_L^\top G\,Q_R`.

    The bases are eigenvectors of running means of :math:`G G^\top` and :math:`G^\top G`, renewed ``every`` few steps (Vyas et
    al., *SOAP: improving and stabilizing Shampoo using Adam*, 2024). Matrices are the last two axes of an array, so that
    stacked layers are treated one by one; a side longer than ``largest`` is not rotated, and a lone vector has plain Adam. Small
    square layers in a deep stack, as flows have them, are ill-conditioned in turned axes, which is what this undoes.

    In one basis :math:`|\hat M| \le \sqrt{\hat V}` for equal decays. Squares are kept while bases turn, so that a rarely seen
    row (of a table with many domains) can find its mean along an axis without any square; such ratios are cut at ``most``.

    Args:
        b1: Decay of the gradient's mean.
        b2: Decay of the second moments.
        epsilon: Added to the root of the squares.
        every: Steps between new bases.
        largest: Longest side that is rotated.
        most: Largest absolute ratio of mean and root of squares.

    Returns:
        An Optax transformation.

    >>> optimiser = scale_by_soap()
    >>> state = optimiser.init(jnp.ones((3, 2)))
    >>> direction, state = optimiser.update(jnp.full((3, 2), 5.0), state)
    >>> direction.shape, state.left.shape, state.right.shape
    ((3, 2), (3, 3), (2, 2))
    """

    def start(parameters: PyTree) -> SoapState:
        zeros = jax.tree.map(lambda a: _zeros(a.shape, a.dtype), parameters)
        left, right = (jax.tree.map(lambda a, axis=axis: _square(a, axis, largest), parameters) for axis in (-2, -1))
        bases = (jax.tree.map(_identity, moments) for moments in (left, right))
        return SoapState(_zeros((), jnp.int32), zeros, zeros, left, right, *bases)

    def update(gradient: PyTree, state: SoapState, parameters: PyTree = None) -> tuple[PyTree, SoapState]:
        count = state.taken + 1
        mean = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, state.mean, gradient)
        left = jax.tree.map(lambda m, g: _blend(m, g, b2, left=True), state.left, gradient)
        right = jax.tree.map(lambda m, g: _blend(m, g, b2, left=False), state.right, gradient)
        renew = count % every == 1 % every
        left_basis, right_basis = jax.lax.cond(
            renew,
            lambda: (jax.tree.map(_eigenvectors, left), jax.tree.map(_eigenvectors, right)),
            lambda: (state.left_basis, state.right_basis),
        )
        turned = jax.tree.map(_turn, gradient, left_basis, right_basis)
        square = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * g**2, state.square, turned)
        first, second = 1 - b1**count, 1 - b2**count  # undo the moments' start at zero

        def direction(m: jax.Array, v: jax.Array, q: jax.Array, r: jax.Array) -> jax.Array:
            ratio = _turn(m / first, q, r) / (jnp.sqrt(v / second) + epsilon)
            return _turn_back(jnp.clip(ratio, -most, most), q, r)

        directions = jax.tree.map(direction, mean, square, left_basis, right_basis)
        return directions, SoapState(count, mean, square, left, right, left_basis, right_basis)

    return optax.GradientTransformation(start, update)


def _zeros(shape: tuple[int, ...], dtype: DTypeLike) -> jax.Array:
    zeros: jax.Array = jax.device_put(np.zeros(shape, dtype))  # made on the host: nothing is compiled for a shape
    return zeros


def _square(array: jax.Array, axis: int, largest: int) -> jax.Array:
    if array.ndim < 2 or array.shape[axis] > largest:
        return _zeros((0,), array.dtype)
    size = array.shape[axis]
    return _zeros((*array.shape[:-2], size, size), array.dtype)


def _identity(moments: jax.Array) -> jax.Array:
    if moments.ndim < 2:
        return moments
    bases: jax.Array = jax.device_put(np.broadcast_to(np.eye(moments.shape[-1], dtype=np.float32), moments.shape))
    return bases


def _eigenvectors(moments: jax.Array) -> jax.Array:
    return moments if moments.ndim < 2 else jnp.linalg.eigh(moments)[1]


def _blend(moments: jax.Array, gradient: jax.Array, decay: float, *, left: bool) -> jax.Array:
    if moments.ndim < 2:
        return moments
    turned = gradient.swapaxes(-1, -2)
    return decay * moments + (1 - decay) * (gradient @ turned if left else turned @ gradient)


def _turn(array: jax.Array, left: jax.Array, right: jax.Array) -> jax.Array:
    array = array if left.ndim < 2 else left.swapaxes(-1, -2) @ array
    return array if right.ndim < 2 else array @ right


def _turn_back(array: jax.Array, left: jax.Array, right: jax.Array) -> jax.Array:
    array = array if left.ndim < 2 else left @ array
    return array if right.ndim < 2 else array @ right.swapaxes(-1, -2)
