"""Which estimated latent is which true one, and how well."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from scipy.stats import rankdata

from latentry.data import LARGEST, paired_rows, unit_columns
from latentry.errors import DataError, nearest

__all__ = [
    "METHODS",
    "Columns",
    "Match",
    "as_columns",
    "assigned",
    "correlations",
    "in_one_order",
    "match",
    "mcc",
    "near_one",
    "r_squared",
]

METHODS = ("pearson", "spearman")

# Rows of latents: an array (rows, latents), one column (rows,), or a column for each name.
Columns: TypeAlias = ArrayLike | Mapping[str, ArrayLike]


@runtime_checkable
class _NamedColumns(Protocol):
    """A dictionary or a data frame."""

    def items(self) -> Iterable[tuple[object, ArrayLike]]: ...


@dataclass(frozen=True, eq=False)
class Match:
    """A pairing of estimated and true latents, one to one.

    Args:
        estimated: Index of the estimated latent for each true one, or -1 where there are too few.
        correlation: Its absolute correlation with the true one, 0 where there is none.
    """

    estimated: np.ndarray
    correlation: np.ndarray


def correlations(z: Columns, s: Columns, method: str = "pearson") -> np.ndarray:
    """Return the absolute correlation of each estimated latent with each true one; 0 for a constant.

    Cost: rows · latents²; "spearman" sorts each column.

    Args:
        z: Estimated latents, (rows, latents).
        s: True latents of the same rows, (rows, true latents). Rows of pandas objects are paired by their index.
        method: "pearson" or "spearman".

    Returns:
        (latents, true latents), between 0 and 1.

    Raises:
        DataError: If rows differ or the method is not known.

    >>> s = np.arange(6.0)[:, None]
    >>> correlations(-2 * s + 1, s).round(6)
    array([[1.]])
    """
    z, s = in_one_order(z, s)
    estimated, true = as_columns("z", z), as_columns("s", s)
    if len(estimated) != len(true):
        raise DataError(f"z has {len(estimated)} rows and s has {len(true)}. Give the same rows of both.")
    if method not in METHODS:
        raise DataError(f"method={method!r}: is not known{nearest(method, METHODS)}")
    if method == "spearman":
        estimated, true = rankdata(estimated, axis=0), rankdata(true, axis=0)
    table: np.ndarray = np.abs(unit_columns(estimated).T @ unit_columns(true)) / len(estimated)
    return table


def match(z: Columns, s: Columns, method: str = "pearson") -> Match:
    """Return the pairing with the largest sum of absolute correlations (Hungarian method).

    Cost: rows · latents² and latents³ for the pairing.

    Args:
        z: Estimated latents, (rows, latents).
        s: True latents of the same rows, (rows, true latents).
        method: "pearson" or "spearman".

    Returns:
        The partner of each true latent, and its correlation.

    Raises:
        DataError: If rows differ or the method is not known.

    >>> s = np.random.default_rng(0).normal(size=(100, 2))
    >>> match(s[:, ::-1], s).estimated
    array([1, 0])
    """
    return assigned(correlations(z, s, method))


def assigned(table: np.ndarray) -> Match:
    """Return the one-to-one pairing with the largest sum over a table of agreements (Hungarian method).

    Cost: cubic in the size of the table.

    Args:
        table: (estimated, true), at least 0.

    Returns:
        The partner of each true latent, and the agreement of the pair.

    >>> assigned(np.array([[0.2, 0.9], [0.1, 0.8], [0.7, 0.0]])).estimated
    array([2, 0])
    """
    rows, columns = linear_sum_assignment(-table)
    partner, strength = np.full(table.shape[1], -1), np.zeros(table.shape[1])
    partner[columns], strength[columns] = rows, table[rows, columns]
    return Match(partner, strength)


def mcc(z: Columns, s: Columns, method: str = "pearson", *, weak_on: tuple[Columns, Columns] | None = None) -> float:
    """Compute the mean correlation coefficient: the average absolute correlation of the best one-to-one pairing.

    Pass rows that the model was not fitted on. ``weak_on=(z, s)`` of yet other rows first undoes a linear map by
    canonical correlation analysis fitted there: the weak score, which forgives a rotation of the latents.

    Cost: rows · latents² and latents³ for the pairing.

    Args:
        z: Estimated latents, (rows, latents).
        s: True latents of the same rows, (rows, true latents).
        method: "pearson" or "spearman".
        weak_on: Estimated and true latents of other rows; None for the strong score.

    Returns:
        A number between 0 and 1; a true latent without a partner counts as 0.

    Raises:
        DataError: If rows differ or the method is not known.

    >>> s = np.random.default_rng(0).normal(size=(500, 3))
    >>> round(mcc(s[:, [2, 0, 1]] * [1, -5, 0.1], s), 6)
    1.0
    """
    size = as_columns("s", s).shape[1]  # directions that were lost count as 0, also after a canonical analysis
    if weak_on is not None:
        z, s = canonical_scores(z, s, weak_on)
    return float(match(z, s, method).correlation.sum() / size)


def canonical_scores(z: Columns, s: Columns, fit_on: tuple[Columns, Columns]) -> tuple[np.ndarray, np.ndarray]:
    """Return canonical variates: whitened sides times the singular vectors of their product (Björck and Golub, 1973)."""
    (z, s), fit_on = in_one_order(z, s), in_one_order(*fit_on)
    estimated, to_score = near_one(as_columns("z", fit_on[0]), as_columns("z", z))
    true, known = near_one(as_columns("s", fit_on[1]), as_columns("s", s))
    if len(estimated) != len(true):
        raise DataError(f"weak_on: z has {len(estimated)} rows and s has {len(true)}. Give the same rows of both.")
    whiten_estimated, whiten_true = _whitening(estimated), _whitening(true)
    left, _, right = np.linalg.svd(
        whiten_estimated.T @ (estimated - estimated.mean(axis=0)).T @ (true - true.mean(axis=0)) @ whiten_true,
        full_matrices=False,
    )
    return to_score @ whiten_estimated @ left, known @ whiten_true @ right.T


def _whitening(columns: np.ndarray) -> np.ndarray:
    """Return a map to orthonormal columns; directions without any spread are left out."""
    _, size, axes = np.linalg.svd(columns - columns.mean(axis=0), full_matrices=False)
    kept = size > 1e-10 * max(size[0], np.finfo(float).tiny)
    whitening: np.ndarray = axes[kept].T / size[kept]
    return whitening


def r_squared(z: Columns, s: Columns, *, fit_on: tuple[Columns, Columns]) -> np.ndarray:
    """Compute the fraction of each true latent's variance that a linear function of all estimated ones explains.

    High values beside a low mcc mean that the latents were recovered up to a linear mixture.

    Cost: rows · latents².

    Args:
        z: Estimated latents, (rows, latents).
        s: True latents of the same rows, (rows, true latents).
        fit_on: Estimated and true latents of other rows, on which the linear function is fitted.

    Returns:
        At most 1 for each true latent; below 0 where the mean would do better.
    """
    (z, s), fit_on = in_one_order(z, s), in_one_order(*fit_on)
    seen, estimated = near_one(as_columns("z", fit_on[0]), as_columns("z", z))
    known, true = near_one(as_columns("s", fit_on[1]), as_columns("s", s))
    weights = np.linalg.lstsq(np.column_stack([seen, np.ones(len(seen))]), known, rcond=None)[0]
    left = true - np.column_stack([estimated, np.ones(len(estimated))]) @ weights
    explained: np.ndarray = 1 - left.var(axis=0) / np.maximum(true.var(axis=0), np.finfo(float).tiny)
    return explained


def in_one_order(z: Columns, s: Columns) -> tuple[Columns, Columns]:
    """Return both with the same rows beside each other, where both have an index.

    Cost: linear in the rows.

    Args:
        z: Estimated latents.
        s: True latents.

    Returns:
        The same latents.

    Raises:
        DataError: If one has a row that the other has not.
    """
    parts = paired_rows({"z": z, "s": s})
    return parts["z"], parts["s"]


def as_columns(name: str, values: Columns) -> np.ndarray:
    """Return rows of latents as float64.

    Cost: linear in the numbers.

    Args:
        name: Of the argument, for errors.
        values: An array (rows, latents), one column, or a mapping from name to column.

    Returns:
        (rows, latents).

    Raises:
        DataError: If there are fewer than 3 rows, or a number is not finite or its square would not be.
    """
    if isinstance(values, _NamedColumns) and not _is_series(values):
        values = np.column_stack([np.asarray(column) for _, column in values.items()])
    array = np.asarray(values, dtype=np.float64)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or len(array) < 3:
        raise DataError(f"{name} has shape {array.shape}, not (rows, latents). Give at least 3 rows of latents.")
    if not np.isfinite(array).all():
        row = int(np.argwhere(~np.isfinite(array))[0, 0])
        raise DataError(f"{name} has NaN or infinity at row {row}. Leave such rows out.")
    if np.abs(array).max(initial=0.0) > LARGEST:
        raise DataError(f"{name} has numbers beyond {LARGEST:g}, whose squares overflow. Use other units.")
    return array


def _is_series(values: object) -> bool:
    """Return whether something is a series, whose items are its rows and not columns."""
    return len(getattr(values, "shape", ())) == 1


def near_one(train: np.ndarray, *others: np.ndarray) -> tuple[np.ndarray, ...]:
    """Divide columns by the power of two that brings those to learn from near 1, so that no square under- or overflows.

    Cost: linear in the numbers.

    Args:
        train: Rows to learn from, (rows, columns).
        others: Further rows of the same columns.

    Returns:
        All of them, in the same units.

    Raises:
        DataError: If they have different numbers of columns.
    """
    for rows in others:
        if rows.shape[1] != train.shape[1]:
            raise DataError(
                f"rows of {rows.shape[1]} columns beside {train.shape[1]} to learn from. Give the same columns of both."
            )
    exponent = np.frexp(np.ptp(train, axis=0))[1]
    return tuple(np.ldexp(rows, -exponent) for rows in (train, *others))
