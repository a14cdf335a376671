"""Nets of at most one hidden layer, fitted to numbers or to probabilities by quasi-Newton steps on all rows at once.

With some thousand rows a step on all of them costs less than the bookkeeping of small batches, and curvature makes up for
the noise that is missing. Rows set aside say when to stop. Probabilities are learned as they are: no copies of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax, xlogy

from latentry.streams import stream

__all__ = ["Net", "fit_net"]

Array = NDArray[np.float64]
_STEPS, _PATIENCE, _ASIDE = 300, 40, 7  # one row in seven is set aside


@dataclass(frozen=True, eq=False)
class Net:
    """Weights of the layers, each with its biases in the last row."""

    layers: tuple[Array, ...]
    soft: bool

    def __call__(self, x: Array) -> Array:
        """Probabilities of a soft net, numbers of another."""
        last = self.activations(x)[-1]
        return np.exp(log_softmax(last, axis=1)) if self.soft else last

    def activations(self, x: Array) -> list[Array]:
        """Compute the input, the hidden layers, and the output before the softmax.

        Args:
            x: (rows, columns).

        Returns:
            One array (rows, units) per layer, the input first.
        """
        result = [x]
        for i, layer in enumerate(self.layers):
            reached = result[-1] @ layer[:-1] + layer[-1]
            result.append(np.tanh(reached) if i < len(self.layers) - 1 else reached)
        return result

    def loss(self, x: Array, target: Array) -> float:
        """Compute the mean divergence of the probabilities from the target's, or half the mean squared error.

        Args:
            x: (rows, columns).
            target: (rows, outputs).

        Returns:
            The loss.
        """
        last = self.activations(x)[-1]
        if self.soft:
            return float((xlogy(target, target) - target * log_softmax(last, axis=1)).sum() / len(x))
        return float(0.5 * ((last - target) ** 2).sum() / len(x))

    def gradient(self, x: Array, target: Array) -> tuple[float, list[Array]]:
        """Compute the loss and its derivative by each layer.

        Args:
            x: (rows, columns).
            target: (rows, outputs).

        Returns:
            The loss up to a constant, and one array per layer.
        """
        acts = self.activations(x)
        logs = log_softmax(acts[-1], axis=1) if self.soft else acts[-1]
        back = (np.exp(logs) if self.soft else logs) - target
        value = -(target * logs).sum() if self.soft else 0.5 * (back**2).sum()
        gradients: list[Array] = []
        back = back / len(x)
        for act, layer in zip(acts[-2::-1], self.layers[::-1], strict=True):
            gradients.insert(0, np.vstack([act.T @ back, back.sum(axis=0)]))
            back = (back @ layer[:-1].T) * (1.0 - act**2)
        return float(value / len(x)), gradients


def fit_net(
    x: Array, target: Array, hidden: int = 0, *, soft: bool, decay: float = 1e-4, patient: bool = False, seed: int = 0
) -> Net:
    """Fit a net to the target: probabilities (soft) or numbers of unit spread.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((400, 2))
    >>> wave = np.sin(2 * x.sum(axis=1, keepdims=True))
    >>> bool(fit_net(x, wave, 32, soft=False).loss(x, wave) < 0.01)
    True

    Args:
        x: Standardised features (rows, columns).
        target: (rows, outputs).
        hidden: Units of the hidden layer; none for a linear map.
        soft: Whether the outputs are logarithms of probabilities, up to a constant.
        decay: Weight of half the squared weights beside the mean loss.
        patient: Whether all rows are used and nothing stops the steps early: where the decay alone is enough.
        seed: Of the first weights and of the rows set aside.

    Returns:
        The fitted net.
    """
    rng = stream("natural/net", seed)
    order = rng.permutation(len(x))
    aside = order[:0] if patient else order[: len(x) // _ASIDE]
    rest = np.sort(order[len(aside) :])
    sizes = [x.shape[1], *([hidden] if hidden else []), target.shape[1]]
    shapes = [(a + 1, b) for a, b in zip(sizes[:-1], sizes[1:], strict=True)]
    unpack = _unpacker(shapes, soft)
    start = np.concatenate([_first(shape, rng, last=i == len(shapes) - 1) for i, shape in enumerate(shapes)])
    kept = _Kept(start, lambda w: unpack(w).loss(x[aside], target[aside])) if len(aside) else None

    known = x[rest], target[rest]

    def cost(w: Array) -> tuple[float, Array]:
        value, gradients = unpack(w).gradient(*known)
        return value + 0.5 * decay * float(w @ w), np.concatenate([s.ravel() for s in gradients]) + decay * w

    result = minimize(
        cost, start, jac=True, method="L-BFGS-B", callback=kept, options={"maxiter": _STEPS, "maxcor": 20}
    )
    return unpack(result.x if kept is None else kept.best)


def _first(shape: tuple[int, int], rng: np.random.Generator, *, last: bool) -> Array:
    """Weights of unit gain, little ones in the last layer, and no biases."""
    weights: Array = rng.standard_normal(shape) * (0.1 if last else 1.0) / np.sqrt(shape[0] - 1)
    weights[-1] = 0.0
    return weights.ravel()


def _unpacker(shapes: list[tuple[int, int]], soft: bool) -> Callable[[Array], Net]:
    ends = np.cumsum([0, *(a * b for a, b in shapes)])

    def unpack(w: Array) -> Net:
        return Net(tuple(w[i:j].reshape(s) for i, j, s in zip(ends[:-1], ends[1:], shapes, strict=True)), soft)

    return unpack


class _Kept:
    """The best weights so far by the rows set aside; ends the search when they have not improved for long."""

    def __init__(self, start: Array, loss: Callable[[Array], float]) -> None:
        self.best, self.least, self._loss, self._since = start, np.inf, loss, 0

    def __call__(self, weights: Array) -> None:
        loss = self._loss(weights)
        self._since += 1
        if loss < self.least:
            self.best, self.least, self._since = weights.copy(), loss, 0
        elif self._since > _PATIENCE:
            raise StopIteration
