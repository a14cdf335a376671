"""Which rows may be taken for independent of each other: single ones, groups, or rows of a series that lie far apart.

An estimate from rows that depend on each other reads too much and is too sure. What remains right: to take one row of each
group, or every L-th row of a series, L so long that the series has forgotten, and to average the estimates of several
such draws. With R exchangeable draws of variance V each and expected sample variance W between them, the variance of their
mean is V − (1 − 1/R) W: V where rows of a group repeat each other, V / R where they are independent.

A permutation test exchanges what is independent: groups as wholes, or a series as a whole, shifted in a circle.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from latentry.errors import DataError
from latentry.information.autocorrelation import decorrelation_length
from latentry.information.blocks import codes
from latentry.information.questions import Question

__all__ = ["Groups", "Series", "Structure", "declared_structure"]

Array = np.ndarray
MOST_DRAWS = 20
FEWEST_EXCHANGED = 20  # groups, where there are so many
CAUTION = 0.1  # probability that the variance between draws is taken for larger than it is


@dataclass(frozen=True)
class Structure(ABC):
    """What the rows of a question are made of."""

    @property
    @abstractmethod
    def independent(self) -> int:
        """Count the rows of one draw: as many as may be taken for independent."""

    @property
    @abstractmethod
    def said(self) -> str:
        """Describe the structure in words."""

    @abstractmethod
    def draws(self, rng: np.random.Generator, most: int = MOST_DRAWS) -> list[Array]:
        """Return row numbers of draws within which rows may be taken for independent."""

    @abstractmethod
    def variance_of_mean(self, single: float, values: Array) -> float:
        """Return the variance of the mean over draws, from that of a single draw and the values of all."""

    @abstractmethod
    def arranged(self, rng: np.random.Generator) -> Array:
        """Return the row numbers that a permutation test uses, in the order that `shuffled` expects."""

    @abstractmethod
    def shuffled(self, rng: np.random.Generator) -> Array:
        """Return places among the arranged rows after whole pieces changed places."""

    @property
    @abstractmethod
    def exchange(self) -> str:
        """Describe in words what changes places."""


@final
@dataclass(frozen=True)
class Groups(Structure):
    """Rows in groups that are independent of each other.

    Args:
        labels: Code of the group of each row, from 0.
        order: Row numbers in the order in which rows of a group go together; their own by default.
    """

    labels: Array
    order: Array | None = None

    @property
    def independent(self) -> int:
        """Count the groups."""
        return int(self.labels.max()) + 1

    @property
    def said(self) -> str:
        """Describe the groups in words."""
        return f"{len(self.labels)} rows in {self.independent} groups"

    def draws(self, rng: np.random.Generator, most: int = MOST_DRAWS) -> list[Array]:
        """Take one row of each group, a draw at a time; groups with fewer rows than draws begin again."""
        sizes = np.bincount(self.labels)
        by_group = np.lexsort((rng.random(len(self.labels)), self.labels))
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        return [by_group[starts + i % sizes] for i in range(min(most, int(sizes.max())))]

    def variance_of_mean(self, single: float, values: Array) -> float:
        """Subtract a lower confidence limit of the variance between draws, and never more than three quarters."""
        free = len(values) - 1
        if free < 1:
            return single
        between = free * float(np.var(values, ddof=1)) / float(stats.chi2.isf(CAUTION, free))
        return max(single - (1 - 1 / len(values)) * between, single / 4)

    @property
    def _size(self) -> int:
        """The number of rows a group with which most rows are kept if groups must be equally large.

        No size is chosen that leaves too few groups to exchange: one large group would otherwise drop all others.
        """
        sizes = np.sort(np.bincount(self.labels))[::-1]
        enough = min(FEWEST_EXCHANGED, len(sizes)) - 1
        # Ties are settled for the larger number of groups.
        kept = (sizes * np.arange(1, len(sizes) + 1))[enough:]
        best = len(kept) - 1 - int(np.argmax(kept[::-1]))
        return int(sizes[enough + best])

    def arranged(self, rng: np.random.Generator) -> Array:
        """Keep as many rows of each group, chosen at random, and drop smaller groups."""
        size, chosen = self._size, []
        place = np.arange(len(self.labels)) if self.order is None else np.argsort(self.order)
        by_group = np.argsort(self.labels, kind="stable")
        for rows in np.split(by_group, np.cumsum(np.bincount(self.labels))[:-1]):
            if len(rows) >= size:
                some = rng.permutation(rows)[:size]
                chosen.append(some[np.argsort(place[some])])
        return np.concatenate(chosen)

    def shuffled(self, rng: np.random.Generator) -> Array:
        """Exchange groups as wholes."""
        count = int(np.sum(np.bincount(self.labels) >= self._size))
        return rng.permutation(np.arange(count * self._size).reshape(count, self._size)).reshape(-1)

    @property
    def exchange(self) -> str:
        """Describe in words what changes places."""
        count = int(np.sum(np.bincount(self.labels) >= self._size))
        return f"{count} groups of {self._size} rows exchanged as wholes"


@final
@dataclass(frozen=True)
class Series(Structure):
    """Rows in the order of time, which forget within `length` rows.

    Args:
        order: Row numbers in the order of time.
        length: Rows from one to the next that may be taken for independent of it.
    """

    order: Array
    length: int

    @property
    def independent(self) -> int:
        """Count the rows that lie `length` apart."""
        return len(self.order) // self.length

    @property
    def said(self) -> str:
        """Describe the series in words."""
        return f"{len(self.order)} rows in the order of time that depend on the {self.length} before them"

    def draws(self, rng: np.random.Generator, most: int = MOST_DRAWS) -> list[Array]:
        """Take every `length`-th row, from different starts."""
        starts = np.unique(np.linspace(0, self.length - 1, min(most, self.length)).astype(int))
        return [self.order[start :: self.length][: self.independent] for start in starts]

    def variance_of_mean(self, single: float, values: Array) -> float:
        """Return that of a single draw: draws from neighbouring starts hardly differ."""
        return single

    def arranged(self, rng: np.random.Generator) -> Array:
        """Take all rows in the order of time."""
        return self.order

    def shuffled(self, rng: np.random.Generator) -> Array:
        """Shift the series in a circle, by no less than its memory where it is long enough."""
        n = len(self.order)
        least = min(self.length, n // 4)
        return np.roll(np.arange(n), int(rng.integers(max(least, 1), max(n - least, 1) + 1)))

    @property
    def exchange(self) -> str:
        """Describe in words what changes places."""
        return f"the series shifted in a circle by {min(self.length, len(self.order) // 4)} rows or more"


def declared_structure(question: Question, groups: ArrayLike | None, time: ArrayLike | bool | None) -> Structure | None:
    """Return the structure that the caller declared, None if none was.

    Args:
        question: Variables.
        groups: A label for each row, if any.
        time: A number for each row, True for rows in the order of time, False for an order without meaning.

    Returns:
        Groups, a series, or None.

    Raises:
        DataError: If there is no label or number for each row.
    """
    n = question.x.n
    order = None if time is None or time is False else _time_order(time, n)
    if groups is not None:
        return Groups(_group_codes(groups, n), order)
    return None if order is None else Series(order, decorrelation_length(question.take(order)))


def _group_codes(groups: ArrayLike, n: int) -> Array:
    labels = np.asarray(groups)
    if labels.shape[:1] != (n,) or labels.ndim > 2:
        raise DataError(f"groups: it has shape {labels.shape} and there are {n} rows. Give one label for each row.")
    missing = np.array([v is None for v in labels.ravel()]) if labels.dtype == object else labels.ravel()
    if np.any(missing if labels.dtype == object else missing != missing):
        raise DataError("groups: some labels are missing. Name the group of every row, or drop the row.")
    found = codes(labels.reshape(n, -1))
    if found.max() == 0:
        raise DataError("groups: all rows are in one group. Give at least two groups: one says nothing about others.")
    return found


def _time_order(time: ArrayLike | bool, n: int) -> Array:
    if time is True:
        return np.arange(n)
    try:
        moments = np.asarray(time).reshape(-1)
        moments = moments.astype(np.float64) if moments.dtype.kind not in "mM" else moments
    except (TypeError, ValueError):
        raise DataError("time: it holds things that are not numbers. Give one number for each row, or True.") from None
    if len(moments) != n:
        raise DataError(f"time: it has {len(moments)} numbers and there are {n} rows. Give one for each row, or True.")
    if np.any(moments != moments):
        raise DataError("time: some moments are missing. Give one for each row, or drop the row.")
    return np.argsort(moments, kind="stable")
