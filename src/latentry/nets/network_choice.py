"""Networks chosen from the shape of the data."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from latentry.errors import DataError, nearest
from latentry.nets.dense import Activation, Dense
from latentry.nets.images.convolution_networks import ConvolutionDecoder, ConvolutionEncoder

__all__ = ["ARCHITECTURES", "Build", "FlatDecoder", "FlatEncoder", "Network", "decoder_for", "encoder_for"]

ARCHITECTURES = ("auto", "dense", "convolution")
Network = Callable[[Array], Array]
Build = Callable[..., Network]
_shape: Callable[..., jax.ShapeDtypeStruct] = jax.ShapeDtypeStruct  # JAX has no types for it
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
        self,
        inputs: int,
        shape: tuple[int, ...],
        *,
        parameters: int,
        hidden: Sequence[int],
        key: PRNGKeyArray,
        activation: Activation = jax.nn.gelu,
    ) -> None:
        self.shape = (*shape, parameters)
        self.net = Dense(inputs, math.prod(self.shape), hidden, key=key, activation=activation)

    def __call__(self, z: Float[Array, " inputs"]) -> Float[Array, "..."]:
        return self.net(z).reshape(self.shape)

    def in_words(self) -> str:
        """Name the layers."""
        return self.net.in_words()


def encoder_for(
    shape: tuple[int, ...], outputs: int, *, hidden: Sequence[int], architecture: str | Build, key: PRNGKeyArray
) -> Network:
    """Build an encoder from a row to ``outputs`` numbers.

    Args:
        shape: Of a row.
        outputs: How many numbers.
        hidden: Widths of dense layers; the first sets the channels of convolutions.
        architecture: One of ``ARCHITECTURES``, or the user's own ``build(shape, outputs, key)``.
        key: Of random numbers.

    Returns:
        A network from a row to a vector.

    Raises:
        DataError: If the architecture is not known, does not suit the shape, or gives another shape.
    """
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
    activation: Activation = jax.nn.gelu,
) -> Network:
    """Build a decoder from ``inputs`` latents to ``parameters`` numbers for each entry of a row.

    Args:
        inputs: How many latents.
        shape: Of a row.
        parameters: Numbers for each entry.
        hidden: Widths of dense layers; the first sets the channels of convolutions.
        architecture: One of ``ARCHITECTURES``, or the user's own ``build(inputs, shape, key)``.
        key: Of random numbers.
        activation: Between layers; a user's own network has its own.

    Returns:
        A network from latents to (shape of a row, parameters).

    Raises:
        DataError: If the architecture is not known, does not suit the shape, or gives another shape.
    """
    if callable(architecture):
        net = _built(architecture, inputs, (*shape, parameters), key)
        return _checked(architecture, net, (inputs,), (*shape, parameters))
    if _convolves(shape, architecture):
        width = _width(hidden)
        return ConvolutionDecoder(inputs, shape, parameters=parameters, width=width, key=key, activation=activation)
    narrowing = tuple(reversed(hidden))
    return FlatDecoder(inputs, shape, parameters=parameters, hidden=narrowing, key=key, activation=activation)


def _convolves(shape: tuple[int, ...], architecture: str) -> bool:
    if architecture not in ARCHITECTURES:
        raise DataError(f"architecture={architecture!r} is not known{nearest(architecture, ARCHITECTURES)}")
    if architecture == "convolution" and len(shape) < 2:
        raise DataError(
            f"architecture={architecture!r}: rows of shape {shape} have no axis to convolve over. Give curves as (length, 1)."
        )
    return len(shape) >= 2 and architecture != "dense"


def _width(hidden: Sequence[int]) -> int:
    # 16 channels at full resolution keep a thousand images of 28 × 28 under a second an epoch on one core.
    return min(_WIDEST, max(4, (hidden[0] if hidden else 32) // 4))


def _built(build: Build, *arguments: int | tuple[int, ...] | PRNGKeyArray) -> Network:
    name = getattr(build, "__name__", type(build).__name__)
    try:
        inspect.signature(build).bind(*arguments)
    except TypeError as problem:
        raise DataError(
            f"architecture={name}: {problem}. It must take (shape, outputs, key) as encoder or (latents, shape, key) as decoder."
        ) from None
    return build(*arguments)


def _checked(build: Build, net: Network, into: tuple[int, ...], out: tuple[int, ...]) -> Network:
    name = getattr(build, "__name__", type(build).__name__)
    try:
        given = eqx.filter_eval_shape(net, _shape(into, jnp.float32)).shape
    except Exception as problem:
        raise DataError(
            f"architecture={name}: the network that it built does not take an array of shape {into}: {problem}"
        ) from problem
    if given != out:
        raise DataError(
            f"architecture={name}: the network that it built gives shape {given} for an input of shape {into}. "
            f"It must give {out}."
        )
    return net
