"""The networks of a natural latent: one on all modalities, and a student for each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from latentry.models.natural_latents.latent_kinds import LatentKind
from latentry.nets import Build, Dense, Network, encoder_for
from latentry.random_keys import split

__all__ = ["JointEncoder", "Plan", "Straightened"]


class JointEncoder(eqx.Module):
    """Features of each modality, and a dense network on all of them."""

    encoders: dict[str, Network]
    top: Dense

    def __call__(self, rows: Mapping[str, Float[Array, "..."]]) -> Float[Array, " outputs"]:
        features = [jax.nn.gelu(encoder(rows[name])) for name, encoder in self.encoders.items()]
        return self.top(jnp.concatenate(features))


class Straightened(eqx.Module):
    """A network plus an affine map of the row."""

    net: Network
    line: Dense

    def __call__(self, row: Float[Array, "..."]) -> Float[Array, " outputs"]:
        # Added to the means, which come first: a noise that is linear in a row would run away.
        straight = self.line(row.reshape(-1))
        return self.net(row).at[: len(straight)].add(straight)


def _silent(net: Dense) -> Dense:
    """The network with a last layer of zeros, which still has a gradient."""
    last = net.layers[-1]
    silent: Dense = eqx.tree_at(lambda tree: tree.layers[-1], net, jax.tree.map(jnp.zeros_like, last))
    return silent


@dataclass(frozen=True)
class Plan:
    """What the networks are to be.

    Args:
        kind: Of the latent.
        shapes: Of the features of a row, by modality.
        hidden: Widths of dense layers.
        architecture: As for :func:`latentry.nets.encoder_for`.
    """

    kind: LatentKind
    shapes: Mapping[str, tuple[int, ...]]
    hidden: Sequence[int]
    architecture: str | Build

    def built(self, key: jax.Array) -> tuple[JointEncoder, dict[str, Network]]:
        """Return the channel's network, and the students.

        Args:
            key: Of random numbers.

        Returns:
            Untrained networks.
        """
        kind, keys = self.kind, iter(split(key, 2 * len(self.shapes) + 1))
        width = self.hidden[-1] if self.hidden else kind.outputs
        features = {name: self._encoder(name, width, next(keys)) for name in self.shapes}
        students = {name: self._encoder(name, kind.outputs, next(keys)) for name in self.shapes}
        top_key = next(keys)
        top = Dense(width * len(self.shapes), kind.outputs, self.hidden[-1:], key=top_key)
        if not kind.linear_path:
            return JointEncoder(features, top), students
        further = iter(split(top_key, len(self.shapes)))
        straight = {n: Straightened(net, self._line(n, kind.size, next(further))) for n, net in students.items()}
        return JointEncoder(features, _silent(top)), dict(straight)

    def _encoder(self, name: str, outputs: int, key: jax.Array) -> Network:
        return encoder_for(self.shapes[name], outputs, hidden=self.hidden, architecture=self.architecture, key=key)

    def _line(self, name: str, outputs: int, key: jax.Array) -> Dense:
        return Dense(math.prod(self.shapes[name]), outputs, (), key=key)
