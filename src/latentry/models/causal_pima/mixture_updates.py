r"""Block-coordinate updates of the mixture: exact variational EM on encoded rows, in double precision.

Given the encoder, :math:`\gamma_{dc} \propto A_c \exp E_q \log p(z \mid c)` is the exact mean-field optimum, and each
update below maximises the bound plus the log-prior over one block of parameters: neither can lower it. The priors
(pseudo-counts) keep clusters that have no rows finite.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Encoded", "Gaussians", "Moments", "Shape", "e_step", "log_prior", "m_step", "moments", "shape_of"]

Array = NDArray[np.float64]

_ROWS = 1.0  # pseudo-rows of each cluster's prior
_SPREAD = 0.1  # prior variance of a latent within a cluster
_FLOOR = 1e-4  # smallest variance


@dataclass(frozen=True, eq=False)
class Encoded:
    """Rows as the encoder sees them: means and variances of the latents, and what else speaks for each cluster.

    Args:
        mean: (rows, latents).
        variance: (rows, latents): marginal variances.
        beside: (rows, clusters): log-likelihoods that depend on the cluster alone, such as experts'.
        experiment: (rows,) codes of the experiment that a row comes from.
    """

    mean: Array
    variance: Array
    beside: Array | float = 0.0
    experiment: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False)
class Gaussians:
    """Means (clusters, latents) and factors F (clusters, latents, latents) of the precisions F'F."""

    means: Array
    factors: Array


@dataclass(frozen=True, eq=False)
class Moments:
    """What the rows say of each cluster: expected number, mean, and scatter about it, (clusters, ...)."""

    weight: Array
    mean: Array
    scatter: Array


@dataclass(frozen=True, eq=False)
class Shape:
    """Which mixtures are allowed.

    Args:
        design: (clusters, parts): the mean of a cluster is a sum of these parts.
        open: (parts, latents): False where a part does not move a latent.
        tied: for each latent, the group of every cluster: clusters of one group share the variance.
        full: whether clusters have covariances of their own instead.
    """

    design: Array
    open: NDArray[np.bool_]
    tied: NDArray[np.int64]  # (latents, clusters)
    full: bool = False


def shape_of(outcomes: Sequence[int], latents: int, *, means: str, full: bool = False) -> Shape:
    """Return the shape of that name: "axes" (node ℓ moves latent ℓ alone), "additive", or "free".

    Args:
        outcomes: of each node.
        latents: how many.
        means: the name.
        full: whether clusters have covariances of their own.

    Returns:
        Which mixtures are allowed.

    >>> shape_of((2, 2), 2, means="axes").open.astype(int).tolist()  # a constant, then one part per node
    [[1, 1], [1, 0], [0, 1]]
    """
    values = np.stack(np.unravel_index(np.arange(math.prod(outcomes)), outcomes))
    clusters = values.shape[1]
    if means == "free":
        return Shape(np.eye(clusters), np.ones((clusters, latents), bool), _each(clusters, latents), full)
    parts, opened = [np.ones(clusters)], [np.ones(latents, bool)]
    for node, count in enumerate(outcomes):
        for value in range(1, count):
            parts.append((values[node] == value).astype(float))
            opened.append((np.arange(latents) == node) | (means == "additive"))
    tied = _each(clusters, latents)
    if means == "axes":
        tied = np.stack([values[j] if j < len(outcomes) else np.zeros(clusters, int) for j in range(latents)])
    return Shape(np.stack(parts, axis=1), np.stack(opened), tied, full)


def _each(clusters: int, latents: int) -> NDArray[np.int64]:
    return np.tile(np.arange(clusters), (latents, 1))


def e_step(rows: Encoded, gaussians: Gaussians, log_table: Array) -> tuple[Array, Array]:
    """Return posterior probabilities of the clusters, and the mixture part of the bound of each row.

    Args:
        rows: as the encoder sees them.
        gaussians: of the clusters.
        log_table: log-probabilities of the clusters, (experiments, clusters).

    Returns:
        Probabilities (rows, clusters), and one number a row.
    """
    logits = expected_log_density(rows, gaussians) + rows.beside
    logits = logits + (log_table[-1] if rows.experiment is None else log_table[rows.experiment])
    # By hand: on few rows the checks of a general logsumexp cost more than the sum.
    top = logits.max(axis=1, keepdims=True)
    parts = np.exp(logits - top)
    sums = parts.sum(axis=1, keepdims=True)
    return parts / sums, (top + np.log(sums))[:, 0]


def expected_log_density(rows: Encoded, gaussians: Gaussians) -> Array:
    """Return E_q log p(z | c), (rows, clusters)."""
    factors = gaussians.factors
    # ‖F(μ − m)‖² for all clusters by one product: [F m] is subtracted after stacking.
    stacked = rows.mean @ factors.reshape(-1, factors.shape[2]).T
    away = stacked.reshape(len(rows.mean), *factors.shape[:2]) - np.einsum("kij,kj->ki", factors, gaussians.means)
    spread = rows.variance @ (factors**2).sum(axis=1).T
    log_det = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
    constant = 0.5 * rows.mean.shape[1] * math.log(2 * math.pi)
    density: Array = log_det - constant - 0.5 * (np.einsum("rki,rki->rk", away, away) + spread)
    return density


def moments(rows: Encoded, gamma: Array) -> Moments:
    """Return expected counts, means and scatters of the clusters.

    Args:
        rows: as the encoder sees them.
        gamma: probabilities of the clusters, (rows, clusters).

    Returns:
        The moments.
    """
    weight = gamma.sum(axis=0)
    safe = np.maximum(weight, 1e-300)
    mean = gamma.T @ rows.mean / safe[:, None]
    second = (gamma.T[:, None] * rows.mean.T) @ rows.mean  # Σ_r γ_rk μ_ri μ_rj
    scatter = second - weight[:, None, None] * mean[:, :, None] * mean[:, None, :]
    inner = gamma.T @ rows.variance
    return Moments(weight, mean, scatter + inner[:, :, None] * np.eye(mean.shape[1]))


def m_step(sums: Moments, shape: Shape, before: Gaussians, *, pseudo: float = _ROWS) -> Gaussians:
    """Update means for the old precisions, then variances for the new means (Equation 17, with priors).

    Args:
        sums: what the rows say of each cluster.
        shape: which mixtures are allowed.
        before: the Gaussians as they were.
        pseudo: multiplies the pseudo-rows of the prior.

    Returns:
        The Gaussians after the update.
    """
    means = _means(sums, shape, before.factors, pseudo)
    away = sums.mean - means
    about = sums.scatter + sums.weight[:, None, None] * away[:, :, None] * away[:, None, :]
    return Gaussians(means, _factors(about, sums.weight, shape, pseudo))


def _means(sums: Moments, shape: Shape, factors: Array, pseudo: float) -> Array:
    """Least squares of the clusters' means on the design, in the metric of the precisions, shrunk a little to zero."""
    clusters, latents = sums.mean.shape
    precision = np.einsum("kij,kil->kjl", factors, factors)
    if shape.design.shape[1] == clusters and (shape.design == np.eye(clusters)).all():
        pull = sums.weight[:, None, None] * precision + pseudo * np.eye(latents)
        return np.linalg.solve(pull, np.einsum("k,kij,kj->ki", sums.weight, precision, sums.mean)[..., None])[..., 0]
    heavy = sums.weight[:, None, None] * precision
    design, sizes = shape.design, (shape.design.shape[1], shape.design.shape[1], latents, latents)
    pairs = (design[:, :, None] * design[:, None]).reshape(clusters, -1)
    normal = (pairs.T @ heavy.reshape(clusters, -1)).reshape(sizes).transpose(0, 2, 1, 3)  # Σ_k D_kp D_kq P_kij
    right = design.T @ (heavy @ sums.mean[..., None])[..., 0]
    size = right.size
    matrix = normal.reshape(size, size) + pseudo * np.eye(size)
    chosen = shape.open.reshape(-1)
    parts = np.zeros(size)
    parts[chosen] = np.linalg.solve(matrix[np.ix_(chosen, chosen)], right.reshape(-1)[chosen])
    return shape.design @ parts.reshape(right.shape)


def _factors(about: Array, weight: Array, shape: Shape, pseudo: float) -> Array:
    if shape.full:
        latents = about.shape[1]
        covariance = (about + pseudo * _SPREAD * np.eye(latents)) / (weight + pseudo)[:, None, None]
        inverse: Array = np.linalg.inv(np.linalg.cholesky(covariance))  # covariance⁻¹ = inverse' inverse
        return inverse
    squares = np.diagonal(about, axis1=1, axis2=2)  # (clusters, latents)
    variance = np.empty_like(squares)
    for latent, group in enumerate(shape.tied):
        total = np.bincount(group, weights=squares[:, latent]) + pseudo * _SPREAD
        variance[:, latent] = (total / (np.bincount(group, weights=weight) + pseudo))[group]
    return np.eye(squares.shape[1]) / np.sqrt(np.maximum(variance, _FLOOR))[:, :, None]


def log_prior(gaussians: Gaussians, shape: Shape, *, pseudo: float = _ROWS) -> float:
    """Return what the pseudo-counts add to the bound, up to a constant: the updates climb bound plus this.

    Args:
        gaussians: of the clusters.
        shape: which mixtures are allowed.
        pseudo: multiplies the pseudo-rows.

    Returns:
        Nats.
    """
    parts = np.linalg.lstsq(shape.design, gaussians.means, rcond=None)[0]
    total = -0.5 * pseudo * float((parts**2).sum())
    if shape.full:
        precision = np.einsum("kij,kil->kjl", gaussians.factors, gaussians.factors)
        log_det = np.linalg.slogdet(precision)[1]
        trace = np.trace(precision, axis1=1, axis2=2)
        return total + 0.5 * pseudo * float((log_det - _SPREAD * trace).sum())
    precision = np.diagonal(gaussians.factors, axis1=1, axis2=2) ** 2
    for latent, group in enumerate(shape.tied):
        members = np.unique(group, return_index=True)[1]  # one cluster of each group
        each = precision[members, latent]
        total += 0.5 * pseudo * float((np.log(each) - _SPREAD * each).sum())
    return total
