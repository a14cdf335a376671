"""Learn what the blocks have in common, then measure it on rows that were not used to learn it.

Ridge canonical correlations between random Fourier features of x and of y (kernel CCA: Bach and Jordan, JMLR 3, 2002;
Rahimi and Recht, NeurIPS 2007) give a few functions f(x), g(y) that vary together. By the data-processing inequality
I(f(X); g(Y)) ≤ I(X; Y), and each row is mapped by functions learned without it, so the answer errs on the low side. It has few
dimensions, where neighbour counts are accurate, however many columns x and y have.

Features are computed once from normal scores: ranks inside x and inside y say nothing about how x and y go together. Second moments
add up over folds, so leaving rows out is a subtraction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from latentry.data import normal_scores
from latentry.information.ranks import folds
from latentry.streams import stream
from latentry.threads import single_threaded

__all__ = ["Variates", "held_out_variates"]

Array = np.ndarray
FEATURES = 300
PARTS = 6  # two to report, one to select, three to learn; then the four that are not reported
WIDTHS = (1.0, 2.0)  # of the kernel, in units of √d
RIDGES = (0.01, 0.03, 0.1, 0.3)
LINEAR_DISCOUNT = 0.1  # the columns themselves pay this fraction of the ridge


@dataclass(frozen=True)
class _Moments:
    """First and second moments of features (x | y), which add up over sets of rows."""

    rows: int
    total: Array
    products: Array

    def __add__(self, other: _Moments) -> _Moments:
        return _Moments(self.rows + other.rows, self.total + other.total, self.products + other.products)

    def correlations(self) -> tuple[Array, Array, Array]:
        """Return means, standard deviations and correlation matrix."""
        mean = self.total / self.rows
        covariance = self.products / self.rows - np.outer(mean, mean)
        scale = np.sqrt(np.maximum(np.diag(covariance), 1e-12))
        return mean, scale, covariance / np.outer(scale, scale)


@dataclass(frozen=True)
class _Maps:
    """Linear functions of the standardised features, for x and for y."""

    mean: Array
    scale: Array
    weights_x: Array
    weights_y: Array

    def __call__(self, features: Array) -> tuple[Array, Array]:
        z, cut = (features - self.mean) / self.scale, len(self.weights_x)
        return z[:, :cut] @ self.weights_x, z[:, cut:] @ self.weights_y


def _features(scores: Array, width: float, rng: np.random.Generator) -> Array:
    """The columns themselves and cosines of random projections of them."""
    d = scores.shape[1]
    frequency = rng.standard_normal((d, FEATURES)) / (width * np.sqrt(d))
    return np.hstack([scores, np.cos(scores @ frequency + rng.uniform(0, 2 * np.pi, FEATURES))])


def _moments(features: Array) -> _Moments:
    return _Moments(len(features), features.sum(axis=0), features.T @ features)


def _leading(matrix: Array, count: int) -> tuple[Array, Array]:
    """The first singular vectors, by subspace iteration: a full decomposition would cost more than all the rest."""
    basis = np.linalg.qr(matrix.T @ matrix[:, : count + 8])[0]
    for _ in range(15):
        basis = np.linalg.qr(matrix.T @ (matrix @ basis))[0]
    left, _, right = np.linalg.svd(matrix @ basis, full_matrices=False)
    return left[:, :count], basis @ right[:count].T


def _learn(
    result: tuple[Array, Array, Array], cut: int, plain: tuple[int, int], ridge: float, count: int
) -> _Maps:  # fmt: skip
    """The leading functions at one ridge, from means, standard deviations and correlations."""
    mean, scale, correlation = result
    lowers = []
    for block, linear in ((slice(None, cut), plain[0]), (slice(cut, None), plain[1])):
        part = correlation[block, block].copy()
        price = np.full(len(part), ridge)
        price[:linear] *= LINEAR_DISCOUNT
        lowers.append(cholesky(part + np.diag(price), lower=True))
    cross = solve_triangular(lowers[0], correlation[:cut, cut:], lower=True)
    cross = solve_triangular(lowers[1], cross.T, lower=True).T
    left, right = _leading(cross, count)
    turn = [solve_triangular(lower.T, side, lower=False) for lower, side in zip(lowers, (left, right), strict=True)]
    return _Maps(mean, scale, *turn)


def _agreement(u: Array, v: Array) -> float:
    """−½ Σ log(1 − ρ²) over pairs of variates: the yardstick by which settings are chosen."""
    u, v = u - u.mean(axis=0), v - v.mean(axis=0)
    rho2 = np.sum(u * v, axis=0) ** 2 / (np.sum(u**2, axis=0) * np.sum(v**2, axis=0) + 1e-300)
    return -0.5 * float(np.sum(np.log1p(-np.minimum(rho2, 1 - 1e-9))))


@dataclass(frozen=True)
class _Width:
    """All that one kernel width needs: features of every row and their moments fold by fold."""

    features: Array
    moments: tuple[_Moments, ...]
    cut: int
    plain: tuple[int, int]

    def learner(self, left_out: set[int]) -> Callable[[float, int], _Maps]:
        """Return what learns functions at a ridge, on all folds but those left out; moments are added up once."""
        kept = [m for i, m in enumerate(self.moments) if i not in left_out]
        result = sum(kept[1:], kept[0]).correlations()
        return lambda ridge, count: _learn(result, self.cut, self.plain, ridge, count)


def _prepare(x: Array, y: Array, width: float, parts: list[Array], seed: int) -> _Width:
    rng = stream("information/features", seed)
    phi_x, phi_y = _features(x, width, rng), _features(y, width, rng)
    features = np.hstack([phi_x, phi_y])
    return _Width(features, tuple(_moments(features[p]) for p in parts), phi_x.shape[1], (x.shape[1], y.shape[1]))


@dataclass(frozen=True)
class Variates:
    """Row numbers, f(x) and g(y) of rows that f and g have not seen; when asked, the same from half as many rows to learn from."""

    rows: Array
    full: tuple[Array, Array]
    half: Callable[[], tuple[Array, Array]]


def held_out_variates(x: Array, y: Array, count: int = 3, seed: int = 0) -> list[Variates]:
    """Return f(x) and g(y) of each third of the rows, with f and g learned on the other two thirds.

    The width and the ridge are chosen on a sixth of the rows that is not reported. The thirds must be measured one by
    one: each has its own f and g, and rows put together could tell each other which third they belong to.

    Args:
        x: Rows.
        y: Rows.
        count: Functions a side.
        seed: Of folds and features.

    Returns:
        Row numbers and variates of each third.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((600, 2))
    >>> third = held_out_variates(x, x**2 + 0.1 * rng.standard_normal((600, 2)))[0]
    >>> u, v = third.full
    >>> len(third.rows), bool(abs(np.corrcoef(u[:, 0], v[:, 0])[0, 1]) > 0.7)
    (200, True)
    """
    x, y = normal_scores(x), normal_scores(y)
    parts = folds(len(x), PARTS, seed)
    with single_threaded():  # many small matrices: threads would wait for each other
        widths = [_prepare(x, y, width, parts, seed) for width in WIDTHS]
        return [_report(widths, parts, {i, i + 1}, (i + 2) % PARTS, count) for i in range(0, PARTS, 2)]


def _report(widths: list[_Width], parts: list[Array], report: set[int], select: int, count: int) -> Variates:
    def scores(width: _Width) -> list[float]:
        learn, unseen = width.learner(report | {select}), width.features[parts[select]]
        return [_agreement(*learn(ridge, count)(unseen)) for ridge in RIDGES]

    best = int(np.argmax([scores(width) for width in widths]))
    width, ridge = widths[best // len(RIDGES)], RIDGES[best % len(RIDGES)]
    rows = np.concatenate([parts[i] for i in sorted(report)])
    others = sorted(set(range(PARTS)) - report)
    half = report | set(others[: len(others) // 2])

    def mapped(left_out: set[int]) -> tuple[Array, Array]:
        return width.learner(left_out)(ridge, count)(width.features[rows])

    return Variates(rows, mapped(report), lambda: _on_one_thread(mapped, half))


def _on_one_thread(task: Callable[[set[int]], tuple[Array, Array]], left_out: set[int]) -> tuple[Array, Array]:
    with single_threaded():
        return task(left_out)
