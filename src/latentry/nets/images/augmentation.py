"""Augmentation that does not leak into what is generated: each change happens with a probability below one.

After Karras et al., *Training generative adversarial networks with limited data* (2020): both real and generated images are
changed before the discriminator sees them, with a probability that follows how sure it is of the real ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import cast

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

__all__ = ["AUGMENTATIONS", "augment"]

_SHIFT = 0.125  # of the size
_SCALE = 0.2  # standard deviation in powers of two
_BRIGHTNESS, _CONTRAST = 0.2, 0.5  # standard deviations; of the contrast in powers of two
_DRAWS = 3  # uniform numbers for each change of a row: whether, and two that say how far

Draws = Array  # (rows, 2), uniform on 0 to 1
Change = Callable[[Array, Draws], Array]


def _flip(place: Array, draws: Draws) -> Array:
    """Exchange left and right."""
    return place * jnp.array([[1.0, 1.0], [-1.0, 1.0]])


def _shift(place: Array, draws: Draws) -> Array:
    """Move by up to an eighth of the size along each axis."""
    return place + jnp.stack([jnp.zeros_like(draws), 4 * _SHIFT * (draws - 0.5)], -1)


def _scale(place: Array, draws: Draws) -> Array:
    """Enlarge or shrink, by a factor along both axes and another along the first."""
    both, single = _normal(draws)
    factors = 2 ** (_SCALE * jnp.stack([both + 0.5 * single, both - 0.5 * single], 1))
    return place * jnp.stack([factors, jnp.ones_like(factors)], -1)


def rotate(x: Array, draws: Draws) -> Array:
    """Turn by any angle about the middle."""
    angle = 2 * math.pi * draws[:, 0]
    middle = (x.shape[1] - 1) / 2
    down, across = jnp.meshgrid(*2 * [jnp.arange(x.shape[1]) - middle], indexing="ij")

    def turned(image: Array, cosine: Array, sine: Array) -> Array:
        places = [cosine * down - sine * across + middle, sine * down + cosine * across + middle]
        look = partial(jax.scipy.ndimage.map_coordinates, coordinates=places, order=1, mode="nearest")
        return cast(Array, jax.vmap(look, in_axes=-1, out_axes=-1)(image))

    return jax.vmap(turned)(x, jnp.cos(angle), jnp.sin(angle))


def _brightness(x: Array, draws: Draws) -> Array:
    light, contrast = (part[:, None, None, None] for part in _normal(draws))
    return 2 ** (_CONTRAST * contrast) * x + _BRIGHTNESS * light


def _hue(x: Array, draws: Draws) -> Array:
    """Turn colours about the grey axis by any angle."""
    if x.shape[-1] != 3:
        return x
    angle = (2 * math.pi * draws[:, 0])[:, None, None]
    cosine, sine = jnp.cos(angle), jnp.sin(angle) / math.sqrt(3.0)
    cross = jnp.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])
    turn = cosine * jnp.eye(3) + sine * cross + (1 - cosine) / 3
    return jnp.einsum("rhwa,rab->rhwb", x, turn)


_PLACES: dict[str, Change] = {"flip": _flip, "shift": _shift, "scale": _scale}
_IMAGES: dict[str, Change] = {"rotate": rotate, "brightness": _brightness, "hue": _hue}
AUGMENTATIONS = (*_PLACES, *_IMAGES)


def augment(
    x: Float[Array, "rows h w c"], probability: Float[Array, ""], kinds: tuple[str, ...], key: PRNGKeyArray
) -> Float[Array, "rows h w c"]:
    """Apply each kind of change to each image with a probability; what enters from outside repeats the border.

    Flips, shifts and scalings are one resampling along each axis, by linear interpolation.

    Args:
        x: Images on −1 to 1.
        probability: Of each change of each image.
        kinds: Of ``AUGMENTATIONS``.
        key: Of random numbers.

    Returns:
        Changed images.

    >>> x = jnp.arange(64.0).reshape(1, 8, 8, 1) / 64
    >>> bool(jnp.allclose(augment(x, jnp.float32(0.0), AUGMENTATIONS, jax.random.key(1)), x, atol=1e-5))
    True
    """
    if not kinds:
        return x
    draws = jax.random.uniform(key, (len(x), len(AUGMENTATIONS), _DRAWS))

    def changed(value: Array, among: dict[str, Change]) -> Array:
        for name, change in among.items():
            if name in kinds:
                mine = draws[:, AUGMENTATIONS.index(name)]
                chosen = mine[:, 0].reshape(-1, *[1] * (value.ndim - 1)) < probability
                value = jnp.where(chosen, change(value, mine[:, 1:]), value)
        return value

    if any(name in _PLACES for name in kinds):
        x = _resample(x, changed(jnp.broadcast_to(jnp.array([1.0, 0.0]), (len(x), 2, 2)), _PLACES))
    return changed(x, _IMAGES)


def _normal(draws: Draws) -> tuple[Array, Array]:
    normal = jax.scipy.special.ndtri(jnp.clip(draws, 1e-6, 1 - 1e-6))
    return normal[:, 0], normal[:, 1]


def _resample(x: Array, place: Array) -> Array:
    """Return, along each axis, the value at factor · place + shift (rows, axis, 2), in halves of the size from the middle."""
    size = x.shape[1]
    middle = (size - 1) / 2
    wanted = place[..., :1] * (jnp.arange(size) - middle) + place[..., 1:] * (size / 2) + middle
    index = jnp.clip(wanted, 0, size - 1)
    weights = jnp.maximum(0.0, 1 - jnp.abs(index[..., None] - jnp.arange(size)))  # rows, axis, new, old
    x = jnp.einsum("rij,rjwc->riwc", weights[:, 0], x)
    return jnp.einsum("rij,rhjc->rhic", weights[:, 1], x)
