"""How much better one model scores rows than another: a paired difference with the error of its mean."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, t

__all__ = ["Gain", "mean_gain"]


class Gain(NamedTuple):
    """A mean difference of scores, nats per row.

    Args:
        mean: Over rows.
        error: Its standard error, over units.
        units: Rows, or groups of rows, that are independent of each other.
    """

    mean: float
    error: float
    units: int

    def __str__(self) -> str:
        return f"{self.mean:+.3f} ± {self.error:.3f}"

    def exceeds(self, size: float) -> float:
        """Return the p-value of "the difference is at most this size".

        Args:
            size: Nats per row.

        Returns:
            A probability.
        """
        if not self.error > 0:
            return float(self.mean <= size)
        return float(t.sf((self.mean - size) / self.error, self.units - 1))

    def power(self, planted: float, size: float, level: float) -> float:
        """Return the probability that a difference would have been found.

        Args:
            planted: The difference.
            size: That counts as none.
            level: Of the test.

        Returns:
            A probability.
        """
        error = max(self.error, 1e-12)
        return float(norm.sf(norm.isf(level) - (planted - size) / error))


def mean_gain(differences: NDArray[np.float64], units: NDArray[np.int64] | None = None) -> Gain:
    """Average differences over rows, with an error that counts rows of one unit together.

    Cost: linear in the rows.

    Args:
        differences: Of the scores of each row.
        units: The number of each row's unit; None where rows stand alone.

    Returns:
        The mean and its error.

    >>> print(mean_gain(np.array([0.1, 0.3, 0.2, 0.2])))
    +0.200 ± 0.041
    >>> mean_gain(np.repeat([0.1, 0.3], 50), np.repeat([0, 1], 50)).units
    2
    """
    code = np.arange(len(differences)) if units is None else np.unique(units, return_inverse=True)[1]
    mean, count = float(differences.mean()), int(code.max()) + 1
    sums = np.bincount(code, differences - mean)
    error = np.sqrt((sums**2).sum() * count / max(count - 1, 1)) / len(differences)
    return Gain(mean, float(error), count)
