"""The variational autoencoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

import jax
import numpy as np

from latentry.contracts import DecodesLatents, HasLikelihood, ModelFacts, Reconstructs, Samples
from latentry.data import Dataset
from latentry.models.estimator import (
    COMMON,
    EVIDENCE_BOUND,
    HIDDEN_LAYERS,
    Group,
    LatentModel,
    Rule,
    Training,
    decoded,
    drawn,
    reconstructed,
    scores,
)
from latentry.models.networks import Design, NegativeElbo, Networks, Observations, observe
from latentry.models.vae.module import Autoencoder
from latentry.training import Phase

__all__ = ["VAE"]


@final
@dataclass(eq=False, repr=False)
class VAE(LatentModel, HasLikelihood, Reconstructs, Samples, DecodesLatents):
    r"""Variational autoencoder: a standard normal latent, networks to the data and back.

    It has no domains and no identifiability: its latents are one rotation, or worse, among many that fit as well.
    Use it to find a manifold or as a baseline; use IVAE where latents are to be named.

    With several modalities the posterior is a product of experts over those observed, so that rows with holes
    are used and any subset of modalities can be encoded.

    Args:
        likelihood: "gaussian", "bernoulli", "categorical", "poisson" or "concrete", for all modalities or by name.
        hidden: Widths of the encoder's dense layers, reversed in the decoder; convolutions have a
            quarter of the first as channels at full resolution, at most 16.
        encoder: "auto" (convolutions for curves and images, dense for tables), "dense", "convolution", or a
            function ``build(shape, outputs, key)`` of your own that returns an Equinox module.
        decoder: The same, as ``build(latents, shape, key)``; the shape's last axis holds the likelihood's parameters.
        networks: Observation noise, temperature, modality dropout: see :class:`Networks`.

    For the other arguments see :class:`LatentModel`.

    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(64, 3))
    >>> model = VAE(latent_dim=2, epochs=2, hidden=(8,)).fit(rows)
    >>> model.transform(rows).shape
    (64, 2)
    """

    latent_dim: int = 2
    epochs: int = 100
    batch_size: int = 128
    learning_rate: float = 2e-3
    validation: float = 0.1
    restarts: int = 1
    seed: int = 0
    progress: bool | str = "auto"
    likelihood: str | Mapping[str, str] = "gaussian"
    hidden: Sequence[int] = field(default=(64, 64))
    encoder: str | Callable[..., Any] = "auto"
    decoder: str | Callable[..., Any] = "auto"
    training: Training = Training()
    networks: Networks = Networks()

    name: ClassVar[str] = "vae"
    constraints: ClassVar[Mapping[str, Rule]] = {**COMMON, **HIDDEN_LAYERS, "networks": Group(Networks)}
    facts_class: ClassVar[type[ModelFacts]] = Observations
    encodes_subsets: ClassVar[bool] = True

    def learn_facts(self, data: Dataset) -> Observations:
        """Note which likelihood each modality has, and how many levels."""
        return observe(self.likelihood, data)

    def standardised(self, facts: Observations) -> tuple[str, ...]:
        """Return the Gaussian modalities."""
        return facts.gaussian

    @property
    def observations(self) -> Observations:
        """What the fit noted of the data."""
        assert isinstance(self.record_.facts, Observations)
        return self.record_.facts

    def build(self, key: jax.Array) -> Autoencoder:
        """Return networks for the layout of the data."""
        design = Design.of(self.hidden, self.encoder, self.decoder, self.networks)
        return Autoencoder(design.build(self.record_.layout, self.observations, self.latent_dim, key))

    def phases(self) -> tuple[Phase, ...]:
        """Return one phase, of the evidence lower bound."""
        loss = NegativeElbo(self.training.beta, self.networks.hide(len(self.record_.layout.shapes)))
        return (Phase("fit", loss, self.epochs, self.learning_rate, **self.training.rates),)

    # Answers ----------------------------------------------------------------------------------

    @property
    def score_name(self) -> str:
        """What the score is."""
        return EVIDENCE_BOUND

    def likelihoods(self) -> Mapping[str, str]:
        """Return the name of the likelihood of each modality."""
        return self.observations.likelihoods

    def score_rows(self, X: Any, y: Any = None, *, seed: int = 0) -> np.ndarray:
        """Return the evidence lower bound of each row in nats, in the units of the data."""
        return scores(self, X, y, seed)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean of :meth:`score_rows`: higher is better."""
        return float(self.score_rows(X, y).mean())

    def sample(self, n: int = 1, *, seed: int = 0) -> Any:
        """Draw new rows in the units of the data: an array, or a dictionary when there are several modalities."""
        return drawn(self, n, seed)

    def decode(self, latents: Any) -> Any:
        """Return expected data given latents (rows, latents), in the units of the data."""
        return decoded(self, latents)

    def reconstruct(self, X: Any, y: Any = None) -> Any:
        """Return expected values of every modality given what was observed: fills holes too."""
        return reconstructed(self, X, y)
