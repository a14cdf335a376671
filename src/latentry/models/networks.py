"""An encoder, a decoder and a likelihood head for each modality: the part that variational models share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from latentry.data import Batch, Layout
from latentry.nets import Dense, Head, decoder_for, encoder_for, head_for, product_of_experts

__all__ = ["Design", "NegativeElbo", "Networks", "hidden_in_part"]


class Networks(eqx.Module):
    """An encoder, a decoder and a likelihood head for each modality."""

    encoders: dict[str, Any]
    decoders: dict[str, Any]
    heads: dict[str, Head]
    latents: int = eqx.field(static=True)

    def encode(self, batch: Batch, prior: Any = None, beside: tuple[Any, ...] = ()) -> tuple[jax.Array, jax.Array]:
        """Posterior mean and standard deviation of each latent, from whatever was observed.

        ``prior`` gives mean and log-scale for each row, standard normal when it is None; what is ``beside`` the data
        goes to the encoders too.
        """
        outputs = {
            name: jax.vmap(lambda row, *more, name=name: self.encoders[name](self.heads[name].features(row), *more))(
                batch.values[name], *beside
            )
            for name in self.encoders
        }
        means = {name: output[:, : self.latents] for name, output in outputs.items()}
        log_scales = {name: jnp.clip(output[:, self.latents :], -7, 7) for name, output in outputs.items()}
        return product_of_experts(means, log_scales, batch.observed, prior)

    def decode(self, latents: jax.Array) -> dict[str, jax.Array]:
        """Parameters of each modality's likelihood."""
        return {name: jax.vmap(decoder)(latents) for name, decoder in self.decoders.items()}

    def fit_of(self, latents: jax.Array, batch: Batch) -> jax.Array:
        """Log density of each row's observed modalities given its latents."""
        total = jnp.zeros(latents.shape[0])
        for name, outputs in self.decode(latents).items():
            density = jax.vmap(self.heads[name].log_density)(outputs, batch.values[name])
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

    def means(self, latents: jax.Array) -> dict[str, jax.Array]:
        """Expected values of every modality."""
        return {name: jax.vmap(self.heads[name].mean)(out) for name, out in self.decode(latents).items()}

    def expected(self, latents: jax.Array) -> dict[str, jax.Array]:
        """Every modality given the latents."""
        return self.means(latents)

    def draw(self, latents: jax.Array, key: jax.Array) -> dict[str, jax.Array]:
        """Every modality, with observation noise."""
        outputs, drawn = self.decode(latents), {}
        for name, noise in zip(outputs, jax.random.split(key, len(outputs)), strict=True):
            drawn[name] = jax.vmap(self.heads[name].draw)(outputs[name], jax.random.split(noise, len(latents)))
        return drawn


class BesideEncoder(eqx.Module):
    """An encoder that sees a vector beside the row."""

    features: Any
    top: Dense

    def __call__(self, row: jax.Array, beside: jax.Array) -> jax.Array:
        return self.top(jnp.concatenate([jax.nn.gelu(self.features(row)), beside]))


@dataclass(frozen=True)
class Design:
    """What networks look like, apart from the data."""

    hidden: tuple[int, ...] = (64, 64)
    encoder: Any = "auto"
    decoder: Any = "auto"
    observation_scale: float | None = None
    temperature: float = 0.5
    beside: int = 0  # numbers that the encoder sees beside the row

    def build(self, layout: Layout, facts: Mapping[str, Any], latents: int, key: jax.Array) -> Networks:
        """Networks for the layout of the data."""
        keys = iter(jax.random.split(key, 2 * len(layout.shapes)))
        heads = {name: self._head(layout, facts, name) for name in layout.modalities}
        encoders = {name: self._encoder(layout.shape(name), head, latents, next(keys)) for name, head in heads.items()}
        decoders = {name: self._decoder(layout.shape(name), head, latents, next(keys)) for name, head in heads.items()}
        return Networks(encoders, decoders, heads, latents)

    def _head(self, layout: Layout, facts: Mapping[str, Any], name: str) -> Head:
        kind, levels = facts["likelihoods"][name], facts["levels"].get(name, 0)
        scale, temperature = self.observation_scale, self.temperature
        return head_for(kind, layout.shape(name), levels=levels, scale=scale, temperature=temperature)

    def _encoder(self, shape: tuple[int, ...], head: Head, latents: int, key: jax.Array) -> Any:
        seen = jax.eval_shape(head.features, jax.ShapeDtypeStruct(shape, jnp.float32)).shape
        width = self.hidden[-1] if self.hidden else 2 * latents
        outputs = width if self.beside else 2 * latents
        net = encoder_for(seen, outputs, hidden=self.hidden, architecture=self.encoder, key=key)
        if not self.beside:
            return net
        return BesideEncoder(
            net, Dense(width + self.beside, 2 * latents, self.hidden[-1:], key=jax.random.fold_in(key, 1))
        )

    def _decoder(self, shape: tuple[int, ...], head: Head, latents: int, key: jax.Array) -> Any:
        return decoder_for(
            latents, shape, parameters=head.parameters, hidden=self.hidden, architecture=self.decoder, key=key
        )


@dataclass(frozen=True)
class NegativeElbo:
    r"""The loss: minus the evidence lower bound, its divergence weighted by :math:`\beta`.

    With several modalities each is hidden from the encoder in a share ``hide`` of the rows, though it must still be
    explained: otherwise an encoder that never works alone learns nothing of what the others say.
    """

    beta: float = 1.0
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
