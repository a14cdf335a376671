"""Intervals for a conditional total correlation from a likelihood-ratio statistic.

2N times the plug-in total correlation is a likelihood-ratio statistic: about χ² with `freedom` degrees when the
truth is zero and non-central χ² with non-centrality 2N·TC near it; far from zero it is normal with the variance of
the log-ratio. Inverting both and keeping the wider gives intervals that are right at zero and away from it, for
many rows: the assumption is stated, because it is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import chi2, ncx2, norm

from latentry.natural.gaussian import gaussian_total_correlation

__all__ = ["Ratio", "discrete_ratio", "gaussian_ratio", "joint_codes"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
# Above this the non-central χ² is normal to three digits, and slow to evaluate.
_LARGE = 2000.0


@dataclass(frozen=True)
class Ratio:
    """A plug-in total correlation in nats, with what its distribution depends on."""

    value: float
    freedom: int
    rows: int
    variance: float
    crowding: float

    @property
    def statistic(self) -> float:
        """Return 2N times the value."""
        return 2.0 * self.rows * self.value

    @property
    def corrected(self) -> float:
        """Subtract from the value its bias at zero, freedom / 2N."""
        return max(0.0, self.value - self.freedom / (2.0 * self.rows))

    def p_value(self) -> float:
        """Compute the p-value of the hypothesis that the truth is zero."""
        return float(chi2.sf(self.statistic, self.freedom)) if self.freedom else 1.0

    def lower(self, delta: float) -> float:
        """Compute a lower confidence bound for many rows.

        Args:
            delta: One minus the confidence.

        Returns:
            Nats, ≥ 0.
        """
        if not self.freedom or self.p_value() > delta:
            return 0.0
        normal = self.corrected - norm.ppf(1 - delta) * np.sqrt(self.variance / self.rows)
        if self.statistic > _LARGE:
            return max(0.0, float(normal))
        shift = brentq(lambda c: ncx2.sf(self.statistic, self.freedom, c) - delta, 0.0, 4 * self.statistic + 10)
        return max(0.0, min(float(normal), float(shift) / (2 * self.rows)))

    def upper(self, delta: float) -> float:
        """Compute an upper confidence bound for many rows.

        Args:
            delta: One minus the confidence.

        Returns:
            Nats, ≥ 0.
        """
        if not self.freedom:
            return 0.0
        normal = self.corrected + norm.ppf(1 - delta) * np.sqrt(self.variance / self.rows)
        if self.statistic > _LARGE:
            return float(normal)
        if chi2.cdf(self.statistic, self.freedom) <= delta:
            return max(0.0, float(normal))
        far = 4 * self.statistic + 20 * self.freedom + 100
        shift = brentq(lambda c: ncx2.cdf(self.statistic, self.freedom, c) - delta, 0.0, far)
        return max(float(normal), float(shift) / (2 * self.rows))

    def power(self, epsilon: float, delta: float) -> float:
        """Compute the probability that the test of zero at level delta rejects when the truth is epsilon.

        Args:
            epsilon: Nats.
            delta: Level of the test.

        Returns:
            A probability.
        """
        if not self.freedom:
            return 0.0
        cut = chi2.ppf(1 - delta, self.freedom)
        return float(ncx2.sf(cut, self.freedom, 2 * self.rows * epsilon))


def discrete_ratio(blocks: list[Codes], given: Codes) -> Ratio:
    """Compute the plug-in TC(blocks | given) of columns of codes.

    >>> rng = np.random.default_rng(0)
    >>> x, y, z = (rng.integers(0, 2, 2000) for _ in range(3))
    >>> discrete_ratio([x, y], z).freedom, discrete_ratio([x, y], z).corrected < 0.005
    (2, True)

    Args:
        blocks: Columns of codes (rows,).
        given: Codes of the condition (rows,).

    Returns:
        The value with its degrees of freedom.
    """
    rows = len(given)
    base = _counts([given])
    logs = (len(blocks) - 1) * np.log(base) + np.log(_counts([given, *blocks]))
    for block in blocks:
        logs = logs - np.log(_counts([given, block]))
    freedom, cells = _freedom(blocks, given)
    return Ratio(max(0.0, float(logs.mean())), freedom, rows, float(logs.var()), rows / max(cells, 1))


def _counts(columns: list[Codes]) -> NDArray[np.int64]:
    """How many rows share each row's values."""
    place = joint_codes(columns)
    return np.bincount(place)[place]


def joint_codes(columns: Sequence[Codes]) -> Codes:
    """Number the combinations of values that occur, 0, 1, ...

    >>> joint_codes([np.array([3, 3, 5]), np.array([0, 1, 0])])
    array([0, 1, 2])

    Args:
        columns: Columns of codes (rows,).

    Returns:
        One code per row.
    """
    joint = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        codes = column - column.min()
        width = int(codes.max()) + 1
        if (int(joint.max()) + 1) * width > 2**20:  # keep the codes dense, so that counting needs no sorting
            joint = np.unique(joint, return_inverse=True)[1]
            codes = np.unique(codes, return_inverse=True)[1]
            width = int(codes.max()) + 1
        joint = joint * width + codes
    seen = np.bincount(joint, minlength=1) > 0 if int(joint.max()) < 2**22 else None
    return np.unique(joint, return_inverse=True)[1] if seen is None else (np.cumsum(seen) - 1)[joint]


def _freedom(blocks: list[Codes], given: Codes) -> tuple[int, int]:
    """Σ_c (Π_i l_i − 1 − Σ_i (l_i − 1)) with the levels seen in each stratum, and the number of cells."""
    strata = joint_codes([given])
    levels = np.stack([_levels_in(strata, block) for block in blocks])
    cells = int(np.prod(levels, axis=0).sum())
    return cells - levels.shape[1] - int((levels - 1).sum()), cells


def _levels_in(strata: Codes, block: Codes) -> NDArray[np.int64]:
    """How many values of a block occur in each stratum."""
    pairs = joint_codes([strata, block])
    first = np.zeros(int(pairs.max()) + 1, dtype=np.int64)
    first[pairs] = strata
    return np.bincount(first)


def gaussian_ratio(covariance: Array, rows: int, blocks: list[list[int]], given: list[int]) -> Ratio:
    """Compute TC of Gaussian blocks given others from a sample covariance.

    The variance of the log-ratio of one row is ½ tr((R − I)²), R the conditional covariance whitened block by block:
    2 TC near zero for two blocks, more for many that lean in the same direction.

    Args:
        covariance: (d, d), of the sample.
        rows: Number of rows behind it.
        blocks: Columns of each block.
        given: Columns of the condition.

    Returns:
        The value with its degrees of freedom.
    """
    value = gaussian_total_correlation(covariance, blocks, given)
    sizes = [len(b) for b in blocks]
    freedom = (sum(sizes) ** 2 - sum(s * s for s in sizes)) // 2
    effective = max(2, rows - 1 - len(given))
    variance = max(2.0 * value, 0.5 * _lean(covariance, blocks, given))
    return Ratio(value, freedom, effective, variance, rows / max(freedom, 1))


def _lean(covariance: Array, blocks: list[list[int]], given: list[int]) -> float:
    """tr((R − I)²) of the blocks given others."""
    inside = [i for block in blocks for i in block]
    rest = covariance[np.ix_(inside, inside)]
    if given:
        across = covariance[np.ix_(inside, given)]
        rest = rest - across @ np.linalg.pinv(covariance[np.ix_(given, given)]) @ across.T
    start, whiten = 0, np.zeros_like(rest)
    for block in blocks:
        part = slice(start, start + len(block))
        values, vectors = np.linalg.eigh(rest[part, part])
        whiten[part, part] = vectors @ np.diag(1 / np.sqrt(np.maximum(values, 1e-12))) @ vectors.T
        start += len(block)
    return float(np.sum((whiten @ rest @ whiten - np.eye(len(rest))) ** 2))
