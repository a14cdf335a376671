"""From images to numbers: a residual discriminator with a verdict for each domain, and an encoder of the same make."""

from __future__ import annotations

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import DTypeLike
from jaxtyping import Array, Float, Int, PRNGKeyArray

from latentry.nets.images.equalised_layers import EqualConvolution, EqualLinear, halve, leaky
from latentry.nets.images.style_synthesis import level_widths, resolutions

__all__ = ["Discriminator", "ImageEncoder", "batch_deviation", "trunk_for"]

_GROUP = 4  # rows among which images are compared


def batch_deviation(x: Float[Array, "rows h w c"]) -> Float[Array, "rows h w c+1"]:
    """Add a channel: the mean standard deviation of the features within groups of rows.

    Images that are too alike are noticed by it (Karras et al., 2018). Groups are of 4 rows, or of the largest number
    below that divides the batch; neighbours in a group are far apart in the batch.

    Args:
        x: Features.

    Returns:
        The same with the further channel last.

    >>> batch_deviation(jnp.ones((4, 2, 2, 3)))[..., 3].max().item() < 1e-3
    True
    """
    rows, height, width, channels = x.shape
    group = max(count for count in range(1, _GROUP + 1) if rows % count == 0)
    parted = x.reshape(group, rows // group, height, width, channels).astype(jnp.float32)
    spread = jnp.sqrt(parted.var(0) + 1e-8).mean((1, 2, 3), keepdims=True)
    shown = jnp.broadcast_to(jnp.tile(spread, (group, 1, 1, 1)), (rows, height, width, 1))
    return jnp.concatenate([x, shown.astype(x.dtype)], -1)


class _Block(eqx.Module):
    """Two convolutions beside a shortcut; half the resolution."""

    first: EqualConvolution
    second: EqualConvolution
    shortcut: EqualConvolution

    def __init__(self, inputs: int, outputs: int, *, key: PRNGKeyArray) -> None:
        first, second, shortcut = jax.random.split(key, 3)
        self.first = EqualConvolution(inputs, inputs, 3, key=first)
        self.second = EqualConvolution(inputs, outputs, 3, key=second)
        self.shortcut = EqualConvolution(inputs, outputs, 1, key=shortcut, bias=False)

    def __call__(self, x: Array) -> Array:
        beside = self.shortcut(halve(x))
        x = leaky(self.second(halve(leaky(self.first(x)))))
        return (x + beside) * math.sqrt(0.5)


class _Trunk(eqx.Module):
    """Images to features at the coarsest resolution."""

    entry: EqualConvolution
    blocks: tuple[_Block, ...]
    precision: DTypeLike = eqx.field(static=True)

    def __init__(self, widths: list[int], channels: int, *, key: PRNGKeyArray, precision: DTypeLike) -> None:
        keys = jax.random.split(key, len(widths))
        self.entry = EqualConvolution(channels, widths[-1], 1, key=keys[0])
        pairs = zip(widths[::-1], widths[-2::-1], keys[1:], strict=False)
        self.blocks, self.precision = tuple(_Block(a, b, key=k) for a, b, k in pairs), precision

    def __call__(self, x: Array) -> Array:
        x = leaky(self.entry(x.astype(self.precision)))
        for block in self.blocks:
            x = block(x)
        return x


def trunk_for(
    size: int, channels: int, *, width: int, most: int, key: PRNGKeyArray, precision: DTypeLike = jnp.float32
) -> tuple[_Trunk, int]:
    """Build residual blocks for images of this size.

    Args:
        size: Height and width.
        channels: Of the images.
        width: Channels at the finest resolution.
        most: Largest number of channels.
        key: Of random numbers.
        precision: Floating-point type of the convolutions.

    Returns:
        The blocks, and how many numbers come out for a row.

    >>> net, count = trunk_for(16, 1, width=4, most=8, key=jax.random.key(0))
    >>> net(jnp.ones((2, 16, 16, 1))).size == 2 * count
    True
    """
    sizes = resolutions(size)
    widths = level_widths(sizes, width, most)
    return _Trunk(widths, channels, key=key, precision=precision), sizes[0] ** 2 * widths[0]


class Discriminator(eqx.Module):
    """How real an image looks among those of its domain: a number, positive for real.

    >>> net = Discriminator(16, 3, width=8, domains=2, most=16, key=jax.random.key(0))
    >>> net(jnp.ones((4, 16, 16, 3)), jnp.array([0, 1, 0, 1])).shape
    (4,)
    """

    trunk: _Trunk
    last: EqualConvolution
    dense: EqualLinear
    verdict: EqualLinear

    def __init__(
        self,
        size: int,
        channels: int,
        *,
        width: int,
        domains: int,
        most: int,
        key: PRNGKeyArray,
        precision: DTypeLike = jnp.float32,
    ) -> None:
        trunk, last, dense, verdict = jax.random.split(key, 4)
        self.trunk, count = trunk_for(size, channels, width=width, most=most, key=trunk, precision=precision)
        wide = level_widths(resolutions(size), width, most)[0]
        self.last = EqualConvolution(wide + 1, wide, 3, key=last)
        self.dense = EqualLinear(count, wide, key=dense)
        self.verdict = EqualLinear(wide, domains, key=verdict)

    def __call__(self, x: Float[Array, "rows h w c"], domain: Int[Array, " rows"]) -> Float[Array, " rows"]:
        x = leaky(self.last(batch_deviation(self.trunk(x)))).astype(jnp.float32)
        verdicts = self.verdict(leaky(self.dense(x.reshape(len(x), -1))))
        return jnp.take_along_axis(verdicts, domain[:, None], axis=1)[:, 0]


class ImageEncoder(eqx.Module):
    """Mean and standard deviation of each latent of an image.

    >>> net = ImageEncoder(16, 3, width=8, latents=5, most=16, key=jax.random.key(0))
    >>> mean, scale = net(jnp.ones((4, 16, 16, 3)))
    >>> mean.shape, bool((scale > 0).all())
    ((4, 5), True)
    """

    trunk: _Trunk
    dense: EqualLinear
    outputs: EqualLinear

    def __init__(
        self,
        size: int,
        channels: int,
        *,
        width: int,
        latents: int,
        most: int,
        key: PRNGKeyArray,
        precision: DTypeLike = jnp.float32,
    ) -> None:
        trunk, dense, outputs = jax.random.split(key, 3)
        self.trunk, count = trunk_for(size, channels, width=width, most=most, key=trunk, precision=precision)
        wide = max(64, 2 * latents)
        self.dense = EqualLinear(count, wide, key=dense)
        self.outputs = EqualLinear(wide, 2 * latents, key=outputs)

    def __call__(self, x: Float[Array, "rows h w c"]) -> tuple[Float[Array, "rows n"], Float[Array, "rows n"]]:
        x = self.trunk(x).astype(jnp.float32)
        mean, raw = jnp.split(self.outputs(leaky(self.dense(x.reshape(len(x), -1)))), 2, axis=1)
        return mean, 0.1 + jax.nn.softplus(raw)
