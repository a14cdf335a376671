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
from scipy.stats import norm
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import SplineTransformer

__all__ = ["Smoother"]

Array = NDArray[np.float64]
_KNOTS, _RIPPLES = 16, 120
_PENALTIES = np.logspace(-8, 3, 34)
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
        spread = features.std(axis=0)
        kept = spread > 1e-12
        left, values, _ = np.linalg.svd((features - features.mean(axis=0))[:, kept] / spread[kept], full_matrices=False)
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
        return np.column_stack([self._explained(column)[0] for column in target.T])

    def score(self, x: Array, y: Array) -> tuple[float, float]:
        """Measure the product of the residuals of x and y in standard errors, and their correlation.

        With r_x = (I − S_x) x, the statistic r_x·r_y = x·v, v = (I − S_x)(I − S_y) y: given y and z its variance is
        Σ_i Var(x_i|z_i) v_i², estimated by leave-one-out residuals. The larger of both directions is used.

        Args:
            x: (rows,).
            y: (rows,).

        Returns:
            The score, and the correlation.
        """
        return self._score(self._explained(x), self._explained(y))

    def _explained(self, target: Array) -> tuple[Array, Array]:
        """What z leaves of a column, and how much of it each axis took."""
        centred = target - target.mean()
        factors = self.shrinkage(centred)
        return self.without(centred, factors), factors

    def _score(self, first: tuple[Array, Array], second: tuple[Array, Array]) -> tuple[float, float]:
        (left, factors), (right, others) = first, second
        product = float(left @ right)
        widths = [
            float(np.sum((r / self._free(s)) ** 2 * self.without(other, s) ** 2))
            for r, s, other in ((left, factors, right), (right, others, left))
        ]
        length = float(np.sqrt((left @ left) * (right @ right)))
        if length == 0.0 or max(widths) == 0.0:
            return 0.0, 0.0
        return product / np.sqrt(max(widths)), product / length

    def _free(self, factors: Array) -> Array:
        """1 − the leverage of each row."""
        return np.maximum(1.0 - 1.0 / len(self.axes) - (self.axes**2) @ factors, 1e-6)

    def p_value(self, x: Array, y: Array) -> tuple[float, float]:
        """Compute the p-value of no correlation between any columns of the residuals of x and y.

        Args:
            x: (rows, columns).
            y: (rows, columns).

        Returns:
            The p-value, and the largest correlation.
        """
        left, right = ([self._explained(column) for column in part.T] for part in (x, y))
        pairs = [self._score(a, b) for a in left for b in right]
        score, correlation = max(pairs, key=lambda pair: abs(pair[0]))
        return min(1.0, len(pairs) * 2.0 * float(norm.sf(abs(score)))), abs(correlation)


def _features(z: Array, seed: int) -> Array:
    smooth = [c for c in range(z.shape[1]) if len(np.unique(z[:, c])) > _KNOTS]
    plain = np.delete(z, smooth, axis=1)
    if not smooth:
        return plain
    parts = [plain, *(_splines(z[:, [c]]) for c in smooth)]
    if z.shape[1] > 1:
        scaled = (z - z.mean(axis=0)) / np.maximum(z.std(axis=0), 1e-12)
        ripples = Nystroem(gamma=0.5 / z.shape[1], n_components=min(_RIPPLES, len(z) // 5), random_state=seed)
        parts.append(ripples.fit_transform(scaled))
    return np.hstack(parts)


def _splines(column: Array) -> Array:
    """Cubic splines whose knots are the quantiles of a normal grid: closer in the tails than equal fractions of rows."""
    count = int(np.clip(len(column) // 25, 4, _KNOTS))
    levels = np.concatenate([[0.0], norm.cdf(np.linspace(-2.2, 2.2, count - 2)), [1.0]])
    knots = np.unique(np.quantile(column, levels))[:, None]
    basis: Array = SplineTransformer(degree=3, knots=knots, include_bias=False).fit_transform(column)
    return basis
