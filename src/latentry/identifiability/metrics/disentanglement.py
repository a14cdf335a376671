"""How far each latent holds one factor: DCI, MIG and SAP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LassoCV
from sklearn.metrics import balanced_accuracy_score
from sklearn.svm import LinearSVC

from latentry.data import column_scales
from latentry.errors import DataError, nearest
from latentry.identifiability.metrics.factors import Factor, as_factors, same_rows
from latentry.identifiability.metrics.matching import Columns, as_columns, in_one_order, near_one

__all__ = ["DCI", "dci", "mig", "sap"]

_LEARNERS = ("forest", "boosted", "lasso")


@dataclass(frozen=True, eq=False)
class DCI:
    """Three scores between 0 and 1 (informativeness may fall below 0), and what they rest on.

    Args:
        disentanglement: Whether each latent predicts one factor.
        completeness: Whether each factor is predicted by one latent.
        informativeness: Held-out fraction of a factor explained: R², or for a discrete factor the gain in balanced accuracy
            over chance; averaged over factors.
        importance: (latents, factors), columns sum to 1.
        per_latent, per_factor, informed: The parts of the three averages.
    """

    disentanglement: float
    completeness: float
    informativeness: float
    importance: np.ndarray
    per_latent: np.ndarray
    per_factor: np.ndarray
    informed: np.ndarray


def dci(z: Columns, s: Columns, *, fit_on: tuple[Columns, Columns], learner: str = "forest", seed: int = 0) -> DCI:
    r"""Compute disentanglement, completeness and informativeness (Eastwood and Williams, 2018).

    Predict every factor j from all latents; let :math:`R_{ij}` be the importance of latent i. With
    :math:`P_{ij} = R_{ij} / \sum_k R_{ik}` over factors, latent i is disentangled by
    :math:`1 - H(P_{i\cdot}) / \log K` and the mean weighs latents by :math:`\sum_j R_{ij}`; completeness is the same along
    the latents. Predictors are fitted on ``fit_on`` = (z, s) of other rows; informativeness is measured on z, s.

    Cost: a learner for each factor: rows · log rows · latents for trees, rows · latents² for the lasso.

    Args:
        z: Estimated latents, (rows, latents).
        s: True factors: columns, or a mapping from name to values.
        fit_on: Latents and factors of other rows.
        learner: "forest" (random forest), "boosted" (gradient-boosted trees) or "lasso" (absolute weights of standardised
            latents).
        seed: Of the learner.

    Returns:
        The three scores, and the importance of each latent for each factor.

    Raises:
        DataError: If the learner is not known, rows differ, or a factor is constant.

    >>> s = np.random.default_rng(0).normal(size=(800, 2))
    >>> score = dci(3 * s[:400, ::-1], s[:400], fit_on=(3 * s[400:, ::-1], s[400:]), learner="lasso")
    >>> round(score.disentanglement, 2), round(score.completeness, 2), round(score.informativeness, 2)
    (1.0, 1.0, 1.0)
    """
    if learner not in _LEARNERS:
        raise DataError(f"learner={learner!r}: is not known{nearest(str(learner), _LEARNERS)}")
    latents, factors, train, known = _both(z, s, fit_on)
    scale = column_scales(train)
    importance, informed = np.zeros((train.shape[1], len(factors))), np.zeros(len(factors))
    for j, (seen, unseen) in enumerate(zip(known, factors, strict=True)):
        fitted = _learner(learner, seen.discrete, seed).fit(train / scale, seen.values)
        weights = _importance(fitted)
        importance[:, j] = weights / max(weights.sum(), np.finfo(float).tiny)
        informed[j] = _gain(unseen, fitted.predict(latents / scale))
    per_latent, per_factor = concentration(importance), concentration(importance.T)
    weight = importance.sum(axis=1) / max(importance.sum(), np.finfo(float).tiny)
    return DCI(
        float(weight @ per_latent),
        float(per_factor.mean()),
        float(informed.mean()),
        importance,
        per_latent,
        per_factor,
        informed,
    )


def mig(z: Columns, s: Columns, *, bins: int = 20) -> float:
    r"""Compute the mutual information gap (Chen et al., 2018): how much more one latent says of a factor than any other does.

    .. math:: \frac1K \sum_j \frac{I(z_{(1)}; s_j) - I(z_{(2)}; s_j)}{H(s_j)}

    Continuous latents and factors are cut into ``bins`` parts of equal numbers of rows; the bias of the plug-in estimate is
    taken off (Miller and Madow, 1955). A single latent has no rival.

    Cost: rows · latents · factors.

    Args:
        z: Estimated latents, (rows, latents).
        s: True factors: columns, or a mapping from name to values.
        bins: Parts into which continuous values are cut, at least 2.

    Returns:
        The mean gap over factors; 1 when each factor is in one latent alone.

    Raises:
        DataError: If bins is no whole number of at least 2, rows differ, or a factor is constant.

    >>> s = np.random.default_rng(0).integers(0, 4, size=(2000, 2))
    >>> round(mig(s + 0.0, s), 2), abs(round(mig(np.random.default_rng(1).normal(size=(2000, 2)), s), 1))
    (1.0, 0.0)
    """
    if not isinstance(bins, (int, np.integer)) or bins < 2:
        raise DataError(f"bins={bins!r}: is no number of parts. Give a whole number of at least 2.")
    z, s = in_one_order(z, s)
    latents, factors = as_columns("z", z), as_factors(s)
    same_rows(latents, factors)
    codes = [_codes(column, bins) for column in latents.T]
    gaps = []
    for factor in factors:
        truth = np.unique(factor.values, return_inverse=True)[1] if factor.discrete else _codes(factor.values, bins)
        shared = sorted((information_of_codes(code, truth) for code in codes), reverse=True)
        gaps.append((shared[0] - (shared[1] if len(shared) > 1 else 0.0)) / entropy_of_counts(np.bincount(truth)))
    return float(np.mean(gaps))


def sap(z: Columns, s: Columns, *, fit_on: tuple[Columns, Columns]) -> float:
    """Compute separated attribute predictability: the gap between the two latents that predict a factor best.

    The score is that of Kumar et al. (2018).

    A latent alone predicts a continuous factor by a straight line (score: R²) and a discrete one by a linear support vector
    machine (score: balanced accuracy), fitted on ``fit_on`` and scored on z, s. A single latent has no rival.

    Cost: rows · latents · factors.

    Args:
        z: Estimated latents, (rows, latents).
        s: True factors: columns, or a mapping from name to values.
        fit_on: Latents and factors of other rows.

    Returns:
        The mean gap over factors, between 0 and 1.

    Raises:
        DataError: If rows differ, or a factor is constant.

    >>> s = np.random.default_rng(0).normal(size=(800, 2))
    >>> round(sap(s[:400], s[:400], fit_on=(s[400:], s[400:])), 1)
    1.0
    """
    latents, factors, train, known = _both(z, s, fit_on)
    gaps = []
    for seen, unseen in zip(known, factors, strict=True):
        scores = sorted((_alone(train[:, i], seen, latents[:, i], unseen) for i in range(train.shape[1])), reverse=True)
        gaps.append(scores[0] - (scores[1] if len(scores) > 1 else 0.0))
    return float(np.mean(gaps))


def _both(
    z: Columns, s: Columns, fit_on: tuple[Columns, Columns]
) -> tuple[np.ndarray, tuple[Factor, ...], np.ndarray, tuple[Factor, ...]]:
    if not isinstance(fit_on, tuple) or len(fit_on) != 2:
        raise DataError("fit_on: is no pair. Give (z, s) of rows other than those that are scored.")
    (z, s), fit_on = in_one_order(z, s), in_one_order(*fit_on)
    latents, factors = as_columns("z", z), as_factors(s)
    train, known = as_columns("fit_on z", fit_on[0]), as_factors(fit_on[1])
    same_rows(latents, factors)
    same_rows(train, known, "fit_on: ")
    if train.shape[1] != latents.shape[1] or [f.name for f in known] != [f.name for f in factors]:
        raise DataError("fit_on: has other columns. Give the latents and factors of z and s, in the same order.")
    train, latents = near_one(train, latents)
    return latents, factors, train, known


class _Learner(Protocol):
    """What predicts a factor from all latents."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> _Fitted: ...


class _Fitted(Protocol):
    def predict(self, X: np.ndarray) -> np.ndarray: ...


@runtime_checkable
class _Trees(Protocol):
    """Learners that count how much each latent helped."""

    @property
    def feature_importances_(self) -> ArrayLike: ...


@runtime_checkable
class _Linear(Protocol):
    @property
    def coef_(self) -> ArrayLike: ...


def _learner(name: str, discrete: bool, seed: int) -> _Learner:
    learner: _Learner
    if name == "lasso":
        learner = _IndicatorLasso(seed) if discrete else LassoCV(random_state=seed)
    elif name == "forest":
        kind = RandomForestClassifier if discrete else RandomForestRegressor
        learner = kind(100, min_samples_leaf=5, random_state=seed)
    else:
        learner = (GradientBoostingClassifier if discrete else GradientBoostingRegressor)(random_state=seed)
    return learner


class _IndicatorLasso:
    """One lasso for the indicator of each label; the largest wins."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def fit(self, X: np.ndarray, y: np.ndarray) -> _IndicatorLasso:
        self.classes = np.unique(y)
        self.parts = [LassoCV(random_state=self.seed).fit(X, np.where(y == c, 1.0, 0.0)) for c in self.classes]
        self.coef_ = np.array([part.coef_ for part in self.parts])
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        labels: np.ndarray = self.classes[np.argmax([part.predict(X) for part in self.parts], axis=0)]
        return labels


def _importance(fitted: _Fitted) -> np.ndarray:
    if isinstance(fitted, _Trees):
        return np.asarray(fitted.feature_importances_)
    if not isinstance(fitted, _Linear):
        raise TypeError(f"{type(fitted).__name__} has neither feature_importances_ nor coef_.")
    weights: np.ndarray = np.abs(np.atleast_2d(fitted.coef_)).mean(axis=0)
    return weights


def _gain(truth: Factor, predicted: np.ndarray) -> float:
    if not truth.discrete:
        return float(1 - ((truth.values - predicted) ** 2).mean() / truth.values.var())
    chance = 1 / len(np.unique(truth.values))
    return float((balanced_accuracy_score(truth.values, predicted) - chance) / (1 - chance))


def concentration(importance: np.ndarray) -> np.ndarray:
    """Return 1 for a row with one entry, 0 for an even row (and for one without any)."""
    total = importance.sum(axis=1, keepdims=True)
    fractions = np.divide(importance, total, out=np.full_like(importance, 1 / importance.shape[1]), where=total > 0)
    if importance.shape[1] == 1:
        return np.ones(len(importance))
    logs = np.log(np.where(fractions > 0, fractions, 1.0))
    concentration: np.ndarray = 1 + (fractions * logs).sum(axis=1) / np.log(importance.shape[1])
    return concentration


def _codes(values: np.ndarray, bins: int) -> np.ndarray:
    distinct, codes = np.unique(values, return_inverse=True)
    if len(distinct) <= bins:
        return codes
    edges = np.unique(np.quantile(values, np.linspace(0, 1, bins + 1)[1:-1]))
    return np.searchsorted(edges, values, side="right")


def entropy_of_counts(counts: np.ndarray) -> float:
    """Estimate an entropy from counts, in nats, with Miller and Madow's correction (1955)."""
    fractions = counts[counts > 0] / counts.sum()
    return float(-(fractions * np.log(fractions)).sum() + (len(fractions) - 1) / (2 * counts.sum()))


def information_of_codes(codes: np.ndarray, others: np.ndarray) -> float:
    """Estimate the mutual information of two columns of codes 0, 1, 2, ..., in nats; at least 0."""
    joint = np.bincount(codes * (others.max() + 1) + others)
    alone = entropy_of_counts(np.bincount(codes)) + entropy_of_counts(np.bincount(others))
    return max(alone - entropy_of_counts(joint), 0.0)


def _alone(column: np.ndarray, seen: Factor, held_out: np.ndarray, unseen: Factor) -> float:
    if column.std() == 0:
        return 1 / len(np.unique(seen.values)) if seen.discrete else 0.0
    if not seen.discrete:
        gradient, level = np.polyfit(column, seen.values, 1)
        return max(_gain(unseen, gradient * held_out + level), 0.0)
    centre, spread = column.mean(), column.std()
    machine = LinearSVC(C=0.01, class_weight="balanced").fit((column[:, None] - centre) / spread, seen.values)
    return float(balanced_accuracy_score(unseen.values, machine.predict((held_out[:, None] - centre) / spread)))
