"""From latents to images by styles: a mapping network, and convolutions whose weights the style scales.

After Karras et al., *Analyzing and improving the image quality of StyleGAN* (2020): styles scale the weights, outputs are
brought back to unit variance, noise enters at each layer, and each resolution adds to the image. Three things differ. Where a
layer doubles the resolution it convolves first and doubles then, which costs what a transposed convolution would. And the
coarsest features are a learned image plus a linear function of the style, rather than the learned image alone: where things
are is then said at once, and small generators learn in a fraction of the steps. And images are faint at the start.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike
from jaxtyping import Array, Float, PRNGKeyArray

from latentry.nets.images.equalised_layers import EqualLinear, convolve, double, drawn, leaky

__all__ = ["Mapping", "ModulatedConvolution", "Synthesis", "resolutions"]

_LEAST, _MOST = 4, 7  # smallest images, from which all others are doubled
_TINY = 1e-8
_NOISE_PACE = 0.1  # how loud noise is learns slowly: a single number moves much faster than the many weights beside it
_FAINT = 0.1  # images start within their range: from beyond it, half of the codes are lost before they are back


def resolutions(size: int) -> tuple[int, ...]:
    """List sizes from the coarsest, which has 4 to 7 pixels, to the full size; empty if doubling cannot get there.

    Args:
        size: Height and width of the images.

    Returns:
        Sizes, each twice the last.

    >>> resolutions(28), resolutions(64), resolutions(30)
    ((7, 14, 28), (4, 8, 16, 32, 64), ())
    """
    sizes = [size]
    while sizes[0] > _MOST and sizes[0] % 2 == 0:
        sizes.insert(0, sizes[0] // 2)
    return tuple(sizes) if _LEAST <= sizes[0] <= _MOST and len(sizes) > 1 else ()


class Mapping(eqx.Module):
    """Dense layers that learn more slowly, from latents to the style w.

    >>> Mapping(6, 8, layers=2, key=jax.random.key(0))(jnp.ones((3, 6))).shape
    (3, 8)
    """

    layers: tuple[EqualLinear, ...]

    def __init__(self, inputs: int, width: int, *, layers: int, key: PRNGKeyArray, pace: float = 0.1) -> None:
        sizes = (inputs, *[width] * layers)
        keys = jax.random.split(key, layers)
        self.layers = tuple(
            EqualLinear(a, b, key=k, pace=pace) for a, b, k in zip(sizes, sizes[1:], keys, strict=False)
        )

    def __call__(self, z: Float[Array, "rows n"]) -> Float[Array, "rows w"]:
        for layer in self.layers:
            z = leaky(layer(z))
        return z


class ModulatedConvolution(eqx.Module):
    r"""A convolution with weights :math:`W_{kio} s_i`, s from the style, divided by their norm for each output.

    Scaling the weights of a row is the same as scaling its input channels; the norm is
    :math:`\sqrt{\sum_i s_i^2 \sum_k W_{kio}^2}`. So all rows use the same kernel, and no kernel per row is ever made.

    >>> layer = ModulatedConvolution(4, 6, 3, 8, key=jax.random.key(0))
    >>> layer(jnp.ones((2, 5, 5, 4)), jnp.ones((2, 8))).shape
    (2, 5, 5, 6)
    """

    weight: Float[Array, "k k a b"]
    style: EqualLinear
    normalised: bool = eqx.field(static=True)
    gain: float = eqx.field(static=True)

    def __init__(
        self, inputs: int, outputs: int, width: int, style: int, *, key: PRNGKeyArray, normalised: bool = True
    ) -> None:
        weight, scales = jax.random.split(key)
        self.weight = drawn(weight, width, width, inputs, outputs)
        self.style = EqualLinear(style, inputs, key=scales, bias=1.0)
        self.normalised, self.gain = normalised, 1 / math.sqrt(inputs * width**2)

    def __call__(self, x: Float[Array, "rows h w a"], w: Float[Array, "rows s"]) -> Float[Array, "rows h w b"]:
        scales, weight = self.style(w), self.gain * self.weight
        convolved = convolve(x * scales[:, None, None].astype(x.dtype), weight)
        if not self.normalised:
            return convolved
        norms = jax.lax.rsqrt(scales**2 @ (weight**2).sum((0, 1)) + _TINY)
        return convolved * norms[:, None, None].astype(x.dtype)


class _StyleLayer(eqx.Module):
    convolution: ModulatedConvolution
    bias: Float[Array, " b"]
    strength: Float[Array, ""]  # of the noise
    doubles: bool = eqx.field(static=True)

    def __init__(self, inputs: int, outputs: int, style: int, *, doubles: bool, key: PRNGKeyArray) -> None:
        self.convolution = ModulatedConvolution(inputs, outputs, 3, style, key=key)
        self.bias, self.strength, self.doubles = jnp.zeros(outputs), jnp.zeros(()), doubles

    def __call__(self, x: Array, w: Array, noise: Array | None) -> Array:
        x = self.convolution(x, w)
        x = double(x) if self.doubles else x
        if noise is not None:
            x = x + (_NOISE_PACE * self.strength * noise).astype(x.dtype)
        return leaky(x + self.bias.astype(x.dtype))


class _Level(eqx.Module):
    layers: tuple[_StyleLayer, ...]
    picture: ModulatedConvolution  # its name is in files of saved runs
    picture_bias: Float[Array, " c"]


class Synthesis(eqx.Module):
    """Styles to images, (rows, size, size, channels), about −1 to 1 after training.

    >>> net = Synthesis(16, 3, width=8, style=4, most=16, key=jax.random.key(0))
    >>> net(jnp.ones((2, 4)), net.noise(2, jax.random.key(1))).shape
    (2, 16, 16, 3)
    """

    start: Float[Array, "h w a"]
    placing: EqualLinear
    levels: tuple[_Level, ...]
    sizes: tuple[int, ...] = eqx.field(static=True)
    precision: DTypeLike = eqx.field(static=True)

    def __init__(
        self,
        size: int,
        channels: int,
        *,
        width: int,
        style: int,
        most: int,
        key: PRNGKeyArray,
        precision: DTypeLike = jnp.float32,
    ) -> None:
        self.sizes, self.precision = resolutions(size), precision
        widths = level_widths(self.sizes, width, most)
        keys = iter(jax.random.split(key, 3 * len(widths) + 2))
        self.start = drawn(next(keys), self.sizes[0], self.sizes[0], widths[0])
        self.placing = EqualLinear(style, self.start.size, key=next(keys))
        levels = []
        for before, wide in zip((None, *widths), widths, strict=False):
            first = [] if before is None else [_StyleLayer(before, wide, style, doubles=True, key=next(keys))]
            layers = (*first, _StyleLayer(wide, wide, style, doubles=False, key=next(keys)))
            image = ModulatedConvolution(wide, channels, 1, style, key=next(keys), normalised=False)
            image = eqx.tree_at(lambda layer: layer.weight, image, _FAINT * image.weight)
            levels.append(_Level(layers, image, jnp.zeros(channels)))
        self.levels = tuple(levels)

    def noise(self, rows: int, key: PRNGKeyArray) -> tuple[Float[Array, "rows h w 1"], ...]:
        """Draw standard normal pixels for each layer.

        Args:
            rows: How many images.
            key: Of random numbers.

        Returns:
            Noise images, one for each layer.
        """
        sizes = [size for size, level in zip(self.sizes, self.levels, strict=True) for _ in level.layers]
        ends = np.cumsum([size**2 for size in sizes])
        parts = jnp.split(jax.random.normal(key, (rows, ends[-1])), ends[:-1], axis=1)
        return tuple(part.reshape(rows, size, size, 1) for part, size in zip(parts, sizes, strict=True))

    def __call__(self, w: Float[Array, "rows s"], noise: Sequence[Array] | None = None) -> Float[Array, "rows h w c"]:
        """Return the images of styles; without noise, an image is a function of its style alone."""
        x = (self.start + self.placing(w).reshape(len(w), *self.start.shape)).astype(self.precision)
        left, image = iter(noise if noise is not None else ()), None
        for level in self.levels:
            for layer in level.layers:
                x = layer(x, w, next(left, None))
            here = level.picture(x, w).astype(jnp.float32) + level.picture_bias
            image = here if image is None else double(image) + here
        assert image is not None
        return image


def level_widths(sizes: Sequence[int], width: int, most: int) -> list[int]:
    """Return channels at each resolution: ``width`` at the finest, twice as many at each coarser, up to ``most``."""
    return [min(most, width * 2**steps) for steps in reversed(range(len(sizes)))]
