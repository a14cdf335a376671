"""Tests that can refute conditional independence; none of them can certify it.

No test is valid for all continuous distributions and has power against any (Shah and Peters 2020), so several families are
used: products of regression residuals, projections that are learned on other rows, and nearest-neighbour information
against permutations. p-values of permutation tests are (1 + b)/(1 + B), or h/l when the h-th draw that beats the data is the
l-th of all: there the test stops, and both are p-values (Besag and Clifford 1991).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.stats import chi2, ncx2, norm

from latentry.data import normal_scores
from latentry.natural.from_samples.likelihood_ratio import discrete_ratio
from latentry.natural.from_samples.pairwise_information import neighbour_orders, pairs_of, strata_orders
from latentry.natural.from_samples.projected_covariance import projected_p_value
from latentry.natural.from_samples.residual_regression import Smoother
from latentry.streams import stream

__all__ = [
    "Refutation",
    "directed_test",
    "neighbour_test",
    "permutation_test",
    "projection_test",
    "residual_power",
    "residual_test",
]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
_NEIGHBOUR_ROWS, _DIRECTED_ROWS = 800, 500
_ENOUGH = 10  # draws that beat the data, after which nothing can be refuted any more
_FIRST = 20  # draws made before the others: under independence most tests end with them
_BATCH = 500  # draws that are held in memory together
_DIRECTIONS = 2  # of each side that are sought on one half of the rows


@dataclass(frozen=True)
class Refutation:
    """A test of independence given the latent: its name, p-value, the size it saw, its error, and rows used."""

    name: str
    p_value: float
    size: float
    rows: int
    error: float = np.inf

    def lower(self, delta: float) -> float:
        """Subtract the sampling error from the size: a lower bound for many rows if the estimator does not overshoot.

        Args:
            delta: One minus the confidence.

        Returns:
            Nats, ≥ 0.
        """
        return max(0.0, self.size - float(norm.isf(delta)) * self.error)


def permutation_test(blocks: list[Codes], given: Codes, *, draws: int = 199, seed: int = 0) -> Refutation:
    """Compare the likelihood-ratio statistic of codes with permutations inside each stratum of `given`.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.integers(0, 2, 300)
    >>> permutation_test([x, x], np.zeros(300, dtype=int)).p_value
    0.005

    Args:
        blocks: Columns of codes (rows,).
        given: Strata (rows,).
        draws: Most permutations.
        seed: Of the permutations.

    Returns:
        The p-value and the size seen, in nats.
    """
    rng = stream("natural/permutations", seed)
    seen = discrete_ratio(blocks, given)

    def values(count: int) -> Iterator[float]:
        for _ in range(count):
            orders = strata_orders(given, len(blocks) - 1, rng)
            shuffled = [blocks[0], *(block[order] for block, order in zip(blocks[1:], orders, strict=True))]
            yield discrete_ratio(shuffled, given).value

    return Refutation(
        "stratified permutation", permuted(seen.value - 1e-12, draws, values).p_value, seen.corrected, len(given)
    )


@dataclass(frozen=True)
class Permuted:
    """What permutations show: the p-value of the data, and the mean of the draws that were made."""

    p_value: float
    mean: float


def permuted(seen: float, draws: int, values: Callable[[int], Iterator[float]]) -> Permuted:
    """Compute a sequential permutation p-value: `values(n)` gives the statistics of the next n draws, one after the other."""
    beaten = made = 0
    total = 0.0
    while made < draws:
        for value in values(min(_FIRST if made == 0 else _BATCH, draws - made)):
            made, total = made + 1, total + value
            beaten += value >= seen
            if beaten == _ENOUGH:
                return Permuted(beaten / made, total / made)
    return Permuted((1 + beaten) / (1 + draws), total / made)


def residual_test(x: Array, y: Array, z: Array, *, smoother: Smoother | None = None, seed: int = 0) -> Refutation:
    """Test whether the residuals of x and y on z correlate: generalised covariance measure (Shah and Peters 2020).

    The largest of all pairs of columns counts, with a Bonferroni correction, and the sum over all directions; see `Smoother`.

    Args:
        x: (rows, columns).
        y: (rows, columns).
        z: The condition (rows, columns).
        smoother: The regression on z, if it is known already.
        seed: Of the regression.

    Returns:
        The p-value and the size seen, in nats of Gaussian information.
    """
    p, rho = (smoother or Smoother.of(z, seed)).p_value(x, y)
    return Refutation("regression residuals", p, -0.5 * float(np.log1p(-(min(rho, 0.999999) ** 2))), len(x))


def residual_power(rows: int, epsilon: float, delta: float, pairs: int = 1) -> float:
    """Compute the power of the residual test against Gaussian residuals with conditional information epsilon in one direction.

    Args:
        rows: Number of rows.
        epsilon: Nats.
        delta: Level of the test.
        pairs: Pairs of columns; the direction need not be that of a column.

    Returns:
        A probability.
    """
    rho = np.sqrt(-np.expm1(-2.0 * epsilon))
    # The product of two unit normals with correlation ρ has mean ρ and variance 1 + ρ².
    shift = np.sqrt(rows) * rho / np.sqrt(1 + rho**2)
    if pairs > 1:  # the sum has half of the level
        return float(ncx2.sf(chi2.isf(delta / 2, pairs), pairs, shift**2))
    cut = norm.isf(delta / 2)
    return float(norm.sf(cut - shift) + norm.cdf(-cut - shift))


def projection_test(x: Array, y: Array, z: Array, *, smoother: Smoother | None = None, seed: int = 0) -> Refutation:
    """Test whether a learned function of x and z predicts what z leaves of y, or the other way round.

    See `projected_p_value`. It says nothing about the size of the dependence.

    Args:
        x: (rows, columns).
        y: (rows, columns).
        z: The condition (rows, columns).
        smoother: The regression on z, if it is known already.
        seed: Of the splits.

    Returns:
        The p-value.
    """
    p = projected_p_value(x, y, z, smoother=smoother, seed=seed)
    return Refutation("projected covariance", p, 0.0, len(x))


def neighbour_test(
    x: Array,
    y: Array,
    z: Array,
    *,
    strata: Codes | None = None,
    draws: int = 99,
    k: int = 5,
    most: int = _NEIGHBOUR_ROWS,
    smoother: Smoother | None = None,
    seed: int = 0,
) -> Refutation:
    """Compare nearest-neighbour conditional information with permutations that keep z (Runge 2018).

    With `strata` (a discrete latent) rows are permuted inside each value; otherwise x moves between rows whose z
    are neighbours. Given z, subtracting a function of z changes no information, so residuals are used: what
    is left varies little between neighbours. A few hundred rows enter, drawn at random.

    Args:
        x: (rows, columns).
        y: (rows, columns).
        z: The condition (rows, columns).
        strata: Codes (rows,) of a discrete latent.
        draws: Most permutations.
        k: Neighbours.
        most: Rows that enter at most.
        smoother: The regression on z, if it is known already.
        seed: Of the rows, ties and permutations.

    Returns:
        The p-value, the size seen in nats, and its sampling error.
    """
    rng = stream("natural/neighbours", seed)
    rows = rng.permutation(len(x))[:most]
    if strata is None:
        known = smoother or Smoother.of(z, seed)
        x, y = known.residuals(x), known.residuals(y)
    u, v, w = (normal_scores(part[rows], offset=0.0, ties=rng) for part in (x, y, z))
    inside = None if strata is None else strata[rows]
    statistic = _Information(u, v, w, inside, k)
    local = statistic.local()
    seen, error = float(local.mean()), float(local.std() / np.sqrt(len(local)))
    near = cKDTree(w).query(w, min(8, len(rows)))[1]

    def values(count: int) -> Iterator[float]:
        orders = neighbour_orders(near, count, rng) if inside is None else strata_orders(inside, count, rng)
        return (float(statistic.local(order).mean()) for order in orders)

    # What rows with another row's x still show is not dependence: z is held only as near as neighbours are.
    drawn = permuted(seen, draws, values)
    size = max(0.0, seen - max(0.0, drawn.mean))
    return Refutation("nearest neighbours", drawn.p_value, size, len(rows), error)


def directed_test(
    x: Array,
    y: Array,
    z: Array,
    *,
    strata: Codes | None = None,
    draws: int = 99,
    smoother: Smoother | None = None,
    seed: int = 0,
) -> Refutation:
    """Seek on one half of the rows the directions in which residuals correlate most, and look there on the other half.

    Many columns are too many for nearest neighbours; a few directions that other rows chose are not, and what depends in
    them depends as a whole (data processing).

    Args:
        x: (rows, columns).
        y: (rows, columns).
        z: The condition (rows, columns).
        strata: Codes (rows,) of a discrete latent.
        draws: Most permutations.
        smoother: The regression on z, if it is known already.
        seed: Of the halves and of the test.

    Returns:
        The p-value, the size seen in nats, and its sampling error.
    """
    known = smoother or Smoother.of(z, seed)
    seek, look = np.array_split(stream("natural/directions", seed).permutation(len(x)), 2)
    turns = _leading_pairs(known.residuals(x)[seek], known.residuals(y)[seek])
    u, v = (side[look] @ turn for side, turn in zip((x, y), turns, strict=True))
    inside = None if strata is None else strata[look]
    found = neighbour_test(u, v, z[look], strata=inside, draws=draws, most=_DIRECTED_ROWS, seed=seed)
    return replace(found, name="nearest neighbours in sought directions")


def _leading_pairs(x: Array, y: Array) -> tuple[Array, Array]:
    """Directions of both sides that correlate most: canonical variates, with a ridge for few rows."""
    turns = []
    for side in (x, y):
        covariance = side.T @ side / len(side)
        ridge = np.trace(covariance) / len(covariance) * len(covariance) / len(side) + 1e-300
        strengths, axes = np.linalg.eigh(covariance + ridge * np.eye(len(covariance)))
        turns.append(axes / np.sqrt(strengths) @ axes.T)
    left, _, right = np.linalg.svd(turns[0] @ (x.T @ y) @ turns[1], full_matrices=False)
    return turns[0] @ left[:, :_DIRECTIONS], turns[1] @ right[:_DIRECTIONS].T


class _Information:
    """The contribution of every row to the conditional information, for any order of the rows of u."""

    def __init__(self, u: Array, v: Array, w: Array, strata: Codes | None, k: int) -> None:
        self._rows, self._groups = len(u), pairs_of(u, v, w, strata, k)

    def local(self, order: Codes | None = None) -> Array:
        """Compute the contribution of every row, with u taken from the rows `order`."""
        local = np.zeros(self._rows)
        for group in self._groups:
            # A permutation keeps to the strata, so that its rows in a group are rows of the group.
            inside = None if order is None else np.searchsorted(group.rows, order[group.rows])
            local[group.rows] = group.local(inside)
        return local
