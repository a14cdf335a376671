"""The evidence lower bound of networks with a standard normal prior, and modalities hidden from the encoder at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from latentry.data import Batch
from latentry.models.networks.networks import ModalityNets

__all__ = ["NegativeElbo", "hidden_in_part", "seen_in_part"]

HIDDEN_CELLS = 0.2  # fraction of the cells that are hidden from the encoder, of modalities of which some are missing


@runtime_checkable
class Networked(Protocol):
    """A module that holds networks."""

    @property
    def networks(self) -> ModalityNets:
        """Return encoders, decoders and likelihood heads."""


@dataclass(frozen=True)
class NegativeElbo:
    r"""The loss: minus the evidence lower bound, its divergence weighted by :math:`\beta`.

    It trains the ``networks`` of a module alone, with a standard normal prior and no domains. With several modalities each
    is hidden from the encoder in a fraction ``hide`` of the rows, though it must still be explained: otherwise an encoder
    that never works alone learns nothing of what the others say. So are single cells, where some are missing.
    """

    beta: float = 1.0
    hide: float = 0.0

    def __call__(
        self, module: Networked, batch: Batch, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], dict[str, Float[Array, ""]]]:
        """Return the mean over the rows of a batch."""
        seen = seen_in_part(batch, self.hide, jax.random.fold_in(key, 1))
        fit, divergence = module.networks.elbo(batch, key, seen)
        fraction = batch.weight / batch.weight.sum()
        parts = {"reconstruction": -(fraction * fit).sum(), "divergence": (fraction * divergence).sum()}
        return parts["reconstruction"] + self.beta * parts["divergence"], parts


def seen_in_part(batch: Batch, hide: float, key: PRNGKeyArray) -> Batch | None:
    """Return what encoders see of a batch while they are trained: some modalities and cells are hidden, row by row.

    Args:
        batch: Standardised rows.
        hide: Fraction of the rows in which each modality is hidden.
        key: Of the draws.

    Returns:
        The batch to encode; None where nothing is hidden.
    """
    if not hide and not batch.cells:
        return None
    observed = hidden_in_part(batch.observed, hide, key) if hide else batch.observed
    cells = {
        name: known * jax.random.bernoulli(jax.random.fold_in(key, number), 1 - HIDDEN_CELLS, known.shape)
        for number, (name, known) in enumerate(sorted(batch.cells.items()))
    }
    return batch._replace(observed=observed, cells=cells)


def hidden_in_part(
    observed: dict[str, Float[Array, " rows"]], fraction: float, key: PRNGKeyArray
) -> dict[str, Float[Array, " rows"]]:
    """Hide modalities at random, row by row; a row that would lose everything keeps everything.

    Args:
        observed: For each modality, 1 where it was observed.
        fraction: Of the rows in which each modality is hidden.
        key: Of the draws.

    Returns:
        Masks like ``observed``.
    """
    keys = jax.random.split(key, len(observed))
    kept = {
        n: m * jax.random.bernoulli(k, 1 - fraction, m.shape) for (n, m), k in zip(observed.items(), keys, strict=True)
    }
    alive = sum(kept.values()) > 0
    return {name: jnp.where(alive, mask, observed[name]) for name, mask in kept.items()}
