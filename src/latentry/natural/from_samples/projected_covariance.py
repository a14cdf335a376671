"""The projected covariance measure: a test of conditional independence that learns where to look.

On one part of the rows a function f(x, z) is learned that predicts what z leaves of y; on the other part the residuals of
f(x, z) and of y on z are multiplied. Under independence their mean is zero; otherwise it is positive, so that the test has
one side (Lundborg, Kim, Shah and Samworth 2024). It sees dependence without correlation, which residuals of x and y miss.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from latentry.data import column_scales
from latentry.natural.from_samples.kernel_regression import kernel_regression
from latentry.natural.from_samples.residual_regression import Smoother
from latentry.streams import stream

__all__ = ["projected_p_value"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
_MOST = 2000  # rows that teach and rows that test, together
_FEWEST = 40  # rows of each part
_SPLITS = 2  # cuts in two, each used both ways
_MARKS, _WIDTHS = 100, (0.2, 1.0)
_SHUFFLES = 3  # over which a prediction is averaged to see what of it is a function of z alone
_FAR = 6.0  # spreads beyond which a number counts no more


def projected_p_value(x: Array, y: Array, z: Array, *, smoother: Smoother | None = None, seed: int = 0) -> float:
    """Test x ⊥ y | z by learned projections, in both directions, over several splits.

    Each statistic is standard normal under independence. Those of several splits depend on each other; their mean has a
    variance of at most one, and is compared with a standard normal. Beside y itself, the sizes of its residuals are predicted.

    >>> rng = np.random.default_rng(0)
    >>> z, x, noise = rng.standard_normal((3, 400, 1))
    >>> projected_p_value(x, x**2 + noise + z, z) < 0.01 < projected_p_value(x, noise + z, z)
    True

    Args:
        x: (rows, columns).
        y: (rows, columns).
        z: The condition (rows, columns).
        smoother: The regression on z, if it is known already.
        seed: Of the splits and landmarks.

    Returns:
        The p-value; 1 where rows are too few.
    """
    if len(x) < 2 * _FEWEST:
        return 1.0
    known = smoother or Smoother.of(z, seed)
    first, second = _Side.of(x, known), _Side.of(y, known)
    parts = _parts(len(x), seed)
    forth = np.mean([_score(first, second, z, known, part, seed) for part in parts])
    back = np.mean([_score(second, first, z, known, part, seed) for part in parts])
    return min(1.0, 2.0 * float(norm.sf(max(forth, back))))


def _parts(rows: int, seed: int) -> list[tuple[Codes, Codes]]:
    """Rows that teach and rows that test: each cut in both ways."""
    cuts = []
    for turn in range(_SPLITS):
        order = stream(f"natural/cut {turn} of projections", seed).permutation(rows)[:_MOST]
        first, second = np.array_split(order, 2)
        cuts += [(first, second), (second, first)]
    return cuts


@dataclass(frozen=True, eq=False)
class _Side:
    """What z leaves of one side (rows, columns), and of it and its sizes (rows, targets), in units of its spread."""

    left: Array
    targets: Array

    @classmethod
    def of(cls, side: Array, smoother: Smoother) -> _Side:
        plain = _scaled(smoother.residuals(side))
        return cls(plain, np.hstack([plain, _scaled(smoother.residuals(np.abs(plain)))]))


def _scaled(columns: Array) -> Array:
    scaled: Array = np.clip(columns / column_scales(columns), -_FAR, _FAR)
    return scaled


def _score(first: _Side, second: _Side, z: Array, smoother: Smoother, parts: tuple[Codes, Codes], seed: int) -> float:
    """The mean product, in standard errors, of the second side and what the first was taught to say of it."""
    teach, test = parts
    condition = _scaled(z - z.mean(axis=0))
    inputs = np.hstack([first.left, condition])
    guess = kernel_regression(inputs[teach], second.targets[teach], seed, marks=_MARKS, widths=_WIDTHS)
    projected = guess(inputs)
    rng = stream("natural/shuffles of projections", seed)
    for _ in range(_SHUFFLES):  # what is left of the prediction with another row's x is a function of z alone
        projected -= guess(np.hstack([first.left[rng.permutation(len(z))], condition])) / _SHUFFLES
    products = (smoother.residuals(projected)[test] * second.targets[test]).sum(axis=1)
    spread = float(products.std())
    return float(np.sqrt(len(test)) * products.mean() / spread) if spread > 0.0 else 0.0
