"""Where a map begins if it is known which latents each domain changes: at the directions in which those domains differ."""

from __future__ import annotations

import numpy as np

from latentry.data import Dataset

__all__ = ["target_start"]

Array = np.ndarray
_SOME = 50_000  # rows that are looked at
_TINY = 1e-6  # of the largest variance within domains, below which a direction is none


def target_start(data: Dataset, name: str, targets: Array, seed: int) -> Array:
    r"""Return a linear map to latents, for standardised columns.

    Between a domain that changes latent i and those that do not, the means differ by :math:`\delta`. If the map were linear and
    all latents normal, :math:`\Sigma^{-1}\delta` (Fisher's discriminant, with the covariance within domains) would read off what
    the other latents do not explain of z_i. Of latents that no domain changes, directions that the others leave are taken.

    Args:
        data: The rows of a fit, with a domain.
        name: Of their table.
        targets: Truth values (domains, latents).
        seed: Of the choice of rows.

    Returns:
        (latents, columns); rows have variance 1 within domains.
    """
    assert data.domain is not None
    some = np.sort(np.random.default_rng(seed).permutation(len(data))[:_SOME])
    values, codes = np.asarray(data.take(some)[name], np.float64), data.domain.values[some]
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    present = np.unique(codes)
    means = np.array([values[codes == code].mean(axis=0) for code in present])
    within = values - means[np.searchsorted(present, codes)]
    sizes, axes = np.linalg.eigh(within.T @ within / len(within))
    white = axes / np.sqrt(np.maximum(sizes, _TINY * sizes.max()))
    differences = np.array([_difference(means @ white, targets[present, i]) for i in range(targets.shape[1])])
    return np.asarray(_completed(differences) @ white.T)


def _difference(means: Array, targeted: Array) -> Array:
    if targeted.all() or not targeted.any():
        return np.zeros(means.shape[1])
    return np.asarray(means[targeted].mean(axis=0) - means[~targeted].mean(axis=0))


def _completed(rows: Array) -> Array:
    """Return rows of length one; those that are zero become directions that are orthogonal to the others."""
    lengths = np.linalg.norm(rows, axis=1)
    known = lengths > _TINY
    result = np.where(known[:, None], rows / np.where(known, lengths, 1.0)[:, None], 0.0)
    if not known.all():
        free = (
            np.linalg.svd(result[known], full_matrices=True)[2][known.sum() :] if known.any() else np.eye(rows.shape[1])
        )
        result[~known] = free[: (~known).sum()]
    return np.asarray(result)
