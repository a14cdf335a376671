"""What networks look like, apart from the data: from parameters and a layout to networks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from latentry.data import Layout
from latentry.models.networks.networks import Encoder, ModalityNets, visible_shape
from latentry.models.networks.observations import Observations
from latentry.models.networks.settings import Networks
from latentry.nets import ACTIVATIONS, Build, Dense, Head, Network, decoder_for, encoder_for, head_for
from latentry.random_keys import fold_in, split

__all__ = ["Design"]


class BesideEncoder(eqx.Module):
    """An encoder that sees a vector beside the row."""

    features: Network
    top: Dense

    def __call__(self, row: Float[Array, "..."], beside: Float[Array, " beside"]) -> Float[Array, " outputs"]:
        return self.top(jnp.concatenate([jax.nn.gelu(self.features(row)), beside]))


@dataclass(frozen=True)
class Design:
    """What networks look like, apart from the data."""

    hidden: tuple[int, ...] = (64, 64)
    encoder: str | Build = "auto"
    decoder: str | Build = "auto"
    observation_scale: float | None = None
    temperature: float = 0.5
    activation: str = "gelu"  # of decoders
    beside: int = 0  # numbers that the encoder sees beside the row

    @classmethod
    def of(cls, hidden: Sequence[int], encoder: str | Build, decoder: str | Build, settings: Networks) -> Design:
        """Return the design that a model's parameters ask for.

        Args:
            hidden: Widths of layers.
            encoder: A name, or a function that builds one.
            decoder: A name, or a function that builds one.
            settings: Of the networks.

        Returns:
            The design.
        """
        return cls(
            tuple(hidden), encoder, decoder, settings.observation_scale, settings.temperature, settings.activation
        )

    def build(self, layout: Layout, seen: Observations, latents: int, key: PRNGKeyArray) -> ModalityNets:
        """Return networks for the layout of the data.

        Args:
            layout: Of the data.
            seen: Likelihoods of the modalities.
            latents: How many.
            key: Of random numbers.

        Returns:
            Untrained networks.
        """
        keys = iter(split(key, 2 * len(layout.shapes)))
        heads = {name: self._head(layout, seen, name) for name in layout.modalities}
        seen_shapes = {
            name: visible_shape(head, layout.shape(name), masked=name in seen.partial) for name, head in heads.items()
        }
        encoders = {name: self._encoder(seen_shapes[name], latents, next(keys)) for name in heads}
        decoders = {name: self._decoder(layout.shape(name), head, latents, next(keys)) for name, head in heads.items()}
        return ModalityNets(encoders, decoders, heads, latents, seen.partial)

    def _head(self, layout: Layout, seen: Observations, name: str) -> Head:
        kind, levels = seen.likelihoods[name], seen.levels.get(name, 0)
        scale, temperature = self.observation_scale, self.temperature
        return head_for(kind, layout.shape(name), levels=levels, scale=scale, temperature=temperature)

    def _encoder(self, seen: tuple[int, ...], latents: int, key: PRNGKeyArray) -> Encoder:
        width = self.hidden[-1] if self.hidden else 2 * latents
        outputs = width if self.beside else 2 * latents
        net = encoder_for(seen, outputs, hidden=self.hidden, architecture=self.encoder, key=key)
        if not self.beside:
            return net
        return BesideEncoder(net, Dense(width + self.beside, 2 * latents, self.hidden[-1:], key=fold_in(key, 1)))

    def _decoder(self, shape: tuple[int, ...], head: Head, latents: int, key: PRNGKeyArray) -> Network:
        return decoder_for(
            latents,
            shape,
            parameters=head.parameters,
            hidden=self.hidden,
            architecture=self.decoder,
            key=key,
            activation=ACTIVATIONS[self.activation],
        )
