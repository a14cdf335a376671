"""Kernel regression on landmarks: smooth functions of all columns at once, in closed form.

Rows are compared with a few hundred landmarks among them (Williams and Seeger 2001), ridge regression does the rest, and
leave-one-out errors choose width and penalty at the cost of one decomposition for each width (Craven and Wahba 1979).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from latentry.streams import stream

__all__ = ["Landmarks", "kernel_features", "kernel_regression"]

Array = NDArray[np.float64]
_MARKS = 300
_WIDTHS = (0.05, 0.2, 0.8, 3.0)
PENALTIES = np.logspace(-5, 3, 17)


@dataclass(frozen=True, eq=False)
class Landmarks:
    """The columns themselves, and exp(−w‖x − mark‖²/columns) turned so that its ridge is that of the kernel."""

    marks: Array
    turn: Array
    width: float

    @classmethod
    def of(cls, marks: Array, width: float) -> Landmarks:
        """Build landmarks of one width.

        Args:
            marks: Rows (m, columns).
            width: w of the kernel.

        Returns:
            The features, as a function of rows.
        """
        strength, axes = np.linalg.eigh(_near(marks, marks, width))
        kept = strength > 1e-6 * strength.max()
        return cls(marks, axes[:, kept] / np.sqrt(strength[kept]), width)

    def __call__(self, x: Array) -> Array:
        """Features of rows."""
        return np.hstack([x / np.sqrt(x.shape[1]), _near(x, self.marks, self.width) @ self.turn])


def _near(x: Array, marks: Array, width: float) -> Array:
    near: Array = np.exp(-width / x.shape[1] * cdist(x, marks, "sqeuclidean"))
    return near


@dataclass(frozen=True, eq=False)
class _Ridge:
    """Leave-one-out errors (penalties, targets) and coefficients (penalties, features, targets) on centred features."""

    features: Landmarks
    centre: Array
    errors: Array
    coefficients: Array


def fit_ridge(features: Landmarks, x: Array, y: Array) -> _Ridge:
    """Fit ridge regressions of y on features of x, one for each penalty, with their leave-one-out errors."""
    table = features(x)
    centre = table.mean(axis=0)
    table, y = table - centre, y - y.mean(axis=0)
    strength, axes = np.linalg.eigh(table.T @ table)
    turned = table @ axes
    pulls = 1.0 / (np.maximum(strength, 0.0) + PENALTIES[:, None])
    weights = pulls[:, :, None] * (turned.T @ y)
    free = np.maximum(1.0 - 1.0 / len(x) - (turned**2 @ pulls.T).T, 1e-3)
    errors = (((y - turned @ weights) / free[:, :, None]) ** 2).mean(axis=1)
    return _Ridge(features, centre, errors, axes @ weights)


def _fits(x: Array, y: Array, seed: int, most: int = _MARKS, widths: Sequence[float] = _WIDTHS) -> list[_Ridge]:
    marks = x[np.sort(stream("natural/landmarks", seed).permutation(len(x))[:most])]
    return [fit_ridge(Landmarks.of(marks, width), x, y) for width in widths]


def kernel_regression(
    x: Array, y: Array, seed: int = 0, *, marks: int = _MARKS, widths: Sequence[float] = _WIDTHS
) -> Callable[[Array], Array]:
    """Fit the smooth function of the columns that leaves least of each target, with a width and penalty of its own.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((400, 2))
    >>> guess = kernel_regression(x[:300], np.sin(x[:300, :1] * x[:300, 1:]))
    >>> bool(np.abs(guess(x[300:]) - np.sin(x[300:, :1] * x[300:, 1:])).mean() < 0.05)
    True

    Args:
        x: Features (rows, columns).
        y: Targets (rows, targets).
        seed: Of the landmarks.
        marks: Most landmarks.
        widths: Of the kernel, to choose from.

    Returns:
        The prediction (n, targets) as a function of features (n, columns).
    """
    fits, average = _fits(x, y, seed, marks, widths), y.mean(axis=0)
    best = [_least(fits, target) for target in range(y.shape[1])]

    def guess(rows: Array) -> Array:
        fitted = np.tile(average, (len(rows), 1))
        for number in {fit for fit, _ in best}:
            table = fits[number].features(rows) - fits[number].centre
            for target, (fit, penalty) in enumerate(best):
                if fit == number:
                    fitted[:, target] += table @ fits[fit].coefficients[penalty, :, target]
        return fitted

    return guess


def _least(fits: list[_Ridge], target: int) -> tuple[int, int]:
    """Which width and which penalty leave least of a target."""
    errors = np.stack([fit.errors[:, target] for fit in fits])
    width, penalty = np.unravel_index(int(errors.argmin()), errors.shape)
    return int(width), int(penalty)


def kernel_features(x: Array, y: Array, seed: int = 0) -> Landmarks:
    """Choose the features of the width that leaves least of all targets together.

    Args:
        x: Features (rows, columns).
        y: Targets (rows, targets).
        seed: Of the landmarks.

    Returns:
        The features, as a function of rows.
    """
    fits = _fits(x, y, seed)
    return min(fits, key=lambda fit: float(fit.errors.sum(axis=1).min())).features
