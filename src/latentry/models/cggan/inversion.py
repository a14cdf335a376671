"""The codes behind given images: by the encoder, or by descent from where the encoder points."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int

from latentry.models.cggan.module import Makers
from latentry.training import use_compilation_cache

__all__ = ["descend_to"]

_RATE, _PRIOR = 0.05, 0.02
_ROWS = 64  # images at once


def descend_to(
    makers: Makers, images: Float[Array, "rows h w c"], domain: Int[Array, " rows"], steps: int
) -> np.ndarray:
    r"""Search for codes that minimise :math:`\operatorname{mean}|G(c, u) - x| - 0.02 \log p(c)/n`, row by row, in n dimensions.

    Adam, from the encoder's mean; steps are compiled one by one, see :class:`latentry.training.Update`.

    Args:
        makers: Trained.
        images: Images on −1 to 1.
        domain: Of each.
        steps: How many.

    Returns:
        Codes (rows, latents).
    """
    use_compilation_cache()
    pieces = []
    for start in range(0, len(images), _ROWS):
        rows = jnp.arange(start, start + _ROWS) % len(images)  # always as many: one program
        wanted, where = images[rows], domain[rows]
        codes = _encode(makers, wanted)
        state = optax.adam(_RATE).init(codes)
        for _ in range(steps):
            codes, state = _step(makers, codes, state, wanted, where)
        pieces.append(np.asarray(codes)[: len(images) - start])
    return np.concatenate(pieces)


@eqx.filter_jit
def _encode(makers: Makers, images: Float[Array, "rows h w c"]) -> Float[Array, "rows latents"]:
    return makers.encoder(images)[0]


@eqx.filter_jit
def _step(
    makers: Makers,
    codes: Float[Array, "rows latents"],
    state: optax.OptState,
    wanted: Float[Array, "rows h w c"],
    domain: Int[Array, " rows"],
) -> tuple[Float[Array, "rows latents"], optax.OptState]:
    def loss(point: jax.Array) -> jax.Array:
        apart = jnp.abs(makers.generator(point, domain) - wanted).mean((1, 2, 3))
        return (apart - _PRIOR * makers.generator.code_density(point) / point.shape[1]).sum()

    change, state = optax.adam(_RATE).update(jax.grad(loss)(codes), state)
    return codes + change, state
