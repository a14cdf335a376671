"""The module of a model: the tree of arrays that is trained, and the functions of a row that every audit can rely on."""

from __future__ import annotations

from abc import abstractmethod

import equinox as eqx
import jax

from latentry.data import Batch

__all__ = ["GenerativeModule", "LatentModule", "decode_rows", "encode_rows", "score_evidence"]

Modalities = dict[str, jax.Array]


class LatentModule(eqx.Module):
    """A module that encodes rows. Subclasses are final, or abstract themselves and without fields."""

    @abstractmethod
    def encode(self, batch: Batch, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return mean and standard deviation of each latent, (rows, latents) each."""


class GenerativeModule(LatentModule):
    """A module with a density: it scores rows, draws new ones, and decodes latents. All data are standardised."""

    @abstractmethod
    def log_evidence(self, batch: Batch, key: jax.Array) -> jax.Array:
        """Return the log evidence of each row in nats, or a lower bound on it, (rows,)."""

    @abstractmethod
    def generate(self, key: jax.Array, count: int) -> Modalities:
        """Draw ``count`` new rows of every modality."""

    @abstractmethod
    def decode(self, latents: jax.Array) -> Modalities:
        """Return the expected values of every modality given latents (rows, latents)."""


def encode_rows(module: LatentModule, batch: Batch, key: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Call :meth:`LatentModule.encode`; a function of its own, so that compiled code is shared between modules."""
    return module.encode(batch, key)


def score_evidence(module: GenerativeModule, batch: Batch, key: jax.Array) -> jax.Array:
    """Call :meth:`GenerativeModule.log_evidence`."""
    return module.log_evidence(batch, key)


def decode_rows(module: GenerativeModule, batch: Batch, key: jax.Array) -> Modalities:
    """Call :meth:`GenerativeModule.decode` on a batch whose only modality is ``latents``."""
    return module.decode(batch.values["latents"])
