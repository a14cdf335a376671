"""Upper bounds of the mediation error of small discrete tables, valid at every sample size.

TC(X|Λ) = min_R D(Q‖R) over mediated distributions R, so that any R bounds it; and the convex function
Q ↦ D(Q‖Q_Λ R(X|Λ)) shows that one conditional distribution R(X|Λ) for all domains bounds every mixture:
TC_α ≤ max_j D(Q_j‖S_j R) with any S_j(Λ). The ball of `divergence_ball.py` says how large D(Q_j‖S_j R) can be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import rel_entr

from latentry.data import CategoricalChannel
from latentry.natural.from_samples.audit_rows import Rows
from latentry.natural.from_samples.divergence_ball import largest_divergence, radius
from latentry.natural.from_samples.observables import Codes

__all__ = ["MAX_TABLE", "Table", "tabulate"]

Array = NDArray[np.float64]
# Cells of the observables, times latent values when the channel is not a function of them.
MAX_TABLE = 4096
_SCOUTED_FROM, _SCOUTS = 8, 5  # from how many cells on, and one row in how many


@dataclass(frozen=True, eq=False)
class Table:
    """Counts over the cells of X for some rows, and K(λ|x) there (NaN where no row fell).

    When rows with the same x disagree about K, the cells are those of (X, Λ) with Λ drawn once, and K names the
    value: `shape` then has the latent as its last axis.

    Most cells of a natural latent are empty, and a ball over all of them must allow for mass in each. So some rows, the
    scouts, say which cells occur (`scouted`), and the `others` bound the distribution of those and of all the rest as one cell.
    """

    shape: tuple[int, ...]
    counts: Array
    kernel: Array
    labelled: bool
    scouted: NDArray[np.bool_] | None = None
    others: Array | None = None

    @property
    def rows(self) -> int:
        """Return the number of rows behind the counts."""
        return int(self.counts.sum())

    def joint(self) -> Array:
        """Compute the plug-in Q(x, λ)."""
        known = np.where(np.isnan(self.kernel), 0.0, self.kernel)
        joint = (self.counts[:, None] * known).reshape(*self.shape, -1) / self.rows
        return joint.sum(axis=-2) if self.labelled else joint

    def upper(self, delta: float, shared: Array | None = None) -> float:
        """Bound TC(X|Λ) from above, or, with the pooled joint `shared`, its part in every mixture.

        The reference may depend on the data, since the ball holds for all references at once: the best of a
        few amounts of smoothing is taken.

        Args:
            delta: One minus the confidence.
            shared: Plug-in Q(x, λ) of all domains together.

        Returns:
            Nats.
        """
        if self.scouted is None or self.others is None:
            return self._over(self.counts, delta, shared)
        return min(self._over(self.counts, delta / 2, shared), self._over(self.others, delta / 2, shared, self.scouted))

    def _over(self, counts: Array, delta: float, shared: Array | None, kept: NDArray[np.bool_] | None = None) -> float:
        """The largest divergence over the ball around the counts; cells that are not `kept` are one.

        Lumping only adds: Σ P ln P over some cells is at most P ln P of their sum, and the least reference is used.
        """
        size = radius(int(counts.sum()), len(counts) if kept is None else min(len(counts), int(kept.sum()) + 1), delta)
        bounds = []
        for factor in (0.2, 1.0, 4.0):
            reference = self._reference(min(0.3, size * factor), shared)
            if kept is None or kept.all():
                bounds.append(largest_divergence(counts, reference, delta))
            else:
                lumped = np.append(counts[kept], counts[~kept].sum())
                bounds.append(largest_divergence(lumped, np.append(reference[kept], reference[~kept].min()), delta))
        return min(bounds)

    def _reference(self, smoothing: float, shared: Array | None) -> Array:
        """a(x) = −D(K(·|x)‖R(x, ·)) for each cell, the worst λ where K is not known."""
        own = self.joint()
        source = own if shared is None else shared
        logs = _log_mediated(own, source, smoothing)
        values = logs.shape[-1]
        if self.labelled:
            return logs.reshape(-1)
        flat = logs.reshape(-1, values)
        unknown = np.asarray(np.isnan(self.kernel).any(axis=1))
        kernel = np.where(unknown[:, None], 1.0 / values, self.kernel)
        known = -rel_entr(kernel, np.exp(flat)).sum(axis=1)
        reference: Array = np.where(unknown, flat.min(axis=1), known)
        return reference


def _log_mediated(own: Array, source: Array, smoothing: float) -> Array:
    """Logarithm of S(λ) Π_i R_i(x_i|λ), with S from one joint and R_i from another, both smoothed."""
    n = own.ndim - 1
    mass = own.sum(axis=tuple(range(n)))
    total = np.log((1 - smoothing) * mass / mass.sum() + smoothing / mass.size)
    result = np.broadcast_to(total, own.shape)
    for i in range(n):
        pair = source.sum(axis=tuple(a for a in range(n) if a != i))
        mass = pair.sum(axis=0, keepdims=True)
        clean = np.divide(pair, mass, out=np.full_like(pair, 1.0 / len(pair)), where=mass > 0)
        shape = [1] * own.ndim
        shape[i], shape[-1] = pair.shape
        result = result + np.log((1 - smoothing) * clean + smoothing / len(pair)).reshape(shape)
    return result


def tabulate(rows: Rows, part: Codes, seed: int) -> Table | None:
    """Count some rows into a table.

    Args:
        rows: The rows to audit.
        part: Row numbers to count.
        seed: Of the draw of the latent and of the scouts.

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
    if agree:
        return _counted(part, levels, place, kernel, seed, labelled=False)
    if cells * values > MAX_TABLE:
        return None
    place = place * values + rows.channel.sample(seed)
    return _counted(part, (*levels, values), place, np.tile(np.eye(values), (cells, 1)), seed, labelled=True)


def _counted(part: Codes, shape: tuple[int, ...], place: Codes, kernel: Array, seed: int, *, labelled: bool) -> Table:
    cells = int(np.prod(shape))

    def count(chosen: Codes) -> Array:
        return np.bincount(place[chosen], minlength=cells).astype(float)

    # Whether scouts are sent depends on the size of the table alone, never on its counts.
    if cells <= _SCOUTED_FROM or len(part) < 2 * _SCOUTS:
        return Table(shape, count(part), kernel, labelled)
    order = np.random.default_rng(seed).permutation(part)
    scouts, others = order[: len(part) // _SCOUTS], order[len(part) // _SCOUTS :]
    return Table(shape, count(part), kernel, labelled, count(scouts) > 0, count(others))


def _kernel(probabilities: Array, place: Codes, cells: int) -> tuple[Array, bool]:
    """K(λ|x) at each cell, and whether every row of a cell has the same."""
    first = np.full(cells, -1)
    first[place[::-1]] = np.arange(len(place))[::-1]
    agree = bool(np.abs(probabilities - probabilities[first[place]]).max() < 1e-9)
    kernel = np.full((cells, probabilities.shape[1]), np.nan)
    kernel[first >= 0] = probabilities[first[first >= 0]]
    return kernel, agree
