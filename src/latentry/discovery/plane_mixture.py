"""A density made of planes: how many directions rows vary in, near each place."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp
from sklearn.decomposition import FactorAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

__all__ = ["PlaneMixture", "factor_density", "fit_planes"]

_FLOOR = 1e-6  # of the variance of a standardised column
_STEPS = 30  # of the fit of a mixture


@dataclass(frozen=True, eq=False)
class PlaneMixture:
    """A Gaussian mixture whose covariances can be cut to a number of directions.

    Args:
        weights: Of the components.
        means: (components, columns).
        variances: Of each component along its own axes, ascending, (components, columns).
        axes: (components, columns, columns), one axis a column.
    """

    weights: np.ndarray
    means: np.ndarray
    variances: np.ndarray
    axes: np.ndarray

    def log_density(self, values: np.ndarray, directions: int) -> np.ndarray:
        r"""Return :math:`\log \sum_k \pi_k N(x; \mu_k, W_k W_k^T + \sigma^2 I)`, with W of so many columns.

        A mixture of probabilistic principal component analysers (Tipping and Bishop, 1999) with one noise
        :math:`\sigma^2` for all of them: the mean variance along the axes that are cut.

        Args:
            values: Rows.
            directions: Number of axes that are kept; all of them leave the mixture as it is.

        Returns:
            Nats, one number a row.
        """
        kept, columns = self.variances.copy(), self.means.shape[1]
        if directions < columns:
            noise = self.weights @ kept[:, : columns - directions].mean(axis=1)
            kept[:, : columns - directions] = noise
            kept = np.maximum(kept, noise)
        parts = [
            np.log(weight) - 0.5 * (((values - mean) @ axes) ** 2 / spread + np.log(2 * np.pi * spread)).sum(axis=1)
            for weight, mean, spread, axes in zip(self.weights, self.means, kept, self.axes, strict=True)
        ]
        total: np.ndarray = logsumexp(parts, axis=0)
        return total


def fit_planes(values: np.ndarray, components: int, seed: int) -> PlaneMixture:
    """Fit a Gaussian mixture to standardised rows.

    Cost: linear in rows, components and steps; columns³ for each component and step.

    Args:
        values: Rows.
        components: How many Gaussians.
        seed: Of the start.

    Returns:
        The mixture.

    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(size=(500, 2)) @ [[1, 0, 1], [0, 1, 1]] + 0.1 * rng.normal(size=(500, 3))
    >>> planes = fit_planes(rows, 1, seed=0)
    >>> [round(float(planes.log_density(rows, n).mean()), 1) for n in (1, 2, 3)]
    [-4.0, -2.4, -2.4]
    """
    mixture = GaussianMixture(components, reg_covar=_FLOOR, random_state=seed, max_iter=_STEPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # held-out rows judge it, converged or not
        mixture.fit(values)
    variances, axes = np.linalg.eigh(mixture.covariances_)
    return PlaneMixture(mixture.weights_, mixture.means_, np.maximum(variances, _FLOOR), axes)


def factor_density(values: np.ndarray, new: np.ndarray, directions: int) -> np.ndarray:
    """Return the log density of new rows on one plane with noise of its own for each column: factor analysis (Barber, 2012, 21.1).

    Args:
        values: Standardised rows of the fit.
        new: Other rows.
        directions: Number of factors, fewer than columns.

    Returns:
        Nats, one number a row.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = FactorAnalysis(directions, max_iter=200, svd_method="lapack").fit(values)
    result: np.ndarray = model.score_samples(new)
    return result
