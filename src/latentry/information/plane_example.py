"""A small network on a twelve-bit task, recorded while it learns: the example of the information plane.

Inputs are all 4096 subsets of the twelve corners of an icosahedron; the target is a rule that no rotation of the icosahedron
changes, as in Shwartz-Ziv and Tishby (2017): whether the quadrupole power of the subset is in the upper half. The
network is 12-10-7-5-4-3-2 with tanh, trained by the library's own loop.
"""

from __future__ import annotations

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from latentry.data import Batch, Dataset
from latentry.precision import single_precision
from latentry.training import Feed, Phase, Task, run

__all__ = ["TwelveBitRun", "twelve_bit_run", "twelve_bit_task"]

Array = np.ndarray
WIDTHS = (12, 10, 7, 5, 4, 3, 2)


@dataclass(frozen=True)
class TwelveBitRun:
    """Inputs, targets, activations by epoch, and the fraction of held-out rows classified correctly at the end."""

    x: Array
    y: Array
    activations: dict[int, dict[str, Array]]
    accuracy: float


def twelve_bit_task() -> tuple[Array, Array]:
    """Return all 4096 inputs (±1) and their labels.

    Cost: constant.

    Returns:
        (4096, 12) inputs and 4096 labels.

    >>> x, y = twelve_bit_task()
    >>> x.shape, int(y.sum())
    ((4096, 12), 2222)
    """
    golden = (1 + np.sqrt(5)) / 2
    corners = [np.roll([0, a, b * golden], shift) for shift in range(3) for a in (-1, 1) for b in (-1, 1)]
    points = np.array(corners) / np.sqrt(1 + golden**2)
    bits = (np.arange(4096)[:, None] >> np.arange(12)) & 1
    moments = np.einsum("ni,ia,ib->nab", bits, points, points)
    moments -= np.trace(moments, axis1=1, axis2=2)[:, None, None] * np.eye(3) / 3
    power = np.round(np.sum(moments**2, axis=(1, 2)), 9)  # rounded: equal by symmetry must be equal
    level = min(np.unique(power), key=lambda value: abs(np.mean(power >= value) - 0.5))
    return 2.0 * bits - 1, (power >= level).astype(np.int64)


class _Net(eqx.Module):
    layers: tuple[eqx.nn.Linear, ...]

    def __init__(self, *, key: PRNGKeyArray) -> None:
        keys = jax.random.split(key, len(WIDTHS) - 1)
        self.layers = tuple(eqx.nn.Linear(a, b, key=k) for a, b, k in zip(WIDTHS[:-1], WIDTHS[1:], keys, strict=True))

    def activations(self, x: Float[jax.Array, " inputs"]) -> list[Float[jax.Array, "_"]]:
        """Return the activations of each layer, the probabilities last."""
        values = []
        for layer in self.layers[:-1]:
            x = jnp.tanh(layer(x))
            values.append(x)
        return [*values, jax.nn.softmax(self.layers[-1](x))]


def _cross_entropy(net: _Net, batch: Batch, key: PRNGKeyArray) -> tuple[Float[jax.Array, ""], dict[str, jax.Array]]:
    probability = jax.vmap(lambda row: net.activations(row)[-1])(batch.values["x"])
    label = batch.values["y"][:, 0].astype(int)
    paid = -jnp.log(probability[jnp.arange(len(label)), label] + 1e-7)
    return jnp.sum(paid * batch.weight) / jnp.maximum(batch.weight.sum(), 1), {}


@dataclass(frozen=True, eq=False)
class _Recorder:
    """Writes down the activations after the epochs asked for, and leaves the network as it is."""

    x: Array
    epochs: frozenset[int]
    recorded: dict[int, dict[str, Array]]
    count: list[int]

    def __call__(self, net: _Net, data: Dataset, key: PRNGKeyArray) -> _Net:
        self.count[0] += 1
        if self.count[0] in self.epochs:
            layers = jax.vmap(net.activations)(jnp.asarray(self.x))
            self.recorded[self.count[0]] = {f"layer {i + 1}": np.asarray(a) for i, a in enumerate(layers)}
        return net


@single_precision
def twelve_bit_run(epochs: int = 400, records: int = 12, seed: int = 0, learning_rate: float = 2e-3) -> TwelveBitRun:
    """Train on 85 % of the inputs; record all layers at epochs spaced evenly in their logarithm.

    Cost: linear in the epochs; some seconds for 400.

    Args:
        epochs: Passes over the training rows.
        records: Epochs to record, at most.
        seed: Of split, weights and batches.
        learning_rate: Constant.

    Returns:
        Inputs, labels, activations and accuracy.
    """
    x, y = twelve_bit_task()
    order = np.random.default_rng(seed).permutation(len(x))
    learn, rest = np.split(order, [int(0.85 * len(x))])
    wanted = frozenset(np.unique(np.geomspace(1, epochs, records).round().astype(int)).tolist())
    recorder = _Recorder(x, wanted, {}, [0])
    phase = Phase(
        "fit", _cross_entropy, epochs=epochs, learning_rate=learning_rate, schedule="constant", after_epoch=recorder
    )
    task = Task(lambda key: _Net(key=key), (phase,), Feed(_rows(x, y, learn), 256), None, seed)
    net = run(task, progress=False).result
    said = np.asarray(jax.vmap(net.activations)(jnp.asarray(x[rest]))[-1]).argmax(axis=1)
    return TwelveBitRun(x, y, recorder.recorded, float(np.mean(said == y[rest])))


def _rows(x: Array, y: Array, rows: Array) -> Dataset:
    return Dataset({"x": x[rows], "y": y[rows, None].astype(float)})
