"""Upper bounds of the mediation error of small discrete tables, valid at every sample size.

TC(X|Λ) = min_R D(Q‖R) over mediated distributions R, so that any R bounds it; and the convex function
Q ↦ D(Q‖Q_Λ R(X|Λ)) shows that one conditional distribution R(X|Λ) for all domains bounds every mixture:
TC_α ≤ max_j D(Q_j‖S_j R) with any S_j(Λ). How large D(Q_j‖S_j R) can be is said by `fresh_counts.py`, with R fitted on
a part of the rows, and where cells are few also by the ball of `divergence_ball.py` around the counts of all rows: the two
share the level, and the smaller bound is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, rel_entr

from latentry.data import CategoricalChannel
from latentry.natural.from_samples.audit_rows import Rows
from latentry.natural.from_samples.divergence_ball import largest_divergence, radius
from latentry.natural.from_samples.fresh_counts import Fresh, fresh_rows
from latentry.natural.from_samples.observables import Codes
from latentry.streams import stream

__all__ = ["MAX_TABLE", "Table", "mediation_method", "mediation_upper", "tabulate"]

Array = NDArray[np.float64]
# Cells of the observables, times latent values when the channel is not a function of them.
MAX_TABLE = 4096
_LABELLED_FROM = 64  # cells of the observables, above which cells of (X, Λ) are counted where Λ is certain
_FEW_CELLS, _BALL = 8, 0.5  # up to how many cells a ball is tried, and its part of the level
_FACTORS = (0.2, 1.0, 4.0)  # smoothing of the reference of a ball, in units of its radius
_CENTRE = 0.05  # rows added to every count of the conditional distributions that centre the estimate
_ADDED = 1.0  # the same for those from which the divergence is measured: more, or rare cells weigh much


@dataclass(frozen=True, eq=False)
class Table:
    """Counts over the cells of X for some rows, and K(λ|x) there (NaN where no row fell).

    When rows with the same x disagree about K, or the table is large and K certain, the cells are those of (X, Λ) with Λ
    drawn once, and K names the value: `shape` then has the latent as its last axis.

    A Poisson number of rows with mean `mean` is `fresh`: a reference is fitted on the rest.
    """

    shape: tuple[int, ...]
    counts: Array
    kernel: Array
    labelled: bool
    fresh: Array
    mean: float

    @property
    def rows(self) -> int:
        """Return the number of rows behind the counts."""
        return int(self.counts.sum())

    def joint(self, counts: Array | None = None) -> Array:
        """Count Q(x, λ): the counts, or others, times K.

        Args:
            counts: Rows in each cell; all rows of the table by default.

        Returns:
            Rows in each cell of (x, λ).
        """
        known = np.where(np.isnan(self.kernel), 0.0, self.kernel)
        joint = ((self.counts if counts is None else counts)[:, None] * known).reshape(*self.shape, -1)
        return joint.sum(axis=-2) if self.labelled else joint

    def spread(self) -> tuple[float, float]:
        """Estimate TC(X|Λ), less its bias where it is zero, and the variance of one row's part in it.

        Returns:
            Nats, and nats squared.
        """
        joint = self.joint() / self.rows
        ratio = np.where(joint > 0, np.log(np.maximum(joint, 1e-300)) - _log_mediated(joint, joint, _mixed(1e-9)), 0.0)
        plain = float((joint * ratio).sum())
        kept = [joint.sum(axis=tuple(a for a in range(joint.ndim - 1) if a != i)) > 0 for i in range(joint.ndim - 1)]
        levels = np.array([pair.sum(axis=0) for pair in kept])
        freedom = float((levels.prod(axis=0) - 1 - (levels - 1).sum(axis=0)).clip(0).sum())
        value = max(0.0, plain - min(freedom, float((joint > 0).sum())) / (2 * self.rows))
        return value, float((joint * (ratio - plain) ** 2).sum()) if value else 0.0

    @property
    def fitted(self) -> Array:
        """Return the counts of the rows that are not fresh."""
        return self.counts - self.fresh

    def reference(self, logs: Array) -> Array:
        """Compute a(x) = −D(K(·|x)‖R(x, ·)) for each cell, the worst λ where K is not known.

        Args:
            logs: ln R(x, λ).

        Returns:
            (cells,).
        """
        if self.labelled:
            return logs.reshape(-1)
        flat = logs.reshape(-1, logs.shape[-1])
        unknown = np.asarray(np.isnan(self.kernel).any(axis=1))
        kernel = np.where(unknown[:, None], 1.0 / flat.shape[1], self.kernel)
        reference: Array = np.where(unknown, flat.min(axis=1), -rel_entr(kernel, np.exp(flat)).sum(axis=1))
        return reference

    def centre(self, logs: Array) -> Array:
        """Compute ln r(x) without the fresh rows: a(x) in cells where another row fell, else ln Σ_λ R(x, λ).

        Args:
            logs: ln R(x, λ), from the rows that are not fresh.

        Returns:
            (cells,).
        """
        if self.labelled:
            return logs.reshape(-1)
        whole = logsumexp(logs.reshape(-1, logs.shape[-1]), axis=1)
        centre: Array = np.where(self.fitted > 0, self.reference(logs), whole)
        return centre


def mediation_upper(tables: Sequence[Table], delta: float) -> float:
    """Bound TC(X|Λ) from above in every mixture of the tables, with confidence 1 − delta.

    One conditional distribution R(X|Λ) must serve all tables, so it is judged by its worst table.

    Args:
        tables: Of one domain, or of each domain.
        delta: One minus the confidence.

    Returns:
        Nats.
    """
    if len(tables[0].counts) > _FEW_CELLS:
        return _by_fresh_rows(tables, delta)
    return min(_by_fresh_rows(tables, delta * (1 - _BALL)), _by_balls(tables, delta * _BALL / len(tables)))


def mediation_method(tables: Sequence[Table]) -> str:
    """Name how `mediation_upper` bounds the error of these tables.

    Args:
        tables: Of one domain, or of each domain.

    Returns:
        A phrase.
    """
    few = len(tables[0].counts) <= _FEW_CELLS
    return "divergence estimated on fresh rows" + (", or relative-entropy ball around the counts" if few else "")


def _by_fresh_rows(tables: Sequence[Table], delta: float) -> float:
    """R is fitted without the fresh rows, so that which table is worst does not depend on them: its bound alone has to hold."""
    pool = np.sum([table.joint(table.fitted) for table in tables], axis=0)
    bounds = []
    for table in tables:
        own = table.joint(table.fitted)
        fresh = Fresh(table.fresh, table.mean, table.rows, table.centre(_log_mediated(own, pool, _added(_CENTRE))))
        bounds.append(fresh.largest_divergence(table.reference(_log_mediated(own, pool, _added(_ADDED))), delta))
    return max(bounds)


def _by_balls(tables: Sequence[Table], delta: float) -> float:
    """R may depend on all rows, since a ball holds for all references at once: a few amounts of smoothing are tried."""
    pool = np.sum([table.joint() for table in tables], axis=0)
    return min(max(_in_ball(table, pool, factor, delta) for table in tables) for factor in _FACTORS)


def _in_ball(table: Table, pool: Array, factor: float, delta: float) -> float:
    smoothing = min(0.3, factor * radius(table.rows, len(table.counts), delta))
    return largest_divergence(
        table.counts, table.reference(_log_mediated(table.joint(), pool, _mixed(smoothing))), delta
    )


def _added(rows: float) -> Callable[[Array], Array]:
    """Shares of the first axis, with some rows added to each count."""

    def shares(counts: Array) -> Array:
        added = counts + rows
        result: Array = added / added.sum(axis=0)
        return result

    return shares


def _mixed(smoothing: float) -> Callable[[Array], Array]:
    """Shares of the first axis, mixed with equal ones."""

    def shares(counts: Array) -> Array:
        mass = counts.sum(axis=0)
        plain = np.divide(counts, mass, out=np.full_like(counts, 1.0 / len(counts)), where=mass > 0)
        mixed: Array = (1 - smoothing) * plain + smoothing / len(counts)
        return mixed

    return shares


def _log_mediated(own: Array, source: Array, shares: Callable[[Array], Array]) -> Array:
    """Logarithm of S(λ) Π_i R_i(x_i|λ), with S from the counts of one joint and R_i from another's."""
    n = own.ndim - 1
    result = np.broadcast_to(np.log(shares(own.sum(axis=tuple(range(n))))), own.shape)
    for i in range(n):
        pair = source.sum(axis=tuple(a for a in range(n) if a != i))
        shape = [1] * own.ndim
        shape[i], shape[-1] = pair.shape
        result = result + np.log(shares(pair)).reshape(shape)
    return result


def tabulate(rows: Rows, part: Codes, seed: int) -> Table | None:
    """Count some rows into a table.

    Args:
        rows: The rows to audit.
        part: Row numbers to count.
        seed: Of the draw of the latent and of the fresh rows.

    Returns:
        The table; None when it has too many cells, or something is not a label.
    """
    if not isinstance(rows.channel, CategoricalChannel):
        return None
    levels = tuple(block.levels or 0 for block in rows.blocks)
    cells = int(np.prod(levels, dtype=float))
    if not all(levels) or cells > MAX_TABLE:
        return None
    values = rows.channel.probabilities.shape[1]
    place = np.ravel_multi_index(tuple(block.values for block in rows.blocks), levels)
    kernel, agree = _kernel(rows.channel.probabilities, place, cells)
    certain = bool((rows.channel.probabilities.max(axis=1) == 1.0).all())
    # In a large table many cells that may well occur are not met: better to allow each its labels than the worst of them.
    labelled = certain and cells > _LABELLED_FROM and cells * values <= MAX_TABLE
    if agree and not labelled:
        return _counted(part, levels, place, kernel, seed, labelled=False)
    if cells * values > MAX_TABLE:
        return None
    place = place * values + rows.channel.sample(seed)
    return _counted(part, (*levels, values), place, np.tile(np.eye(values), (cells, 1)), seed, labelled=True)


def _counted(part: Codes, shape: tuple[int, ...], place: Codes, kernel: Array, seed: int, *, labelled: bool) -> Table:
    cells = int(np.prod(shape))

    def count(chosen: Codes) -> Array:
        return np.bincount(place[chosen], minlength=cells).astype(float)

    _, fresh, mean = fresh_rows(part, stream("natural/fresh rows", seed))
    return Table(shape, count(part), kernel, labelled, count(fresh), mean)


def _kernel(probabilities: Array, place: Codes, cells: int) -> tuple[Array, bool]:
    """K(λ|x) at each cell, and whether every row of a cell has the same."""
    first = np.full(cells, -1)
    first[place[::-1]] = np.arange(len(place))[::-1]
    agree = bool(np.abs(probabilities - probabilities[first[place]]).max() < 1e-9)
    kernel = np.full((cells, probabilities.shape[1]), np.nan)
    kernel[first >= 0] = probabilities[first[first >= 0]]
    return kernel, agree
