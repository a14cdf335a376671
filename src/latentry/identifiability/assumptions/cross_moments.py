r"""Departures that are small on every row and clear over many: sums of squared moments against a tolerance.

A fit is never perfect, and with enough rows a test of "exactly none" rejects every fit. So what is tested is whether the
root mean square :math:`\tau` of a moment over the domains exceeds a tolerance :math:`\tau_0`: with moments
:math:`m_d` of variance :math:`1/n_d`, :math:`\sum_d n_d m_d^2` is at most noncentral :math:`\chi^2_D(\tau_0^2 \sum_d n_d)`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ncx2

__all__ = ["Excess", "excess", "power_at"]

Array = NDArray[np.float64]


class Excess(NamedTuple):
    """How far moments exceed a tolerance, over all places that were looked at.

    Args:
        p_value: Of "no root mean square exceeds the tolerance", with Bonferroni's correction.
        size: The largest root mean square, noise taken off.
        place: Its number among the moments.
        looks: How many tests the p-value is corrected for.
    """

    p_value: float
    size: float
    place: int
    looks: int


def excess(moments: Array, rows: Array, tolerance: float, alone: float) -> Excess:
    """Test whether any moment exceeds a tolerance, over all domains together and in each by itself.

    Args:
        moments: Of each domain, (domains, kinds), each with variance 1/rows where there is no departure.
        rows: Independent rows of each domain, (domains,).
        tolerance: Root mean square over the domains that does not count.
        alone: Size in a single domain that does not count.

    Returns:
        The test.

    >>> rng = np.random.default_rng(0)
    >>> rows = np.full(10, 400.0)
    >>> excess(rng.normal(size=(10, 3)) / 20, rows, 0.05, 0.2).p_value > 0.05
    True
    >>> excess(rng.normal(size=(10, 3)) / 20 + 0.2, rows, 0.05, 0.2).p_value < 0.001
    True
    """
    domains, kinds = moments.shape
    total = rows.sum()
    together = _tail((rows[:, None] * moments**2).sum(axis=0), domains, np.full(kinds, tolerance**2 * total))
    single = _tail(rows[:, None] * moments**2, 1, np.broadcast_to(alone**2 * rows[:, None], moments.shape))
    looks = kinds * (1 + domains)
    p_value = min(1.0, float(min(together.min() * 2 * kinds, single.min() * 2 * kinds * domains)))
    squares = np.maximum(((rows[:, None] * moments**2).sum(axis=0) - domains) / total, 0.0)
    place = int(squares.argmax())
    return Excess(p_value, float(np.sqrt(squares[place])), place, looks)


def _tail(statistic: Array, freedom: int, noncentrality: Array) -> Array:
    """Return the upper tail where the statistic is above its mean, and 1 below: SciPy overflows far below it."""
    above = statistic > freedom + noncentrality
    tail = np.ones_like(statistic)
    tail[above] = ncx2.sf(statistic[above], freedom, noncentrality[above])
    return tail


def power_at(size: float, rows: Array, tolerance: float, kinds: int, level: float) -> float:
    """Compute the probability that a departure of this root mean square would have been found.

    Args:
        size: Root mean square of one moment over the domains.
        rows: Independent rows of each domain.
        tolerance: As in :func:`excess`.
        kinds: Number of moments.
        level: Of the test.

    Returns:
        A probability.
    """
    total, domains = float(rows.sum()), len(rows)
    least = ncx2.isf(level / (2 * kinds), domains, tolerance**2 * total)
    return float(ncx2.sf(least, domains, size**2 * total))
