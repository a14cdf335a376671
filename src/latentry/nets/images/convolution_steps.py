"""Convolutions of one row with channels last, and on a doubled grid with less than half of the arithmetic.

The layouts (grid, channels) and (kernel, inputs, outputs) are the ones that compilers for processors have fast code for;
weights keep the layout of Equinox, (outputs, inputs, kernel).
"""

from __future__ import annotations

import itertools
import string

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

__all__ = ["convolve", "convolve_doubled"]

# Output 2i + a of a doubled row, for taps (k0, k1, k2): neighbours i - 1 + a and i + a with the weights _TAPS[a] @ k.
_TAPS = np.array([[[1, 0, 0], [0, 1, 1]], [[1, 1, 0], [0, 0, 1]]], dtype=np.float32)


def convolve(
    x: Float[Array, "..."], weight: Float[Array, "..."], strides: tuple[int, ...] | None = None
) -> Float[Array, "..."]:
    """Convolve a row (grid..., inputs) with 3-point kernels, padded by one zero on each side.

    Args:
        x: One row.
        weight: (outputs, inputs, 3, ...).
        strides: Along each axis of the grid; 1 by default.

    Returns:
        The row, (grid..., outputs).

    >>> convolve(jnp.ones((5, 1)), jnp.ones((2, 1, 3)), (2,))[:, 0].tolist()
    [2.0, 3.0, 2.0]
    """
    axes = x.ndim - 1
    return _convolve(x, weight, strides or (1,) * axes, [(1, 1)] * axes)


def convolve_doubled(
    x: Float[Array, "..."], weight: Float[Array, "..."], doubled: tuple[bool, ...]
) -> Float[Array, "..."]:
    """Double the grid along some axes by repeating each point, then convolve: the same numbers, without repeating.

    On a repeated grid two of three taps meet the same point. Added up beforehand, they leave two taps for
    each of the two outputs of a point: along two axes 16 products in place of 36.

    Args:
        x: One row, (grid..., inputs).
        weight: (outputs, inputs, 3, ...).
        doubled: Which axes of the grid are doubled.

    Returns:
        The row on the doubled grid, (grid..., outputs).

    >>> row, weight = jnp.arange(3.0)[:, None], jnp.arange(3.0).reshape(1, 1, 3)
    >>> convolve_doubled(row, weight, (True,))[:, 0].tolist() == convolve(jnp.repeat(row, 2, 0), weight)[:, 0].tolist()
    True
    """
    phases = [(0, 1) if double else (None,) for double in doubled]
    made = [_phase(x, weight, phase) for phase in itertools.product(*phases)]
    grid = [2 if double else 1 for double in doubled]
    stacked = jnp.stack(made).reshape(*grid, *made[0].shape)
    order = [axis for i in range(len(grid)) for axis in (len(grid) + i, i)]
    sizes = [size * times for size, times in zip(x.shape[:-1], grid, strict=True)]
    return stacked.transpose(*order, 2 * len(grid)).reshape(*sizes, -1)


def _phase(x: Array, weight: Array, phase: tuple[int | None, ...]) -> Array:
    """Return the outputs at a position of the doubled grid's cell: two taps where an axis is doubled, three where it is not."""
    pad = []
    for axis, position in enumerate(phase):
        pad.append((1, 1) if position is None else (1 - position, position))
        if position is not None:
            weight = jnp.moveaxis(jnp.tensordot(weight, _TAPS[position], (2 + axis, 1)), -1, 2 + axis)
    return _convolve(x, weight, (1,) * len(phase), pad)


def _convolve(x: Array, weight: Array, strides: tuple[int, ...], pad: list[tuple[int, int]]) -> Array:
    letters = string.digits[: len(strides)]
    names = (f"N{letters}C", f"{letters}IO", f"N{letters}C")
    kernel = jnp.moveaxis(weight, (0, 1), (-1, -2))
    return jax.lax.conv_general_dilated(x[None], kernel, strides, pad, dimension_numbers=names)[0]
