"""The variational autoencoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, final

import jax
import numpy as np
from numpy.typing import ArrayLike

from latentry.contracts import DecodesLatents, HasLikelihood, Imputes, ModelFacts, Samples
from latentry.data import DataLike, Dataset, DomainLike
from latentry.models.estimator import (
    COMMON,
    EVIDENCE_BOUND,
    HIDDEN_LAYERS,
    Group,
    LatentModel,
    Rule,
    Training,
    Values,
    auxiliary,
    decoded,
    drawn,
    imputed,
    mean_score,
    reconstructed,
    scores,
)
from latentry.models.networks import Design, NegativeElbo, Networks, Observations, observe
from latentry.models.vae.module import Autoencoder
from latentry.nets import Build
from latentry.training import Phase

__all__ = ["VAE"]


@final
@dataclass(eq=False, repr=False)
class VAE(LatentModel[Autoencoder, Observations], HasLikelihood, Imputes, Samples, DecodesLatents):
    r"""Variational autoencoder: a standard normal latent, networks to the data and back.

    It has no domains and no identifiability: its latents are one rotation, or worse, among many that fit as well.
    Use it to find a manifold or as a baseline; use IVAE where latents are to be named.

    With several modalities the posterior is a product of experts over those observed, so that rows with holes
    are used and any subset of modalities can be encoded.

    Cost: linear in rows, epochs and the weights of the networks, which grow with the columns; domains cost nothing.

    Args:
        likelihood: "gaussian", "bernoulli", "categorical", "poisson", "negative_binomial" or "concrete", for all modalities or
            by name.
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
    encoder: str | Build = "auto"
    decoder: str | Build = "auto"
    training: Training = Training()
    networks: Networks = Networks()

    name: ClassVar[str] = "vae"
    constraints: ClassVar[Mapping[str, Rule]] = {**COMMON, **HIDDEN_LAYERS, "networks": Group(Networks)}
    facts_class: ClassVar[type[ModelFacts]] = Observations
    encodes_subsets: ClassVar[bool] = True
    takes_missing_cells: ClassVar[bool] = True

    def learn_facts(self, data: Dataset) -> Observations:
        """Note which likelihood each modality has, and how many levels.

        Args:
            data: Rows.

        Returns:
            What the fit must know of the data.

        Raises:
            DataError: If the data cannot be learned from.
        """
        return observe(self.likelihood, data)

    def standardised(self, facts: Observations) -> tuple[str, ...]:
        """Return the Gaussian modalities.

        Args:
            facts: What was noted of the data.

        Returns:
            Names of modalities.
        """
        return facts.gaussian

    @property
    def observations(self) -> Observations:
        """Return what the fit noted of the data."""
        assert isinstance(self.record_.facts, Observations)
        return self.record_.facts

    def build(self, key: jax.Array) -> Autoencoder:
        """Return networks for the layout of the data.

        Args:
            key: Of random numbers.

        Returns:
            An untrained module.
        """
        design = Design.of(self.hidden, self.encoder, self.decoder, self.networks)
        return Autoencoder(design.build(self.record_.layout, self.observations, self.latent_dim, key))

    def phases(self) -> tuple[Phase, ...]:
        """Return one phase, of the evidence lower bound."""
        loss = NegativeElbo(self.training.beta, self.networks.hide(len(self.record_.layout.shapes)))
        return (Phase("fit", loss, self.epochs, self.learning_rate, **self.training.rates),)

    # Answers ----------------------------------------------------------------------------------

    @property
    def score_name(self) -> str:
        """Return what the score is."""
        return EVIDENCE_BOUND

    def likelihoods(self) -> Mapping[str, str]:
        """Return the name of the likelihood of each modality."""
        return self.observations.likelihoods

    def score_rows(self, X: DataLike, y: DomainLike | None = None, *, seed: int = 0) -> np.ndarray:
        """Return the evidence lower bound of each row in nats, in the units of the data.

        Args:
            X: Rows, as for :meth:`fit`.
            y: Their domains, if ``X`` has none.
            seed: Of draws, where the score is a bound.

        Returns:
            One number a row.
        """
        return scores(self, X, y, seed)

    def score(
        self,
        X: DataLike,
        y: DomainLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        domain: DomainLike | None = None,
    ) -> float:
        """Return the mean of :meth:`score_rows`: higher is better.

        Args:
            X: Rows, as for :meth:`fit`.
            y: Their domains, if ``X`` has none.
            sample_weight: Of each row; all alike by default.
            domain: The same as y under its own name, as for :meth:`fit`.

        Returns:
            Nats per row.
        """
        return mean_score(self.score_rows(X, auxiliary(y, domain)), sample_weight)

    def sample(self, n: int = 1, *, seed: int = 0) -> Values:
        """Draw new rows in the units of the data: an array, or a dictionary when there are several modalities.

        Args:
            n: How many.
            seed: Of the draws.

        Returns:
            An array, or one for each modality by name.
        """
        return drawn(self, n, seed)

    def decode(self, latents: ArrayLike) -> Values:
        """Return expected data given latents (rows, latents), in the units of the data.

        Args:
            latents: (rows, latents).

        Returns:
            An array, or one for each modality by name.
        """
        return decoded(self, latents)

    def reconstruct(self, X: DataLike, y: DomainLike | None = None) -> Values:
        """Return expected values of every modality given what was observed: fills holes too.

        Args:
            X: Rows, as for :meth:`fit`.
            y: Their domains, if ``X`` has none.

        Returns:
            An array, or one for each modality by name.
        """
        return reconstructed(self, X, y)

    def impute(self, X: DataLike, y: DomainLike | None = None) -> Values:
        """Return every modality of every row: as measured where it was, expected values where it was not.

        Args:
            X: Rows, as for :meth:`fit`; single cells or whole modalities may be missing.
            y: Their domains, if ``X`` has none.

        Returns:
            An array, or one for each modality by name.
        """
        return imputed(self, X, y)
