"""How many groups some rows fall into: groups that two halves of the rows agree on, with a valley between any two."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import gaussian_kde
from sklearn.cluster import KMeans

from latentry.data import Dataset
from latentry.models.causal_pima.node_updates import principal
from latentry.streams import stream

__all__ = ["Strengths", "group_strengths", "modality_points"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

_ENOUGH = 0.8  # prediction strength of groups that are there (Tibshirani and Walther, 2005)
_MOST = 12  # groups that are looked for
_FEWEST = 6  # rows of a group, on average
_WIDTH = 8  # leading components that are looked at
_ROWS = 4096  # that are looked at
_SPLITS = 3
_WEAK, _HOPELESS = 3, 0.65  # after so many numbers of groups that are so weak, larger ones are not looked at
_SMOOTH = 2.0  # times the usual width of the density, so that few rows do not make valleys
_SMALL = 1e-3  # of the pooled variance, added to every direction


@dataclass(frozen=True)
class Strengths:
    """How well each number of groups held up.

    Args:
        values: Strength of 1, 2, ... groups, from 0 to 1.
    """

    values: tuple[float, ...]

    @property
    def count(self) -> int:
        """Return the largest number of groups whose strength is enough."""
        return max(k for k, value in enumerate(self.values, 1) if value >= _ENOUGH)

    @property
    def costs(self) -> tuple[float, ...]:
        """Return for each number of groups by how much a strength would have to change to make it the count.

        A larger number would have to be as strong as is enough; for a smaller one, all that are larger and strong enough would
        have to fall below.

        >>> Strengths((1.0, 0.9, 0.5)).costs
        (0.1, 0.0, 0.3)
        """
        own = [max(0.0, _ENOUGH - value) for value in self.values]
        above = [max([0.0, *(value - _ENOUGH for value in self.values[k:])]) for k in range(1, len(self.values) + 1)]
        return tuple(round(max(pair), 6) for pair in zip(own, above, strict=True))


def modality_points(data: Dataset, scales: Mapping[str, Array], chosen: Sequence[str]) -> Array:
    """Return leading principal components of some modalities, of the rows that have them all.

    Args:
        data: Standardised rows.
        scales: By which images and curves were divided.
        chosen: Names of modalities.

    Returns:
        (rows, components); no rows where none has them all.
    """
    seen = np.logical_and.reduce([data.observed[name] for name in chosen])
    rows = np.flatnonzero(seen)
    rows = np.sort(stream("causal pima/counted rows", 0).permutation(rows)[:_ROWS])  # a file may be sorted by group
    if len(rows) < 2:
        return np.zeros((len(rows), 1))
    return principal(data.take(rows).select(*chosen), scales)[:, :_WIDTH]


def group_strengths(points: Array, *, most: int = _MOST, seed: int = 0) -> Strengths:
    """Measure how well 1, 2, ... groups hold up: prediction strength, and valleys of the density between groups.

    Prediction strength (Tibshirani and Walther, *Cluster validation by prediction strength*, 2005): both halves of the rows
    are grouped by k-means; of the pairs of rows that one half puts together, the fraction that the groups of the other half
    put together too, in the worst group. Distances are those of the points, or those in which the pooled covariance of the
    groups is the unit, whichever is stronger. A long group that is cut in two is steady too: so strength is at most 1.6 less
    the density at the lowest place between two groups over that at the lower of their peaks.

    Args:
        points: (rows, components).
        most: Groups that are looked for.
        seed: Of what is random.

    Returns:
        A strength for each number of groups.

    >>> rng = np.random.default_rng(0)
    >>> centres = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
    >>> group_strengths(np.repeat(centres, 40, axis=0) + rng.normal(size=(120, 2)), most=5).count
    3
    """
    measured = [1.0]
    for k in range(2, min(most, len(points) // _FEWEST) + 1):
        measured.append(_strength(points, k, seed))
        if len(measured) > _WEAK and max(measured[-_WEAK:]) < _HOPELESS:
            break
    return Strengths((*measured, *[0.0] * (most - len(measured))))


def _strength(points: Array, k: int, seed: int) -> float:
    if len(np.unique(points, axis=0)) < 2 * k:
        return 0.0
    strongest = 0.0
    for pooled in (False, True):
        strength = _steadiness(points, k, seed, pooled=pooled)
        if strength >= _ENOUGH:
            strength = min(strength, 2 * _ENOUGH - _valley(points, _Grouping.of(points, k, seed, pooled=pooled)))
        strongest = max(strongest, strength)
        if strongest >= _ENOUGH:
            break
    return strongest


def _steadiness(points: Array, k: int, seed: int, *, pooled: bool) -> float:
    """Prediction strength, averaged over splits of the rows."""
    found = []
    for split in range(_SPLITS):
        order = np.random.default_rng((seed, split)).permutation(len(points))
        one, other = points[order[::2]], points[order[1::2]]
        first, second = (_Grouping.of(half, k, seed + split, pooled=pooled) for half in (one, other))
        found += [_together(first.predict(other), second.labels, k), _together(second.predict(one), first.labels, k)]
    return float(np.mean(found))


def _together(predicted: Labels, labels: Labels, k: int) -> float:
    """Of the pairs in one group, the fraction that is predicted to be in one; the worst group counts."""
    worst = 1.0
    for group in range(k):
        counts = np.bincount(predicted[labels == group])
        pairs = counts.sum() * (counts.sum() - 1)
        worst = min(worst, float((counts * (counts - 1)).sum() / pairs) if pairs else 0.0)
    return worst


@dataclass(frozen=True, eq=False)
class _Grouping:
    """K-means, in the given distances or with the pooled covariance of the groups as unit."""

    means: KMeans
    metric: Array
    labels: Labels

    @classmethod
    def of(cls, points: Array, k: int, seed: int, *, pooled: bool) -> _Grouping:
        metric = np.eye(points.shape[1])
        means = KMeans(k, n_init=5, random_state=seed).fit(points)
        for _ in range(2 if pooled else 0):
            metric = _unit(points, means.labels_)
            means = KMeans(k, n_init=2, random_state=seed).fit(points @ metric)
        return cls(means, metric, means.labels_.astype(np.int64))

    def predict(self, points: Array) -> Labels:
        nearest: Labels = self.means.predict(points @ self.metric).astype(np.int64)
        return nearest


def _unit(points: Array, labels: Labels) -> Array:
    """Return the map under which the pooled covariance within groups is the identity."""
    groups = [points[labels == group] for group in np.unique(labels)]
    within = np.concatenate([group - group.mean(axis=0) for group in groups])
    covariance = within.T @ within / len(points)
    size = len(covariance)
    covariance = covariance + (_SMALL * np.trace(covariance) / size + 1e-12) * np.eye(size)
    return np.asarray(np.linalg.inv(np.linalg.cholesky(covariance)).T)


def _valley(points: Array, grouping: _Grouping) -> float:
    """Return the density at the lowest place between two groups over the lower of their peaks, for the worst pair."""
    white = points @ _unit(points, grouping.labels)
    groups = [white[grouping.labels == group] for group in range(int(grouping.labels.max()) + 1)]
    if min(map(len, groups)) < 2:
        return 1.0
    return max(_depth(one, other) for one, other in itertools.combinations(groups, 2))


def _depth(one: Array, other: Array) -> float:
    """Along the line between the means; both groups weigh the same."""
    line = other.mean(axis=0) - one.mean(axis=0)
    along = np.concatenate([one, other]) @ line
    if along.std() < 1e-12:
        return 1.0
    weights = np.repeat([1 / len(one), 1 / len(other)], [len(one), len(other)])
    width = _SMOOTH * min(float((part @ line).std()) for part in (one, other)) * len(along) ** -0.2
    density = gaussian_kde(along, bw_method=max(width / float(along.std()), 1e-3), weights=weights)
    grid = np.linspace(float((one @ line).mean()), float((other @ line).mean()), 41)
    height = density(grid)
    low = int(height[5:-5].argmin()) + 5
    return float(height[low] / max(min(height[: low + 1].max(), height[low:].max()), 1e-300))
