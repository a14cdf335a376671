"""The evidence lower bound of networks with a standard normal prior, and modalities hidden from the encoder at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from latentry.data import Batch

__all__ = ["NegativeElbo", "hidden_in_part"]


@dataclass(frozen=True)
class NegativeElbo:
    r"""The loss: minus the evidence lower bound, its divergence weighted by :math:`\beta`.

    It trains the ``networks`` of a module alone, with a standard normal prior and no domains. With several modalities each
    is hidden from the encoder in a fraction ``hide`` of the rows, though it must still be explained: otherwise an encoder
    that never works alone learns nothing of what the others say.
    """

    beta: float = 1.0
    hide: float = 0.0

    def __call__(self, module: Any, batch: Batch, key: jax.Array) -> tuple[jax.Array, dict[str, jax.Array]]:
        """Mean over the rows of a batch."""
        seen = hidden_in_part(batch.observed, self.hide, jax.random.fold_in(key, 1)) if self.hide else None
        fit, divergence = module.networks.elbo(batch, key, seen)
        share = batch.weight / batch.weight.sum()
        parts = {"reconstruction": -(share * fit).sum(), "divergence": (share * divergence).sum()}
        return parts["reconstruction"] + self.beta * parts["divergence"], parts


def hidden_in_part(observed: dict[str, jax.Array], share: float, key: jax.Array) -> dict[str, jax.Array]:
    """Masks with modalities hidden at random, row by row; a row that would lose everything keeps everything."""
    keys = jax.random.split(key, len(observed))
    kept = {
        n: m * jax.random.bernoulli(k, 1 - share, m.shape) for (n, m), k in zip(observed.items(), keys, strict=True)
    }
    alive = sum(kept.values()) > 0
    return {name: jnp.where(alive, mask, observed[name]) for name, mask in kept.items()}
