r"""How much the natural parameters change between domains in the direction in which they change least.

Let :math:`\hat\lambda_u` be measured natural parameters with covariance :math:`C_u / N_u` in domain u. In a direction v,

.. math:: Q(v) = \min_c \sum_u N_u \frac{(v^\top \hat\lambda_u - c)^2}{v^\top C_u v}

has a noncentral :math:`\chi^2` distribution with M - 1 degrees of freedom and noncentrality :math:`N \rho(v)^2`, where
:math:`N = \sum_u N_u` and :math:`\rho(v)` is the change in that direction in standard errors of a single row. The matrix of
changes loses a rank exactly when :math:`\rho = \min_v \rho(v) = 0`. No affine map of the sufficient statistics changes
:math:`\rho`: it belongs to the distribution of the data, not to the model that was fitted.

As :math:`\min_v Q(v) \le Q(v_0)` at the true weakest :math:`v_0`, a lower limit on :math:`\rho` from M - 1 degrees of freedom
holds with at least its confidence. The upper limit uses the M - p degrees of freedom that are left when p - 1 are
spent on choosing v, which is exact as the rows grow (as in limited-information estimation, Anderson and Rubin, 1950).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from latentry.information import noncentrality
from latentry.streams import stream

__all__ = ["Change", "change_along", "rank_of_changes", "spectrum", "weakest_change"]


@dataclass(frozen=True, eq=False)
class Change:
    """A change between domains in standard errors of one row: estimate, limits, and its direction."""

    value: float
    low: float
    high: float
    direction: np.ndarray

    def exceeds(self, tolerance: float) -> bool | None:
        """Return whether the change is larger than a tolerance; None when the limits leave it open.

        Args:
            tolerance: In standard errors of one row.

        Returns:
            True, False or None.
        """
        if self.low > tolerance:
            return True
        return False if self.high <= tolerance else None


def change_along(values: np.ndarray, noise: np.ndarray, rows: np.ndarray, level: float) -> Change:
    """Estimate the change of one number per domain, with limits that each fail with probability ``level``.

    Args:
        values: Measured numbers, (domains,).
        noise: The variance that each would have from one row, (domains,).
        rows: Rows of each domain, (domains,).
        level: Probability of error of each limit.

    Returns:
        The change.
    """
    statistic, _ = change_statistic(np.ones(1), values[:, None], noise[:, None, None], rows)
    return _limits(statistic, len(values), 1, rows.sum(), level, np.ones(1))


def weakest_change(
    values: np.ndarray, noise: np.ndarray, rows: np.ndarray, level: float, *, starts: np.ndarray | None = None
) -> Change:
    """Estimate the change in the weakest direction of p natural parameters, measured in more than p domains.

    Args:
        values: Natural parameters, (domains, p).
        noise: The covariance that each would have from one row, (domains, p, p).
        rows: Rows of each domain, (domains,).
        level: Probability of error of each limit.
        starts: Directions from which the search begins, (starts, p); several by default.

    Returns:
        The change, and its direction of length 1.
    """
    root = _inverse_root(np.average(noise, axis=0, weights=rows))
    white, white_noise = values @ root, root @ noise @ root
    if starts is None:
        around = np.linalg.eigh(_scatter(white, rows))[1].T
        random = stream("identifiability/weakest change", 0).standard_normal((24, len(root)))  # it has several minima
        starts = np.concatenate([around, np.linalg.inv(root), random])
    else:
        starts = starts @ np.linalg.inv(root)
    result = min((_descend(start, white, white_noise, rows) for start in starts), key=lambda pair: pair[0])
    return _limits(result[0], len(values), values.shape[1], rows.sum(), level, root @ result[1])


def spectrum(values: np.ndarray, noise: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return changes along the principal directions, in standard errors of one row of the average domain.

    Args:
        values: Natural parameters, (domains, p).
        noise: The covariance that each would have from one row, (domains, p, p).
        rows: Rows of each domain, (domains,).

    Returns:
        (p,), largest first.
    """
    root = _inverse_root(np.average(noise, axis=0, weights=rows))
    squares = np.linalg.eigvalsh(root @ _scatter(values, rows) @ root)[::-1]
    changes: np.ndarray = np.sqrt(np.maximum(squares, 0) / rows.sum())
    return changes


def rank_of_changes(
    values: np.ndarray, noise: np.ndarray, rows: np.ndarray, level: float, *, draws: int = 300, seed: int = 0
) -> int:
    """Return the smallest rank that the measured changes do not refute at ``level``.

    For r = 0, 1, … the squares of the singular values beyond the r-th are compared with those of pure measurement noise,
    drawn from its own distribution in each domain and seen in the directions that rank r leaves over (after Robin and Smith, 2000).

    Args:
        values: Natural parameters, (domains, p).
        noise: The covariance that each would have from one row, (domains, p, p).
        rows: Rows of each domain, (domains,).
        level: Probability of refuting the true rank.
        draws: Of the noise.
        seed: Of these.

    Returns:
        Between 0 and p, and below the number of domains.
    """
    root = _inverse_root(np.average(noise, axis=0, weights=rows))
    weight = np.sqrt(rows)[:, None]
    centred = weight * (values - np.average(values, axis=0, weights=rows)) @ root
    left, size, right = np.linalg.svd(centred, full_matrices=False)
    errors = _noise_draws(root @ noise @ root, rows, draws, seed)
    most = min(len(size), len(rows) - 1)
    for rank in range(most):
        up, over = left[:, :rank], right[:rank].T
        rest = errors - up @ (up.T @ errors)
        rest = rest - (rest @ over) @ over.T
        beaten = (rest**2).sum(axis=(1, 2)) >= (size[rank:] ** 2).sum()
        if (1 + beaten.sum()) / (1 + draws) > level:
            return rank
    return most


def _noise_draws(noise: np.ndarray, rows: np.ndarray, draws: int, seed: int) -> np.ndarray:
    roots = np.linalg.cholesky(noise + 1e-12 * np.eye(noise.shape[1]))
    standard = stream("identifiability/weakest change", seed).standard_normal((draws, *noise.shape[:2]))
    errors = np.einsum("uij,duj->dui", roots, standard)  # already times √rows
    mean = np.einsum("u,dui->di", np.sqrt(rows), errors) / rows.sum()
    centred: np.ndarray = errors - np.sqrt(rows)[None, :, None] * mean[:, None, :]
    return centred


def change_statistic(
    v: np.ndarray, values: np.ndarray, noise: np.ndarray, rows: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return how far the values along v differ between domains, in units of their noise, and the gradient in v."""
    along, turned = values @ v, noise @ v
    spread = turned @ v
    weight = rows / spread
    away = along - (weight @ along) / weight.sum()
    pulled = weight * away
    gradient = 2 * pulled @ values - 2 * (pulled * away / spread) @ turned
    return float(pulled @ away), gradient


def _descend(start: np.ndarray, values: np.ndarray, noise: np.ndarray, rows: np.ndarray) -> tuple[float, np.ndarray]:
    # The statistic does not depend on the length of v, so that no constraint is needed.
    begin = start / np.linalg.norm(start)
    result = minimize(
        change_statistic, begin, (values, noise, rows), jac=True, method="L-BFGS-B", options={"maxiter": 500}
    )
    return float(result.fun), result.x / np.linalg.norm(result.x)


def _limits(statistic: float, domains: int, size: int, rows: float, level: float, direction: np.ndarray) -> Change:
    value = np.sqrt(max(statistic - (domains - size), 0.0) / rows)
    low = np.sqrt(noncentrality(statistic, domains - 1, 1 - level) / rows)
    high = np.sqrt(noncentrality(statistic, domains - size, level) / rows)
    return Change(float(value), float(low), float(high), direction / np.linalg.norm(direction))


def _scatter(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    centred = values - np.average(values, axis=0, weights=rows)
    scatter: np.ndarray = (centred * rows[:, None]).T @ centred
    return scatter


def _inverse_root(matrix: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(matrix)
    root: np.ndarray = (vectors / np.sqrt(np.maximum(values, 1e-300))) @ vectors.T
    return root
