"""Gaussian observables and latents: the errors from covariances, and the best latent of a pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latentry.errors import DataError

__all__ = ["GaussianPair", "gaussian_pair", "gaussian_total_correlation"]

Array = NDArray[np.float64]


def gaussian_total_correlation(
    covariance: ArrayLike, blocks: Sequence[Sequence[int]], given: Sequence[int] = ()
) -> float:
    """Compute TC of jointly Gaussian blocks given others: ½ [Σ_i ln det Σ_{X_i|C} − ln det Σ_{X|C}].

    With blocks X_1, ..., X_n and C = Λ it is the mediation error; with blocks Λ and X_{−i} and C = X_i, the
    redundancy error.

    Cost: cubic in the columns.

    >>> round(gaussian_total_correlation([[1, 0.5], [0.5, 1]], [[0], [1]]), 6)  # −½ ln(1 − ¼)
    0.143841

    Args:
        covariance: (d, d) covariance of all variables.
        blocks: Columns of each block.
        given: Columns of the condition; none by default.

    Returns:
        Nats, ≥ 0.

    Raises:
        DataError: If the covariance of the blocks given the condition is singular or not a covariance.
    """
    sigma = np.asarray(covariance, dtype=np.float64)
    order = [a for block in blocks for a in block]
    inside = sigma[np.ix_(order, order)]
    if given:
        across = sigma[np.ix_(order, list(given))]
        inside = inside - across @ np.linalg.solve(sigma[np.ix_(list(given), list(given))], across.T)
    ends = np.cumsum([0, *(len(block) for block in blocks)])
    parts = [_log_det(inside[a:b, a:b]) for a, b in zip(ends[:-1], ends[1:], strict=True)]
    return max(0.0, 0.5 * (sum(parts) - _log_det(inside)))


def _log_det(matrix: Array) -> float:
    values = np.linalg.eigvalsh(matrix)
    if values.min() < 0 and -values.min() > 1e-9 * values.max():
        raise DataError(
            "covariance: has a negative variance along some direction, so it is not a covariance. Estimate it from rows."
        )
    if values.min() <= 0:
        raise DataError(
            "covariance: is singular, a variable is a function of others, and the information is infinite. "
            "Declare noise on the latent, or drop the repeated column."
        )
    return float(np.log(values).sum())


@dataclass(frozen=True)
class GaussianPair:
    """The best Gaussian latent of a Gaussian pair.

    Args:
        score: I(X;Y|Λ) + I(Λ;X|Y) + I(Λ;Y|X) in nats.
        conditional_correlation: Of X and Y given Λ.
        conditional_variance: Of X and of Y given Λ, when both have variance one.
    """

    score: float
    conditional_correlation: float
    conditional_variance: float


def gaussian_pair(correlation: float) -> GaussianPair:
    """Compute the best Gaussian latent of two unit normals.

    Up to |ρ| = ½ it is constant, with score −½ ln(1 − ρ²); beyond, it leaves X and Y with correlation exactly
    ½ and the score is ln(1 + |ρ|) + ln 4 − 1.5 ln 3. It tends to 0.4315 nats as |ρ| → 1, never to zero.

    Cost: constant.

    >>> round(gaussian_pair(0.9999).score, 4), gaussian_pair(0.3).conditional_variance
    (0.4315, 1.0)

    Args:
        correlation: ρ of the two, strictly between −1 and 1.

    Returns:
        Its score, and what it leaves of the pair.

    Raises:
        DataError: If |ρ| ≥ 1.
    """
    rho = abs(float(correlation))
    if not rho < 1:
        raise DataError(f"correlation={correlation}: must lie strictly between -1 and 1.")
    sign = 1.0 if correlation >= 0 else -1.0
    if rho <= 0.5:
        return GaussianPair(-0.5 * float(np.log1p(-rho * rho)), sign * rho, 1.0)
    score = float(np.log1p(rho) + np.log(4) - 1.5 * np.log(3))
    return GaussianPair(score, sign * 0.5, 2 * (1 - rho))
