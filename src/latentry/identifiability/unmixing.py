"""Linear unmixing of latents that are known only up to a linear map."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning

from latentry.errors import DataError, DataWarning, nearest
from latentry.identifiability.metrics.matching import Columns, as_columns, near_one

__all__ = ["unmix"]

_STATISTICS = ("z", "squares")


def unmix(z: Columns, *, fit_on: Columns, statistics: str = "z", seed: int = 0) -> np.ndarray:
    r"""Estimate independent components of latents: FastICA fitted on ``fit_on``, applied to ``z``.

    Theorem 1 of Khemakhem et al. (2020) leaves a matrix A between estimated and true sufficient statistics,
    :math:`T(z) = A\,T^*(z^*) + b`; linear independent component analysis (Hyvärinen, 1999) takes it off where the
    statistics are not Gaussian. Report scores with and without it.

    Cost: rows · latents² for each step.

    Args:
        z: Latents to unmix, (rows, latents).
        fit_on: Latents of other rows, to learn the unmixing from.
        statistics: "z", or "squares" to unmix squared deviations from the mean: then estimates of squares come back, of
            unknown scale and sign.
        seed: Of the start.

    Returns:
        Components, (rows, latents), in no particular order.

    Raises:
        DataError: If the latents differ, rows are too few, or a latent is constant or a copy of others.

    >>> s = np.random.default_rng(0).laplace(size=(4000, 2))
    >>> z = s @ np.array([[1, 1], [-1, 1]])
    >>> from latentry.identifiability import mcc
    >>> round(mcc(z[:2000], s[:2000]), 1), round(mcc(unmix(z[:2000], fit_on=z[2000:]), s[:2000]), 2)
    (0.7, 1.0)
    """
    if statistics not in _STATISTICS:
        raise DataError(f"statistics={statistics!r}: is not known{nearest(str(statistics), _STATISTICS)}")
    latents, train = as_columns("z", z), as_columns("fit_on", fit_on)
    if latents.shape[1] != train.shape[1]:
        raise DataError(f"z has {latents.shape[1]} latents and fit_on has {train.shape[1]}. Give the same latents.")
    if len(train) <= train.shape[1]:
        raise DataError(f"fit_on has {len(train)} rows for {train.shape[1]} latents. Give many more rows than latents.")
    train, latents = near_one(train, latents)
    if statistics == "squares":
        centre = train.mean(axis=0)
        latents, train = (latents - centre) ** 2, (train - centre) ** 2
    spread = train.std(axis=0)
    if not (spread > 0).all() or np.linalg.matrix_rank(np.cov(train.T / spread[:, None])) < train.shape[1]:
        raise DataError("fit_on: a latent is constant or a copy of others. Leave it out before unmixing.")
    components: np.ndarray = _fitted(train / spread, seed).transform(latents / spread)
    return components


def _fitted(train: np.ndarray, seed: int) -> FastICA:
    learner = FastICA(whiten="unit-variance", max_iter=1000, tol=1e-5, random_state=seed)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", ConvergenceWarning)
        learner.fit(train)
    if any(issubclass(warning.category, ConvergenceWarning) for warning in said):
        warnings.warn(
            "FastICA did not converge on these latents, as happens when two of them are Gaussian: the unmixing is arbitrary there.",
            DataWarning,
            stacklevel=3,
        )
    return learner
