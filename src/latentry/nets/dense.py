"""Plain multilayer perceptrons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import equinox as eqx
import jax
from jaxtyping import Array, Float, PRNGKeyArray

from latentry.nets.layers import linear
from latentry.random_keys import split

__all__ = ["ACTIVATIONS", "Activation", "Dense"]

Activation = Callable[[Array], Array]


def _leaky(x: Array) -> Array:
    """Return x above 0 and x/10 below: one to one, and piecewise affine."""
    return jax.nn.leaky_relu(x, 0.1)


ACTIVATIONS: Mapping[str, Activation] = {"gelu": jax.nn.gelu, "leaky relu": _leaky}


class Dense(eqx.Module):
    r"""Affine layers with a nonlinearity between them: :math:`x \mapsto W_L\,\sigma(\dots\sigma(W_1 x + b_1)) + b_L`.

    >>> net = Dense(3, 2, hidden=(8,), key=jax.random.key(0))
    >>> net(jax.numpy.ones(3)).shape
    (2,)
    """

    layers: tuple[eqx.nn.Linear, ...]
    activation: Activation = eqx.field(static=True)

    def __init__(
        self,
        inputs: int,
        outputs: int,
        hidden: Sequence[int],
        *,
        key: PRNGKeyArray,
        activation: Activation = jax.nn.gelu,
    ) -> None:
        sizes = (inputs, *hidden, outputs)
        keys = split(key, len(sizes) - 1)
        self.layers = tuple(linear(a, b, key=k) for a, b, k in zip(sizes[:-1], sizes[1:], keys, strict=True))
        self.activation = activation

    def __call__(self, x: Float[Array, " inputs"]) -> Float[Array, " outputs"]:
        for layer in self.layers[:-1]:
            x = self.activation(layer(x))
        return self.layers[-1](x)

    def in_words(self) -> str:
        """Name the widths.

        >>> Dense(3, 2, hidden=(8, 4), key=jax.random.key(0)).in_words()
        'dense layers, 3 → 8 → 4 → 2'
        """
        widths = [self.layers[0].in_features, *(layer.out_features for layer in self.layers)]
        return f"dense layers, {' → '.join(map(str, widths))}"
