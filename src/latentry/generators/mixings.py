"""Random invertible maps from latents to what is observed."""

from __future__ import annotations

import math

import numpy as np

__all__ = ["bent_layers", "couplings", "leaky_relu", "random_matrix", "rotation", "turned_layers"]


def random_matrix(inputs: int, outputs: int, rng: np.random.Generator) -> np.ndarray:
    """Draw entries uniform on [-1, 1], columns of norm 1, condition number below the lower quartile of many draws.

    Args:
        inputs: Rows of the matrix.
        outputs: Columns of the matrix.
        rng: Source of random numbers.

    Returns:
        The matrix.
    """
    draws = max(40, min(2000, 4_000_000 // (inputs * outputs)))  # large matrices differ less, and cost more
    drawn = rng.uniform(-1, 1, size=(draws, inputs, outputs))
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    condition = np.linalg.cond(drawn)
    return np.asarray(drawn[np.flatnonzero(condition <= np.quantile(condition, 0.25))[0]])


def bent_layers(sources: np.ndarray, width: int, layers: int, rng: np.random.Generator, *, repeat: bool) -> np.ndarray:
    r"""Apply ``layers`` linear maps with :math:`\tanh x + 0.1\,x` between them, the last one linear.

    The first widens to ``width``.

    Args:
        sources: (rows, latents).
        width: Observed variables.
        layers: Linear maps.
        rng: Source of random numbers.
        repeat: Whether layers of the same shape have the same matrix.

    Returns:
        (rows, width).
    """
    matrix, out = random_matrix(sources.shape[1], width, rng), sources
    for layer in range(layers):
        if layer:
            out = np.tanh(out) + 0.1 * out
            if not repeat or matrix.shape[0] != width:
                matrix = random_matrix(width, width, rng)
        out = out @ matrix
    return out


def leaky_relu(values: np.ndarray, slope: float) -> np.ndarray:
    """Return the value where it is positive, ``slope`` times it where not.

    Args:
        values: Of any shape.
        slope: Below 0.

    Returns:
        The same shape.
    """
    return np.where(values > 0, values, slope * values)


def rotation(size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw an orthogonal matrix from the uniform (Haar) distribution: QR of Gaussian entries with the signs of R undone.

    Args:
        size: Rows and columns.
        rng: Source of random numbers.

    Returns:
        The matrix.
    """
    q, r = np.linalg.qr(rng.standard_normal((size, size)))
    return q * np.sign(np.diag(r))


def turned_layers(sources: np.ndarray, blocks: int, slope: float, rng: np.random.Generator) -> np.ndarray:
    """Apply ``blocks`` times a leaky ReLU of every coordinate and then a rotation.

    Args:
        sources: (rows, latents).
        blocks: How many.
        slope: Of the leaky ReLU below 0.
        rng: Source of random numbers.

    Returns:
        The same shape.
    """
    out = sources
    for _ in range(blocks):
        out = leaky_relu(out, slope) @ rotation(sources.shape[1], rng)
    return out


def couplings(sources: np.ndarray, blocks: int, hidden: int, rng: np.random.Generator, *, clamp: float) -> np.ndarray:
    r"""Apply ``blocks`` affine couplings of both halves, each followed by a random permutation of the coordinates.

    One half becomes :math:`x_1 e^{s(x_2)} + t(x_2)`, then the other likewise; s is clamped softly to ±``clamp``. The
    networks have two hidden layers of ``hidden`` ReLUs; weights and biases are uniform on ±1/√(inputs).

    Args:
        sources: (rows, latents).
        blocks: How many.
        hidden: Width of their networks.
        rng: Source of random numbers.
        clamp: Largest exponent.

    Returns:
        The same shape.
    """
    size, out = sources.shape[1], sources
    half = size // 2
    for _ in range(blocks):
        left, right = out[:, :half], out[:, half:]
        left = _coupled(left, right, hidden, rng, clamp)
        right = _coupled(right, left, hidden, rng, clamp)
        out = np.concatenate([left, right], axis=1)[:, rng.permutation(size)]
    return out


def _coupled(moved: np.ndarray, by: np.ndarray, hidden: int, rng: np.random.Generator, clamp: float) -> np.ndarray:
    width = moved.shape[1]
    both = _network(by, (hidden, hidden, 2 * width), rng)
    stretch = clamp * 2 / np.pi * np.arctan(both[:, :width] / clamp)
    return np.asarray(moved * np.exp(stretch) + both[:, width:])


def _network(values: np.ndarray, widths: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    for layer, width in enumerate(widths):
        if layer:
            values = np.maximum(values, 0)
        limit = 1 / math.sqrt(values.shape[1])
        weights = rng.uniform(-limit, limit, size=(values.shape[1], width))
        values = values @ weights + rng.uniform(-limit, limit, size=width)
    return values
