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
        """Return mean and standard deviation of each latent given each row.

        Args:
            batch: Rows, standardised.
            key: Of the draws.

        Returns:
            Means and standard deviations, (rows, latents) each.
        """


class GenerativeModule(LatentModule):
    """A module with a density: it scores rows, draws new ones, and decodes latents. All data are standardised."""

    @abstractmethod
    def log_evidence(self, batch: Batch, key: jax.Array) -> jax.Array:
        """Return the log evidence of each row in nats, or a lower bound on it.

        Args:
            batch: Rows, standardised.
            key: Of the draws.

        Returns:
            One number for each row, (rows,).
        """

    @abstractmethod
    def generate(self, key: jax.Array, count: int) -> Modalities:
        """Draw new rows of every modality.

        Args:
            key: Of the draws.
            count: Number of rows.

        Returns:
            Arrays (count, ...) by the name of the modality.
        """

    @abstractmethod
    def decode(self, latents: jax.Array) -> Modalities:
        """Return the expected values of every modality given latents.

        Args:
            latents: Values of the latents, (rows, latents).

        Returns:
            Arrays (rows, ...) by the name of the modality.
        """


def encode_rows(module: LatentModule, batch: Batch, key: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Call :meth:`LatentModule.encode`; a function of its own, so that compiled code is shared between modules.

    Args:
        module: That encodes.
        batch: Rows, standardised.
        key: Of the draws.

    Returns:
        Means and standard deviations, (rows, latents) each.
    """
    return module.encode(batch, key)


def score_evidence(module: GenerativeModule, batch: Batch, key: jax.Array) -> jax.Array:
    """Call :meth:`GenerativeModule.log_evidence`.

    Args:
        module: That scores rows.
        batch: Rows, standardised.
        key: Of the draws.

    Returns:
        Log evidence in nats, (rows,).
    """
    return module.log_evidence(batch, key)


def decode_rows(module: GenerativeModule, batch: Batch, key: jax.Array) -> Modalities:
    """Call :meth:`GenerativeModule.decode` on a batch whose only modality is ``latents``.

    Args:
        module: That decodes.
        batch: Latents, as the modality ``latents``.
        key: Not used; functions of a batch all have it.

    Returns:
        Arrays (rows, ...) by the name of the modality.
    """
    return module.decode(batch.values["latents"])
