"""How far above the answer the truth may lie, and whether a Gaussian copula leaves something out.

No sample bounds mutual information from above for every distribution. Two signs of a low answer can be read off the data.

- It still grows. Neighbour counts are biased like (k/n)^(2/D) in D joint dimensions where the density is smooth (Gao, Oh and
  Viswanath, IEEE Trans. Inf. Theory 64, 2018), like (k/n)^(1/D) where it has edges, learned functions about like 1/√rows.
  Twice the neighbours, or half the rows, thus tell how much is left (Richardson extrapolation).
- What the copula explains leaves a pattern. If scores are jointly normal, y less its regression on x is independent of x. The test
  correlates it with squares of x and with x times the squared length of x, and the two squared lengths with each other (in
  the spirit of White, Econometrica 48, 1980), in both directions, with a Bonferroni bar.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from latentry.information.gaussian import gaussian_information
from latentry.information.normalisers import std, whiten

__all__ = ["Residue", "extrapolated", "residue"]

Array = np.ndarray
LEVEL = 0.01  # of the test: one Gaussian copula in a hundred is doubted without cause


def extrapolated(fine: float, coarse: float, rate: float) -> float:
    """Return what is still missing from `fine`, if the bias grows by 2^rate from it to `coarse`; never less than nothing.

    Args:
        fine: Estimate with the smaller bias.
        coarse: Estimate with the larger bias.
        rate: Power of two by which the bias grows.

    Returns:
        Nats.

    >>> extrapolated(0.9, 0.8, 1.0)  # bias .1 and .2
    0.1
    """
    return round(max(0.0, fine - coarse) / (2**rate - 1), 12)


@dataclass(frozen=True)
class Residue:
    """What a Gaussian copula leaves: the smallest corrected p-value, where it is, and how much more wider columns read."""

    p_value: float
    where: str
    gain: float

    @property
    def refuted(self) -> bool:
        """Return whether the copula is refuted."""
        return self.p_value < LEVEL


def residue(x: Array, y: Array) -> Residue:
    """Test normal scores for dependence beyond correlation.

    Args:
        x: Normal scores.
        y: Normal scores.

    Returns:
        The smallest p-value, its pattern, and how much more wider columns read.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((800, 2))
    >>> bent = x**2 + rng.standard_normal((800, 2))
    >>> residue(x, x + rng.standard_normal((800, 2))).refuted, residue(x, bent).refuted
    (False, True)
    """
    x, y = whiten(x), whiten(y)  # symmetric, so that columns keep their place: what differs often does so in a few
    tests = [_worst(name, f, e) for a, b in ((x, y), (y, x)) for name, f, e in _patterns(a, b)]
    p_value, where = min(tests)
    gain = gaussian_information(*map(_widened, (x, y))) - gaussian_information(x, y)
    return Residue(min(1.0, len(tests) * p_value), where, max(0.0, gain))


def _length(x: Array) -> Array:
    return np.asarray(np.sum(x**2, axis=1, keepdims=True) / x.shape[1] - 1)


def _widened(x: Array) -> Array:
    """The columns, and the columns times the squared length of their row."""
    return np.hstack([x, x * _length(x)])


def _patterns(x: Array, y: Array) -> list[tuple[str, Array, Array]]:
    rest = y - x @ (x.T @ y) / len(x)
    scaled, curve = (f - x @ (x.T @ f) / len(x) for f in (x * _length(x), x**2))
    return [
        ("coefficients change with the size of the row", scaled, rest),
        ("regressions are curved", curve, rest),
        ("spreads change with the size of the row", _length(x), whiten(rest) ** 2),
    ]


def _worst(name: str, features: Array, rest: Array) -> tuple[float, str]:
    """The largest correlation of any feature with any column, as a p-value corrected for their number."""
    z = np.abs(std(features).T @ std(rest)) / np.sqrt(len(rest))
    return float(min(1.0, 2 * z.size * stats.norm.sf(z.max()))), name
