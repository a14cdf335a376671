"""The variational autoencoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import jax

from latentry.data import Batch, Dataset
from latentry.errors import DataError
from latentry.models.base import LatentModel
from latentry.models.checks import check_hidden, check_rows, levels_of, likelihoods, real_number
from latentry.models.networks import Design, NegativeElbo, Networks
from latentry.training import Phase, map_rows

__all__ = ["VAE"]


@dataclass(eq=False, repr=False)
class VAE(LatentModel):
    r"""Variational autoencoder: a standard normal latent, networks to the data and back.

    It has no domains and no identifiability: its latents are one rotation, or worse, among many that fit as well.
    Use it to find a manifold or as a baseline; use IVAE where latents are to be named.

    With several modalities the posterior is a product of experts over those observed, so that rows with holes
    are used and any subset of modalities can be encoded.

    Args:
        likelihood: "gaussian", "bernoulli", "categorical", "poisson" or "concrete", for all modalities or by name.
        observation_scale: Standard deviation of Gaussian modalities after standardisation; None learns it.
        temperature: Of the "concrete" likelihood; towards 0 its observations become zeros and ones.
        beta: Weight of the divergence (Higgins et al., *beta-VAE*, 2017); 1 is the evidence lower bound.
        modality_dropout: With several modalities, the share of rows in which each is hidden from the encoder during
            training, so that any subset of them encodes well.
        hidden: Widths of the encoder's dense layers, reversed in the decoder; convolutions have a
            quarter of the first as channels at full resolution, at most 16.
        encoder: "auto" (convolutions for curves and images, dense for tables), "dense", "convolution", or a
            function ``build(shape, outputs, key)`` of your own that returns an Equinox module.
        decoder: The same, as ``build(latents, shape, key)``; the shape's last axis holds the likelihood's parameters.

    For the other arguments see :class:`LatentModel`.

    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(64, 3))
    >>> model = VAE(latent_dim=2, epochs=2, hidden=(8,)).fit(rows)
    >>> model.transform(rows).shape
    (64, 2)
    """

    likelihood: str | Mapping[str, str] = "gaussian"
    observation_scale: float | None = None
    temperature: float = 0.5
    beta: float = 1.0
    modality_dropout: float = 0.3
    hidden: Sequence[int] = field(default=(64, 64))
    encoder: str | Callable[..., Any] = "auto"
    decoder: str | Callable[..., Any] = "auto"

    name: ClassVar[str] = "vae"
    encodes_subsets: ClassVar[bool] = True

    @property
    def score_name(self) -> str:
        """What the score is."""
        return "evidence lower bound (one draw per row)"

    def learn_facts(self, data: Dataset) -> dict[str, Any]:
        """Which likelihood each modality has, and how many levels."""
        self._check_own()
        kinds = likelihoods(self.likelihood, data.names)
        levels = {name: levels_of(data, name) for name, kind in kinds.items() if kind == "categorical"}
        facts = {"likelihoods": kinds, "levels": levels}
        check_rows(data, facts)
        return facts

    def _check_own(self) -> None:
        if self.beta != 0:
            real_number("beta", self.beta, above=0)
        if self.observation_scale is not None:
            real_number("observation_scale", self.observation_scale, above=0)
        real_number("temperature", self.temperature, above=0)
        if not isinstance(self.modality_dropout, (int, float)) or not 0 <= self.modality_dropout < 1:
            raise DataError(f"modality_dropout = {self.modality_dropout!r}: give a share from 0 to below 1.")
        for name in ("encoder", "decoder"):
            if not isinstance(getattr(self, name), str) and not callable(getattr(self, name)):
                raise DataError(f"{name} = {getattr(self, name)!r}: give a name, or a function that builds a network.")
        check_hidden(self.hidden)

    def standardised(self) -> tuple[str, ...]:
        """The Gaussian ones: counts, codes and probabilities have units of their own."""
        return tuple(name for name, kind in self.facts_["likelihoods"].items() if kind == "gaussian")

    def build(self, key: jax.Array) -> Any:
        """Networks for the layout of the data."""
        return self.design().build(self.layout_, self.facts_, self.latent_dim, key)

    def design(self) -> Design:
        """What the networks look like."""
        return Design(tuple(self.hidden), self.encoder, self.decoder, self.observation_scale, self.temperature)

    def phases(self) -> tuple[Phase, ...]:
        """One."""
        loss = NegativeElbo(self.beta, self.modality_dropout if len(self.layout_.shapes) > 1 else 0.0)
        rates = {"learning_rate": self.learning_rate, "schedule": self.schedule, "clip": self.clip}
        return (Phase("fit", loss, self.epochs, patience=self.patience, **rates),)

    @staticmethod
    def posterior(module: Networks, batch: Batch, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """As encoded."""
        return module.encode(batch)

    @staticmethod
    def evidence(module: Networks, batch: Batch, key: jax.Array) -> jax.Array:
        """The evidence lower bound of each row."""
        fit, divergence = module.elbo(batch, key)
        return fit - divergence

    @staticmethod
    def generate(module: Networks, key: jax.Array, count: int) -> dict[str, jax.Array]:
        """Latents from the prior, decoded, with observation noise."""
        one, two = jax.random.split(key)
        return module.draw(jax.random.normal(one, (count, module.latents)), two)

    def reconstruct(self, X: Any, y: Any = None) -> Any:
        """Expected values of every modality given what was observed, in the data's own units: fills holes too."""
        found = map_rows(type(self).rebuild, self.module_, self._ready(X, y, what=self.domain_for))
        return self._outward(found)

    @staticmethod
    def rebuild(module: Any, batch: Batch, key: jax.Array) -> dict[str, jax.Array]:
        """Expected values of every modality."""
        return module.means(module.encode(batch)[0])
