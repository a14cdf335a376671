"""How natural a latent is with fewer values or columns: error against information kept.

Values are merged two at a time, those first whose merging costs least. The merged students are students of the merged latent, so
that no network is trained again: sums of probabilities bound its errors from above.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, xlogy

__all__ = ["Answers", "Weights", "bend", "dropping_columns", "merging_values", "principal_axes", "scored"]

Array = NDArray[np.float64]
_TINY = 1e-12
_WORTH = 0.01  # nats that a further value must gain, however surely it gains them


@dataclass(frozen=True)
class Weights:
    """Of the mediation error, and of each redundancy error."""

    mediation: float
    redundancy: float


@dataclass(frozen=True, eq=False)
class Answers:
    """What channel and students say of some rows.

    Args:
        latent: Probabilities (rows, values), or means (rows, columns).
        students: The same of each modality.
        observed: 1 where a row has the modality, (rows, modalities).
        domain: Number of each row's domain.
        scale: Of a latent of numbers: its noise (rows, columns).
        student_scales: Of each student, likewise.
        draws: Standard normal numbers (rows, columns) by which the information of a latent of numbers is measured. A column keeps
            its own where others are dropped: sizes are then compared by the same draws.
    """

    latent: Array
    students: tuple[Array, ...]
    observed: Array
    domain: NDArray[np.int64]
    scale: Array | None = None
    student_scales: tuple[Array, ...] = ()
    draws: Array | None = None

    @property
    def blocks(self) -> Array:
        """Count the modalities of each row, less one."""
        blocks: Array = np.maximum(self.observed.sum(axis=1) - 1, 0.0)
        return blocks

    def merged(self, group: NDArray[np.int64]) -> Answers:
        """Return the answers about merged values.

        Args:
            group: New number of each value.

        Returns:
            Answers with as many values as there are groups.
        """
        table = np.eye(int(group.max()) + 1)[group]
        return Answers(self.latent @ table, tuple(q @ table for q in self.students), self.observed, self.domain)

    def columns(self, kept: NDArray[np.int64]) -> Answers:
        """Return the answers about some columns: noise is independent, so that they are marginals.

        Args:
            kept: Numbers of columns.

        Returns:
            Answers with those columns.
        """
        assert self.scale is not None
        return Answers(
            self.latent[:, kept],
            tuple(q[:, kept] for q in self.students),
            self.observed,
            self.domain,
            self.scale[:, kept],
            tuple(s[:, kept] for s in self.student_scales),
            None if self.draws is None else self.draws[:, kept],
        )

    def turned(self, axes: Array) -> Answers:
        """Return the answers about other columns, linear in these: each has the noise that it then has by itself.

        Args:
            axes: (columns, columns), one column for each new one.

        Returns:
            Answers with as many columns.
        """
        assert self.scale is not None
        return Answers(
            self.latent @ axes,
            tuple(q @ axes for q in self.students),
            self.observed,
            self.domain,
            np.sqrt(self.scale**2 @ axes**2),
            tuple(np.sqrt(s**2 @ axes**2) for s in self.student_scales),
            self.draws,
        )

    def divergences(self) -> Array:
        """Compute D(K ‖ q_i) of each row and modality; 0 where the modality is missing."""
        if self.scale is None:
            parts = [
                (xlogy(self.latent, self.latent) - xlogy(self.latent, q + _TINY)).sum(axis=1) for q in self.students
            ]
        else:
            parts = [
                _gaussian_divergence(self.latent, self.scale, q, s)
                for q, s in zip(self.students, self.student_scales, strict=True)
            ]
        return np.asarray(np.maximum(np.column_stack(parts), 0.0) * self.observed)

    def information(self) -> Array:
        """Compute each row's part of I(X; Λ) within its domain."""
        result = np.zeros(len(self.latent))
        for number in np.unique(self.domain):
            rows = np.flatnonzero(self.domain == number)
            weight = self.blocks[rows] + _TINY
            result[rows] = self._information(rows, weight / weight.sum())
        return result

    def _information(self, rows: NDArray[np.int64], weight: Array) -> Array:
        latent = self.latent[rows]
        if self.scale is None:
            mean = weight @ latent
            return np.asarray((xlogy(latent, latent) - xlogy(latent, mean + _TINY)).sum(axis=1))
        scale = self.scale[rows]
        draws = np.random.default_rng(0).standard_normal(latent.shape) if self.draws is None else self.draws[rows]
        drawn = latent + scale * draws
        density = np.zeros((len(rows), len(rows)))
        for column in range(latent.shape[1]):
            away = (drawn[:, column, None] - latent[None, :, column]) / scale[None, :, column]
            density -= 0.5 * away**2 + np.log(scale[None, :, column])
        return np.asarray(np.diagonal(density) - logsumexp(density, axis=1, b=weight[None, :]))


def _gaussian_divergence(mean: Array, scale: Array, other: Array, wide: Array) -> Array:
    return np.asarray((np.log(wide / scale) + (scale**2 + (mean - other) ** 2) / (2 * wide**2) - 0.5).sum(axis=1))


def scored(answers: Answers, weights: Weights) -> tuple[Array, Array, float]:
    """Score a latent.

    Args:
        answers: About some rows.
        weights: Of the errors.

    Returns:
        The score of each row, the redundancy error of each modality, and the information kept.
    """
    apart, kept, blocks = answers.divergences(), answers.information(), answers.blocks
    rows = (weights.mediation + weights.redundancy) * apart.sum(axis=1) - weights.mediation * blocks * kept
    errors = apart.sum(axis=0) / np.maximum(answers.observed.sum(axis=0), 1.0)
    return rows, errors, float(blocks @ kept / max(blocks.sum(), _TINY))


def merging_values(answers: Answers, weights: Weights) -> list[NDArray[np.int64]]:
    """Merge the two values whose merging costs least, until one is left.

    Args:
        answers: About rows that choose the merges.
        weights: Of the errors.

    Returns:
        For 1, 2, … values, the new number of each value.
    """
    group = np.arange(answers.latent.shape[1])
    path = [group]
    while group.max() > 0:
        first, second = _cheapest(answers.merged(group), weights)
        group = np.where(group == second, first, group)
        group = np.where(group > second, group - 1, group)
        path.append(group)
    return path[::-1]


def _cheapest(answers: Answers, weights: Weights) -> tuple[int, int]:
    size = answers.latent.shape[1]
    alone = _value_scores(answers, answers.latent, answers.students, weights)
    best, pair = np.inf, (0, 1)
    for first in range(size - 1):
        later = slice(first + 1, size)
        joint = _value_scores(
            answers,
            answers.latent[:, [first]] + answers.latent[:, later],
            tuple(q[:, [first]] + q[:, later] for q in answers.students),
            weights,
        )
        cost = joint - alone[first] - alone[later]
        if cost.min() < best:
            best, pair = float(cost.min()), (first, first + 1 + int(cost.argmin()))
    return pair


def _value_scores(answers: Answers, latent: Array, students: tuple[Array, ...], weights: Weights) -> Array:
    """The part of the score that belongs to each value: the score is their sum."""
    own = xlogy(latent, latent)
    error = sum(answers.observed[:, i] @ (own - xlogy(latent, q + _TINY)) for i, q in enumerate(students))
    kept = np.zeros(latent.shape[1])
    for number in np.unique(answers.domain):
        rows = answers.domain == number
        blocks = answers.blocks[rows]
        mean = blocks @ latent[rows] / max(blocks.sum(), _TINY)
        kept += blocks @ own[rows] - blocks.sum() * xlogy(mean, mean + _TINY)
    score: Array = (weights.mediation + weights.redundancy) * np.asarray(error) - weights.mediation * kept
    return score / len(latent)


def principal_axes(answers: Answers) -> Array:
    """Find the directions in which the columns vary most, in units of their noise.

    Several columns that tell the same thing, each with noise, become one with little noise and others with nothing else: noise
    of equal size stays independent in turned axes.

    Args:
        answers: About a latent of numbers.

    Returns:
        (columns, columns), one column for each direction, the largest first; the noise along each is about 1.
    """
    assert answers.scale is not None
    noise = np.sqrt((answers.scale**2).mean(axis=0))
    table = answers.latent / noise
    directions = np.linalg.svd(table - table.mean(axis=0), full_matrices=False)[2]
    axes: Array = directions.T / noise[:, None]
    return axes


def dropping_columns(answers: Answers, weights: Weights) -> list[NDArray[np.int64]]:
    """Drop the column without which the score is lowest, until one is left.

    Args:
        answers: About rows that choose the columns.
        weights: Of the errors.

    Returns:
        For 1, 2, … columns, which are kept.
    """
    kept = np.arange(answers.latent.shape[1])
    path = [kept]
    while len(kept) > 1:
        options = [np.delete(kept, i) for i in range(len(kept))]
        kept = min(options, key=lambda columns: float(scored(answers.columns(columns), weights)[0].mean()))
        path.append(kept)
    return path[::-1]


def bend(rows: list[Array]) -> tuple[int, Array]:
    """Choose the smallest latent that is no more than a standard error, or a hundredth of a nat, worse than the best.

    Args:
        rows: For each size, the score of each held-out row.

    Returns:
        The position of the choice, and the standard error of each distance from the best.
    """
    scores = np.array([part.mean() for part in rows])
    best = int(scores.argmin())
    gaps = np.array([(part - rows[best]).std() / np.sqrt(len(part)) for part in rows])
    return int(np.flatnonzero(scores - scores[best] <= np.maximum(gaps, _WORTH))[0]), gaps
