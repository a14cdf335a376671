r"""The joint distribution of latents that do not change: an invertible map of noise, learned from encodings."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from latentry.nets.images.equalised_layers import EqualLinear
from latentry.nets.prior import normal_log_density

__all__ = ["ContentDistribution"]

_MOST = 2.0  # size of the logarithm of a scale
_PACE = 2.0  # its networks are small, and follow encodings that move


class _Scaling(eqx.Module):
    """Scale and shift of each latent, read off others."""

    first: EqualLinear
    second: EqualLinear
    last: EqualLinear

    def __init__(self, latents: int, width: int, *, key: PRNGKeyArray) -> None:
        first_key, second_key, last_key = jax.random.split(key, 3)
        self.first = EqualLinear(latents, width, key=first_key, pace=_PACE)
        self.second = EqualLinear(width, width, key=second_key, pace=_PACE)
        last = EqualLinear(width, 2 * latents, key=last_key, pace=_PACE)
        self.last = eqx.tree_at(lambda layer: layer.weight, last, jnp.zeros_like(last.weight))  # the identity at first

    def __call__(self, x: Float[Array, "rows n"]) -> tuple[Float[Array, "rows n"], Float[Array, "rows n"]]:
        scale, shift = jnp.split(self.last(jax.nn.gelu(self.second(jax.nn.gelu(self.first(x))))), 2, axis=1)
        return _MOST * jnp.tanh(scale / _MOST), shift


class ContentDistribution(eqx.Module):
    r"""Codes :math:`c = P(\epsilon)`, ε ~ N(0, I), through layers that scale and shift half the latents given the others.

    Encodings of images are never quite independent: digits, say, come in ten kinds. Where codes are drawn independently,
    many lie between kinds, and what is made of them is no digit. So their distribution is learned, by exact likelihood (Dinh,
    Sohl-Dickstein and Bengio, *Density estimation using Real NVP*, 2017; after fitting an autoencoder: Dai and Wipf,
    *Diagnosing and enhancing VAE models*, 2019). Latents that are not ``still`` pass as they are, and no other latent reads them;
    when a latent becomes still, the distribution of the others jumps a little and is learned again.

    Args:
        latents: How many.
        layers: Of the map; with none, codes are the noise.
        first: How many come first that may or may not be still: they and the others are halved separately, so that a layer
            always has some to read.
        width: Of the networks.

    >>> content = ContentDistribution(4, layers=3, key=jax.random.key(0))
    >>> still, noise = jnp.array([False, True, True, True]), jnp.arange(8.0).reshape(2, 4) / 8
    >>> codes = content(noise, still)
    >>> bool(jnp.allclose(content.noise(codes, still)[0], noise, atol=1e-5)), bool((codes[:, 0] == noise[:, 0]).all())
    (True, True)
    """

    layers: _Scaling  # every leaf has a leading axis, one entry a layer: compilation does not grow with depth
    given: Bool[Array, "layers n"]  # latents that a layer reads; it moves the others

    def __init__(self, latents: int, *, layers: int, key: PRNGKeyArray, first: int = 0, width: int = 64) -> None:
        nets = [_Scaling(latents, width, key=k) for k in jax.random.split(key, max(layers, 1))]
        self.layers = jax.tree.map(lambda *parts: jnp.stack(parts)[:layers], *nets)
        rng = np.random.default_rng(np.asarray(jax.random.key_data(key)))
        blocks = (first, latents - first)
        halves = [np.concatenate([rng.permutation(n) < n // 2 for n in blocks]) for _ in range((layers + 1) // 2)]
        pairs = np.array([part for half in halves for part in (half, ~half)], dtype=bool).reshape(-1, latents)
        self.given = jnp.asarray(pairs[:layers])

    def __call__(self, noise: Float[Array, "rows n"], still: Bool[Array, " n"]) -> Float[Array, "rows n"]:
        def layer(x: Array, part: tuple[_Scaling, Array]) -> tuple[Array, None]:
            scale, shift = _moves(part[0], part[1], x, still)
            return x * jnp.exp(scale) + shift, None

        return jax.lax.scan(layer, noise, (self.layers, self.given))[0]

    def noise(
        self, codes: Float[Array, "rows n"], still: Bool[Array, " n"]
    ) -> tuple[Float[Array, "rows n"], Float[Array, " rows"]]:
        """Return the noise behind codes, and the log-determinant of the map to it.

        Args:
            codes: Rows.
            still: Which latents have a single distribution in all domains.

        Returns:
            Noise, and the log-determinant of each row.
        """

        def layer(carry: tuple[Array, Array], part: tuple[_Scaling, Array]) -> tuple[tuple[Array, Array], None]:
            x, total = carry
            scale, shift = _moves(part[0], part[1], x, still)
            return ((x - shift) * jnp.exp(-scale), total - scale.sum(1)), None

        start = (codes, jnp.zeros(len(codes)))
        return jax.lax.scan(layer, start, (self.layers, self.given), reverse=True)[0]

    def log_density(self, codes: Float[Array, "rows n"], still: Bool[Array, " n"]) -> Float[Array, " rows"]:
        """Return the log density of each row of codes.

        Args:
            codes: Rows.
            still: Which latents have a single distribution in all domains.

        Returns:
            Log densities.
        """
        noise, log_det = self.noise(codes, still)
        nothing = jnp.zeros(noise.shape[1])
        return jax.vmap(normal_log_density, (0, None, None))(noise, nothing, nothing) + log_det


def _moves(net: _Scaling, given: Array, x: Array, still: Array) -> tuple[Array, Array]:
    """Log-scale and shift of the latents that a layer moves, zero for the others."""
    scale, shift = net(jnp.where(given & still, x, 0.0))
    moved = ~given & still
    return jnp.where(moved, scale, 0.0), jnp.where(moved, shift, 0.0)
