"""Which estimated latent is which true one, and how well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import rankdata

from latentry.errors import DataError, nearest

__all__ = ["METHODS", "Match", "as_columns", "correlations", "match", "mcc", "r_squared"]

METHODS = ("pearson", "spearman")


@dataclass(frozen=True, eq=False)
class Match:
    """A pairing of estimated and true latents, one to one.

    Args:
        found: Index of the estimated latent for each true one, or -1 where there are too few.
        correlation: Its absolute correlation with the true one, 0 where there is none.
    """

    found: np.ndarray
    correlation: np.ndarray


def correlations(z: Any, s: Any, method: str = "pearson") -> np.ndarray:
    """Absolute correlations of each estimated latent (rows) with each true one (columns); 0 for a constant.

    >>> s = np.arange(6.0)[:, None]
    >>> correlations(-2 * s + 1, s).round(6)
    array([[1.]])
    """
    estimated, true = as_columns("z", z), as_columns("s", s)
    if len(estimated) != len(true):
        raise DataError(f"z has {len(estimated)} rows and s has {len(true)}: give the same rows of both.")
    if method not in METHODS:
        raise DataError(f"method = {method!r} is not known{nearest(method, METHODS)}")
    if method == "spearman":
        estimated, true = rankdata(estimated, axis=0), rankdata(true, axis=0)
    return np.abs(_standard(estimated).T @ _standard(true)) / len(estimated)


def match(z: Any, s: Any, method: str = "pearson") -> Match:
    """The pairing with the largest sum of absolute correlations (Hungarian method).

    >>> s = np.random.default_rng(0).normal(size=(100, 2))
    >>> match(s[:, ::-1], s).found
    array([1, 0])
    """
    table = correlations(z, s, method)
    rows, columns = linear_sum_assignment(-table)
    partner, strength = np.full(table.shape[1], -1), np.zeros(table.shape[1])
    partner[columns], strength[columns] = rows, table[rows, columns]
    return Match(partner, strength)


def mcc(z: Any, s: Any, method: str = "pearson", *, weak_on: tuple[Any, Any] | None = None) -> float:
    """Mean correlation coefficient: the average absolute correlation of the best one-to-one pairing.

    Pass rows that the model was not fitted on. ``weak_on=(z, s)`` of yet other rows first undoes a linear map by
    canonical correlation analysis fitted there: the weak score, which forgives a rotation of the latents.

    >>> s = np.random.default_rng(0).normal(size=(500, 3))
    >>> round(mcc(s[:, [2, 0, 1]] * [1, -5, 0.1], s), 6)
    1.0
    """
    size = as_columns("s", s).shape[1]  # directions that were lost count as 0, also after a canonical analysis
    if weak_on is not None:
        z, s = canonical_scores(z, s, weak_on)
    return float(match(z, s, method).correlation.sum() / size)


def canonical_scores(z: Any, s: Any, fit_on: tuple[Any, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return canonical variates: whiten both sides, and turn by the singular vectors of their product (Björck and Golub, 1973)."""
    estimated, true = as_columns("z", fit_on[0]), as_columns("s", fit_on[1])
    if len(estimated) != len(true):
        raise DataError(f"weak_on: z has {len(estimated)} rows and s has {len(true)}: give the same rows of both.")
    whiten_estimated, whiten_true = _whitening(estimated), _whitening(true)
    left, _, right = np.linalg.svd(
        whiten_estimated.T @ (estimated - estimated.mean(axis=0)).T @ (true - true.mean(axis=0)) @ whiten_true, full_matrices=False
    )
    return as_columns("z", z) @ whiten_estimated @ left, as_columns("s", s) @ whiten_true @ right.T


def _whitening(columns: np.ndarray) -> np.ndarray:
    """A map to orthonormal columns; directions without any spread are left out."""
    _, size, axes = np.linalg.svd(columns - columns.mean(axis=0), full_matrices=False)
    kept = size > 1e-10 * max(size[0], np.finfo(float).tiny)
    return axes[kept].T / size[kept]


def r_squared(z: Any, s: Any, *, fit_on: tuple[Any, Any]) -> np.ndarray:
    """Fraction of each true latent's variance that a linear function of all estimated ones explains, fitted on other rows.

    High values beside a low mcc mean that the latents were recovered up to a linear mixture.
    """
    train = np.column_stack([as_columns("z", fit_on[0]), np.ones(len(as_columns("z", fit_on[0])))])
    weights = np.linalg.lstsq(train, as_columns("s", fit_on[1]), rcond=None)[0]
    estimated, true = as_columns("z", z), as_columns("s", s)
    left = true - np.column_stack([estimated, np.ones(len(estimated))]) @ weights
    return 1 - left.var(axis=0) / np.maximum(true.var(axis=0), np.finfo(float).tiny)


def as_columns(name: str, values: Any) -> np.ndarray:
    """Rows of latents as float64: an array, or a mapping from name to column."""
    if isinstance(values, dict) or hasattr(values, "items"):
        values = np.column_stack([np.asarray(column) for _, column in values.items()])
    array = np.asarray(values, dtype=np.float64)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or len(array) < 3:
        raise DataError(f"{name} has shape {array.shape}: give at least 3 rows of latents.")
    if not np.isfinite(array).all():
        raise DataError(f"{name} has NaN or infinity at row {int(np.argwhere(~np.isfinite(array))[0, 0])}.")
    return array


def _standard(columns: np.ndarray) -> np.ndarray:
    centred = columns - columns.mean(axis=0)
    spread = centred.std(axis=0)
    return np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 0)
