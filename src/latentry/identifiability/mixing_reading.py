"""What fits show of a mixing: its strengths, where an edge begins, and which restarts are rival explanations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from latentry.contracts import HasChannel, HasMixing, MixingSupport, PenalisesMixing
from latentry.data import Dataset, GaussianChannel
from latentry.errors import DataError
from latentry.identifiability.metrics import mcc

__all__ = [
    "Against",
    "Mixed",
    "Reading",
    "Rows",
    "against",
    "borne",
    "calibrated",
    "needed_domains",
    "readings",
    "rivals",
    "share_latents",
]

_SLIGHT = 0.005  # nats for each observed number: two runs of one fit differ by that
_SURE = 2.0  # standard errors by which a likelihood is lower for sure
_LEAST, _MOST = 0.03, 0.3  # strengths between which an edge may begin
_CLEAR = 2.0  # an edge is clear at this many times the threshold, or divided by it; between, it may be read as either
_NEAR = 1.25  # the same where strengths leave a gap around the threshold, at least

Mixed: TypeAlias = HasMixing | np.ndarray  # a model with a mixing, or strengths (observed, latents)
Rows: TypeAlias = Dataset | ArrayLike | None


@dataclass(frozen=True, eq=False)
class Reading:
    """Strengths of one fit, and how they are read.

    Args:
        table: Strengths, (observed, latents).
        edge: Strength above which there is an edge.
        clear: Times the threshold, and divided by it, at which an edge is clearly there or not.
    """

    table: np.ndarray
    edge: float
    clear: float = _CLEAR

    @property
    def support(self) -> MixingSupport:
        """Return the edges."""
        return MixingSupport(self.table > self.edge)

    @property
    def seen(self) -> np.ndarray:
        """Return which edges are clearly there, (observed, latents)."""
        found: np.ndarray = self.table > self.clear * self.edge
        return found

    @property
    def absent(self) -> np.ndarray:
        """Return which edges are clearly absent, (observed, latents)."""
        found: np.ndarray = self.table < self.edge / self.clear
        return found

    def ordered(self, first: Reading) -> Reading:
        """Return the same with latents in the order of the first fit's.

        Args:
            first: The first fit's.

        Returns:
            A reading.
        """
        order = first.support.matched(self.support)[1]
        return Reading(self.table[:, order], self.edge, self.clear)


def calibrated(table: np.ndarray) -> Reading:
    """Read strengths by the widest gap that they leave between 0.03 and 0.3: an edge begins in the middle of it.

    Where edges are few their strengths are of two kinds, and a fixed threshold may lie among either. What is nearer to the
    middle than the ends of the gap, or than a factor 1.25, is unclear. Strengths that leave no gap of a factor 2 are read
    at 0.1, as :meth:`CGVAE.support` reads them.

    Args:
        table: Strengths, (observed, latents), at rows that the fit has not seen.

    Returns:
        The strengths and their threshold.

    >>> read = calibrated(np.array([[0.8, 0.02], [0.06, 0.4]]))
    >>> read.support.present.tolist(), round(read.edge, 3), round(read.clear, 2)
    ([[True, False], [False, True]], 0.134, 2.0)
    """
    inside = np.clip(np.sort(table, axis=None), _LEAST, _MOST)
    ends = np.concatenate([[_LEAST], inside, [_MOST]])
    ratios = ends[1:] / ends[:-1]
    at = int(ratios.argmax())
    if ratios[at] < _CLEAR:
        return Reading(table, 0.1)
    clear = float(np.clip(0.99 * np.sqrt(ratios[at]), _NEAR, _CLEAR))
    return Reading(table, float(np.sqrt(ends[at] * ends[at + 1])), clear)


def readings(models: Sequence[Mixed], data: Rows, edge: float | None) -> list[Reading]:
    """Return the strengths of each fit, with the threshold given or one that they show.

    Args:
        models: Fits, or strengths.
        data: Rows at which mixings are read.
        edge: Threshold for all of them, or None.

    Returns:
        One for each.

    Raises:
        DataError: If there are none, or they differ in shape.
    """
    tables = _strengths(models, data)
    return [calibrated(table) if edge is None else Reading(table, edge) for table in tables]


def rivals(models: Sequence[Mixed], read: Sequence[Reading], data: Rows) -> list[int]:
    """Return the restarts that count beside the first: those that explain the rows as well, with as few edges.

    One that explains them clearly worse (a likelihood that is lower, and a penalised loss that is higher, each by more than
    two standard errors and by more than two runs of one fit differ) was stuck. One that is as likely with more edges is
    no rival either: of explanations that are equally likely the theorem takes the one with the fewest edges.
    Strengths without a model, and fits that cannot score these rows, all count.

    Args:
        models: Fits, or strengths.
        read: Their strengths.
        data: Rows, with their domains.

    Returns:
        Places, the first being 0.
    """
    losses = _losses(models, data)
    if losses is None:
        return list(range(len(models)))
    slight = _slight(read[0])
    pairs = [[_clearly(mine - first, slight) for mine, first in zip(loss, losses[0], strict=True)] for loss in losses]
    few = read[0].support.edges
    return [at for at, worse in enumerate(pairs) if not all(worse) and (worse[0] or read[at].support.edges <= few)]


@dataclass(frozen=True)
class Against:
    """A fit with a penalty against fits without one.

    Args:
        cost: Nats a row by which it is less likely than the best of these, and
        error: the standard error of that.
        slack: What two runs of one fit may differ by.
        nearest: Correlation of its latents with those of the nearest of these; NaN where latents cannot be had.
        steady: Mean correlation between latents of these; NaN for one.
    """

    cost: float
    error: float
    slack: float = 0.0
    nearest: float = np.nan
    steady: float = np.nan

    @property
    def dear(self) -> bool:
        """Return whether it is less likely for sure."""
        return self.cost > max(_SURE * self.error, self.slack)

    @property
    def astray(self) -> bool:
        """Return whether its latents are farther from all of these than these are from each other."""
        return self.nearest < self.steady


def against(model: Mixed, free: Sequence[Mixed], data: Rows) -> Against | None:
    """Compare a fit with those without a penalty that are as likely as the best of them.

    Args:
        model: A fit with a penalty.
        free: Fits without one; the same fit is not compared with itself.
        data: Rows, with their domains.

    Returns:
        The comparison; None if there are no others, or some of them cannot score these rows.
    """
    free = [one for one in free if one is not model]
    losses = _losses([model, *free], data)
    if losses is None or not free:
        return None
    mine, others = losses[0][0], [loss for loss, _ in losses[1:]]
    best = min(others, key=lambda loss: float(loss.mean()))
    worse, slight = mine - best, _SLIGHT * data.layout.size if isinstance(data, Dataset) else 0.0
    good = [one for one, loss in zip(free, others, strict=True) if not _clearly(loss - best, slight)]
    near, steady = _distances(model, good, data)
    return Against(float(worse.mean()), float(worse.std() / np.sqrt(len(worse))), slight, near, steady)


def borne(beside: Against | None) -> bool:
    """Return whether fits without a penalty, where there are some, do not speak against a fit.

    Args:
        beside: The comparison.

    Returns:
        A truth value.
    """
    return beside is None or not (beside.dear or beside.astray)


def needed_domains(support: MixingSupport, latent: int) -> int:
    """Return how many domains suffice by changes alone: 2a + 1 for a latents on variables of its own.

    Args:
        support: The edges.
        latent: Its number.

    Returns:
        A number of domains.
    """
    beside = support.present[support.present[:, latent]].any(axis=0)
    return 2 * max(int(beside.sum()), 1) + 1


def share_latents(first: Mixed, others: Sequence[Mixed], data: Rows, least: float) -> bool:
    """Return whether the latents of all others agree with the first's by at least so much; False where none can be had.

    Args:
        first: A fit.
        others: Its restarts.
        data: Rows.
        least: Mean correlation in the best pairing; NaN for False.

    Returns:
        A truth value.
    """
    return all(_distances(first, [other], data)[0] >= least for other in others)


def _distances(model: Mixed, free: Sequence[Mixed], data: Rows) -> tuple[float, float]:
    assert isinstance(data, Dataset)  # else they have no scores
    channels = [one.channel(data) for one in (model, *free) if isinstance(one, HasChannel)]
    means = [channel.mean for channel in channels if isinstance(channel, GaussianChannel)]
    if len(means) <= len(free):
        return float("nan"), float("nan")
    mine, *others = means
    pairs = [mcc(one, two, "spearman") for one, two in combinations(others, 2)]
    return max(mcc(mine, other, "spearman") for other in others), float(np.mean(pairs)) if pairs else float("nan")


def _losses(models: Sequence[Mixed], data: Rows) -> list[tuple[np.ndarray, np.ndarray]] | None:
    priced = [model for model in models if isinstance(model, PenalisesMixing)]
    if not isinstance(data, Dataset) or data.domain is None or len(priced) < len(models):
        return None
    try:
        return [(-model.score_rows(data), model.penalised_rows(data)) for model in priced]
    except DataError:  # a domain that no fit has seen has a mixing, and no score
        return None


def _slight(read: Reading) -> float:
    return _SLIGHT * len(read.table)


def _clearly(worse: np.ndarray, slight: float) -> bool:
    return bool(worse.mean() > max(slight, 2 * worse.std() / np.sqrt(len(worse))))


def _strengths(models: Sequence[Mixed], data: Rows) -> list[np.ndarray]:
    if not models:
        raise DataError("models: is empty. Give at least one.")
    tables = [_table(model, data) for model in models]
    for number, table in enumerate(tables):
        if table.ndim != 2 or 0 in table.shape or not np.isfinite(table).all() or (table < 0).any():
            raise DataError(
                f"strengths of restart {number} are not a table (observed, latents) of finite numbers of at least 0. "
                "Give one."
            )
        if table.shape != tables[0].shape:
            raise DataError(
                f"restart {number} has shape {table.shape} and restart 0 has {tables[0].shape}. "
                "Give fits of the same variables with as many latents."
            )
    return tables


def _table(model: Mixed, data: Rows) -> np.ndarray:
    if isinstance(model, np.ndarray):
        return np.asarray(model, dtype=np.float64)
    if not isinstance(model, HasMixing):
        raise DataError(
            f"models={type(model).__name__}: has no mixing. Use a model with mixing(data), such as CGVAE, or give strengths."
        )
    if data is None:
        raise DataError("data=None: a mixing is computed at some rows. Give them.")
    return np.asarray(model.mixing(data), dtype=np.float64)
