"""The codes behind given pictures: by the encoder, or by descent from where the encoder points."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from latentry.models.cggan.module import Makers
from latentry.training import use_compilation_cache

__all__ = ["descend_to"]

_RATE, _PRIOR = 0.05, 0.02
_ROWS = 64  # pictures at once


def descend_to(makers: Makers, pictures: jax.Array, domain: jax.Array, steps: int) -> np.ndarray:
    r"""Codes that minimise :math:`\operatorname{mean}|G(c, u) - x| - 0.02 \log p(c)/n`, row by row, in n dimensions.

    Adam, from the encoder's mean; steps are compiled one by one, see ``training.own``.
    """
    use_compilation_cache()
    pieces = []
    for start in range(0, len(pictures), _ROWS):
        rows = jnp.arange(start, start + _ROWS) % len(pictures)  # always as many: one program
        wanted, where = pictures[rows], domain[rows]
        codes = _encode(makers, wanted)
        state = optax.adam(_RATE).init(codes)
        for _ in range(steps):
            codes, state = _step(makers, codes, state, wanted, where)
        pieces.append(np.asarray(codes)[: len(pictures) - start])
    return np.concatenate(pieces)


@eqx.filter_jit
def _encode(makers: Makers, pictures: jax.Array) -> jax.Array:
    return makers.encoder(pictures)[0]


@eqx.filter_jit
def _step(makers: Makers, codes: jax.Array, state: Any, wanted: jax.Array, domain: jax.Array) -> tuple[jax.Array, Any]:
    def loss(point: jax.Array) -> jax.Array:
        apart = jnp.abs(makers.generator(point, domain) - wanted).mean((1, 2, 3))
        return (apart - _PRIOR * makers.generator.code_density(point) / point.shape[1]).sum()

    change, state = optax.adam(_RATE).update(jax.grad(loss)(codes), state)
    return codes + change, state
