"""The variational autoencoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from latentry.data import Batch, Dataset, Layout
from latentry.errors import DataError
from latentry.models.base import LatentModel
from latentry.models.checks import check_hidden, check_rows, levels_of, likelihoods, real_number
from latentry.nets import Head, decoder_for, encoder_for, head_for, product_of_experts
from latentry.training import Phase

__all__ = ["VAE"]


class Networks(eqx.Module):
    """An encoder, a decoder and a likelihood head for each modality."""

    encoders: dict[str, Any]
    decoders: dict[str, Any]
    heads: dict[str, Head]
    latents: int = eqx.field(static=True)

    def encode(self, batch: Batch) -> tuple[jax.Array, jax.Array]:
        """Posterior mean and standard deviation of each latent, from whatever was observed."""
        outputs = {
            name: jax.vmap(lambda row, name=name: self.encoders[name](self.heads[name].features(row)))(
                batch.values[name]
            )
            for name in self.encoders
        }
        means = {name: output[:, : self.latents] for name, output in outputs.items()}
        log_scales = {name: jnp.clip(output[:, self.latents :], -7, 7) for name, output in outputs.items()}
        return product_of_experts(means, log_scales, batch.observed)

    def fit_of(self, latents: jax.Array, batch: Batch) -> jax.Array:
        """Log density of each row's observed modalities given its latents."""
        total = jnp.zeros(latents.shape[0])
        for name, head in self.heads.items():
            outputs = jax.vmap(self.decoders[name])(latents)
            density = jax.vmap(head.log_density)(outputs, batch.values[name])
            total = total + batch.observed[name] * density.reshape(len(density), -1).sum(axis=1)
        return total

    def elbo(self, batch: Batch, key: jax.Array, seen: Any = None) -> tuple[jax.Array, jax.Array]:
        r"""Per row, the two parts of :math:`\mathbb E_q \log p(x \mid z) - D(q(z \mid x) \,\|\, p(z))`.

        The divergence from the standard normal is in closed form; the expectation is one reparametrised draw
        (Kingma and Welling, *Auto-encoding variational Bayes*, 2014). ``seen`` may hide observed modalities from the
        encoder: a posterior that knows less still bounds the evidence of all that was observed.
        """
        mean, scale = self.encode(batch if seen is None else batch._replace(observed=seen))
        latents = mean + scale * jax.random.normal(key, mean.shape)
        divergence = 0.5 * (mean**2 + scale**2 - 1) - jnp.log(scale)
        return self.fit_of(latents, batch), divergence.sum(axis=1)


@dataclass(frozen=True)
class NegativeElbo:
    r"""The loss: minus the evidence lower bound, its divergence weighted by :math:`\beta`.

    With several modalities each is hidden from the encoder in a share ``hide`` of the rows, though it must still be
    explained: otherwise an encoder that never works alone learns nothing of what the others say.
    """

    beta: float
    hide: float = 0.0

    def __call__(self, module: Networks, batch: Batch, key: jax.Array) -> tuple[jax.Array, dict[str, jax.Array]]:
        """Mean over the rows of a batch."""
        seen = hidden_in_part(batch.observed, self.hide, jax.random.fold_in(key, 1)) if self.hide else None
        fit, divergence = module.elbo(batch, key, seen)
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


@dataclass(eq=False, repr=False)
class VAE(LatentModel):
    r"""Variational autoencoder: a standard normal latent, networks to the data and back.

    It has no domains and no identifiability: its latents are one rotation, or worse, among many that fit as well.
    Use it to find a manifold or as a baseline; use IVAE where latents are to be named.

    With several modalities the posterior is a product of experts over those observed, so that rows with holes
    are used and any subset of modalities can be encoded.

    Args:
        likelihood: "gaussian", "bernoulli", "categorical" or "poisson", for all modalities or by name.
        observation_scale: Standard deviation of Gaussian modalities after standardisation; None learns it.
        beta: Weight of the divergence (Higgins et al., *beta-VAE*, 2017); 1 is the evidence lower bound.
        modality_dropout: With several modalities, the share of rows in which each is hidden from the encoder during
            training, so that any subset of them encodes well.
        hidden: Widths of the encoder's dense layers, reversed in the decoder; a quarter of the first is the
            number of channels at full resolution in convolutions.
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
    beta: float = 1.0
    modality_dropout: float = 0.3
    hidden: Sequence[int] = field(default=(64, 64))
    encoder: str | Callable[..., Any] = "auto"
    decoder: str | Callable[..., Any] = "auto"

    name: ClassVar[str] = "vae"
    score_name: ClassVar[str] = "evidence lower bound (one draw per row)"
    encodes_subsets: ClassVar[bool] = True

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
        if not isinstance(self.modality_dropout, (int, float)) or not 0 <= self.modality_dropout < 1:
            raise DataError(f"modality_dropout = {self.modality_dropout!r}: give a share from 0 to below 1.")
        for name in ("encoder", "decoder"):
            if not isinstance(getattr(self, name), str) and not callable(getattr(self, name)):
                raise DataError(f"{name} = {getattr(self, name)!r}: give a name, or a function that builds a network.")
        check_hidden(self.hidden)

    def standardised(self) -> tuple[str, ...]:
        """The Gaussian ones: counts, codes and probabilities have units of their own."""
        return tuple(name for name, kind in self.facts_["likelihoods"].items() if kind == "gaussian")

    def build(self, key: jax.Array) -> Networks:
        """Networks for the layout of the data."""
        keys = iter(jax.random.split(key, 2 * len(self.layout_.shapes)))
        heads = {name: self._head(self.layout_, name) for name in self.layout_.modalities}
        encoders = {name: self._encoder(head, name, next(keys)) for name, head in heads.items()}
        decoders = {name: self._decoder(head, name, next(keys)) for name, head in heads.items()}
        return Networks(encoders, decoders, heads, self.latent_dim)

    def _head(self, layout: Layout, name: str) -> Head:
        kind, levels = self.facts_["likelihoods"][name], self.facts_["levels"].get(name, 0)
        return head_for(kind, layout.shape(name), levels=levels, scale=self.observation_scale)

    def _encoder(self, head: Head, name: str, key: jax.Array) -> Any:
        row = jax.ShapeDtypeStruct(self.layout_.shape(name), jnp.float32)
        shape = jax.eval_shape(head.features, row).shape
        return encoder_for(shape, 2 * self.latent_dim, hidden=self.hidden, architecture=self.encoder, key=key)

    def _decoder(self, head: Head, name: str, key: jax.Array) -> Any:
        return decoder_for(
            self.latent_dim,
            self.layout_.shape(name),
            parameters=head.parameters,
            hidden=self.hidden,
            architecture=self.decoder,
            key=key,
        )

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
        first, *rest = jax.random.split(key, 1 + len(module.heads))
        latents = jax.random.normal(first, (count, module.latents))
        drawn = {}
        for (name, head), noise in zip(module.heads.items(), rest, strict=True):
            outputs = jax.vmap(module.decoders[name])(latents)
            drawn[name] = jax.vmap(head.draw)(outputs, jax.random.split(noise, count))
        return drawn

    def reconstruct(self, X: Any) -> Any:
        """Expected values of every modality given what was observed, in the data's own units: fills holes too."""
        from latentry.training import map_rows

        found = map_rows(_reconstruct, self.module_, self._ready(X, None))
        return self._outward(found)


def _reconstruct(module: Networks, batch: Batch, key: jax.Array) -> dict[str, jax.Array]:
    mean, _ = module.encode(batch)
    return {name: jax.vmap(head.mean)(jax.vmap(module.decoders[name])(mean)) for name, head in module.heads.items()}
