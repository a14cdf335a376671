"""Pairs of variables whose mutual information is known exactly.

The forty tasks of Czyż, Grabowski, Vogt, Beerenwinkel and Marx, "Beyond Normal: On the Evaluation of Mutual
Information Estimators" (NeurIPS 2023), and variants that they leave out: rescaled blocks, columns
of unequal size, blocks of unequal dimension, conditional and mixed discrete-continuous distributions.
Truths are closed forms in nats; a map that is injective on each block leaves them unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np
from scipy import integrate, special, stats

from latentry.errors import DataError, nearest

__all__ = [
    "ConditionalTask",
    "Task",
    "anisotropic",
    "conditional_tasks",
    "independent",
    "mixed_tasks",
    "padded",
    "scaled",
    "task",
    "tasks",
]

Array = np.ndarray
Draw = Callable[[np.random.Generator, int], tuple[Array, Array]]
Map = Callable[[Array], Array]


@dataclass(frozen=True)
class Task:
    """A distribution of (X, Y) that can be sampled and whose mutual information (nats) is known.

    >>> normal = task("normal 1x1")
    >>> x, y = normal.sample(500, seed=0)
    >>> x.shape, y.shape, round(normal.truth, 4)
    ((500, 1), (500, 1), 0.4133)
    """

    name: str
    group: str
    truth: float
    dim_x: int
    dim_y: int
    draw: Draw

    def sample(self, n: int, seed: int = 0) -> tuple[Array, Array]:
        """Draw n rows of (x, y).

        Args:
            n: Rows.
            seed: Of the draws.

        Returns:
            x and y.
        """
        return self.draw(np.random.default_rng(seed), n)


@dataclass(frozen=True)
class ConditionalTask:
    """A distribution of (X, Y, Z) whose conditional mutual information I(X; Y | Z) in nats is known."""

    name: str
    truth: float
    covariance: Array

    def sample(self, n: int, seed: int = 0) -> tuple[Array, Array, Array]:
        """Draw n rows of (x, y, z).

        Args:
            n: Rows.
            seed: Of the draws.

        Returns:
            x, y and z.
        """
        rows = _normal_rows(np.random.default_rng(seed), n, self.covariance)
        return rows[:, :1], rows[:, 1:2], rows[:, 2:]


# --- distributions --------------------------------------------------------------------------------


def _normal_rows(rng: np.random.Generator, n: int, covariance: Array) -> Array:
    return rng.standard_normal((n, len(covariance))) @ np.linalg.cholesky(covariance).T


def _log_determinant(matrix: Array) -> float:
    return float(np.linalg.slogdet(matrix)[1])


def gaussian_truth(covariance: Array, dim_x: int) -> float:
    """Return I(X; Y) = ½ (log|Σx| + log|Σy| − log|Σ|)."""
    parts = (covariance[:dim_x, :dim_x], covariance[dim_x:, dim_x:])
    return 0.5 * (sum(map(_log_determinant, parts)) - _log_determinant(covariance))


def student_truth(df: float, dim_x: int, dim_y: int) -> float:
    """Return I(X; Y) = h(X) + h(Y) − h(X, Y) of a multivariate Student distribution with identity dispersion."""
    entropies = [float(stats.multivariate_t.entropy(None, np.eye(d), df)) for d in (dim_x, dim_y, dim_x + dim_y)]
    return entropies[0] + entropies[1] - entropies[2]


def uniform_truth(width: float) -> float:
    """Return I(X; X + N) for X uniform on [0, 1] and N uniform on [−width, width]."""
    return 1 / (4 * width) if width > 0.5 else width - float(np.log(2 * width))


def _normal(name: str, covariance: Array, dim_x: int, group: str = "multinormal") -> Task:
    def draw(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        rows = _normal_rows(rng, n, covariance)
        return rows[:, :dim_x], rows[:, dim_x:]

    return Task(name, group, gaussian_truth(covariance, dim_x), dim_x, len(covariance) - dim_x, draw)


def _dense(d: int) -> Task:
    return _normal(f"dense normal {d}x{d}", np.full((2 * d, 2 * d), 0.5) + 0.5 * np.eye(2 * d), d)


def _two_pairs(d: int) -> Task:
    covariance = np.eye(2 * d)
    for i in (0, 1):
        covariance[i, d + i] = covariance[d + i, i] = 0.8  # strength λ = 2: λ² / (1 + λ²)
    return _normal(f"two-pair normal {d}x{d}", covariance, d)


def _student(d: int, df: int, group: str = "student") -> Task:
    def draw(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        rows = rng.standard_normal((n, 2 * d)) / np.sqrt(rng.chisquare(df, (n, 1)) / df)
        return rows[:, :d], rows[:, d:]

    return Task(f"Student {d}x{d} df={df}", group, student_truth(df, d, d), d, d, draw)


def _additive(width: float) -> Task:
    def draw(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        x = rng.uniform(0, 1, (n, 1))
        return x, x + rng.uniform(-width, width, (n, 1))

    return Task(f"additive uniform {width:g}", "one-dimensional", uniform_truth(width), 1, 1, draw)


# --- injective maps -------------------------------------------------------------------------------


def half_cube(x: Array) -> Array:
    """Return sign(x) |x|^(3/2), entry by entry."""
    return np.asarray(x * np.sqrt(np.abs(x)))


def spiral(x: Array, first: int) -> Array:
    """Rotate columns (first, first + 1) by the angle ‖x‖² / d, which spares the norm: hence injective."""
    angle = np.sum(x**2, axis=1) / x.shape[1]
    out, (a, b) = x.copy(), (x[:, first], x[:, first + 1])
    out[:, first] = np.cos(angle) * a + np.sin(angle) * b
    out[:, first + 1] = np.cos(angle) * b - np.sin(angle) * a
    return out


def wiggle(x: Array, waves: tuple[tuple[float, float, float], ...]) -> Array:
    """Add sine waves (height, rate, phase) to x, together too flat to fold it."""
    return x + sum(height * np.sin(rate * x + phase) for height, rate, phase in waves)


WAVES_X = ((0.4, 1.0, 0.0), (0.2, 1.7, 1.0), (0.03, 3.3, -2.5))
WAVES_Y = ((-0.4, 0.4, 0.0), (0.17, 1.3, 3.5), (0.02, 4.3, -2.5))


def mixture_quantile(u: Array, weights: tuple[float, float], centres: tuple[float, float]) -> Array:
    """Invert the distribution function of a mixture of two unit normals, by bisection to full precision."""
    low, high = np.full_like(u, -40.0), np.full_like(u, 40.0)
    for _ in range(64):
        middle = (low + high) / 2
        below = sum(w * special.ndtr(middle - c) for w, c in zip(weights, centres, strict=True)) < u
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray((low + high) / 2)


def _swiss_roll(x: Array) -> Array:
    t = 1.5 * np.pi * (1 + 2 * special.ndtr(x))
    return np.hstack([t * np.cos(t), t * np.sin(t)]) / 21


def _mapped(base: Task, label: str, group: str, map_x: Map, map_y: Map | None = None) -> Task:
    def draw(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        x, y = base.draw(rng, n)
        return map_x(x), (map_y or map_x)(y)

    return replace(base, name=f"{label} of {base.name}", group=group, draw=draw)


def _spiralled(base: Task, label: str = "spiral") -> Task:
    return _mapped(base, label, "transformed", partial(spiral, first=0), partial(spiral, first=1))


# --- the forty ------------------------------------------------------------------------------------


def _one_dimensional() -> list[Task]:
    group = "one-dimensional"
    normal = _normal("normal 1x1", np.array([[1.0, 0.75], [0.75, 1.0]]), 1, group)
    student = _student(1, 1, group)
    bimodal_x = lambda x: mixture_quantile(special.ndtr(x), (0.3, 0.7), (0.0, 5.0))  # noqa: E731
    bimodal_y = lambda y: mixture_quantile(special.ndtr(y), (0.5, 0.5), (-1.0, 3.0))  # noqa: E731
    roll = replace(_mapped(normal, "swiss roll", group, _swiss_roll, special.ndtr), dim_x=2, name="swiss roll 2x1")
    return [
        normal,
        _mapped(normal, "normal CDF", group, special.ndtr),
        _mapped(normal, "bimodal image", group, bimodal_x, bimodal_y),
        _mapped(normal, "wiggly image", group, partial(wiggle, waves=WAVES_X), partial(wiggle, waves=WAVES_Y)),
        _mapped(normal, "half-cube", group, half_cube),
        _additive(0.1),
        _additive(0.75),
        student,
        _mapped(student, "asinh", group, np.arcsinh),
        roll,
    ]


def _transformed() -> list[Task]:
    result = []
    for base in map(_two_pairs, (3, 5, 25)):
        uniform = _mapped(base, "normal CDF", "transformed", special.ndtr)
        result += [
            uniform,
            _mapped(base, "half-cube", "transformed", half_cube),
            _spiralled(base),
            _spiralled(uniform),
        ]
    heavy = [_student(2, 1), _student(3, 2), _student(5, 2)]
    return result + [_mapped(base, "asinh", "transformed", np.arcsinh) for base in heavy]


def tasks() -> tuple[Task, ...]:
    """Return the forty tasks of "Beyond Normal", in four groups.

    Returns:
        The tasks.

    >>> len(tasks()), round(max(t.truth for t in tasks()), 4)
    (40, 1.7094)
    """
    normals = [_dense(d) for d in (2, 3, 5, 25, 50)] + [_two_pairs(d) for d in (2, 3, 5, 25)]
    students = [_student(d, df) for d, df in ((2, 1), (2, 2), (3, 2), (3, 3), (5, 2), (5, 3))]
    return tuple(_one_dimensional() + normals + students + _transformed())


def task(name: str) -> Task:
    """Return one of the forty by its name.

    Args:
        name: As in :func:`tasks`.

    Returns:
        The task.

    Raises:
        DataError: If there is no such task.
    """
    known = {t.name: t for t in tasks()}
    if name not in known:
        raise DataError(f"name={name!r}: there is no such information task{nearest(name, known)}")
    return known[name]


# --- variants -------------------------------------------------------------------------------------


def scaled(base: Task, factor_x: float = 1.0, factor_y: float = 1.0) -> Task:
    """Return the same task with each block multiplied by a number: the truth does not move.

    Args:
        base: A task.
        factor_x: Of x.
        factor_y: Of y.

    Returns:
        The task.
    """
    label = f"({factor_x:g}, {factor_y:g}) times"
    return _mapped(base, label, base.group, lambda x: factor_x * x, lambda y: factor_y * y)


def anisotropic(base: Task, ratio: float = 100.0) -> Task:
    """Return the same task with column sizes spread geometrically from 1 to `ratio` inside each block.

    Args:
        base: A task.
        ratio: Of the largest to the smallest column.

    Returns:
        The task.
    """

    def stretch(x: Array) -> Array:
        return x * np.geomspace(1, ratio, x.shape[1])

    return _mapped(base, f"anisotropic {ratio:g}", base.group, stretch)


def padded(base: Task, extra_x: int = 0, extra_y: int = 0, size: float = 1.0) -> Task:
    """Return the same task with independent normal columns of standard deviation `size` added to the blocks.

    Args:
        base: A task.
        extra_x: Columns added to x.
        extra_y: Columns added to y.
        size: Standard deviation.

    Returns:
        The task.
    """

    def draw(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        x, y = base.draw(rng, n)
        noise_x, noise_y = (size * rng.standard_normal((n, extra)) for extra in (extra_x, extra_y))
        return np.hstack([x, noise_x]), np.hstack([y, noise_y])

    name = f"{base.name} padded by {extra_x}+{extra_y}"
    return replace(base, name=name, dim_x=base.dim_x + extra_x, dim_y=base.dim_y + extra_y, draw=draw)


def independent(base: Task) -> Task:
    """Return the product of the task's marginals: mutual information 0.

    Args:
        base: A task.

    Returns:
        The task.
    """

    def draw(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        return base.draw(rng, n)[0], base.draw(rng, n)[1]

    return replace(base, name=f"independent copy of {base.name}", truth=0.0, draw=draw)


def _partial_truth(covariance: Array) -> float:
    """Return I(X; Y | Z) = −½ log(1 − ρ²) with ρ the partial correlation, from the precision matrix."""
    precision = np.linalg.inv(covariance)
    return -0.5 * float(np.log1p(-(precision[0, 1] ** 2) / (precision[0, 0] * precision[1, 1])))


def conditional_tasks() -> tuple[ConditionalTask, ...]:
    """Return normal distributions of (x, y, z): a chain (0), a collider, a confounded arrow, a two-dimensional condition.

    Returns:
        The tasks.

    >>> {t.name: round(t.truth, 3) for t in conditional_tasks()}["chain"]
    0.0
    """
    covariances = {
        "chain": np.array([[1, 0.64, 0.8], [0.64, 1, 0.8], [0.8, 0.8, 1]]),
        "collider": np.array([[1, 0, 1], [0, 1, 1], [1, 1, 2.5]]),
        "confounded arrow": np.array([[1, 0.7, 0.5], [0.7, 1, 0.4], [0.5, 0.4, 1]]),
        "two conditions": np.array([[1, 0.7, 0.5, 0.2], [0.7, 1, 0.4, 0.3], [0.5, 0.4, 1, 0.1], [0.2, 0.3, 0.1, 1]]),
    }
    return tuple(ConditionalTask(name, abs(_partial_truth(matrix)), matrix) for name, matrix in covariances.items())


def _labelled_uniform(labels: int) -> Task:
    """Return X uniform on m labels, Y uniform on [X, X + 2]: log m − (m − 1)/m · log 2 (Gao et al. 2017)."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        x = rng.integers(0, labels, (n, 1))
        return x, x + rng.uniform(0, 2, (n, 1))

    truth = float(np.log(labels) - (labels - 1) / labels * np.log(2))
    return Task(f"labelled uniform m={labels}", "mixed", truth, 1, 1, draw)


def _inflated_poisson(zeros: float) -> Task:
    """Return X exponential, Y Poisson(X) or, with probability p, zero.

    By the chain rule I = h(Y) − h(Y | X), both sums over counts: P(Y = y) = p·[y = 0] + (1 − p)·2^−(y+1).
    """

    def draw(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        x = rng.exponential(1, (n, 1))
        return x, rng.poisson(x) * (rng.uniform(size=(n, 1)) >= zeros)

    return Task(f"zero-inflated Poisson p={zeros:g}", "mixed", _inflated_poisson_truth(zeros), 1, 1, draw)


@lru_cache
def _inflated_poisson_truth(zeros: float) -> float:
    counts = np.arange(300)
    marginal = (1 - zeros) * 0.5 ** (counts + 1.0)
    marginal[0] += zeros

    def spread(rate: float) -> float:  # density of the rate times the entropy of the count given it
        conditional = (1 - zeros) * stats.poisson.pmf(counts, rate)
        conditional[0] += zeros
        return float(np.exp(-rate) * special.entr(conditional).sum())

    given = sum(integrate.quad(spread, *ends, limit=200)[0] for ends in ((0, 1), (1, 10), (10, 60)))
    return float(float(special.entr(marginal).sum()) - given)


def mixed_tasks() -> tuple[Task, ...]:
    """Return tasks with one variable counted in labels, the other continuous (Gao et al., NeurIPS 2017).

    Returns:
        The tasks.
    """
    return (_labelled_uniform(3), _labelled_uniform(5), _inflated_poisson(0.0), _inflated_poisson(0.15))
