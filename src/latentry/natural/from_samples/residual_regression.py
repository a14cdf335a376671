"""Regressions for residual tests: what is left of some columns once z has explained them.

A residual test is only as valid as its regressions: what both miss of the same function of z looks like dependence.
So they are penalised splines, less smooth than prediction would have them (the bias shrinks faster than the variance
grows), and the test counts the variance that the regressions themselves bring.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, norm
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import SplineTransformer

from latentry.data import column_scales, unit_columns, varying_columns
from latentry.streams import stream_seed

__all__ = ["Left", "Smoother"]

Array = NDArray[np.float64]
_KNOTS, _RIPPLES = 16, 120
_PENALTIES = np.logspace(-8, 3, 34)
_FLAT = 1e-8  # variance of a direction, as a fraction of the largest, up to which it is none
_LESS_SMOOTH = 4  # steps of the penalty below the best for prediction, about a factor of twenty


@dataclass(frozen=True, eq=False)
class Smoother:
    """Ridge regression on a smooth basis of z: orthonormal `axes` (rows, r) with their `strengths` (r,)."""

    axes: Array
    strengths: Array

    @classmethod
    def of(cls, z: Array, seed: int = 0) -> Smoother:
        """Build additive splines of columns with many values, others as they are, and ripples for interactions.

        Args:
            z: (rows, columns).
            seed: Of the landmarks of the ripples.

        Returns:
            The regression on z.
        """
        features = _features(z, seed)
        kept = features[:, varying_columns(features)]
        left, values, _ = np.linalg.svd((kept - kept.mean(axis=0)) / column_scales(kept), full_matrices=False)
        strong = values > 1e-7 * values.max(initial=0.0)
        return cls(left[:, strong], values[strong] ** 2 / len(z))

    @cached_property
    def _all_factors(self) -> Array:
        """How much each axis keeps, penalty by penalty."""
        return self.strengths / (self.strengths + _PENALTIES[:, None])

    @cached_property
    def _all_free(self) -> Array:
        """1 − the leverage of each row, penalty by penalty."""
        return np.maximum(1.0 - 1.0 / len(self.axes) - self._all_factors @ (self.axes**2).T, 1e-6)

    def shrinkage(self, target: Array) -> Array:
        """Choose how much of the target each axis takes: four steps less penalty than leave-one-out would choose.

        Args:
            target: (rows,), centred.

        Returns:
            Factors (r,) between 0 and 1.
        """
        fitted = (self._all_factors * (self.axes.T @ target)) @ self.axes.T
        errors = (((target - fitted) / self._all_free) ** 2).mean(axis=1)
        chosen: Array = self._all_factors[max(0, int(np.argmin(errors)) - _LESS_SMOOTH)]
        return chosen

    def without(self, target: Array, factors: Array) -> Array:
        """Compute (I − S) target.

        Args:
            target: (rows,).
            factors: (r,), which define S.

        Returns:
            (rows,).
        """
        return target - self.axes @ (factors * (self.axes.T @ target))

    def residuals(self, target: Array) -> Array:
        """Subtract from each column what z explains of it.

        >>> rng = np.random.default_rng(0)
        >>> z, noise = rng.standard_normal((400, 1)), 0.1 * rng.standard_normal((400, 1))
        >>> left = Smoother.of(z).residuals(np.sin(2 * z) + noise)
        >>> bool(np.corrcoef(left[:, 0], noise[:, 0])[0, 1] > 0.9)
        True

        Args:
            target: (rows, columns).

        Returns:
            Residuals (rows, columns).
        """
        return self.left_of(target).plain

    def score(self, x: Array, y: Array) -> tuple[float, float]:
        """Measure the product of the residuals of x and y in standard errors, and their correlation.

        The variance of Σ_i r_x r_y is Σ_i Var(x_i|z_i) r_y², with leave-one-out residuals for the first factor, so that what
        the regressions bring is counted. The larger of both directions is used.

        Args:
            x: (rows,).
            y: (rows,).

        Returns:
            The score, and the correlation.
        """
        scores, correlations = self._pairs(self.left_of(x[:, None]), self.left_of(y[:, None]))
        return float(scores[0, 0]), float(correlations[0, 0])

    def left_of(self, target: Array) -> Left:
        """Compute what z leaves of some columns.

        Args:
            target: (rows, columns).

        Returns:
            Residuals, as they are and with each row left out in turn.
        """
        if not target.shape[1]:
            return Left(target, target, np.zeros(len(self.strengths)))
        parts = [self._explained(column) for column in target.T]
        free = np.column_stack([self._free(factors) for _, factors in parts])
        plain = np.column_stack([residual for residual, _ in parts])
        return Left(plain, plain / free, np.mean([2.0 * factors - factors**2 for _, factors in parts], axis=0))

    def _explained(self, target: Array) -> tuple[Array, Array]:
        """What z leaves of a column, and how much of it each axis took; nothing of a constant."""
        if not varying_columns(target[:, None])[0]:
            return np.zeros(len(target)), np.zeros(len(self.strengths))
        centred = target - target.mean()
        factors = self.shrinkage(centred)
        return self.without(centred, factors), factors

    def _free(self, factors: Array) -> Array:
        """1 − the leverage of each row."""
        return np.maximum(1.0 - 1.0 / len(self.axes) - (self.axes**2) @ factors, 1e-6)

    @staticmethod
    def _pairs(first: Left, second: Left) -> tuple[Array, Array]:
        """Scores and correlations of all pairs of columns."""
        product = first.plain.T @ second.plain
        widths = np.maximum(first.alone.T**2 @ second.plain**2, first.plain.T**2 @ second.alone**2)
        lengths = np.outer(np.linalg.norm(first.plain, axis=0), np.linalg.norm(second.plain, axis=0))
        still = (widths == 0.0) | (lengths == 0.0)
        scores: Array = np.where(still, 0.0, product / np.sqrt(np.where(still, 1.0, widths)))
        return scores, np.where(still, 0.0, product / np.where(still, 1.0, lengths))

    def p_value(self, x: Array, y: Array) -> tuple[float, float]:
        """Compute the p-value of no correlation between residuals of x and y: of any pair of columns, or in any direction.

        The largest pair counts with a Bonferroni correction; the sum over all pairs, of residuals in units of their
        covariance, sees what is spread over many columns. Twice the smaller p-value of the two is one.

        Args:
            x: (rows, columns).
            y: (rows, columns).

        Returns:
            The p-value, and the largest correlation.
        """
        left, right = self.left_of(unit_columns(x)), self.left_of(unit_columns(y))  # sizes whose squares overflow too
        scores, correlations = self._pairs(left, right)
        largest = min(1.0, scores.size * 2.0 * float(norm.sf(np.abs(scores).max())))
        correlation = float(np.abs(correlations).max())
        if scores.size == 1:
            return largest, correlation
        # Directions in which little is left of x are regressed again by themselves: what a noisy column hides of z shows there.
        turned = self.left_of(x @ left.turn()), self.left_of(y @ right.turn())
        return min(1.0, 2.0 * min(largest, self.summed_p_value(*turned))), correlation

    def summed_p_value(self, left: Left, right: Left) -> float:
        """Compute the p-value of no correlation in any direction: the sum of squared covariances of whitened residuals.

        Σ_{i≠j} (a_i·a_j)(b_i·b_j) has mean zero when a and b are uncorrelated, but for what regressions on the same z take
        from both; random signs of the rows give its variance and skewness, and a χ² with these stands for it.

        Args:
            left: Residuals of x.
            right: Residuals of y.

        Returns:
            The p-value.
        """
        a, b = left.whitened(), right.whitened()
        if not a.plain.shape[1] or not b.plain.shape[1]:
            return 1.0
        seen = float(((a.plain.T @ b.plain) ** 2).sum() - (a.plain**2).sum(axis=1) @ (b.plain**2).sum(axis=1))
        seen -= a.plain.shape[1] * b.plain.shape[1] * self._taken_from_both(a, b) / len(self.axes) ** 2
        second, third = _off_diagonal(a.cautious(), b.cautious())
        if third <= 0.0:
            return float(norm.sf(seen / np.sqrt(2.0 * second)))
        freedom = second**3 / third**2
        return float(chi2.sf(freedom + seen * np.sqrt(freedom / second), freedom))

    def _taken_from_both(self, left: Left, right: Left) -> float:
        """Σ_{i≠j} of the products of the entries of (I − S)² for x and for y, their mean included."""
        rows = len(self.axes)
        first, second = ((self.axes**2) @ part.taken + 1.0 / rows for part in (left, right))
        return float(1.0 + left.taken @ right.taken - first @ second)


def _off_diagonal(u: Array, v: Array) -> tuple[float, float]:
    """Tr G² and tr G³ of G = (u uᵀ)∘(v vᵀ) with a diagonal of zeros, by whichever of rows and pairs of columns are fewer."""
    own = (u**2).sum(axis=1) * (v**2).sum(axis=1)
    if u.shape[1] * v.shape[1] > len(u):
        gram = (u @ u.T) * (v @ v.T)
        np.fill_diagonal(gram, 0.0)
        return float((gram**2).sum()), float(((gram @ gram) * gram).sum())
    rows = (u[:, :, None] * v[:, None, :]).reshape(len(u), -1)
    spread = rows.T @ rows
    square = spread @ spread
    through = ((rows @ spread) * rows).sum(axis=1)
    second = float(np.trace(square) - (own**2).sum())
    return second, float((square * spread).sum() - 3.0 * through @ own + 2.0 * (own**3).sum())


@dataclass(frozen=True, eq=False)
class Left:
    """What z leaves of some columns (rows, columns): as it is, and with each row left out of its own regression.

    `taken` is the fraction of the variance of noise that each axis took, on average over the columns.
    """

    plain: Array
    alone: Array
    taken: Array

    def cautious(self) -> Array:
        """Return residuals between the two: their squares are the products of both, what a regression hides is counted once."""
        sizes: Array = np.sign(self.plain) * np.sqrt(np.abs(self.plain * self.alone))
        return sizes

    def whitened(self) -> Left:
        """Turn the columns into uncorrelated ones of unit length; directions that never vary are left out."""
        turn = self.turn()
        return Left(self.plain @ turn, self.alone @ turn, self.taken)

    def turn(self) -> Array:
        """Return the map (columns, directions) that makes what is left uncorrelated and of unit length."""
        scales = np.linalg.norm(self.plain, axis=0)
        weights = np.divide(1.0, scales, out=np.zeros_like(scales), where=scales > 0.0)
        unit = self.plain * weights
        strengths, axes = np.linalg.eigh(unit.T @ unit)
        strong = strengths > _FLAT * max(1.0, strengths.max(initial=0.0))
        result: Array = weights[:, None] * axes[:, strong] / np.sqrt(strengths[strong])
        return result


def _features(z: Array, seed: int) -> Array:
    smooth = [c for c in range(z.shape[1]) if len(np.unique(z[:, c])) > _KNOTS]
    plain = np.delete(z, smooth, axis=1)
    if not smooth:
        return plain
    parts = [plain, *(_splines(z[:, [c]]) for c in smooth)]
    if z.shape[1] > 1:
        scaled = (z - z.mean(axis=0)) / column_scales(z)
        marks = stream_seed("natural/ripples", seed)
        ripples = Nystroem(gamma=0.5 / z.shape[1], n_components=min(_RIPPLES, len(z) // 5), random_state=marks)
        parts.append(ripples.fit_transform(scaled))
    return np.hstack(parts)


def _splines(column: Array) -> Array:
    """Cubic splines whose knots are the quantiles of a normal grid: closer in the tails than equal fractions of rows."""
    count = int(np.clip(len(column) // 25, 4, _KNOTS))
    levels = np.concatenate([[0.0], norm.cdf(np.linspace(-2.2, 2.2, count - 2)), [1.0]])
    knots = np.unique(np.quantile(column, levels))[:, None]
    basis: Array = SplineTransformer(degree=3, knots=knots, include_bias=False).fit_transform(column)
    return basis
