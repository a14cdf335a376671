"""Networks chosen from the shape of the data."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from latentry.errors import DataError, nearest
from latentry.nets.dense import Dense
from latentry.nets.images.convolution_networks import ConvolutionDecoder, ConvolutionEncoder

__all__ = ["ARCHITECTURES", "FlatDecoder", "FlatEncoder", "decoder_for", "encoder_for"]

ARCHITECTURES = ("auto", "dense", "convolution")
Build = Callable[..., Any]
_WIDEST = 16  # channels at full resolution


class FlatEncoder(eqx.Module):
    """A dense network on the row as one vector."""

    net: Dense

    def __init__(self, shape: tuple[int, ...], outputs: int, hidden: Sequence[int], *, key: PRNGKeyArray) -> None:
        self.net = Dense(math.prod(shape), outputs, hidden, key=key)

    def __call__(self, x: Float[Array, "..."]) -> Float[Array, " outputs"]:
        return self.net(x.reshape(-1))

    def in_words(self) -> str:
        """Name the layers."""
        return self.net.in_words()


class FlatDecoder(eqx.Module):
    """A dense network whose outputs are laid out as (shape of a row, parameters per entry)."""

    net: Dense
    shape: tuple[int, ...] = eqx.field(static=True)

    def __init__(
        self, inputs: int, shape: tuple[int, ...], *, parameters: int, hidden: Sequence[int], key: PRNGKeyArray
    ) -> None:
        self.shape = (*shape, parameters)
        self.net = Dense(inputs, math.prod(self.shape), hidden, key=key)

    def __call__(self, z: Float[Array, " inputs"]) -> Float[Array, "..."]:
        return self.net(z).reshape(self.shape)

    def in_words(self) -> str:
        """Name the layers."""
        return self.net.in_words()


def encoder_for(
    shape: tuple[int, ...], outputs: int, *, hidden: Sequence[int], architecture: str | Build, key: PRNGKeyArray
) -> Any:
    """An encoder from one row to ``outputs`` numbers; ``architecture`` may be the user's own ``build(shape, outputs, key)``."""
    if callable(architecture):
        return _checked(architecture, _built(architecture, shape, outputs, key), shape, (outputs,))
    if _convolves(shape, architecture):
        return ConvolutionEncoder(shape, outputs, width=_width(hidden), key=key)
    return FlatEncoder(shape, outputs, hidden, key=key)


def decoder_for(
    inputs: int,
    shape: tuple[int, ...],
    *,
    parameters: int,
    hidden: Sequence[int],
    architecture: str | Build,
    key: PRNGKeyArray,
) -> Any:
    """A decoder from ``inputs`` latents to ``parameters`` numbers for each entry of a row."""
    if callable(architecture):
        net = _built(architecture, inputs, (*shape, parameters), key)
        return _checked(architecture, net, (inputs,), (*shape, parameters))
    if _convolves(shape, architecture):
        return ConvolutionDecoder(inputs, shape, parameters=parameters, width=_width(hidden), key=key)
    return FlatDecoder(inputs, shape, parameters=parameters, hidden=tuple(reversed(hidden)), key=key)


def _convolves(shape: tuple[int, ...], architecture: str) -> bool:
    if architecture not in ARCHITECTURES:
        raise DataError(f"architecture {architecture!r} is not known{nearest(architecture, ARCHITECTURES)}")
    if architecture == "convolution" and len(shape) < 2:
        raise DataError(f"rows of shape {shape} have no axis to convolve over: give curves as (length, 1).")
    return len(shape) >= 2 and architecture != "dense"


def _width(hidden: Sequence[int]) -> int:
    # 16 channels at full resolution keep a thousand images of 28 × 28 under a second an epoch on one core.
    return min(_WIDEST, max(4, (hidden[0] if hidden else 32) // 4))


def _built(build: Build, *arguments: Any) -> Any:
    name = getattr(build, "__name__", type(build).__name__)
    try:
        inspect.signature(build).bind(*arguments)
    except TypeError as problem:
        raise DataError(
            f"{name} must take (shape, outputs, key) as encoder or (latents, shape, key) as decoder: {problem}."
        ) from None
    return build(*arguments)


def _checked(build: Build, net: Any, into: tuple[int, ...], out: tuple[int, ...]) -> Any:
    name = getattr(build, "__name__", type(build).__name__)
    try:
        found = eqx.filter_eval_shape(net, jax.ShapeDtypeStruct(into, jnp.float32)).shape
    except Exception as problem:
        raise DataError(f"the network that {name} built does not take an array of shape {into}: {problem}") from problem
    if found != out:
        raise DataError(
            f"the network that {name} built gives shape {found} for an input of shape {into}; it must give {out}."
        )
    return net
