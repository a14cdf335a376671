"""Common informations, which are natural latents with one of the two errors forced to zero."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from latentry.errors import DataError
from latentry.evidence import Bound
from latentry.natural.distributions import as_law
from latentry.natural.entropies import conditional_entropy, entropy, mutual_information
from latentry.natural.naturality_errors import latent_joint, mediation_error
from latentry.natural.search.envelope import concave_envelope
from latentry.natural.search.partitions import EXHAUSTIVE, Cells, best_partition
from latentry.natural.search.pricing import MAX_OBSERVABLES, IndependentComponents
from latentry.natural.search.result import FoundLatent

__all__ = ["functional_common_information", "gacs_korner", "resampling", "wyner"]

Array = NDArray[np.float64]
_ROUNDING = 1e-12


def gacs_korner(law: ArrayLike, *, ignore: float = 0.0) -> FoundLatent:
    """Find the finest latent that every observable determines (Gács and Körner 1973): exact redundancy.

    It is the connected component of a cell, when values are linked by the cells in which they meet. Any
    noise with full support leaves one component; `ignore` drops cells with less mass before linking.

    Cost: nearly linear in the cells of the table.

    >>> blocks = np.array([[0.25, 0.25, 0], [0, 0, 0.5]])
    >>> round(gacs_korner(blocks).score.value, 6)
    0.693147

    Args:
        law: Probabilities, one axis per observable.
        ignore: Cells with at most this mass are dropped before linking.

    Returns:
        The latent; its score is H(Λ).

    Raises:
        DataError: If `ignore` drops every cell.
    """
    table = as_law(law)
    cells = Cells.of(np.where(table > ignore, table, 0.0))
    if not len(cells.mass):
        raise DataError(f"ignore={ignore}: drops every cell. The largest has mass {table.max():.3g}; give less.")
    labels = _components(cells)
    channel = _nearest_labels(table, cells, labels)
    return _exact(table, channel, "linked cells", "H of the common part")


def _components(cells: Cells) -> NDArray[np.int64]:
    offsets = np.concatenate([[0], np.cumsum(cells.shape)])
    nodes = cells.place + offsets[:-1]
    links = coo_matrix(
        (np.ones(nodes.size - len(nodes)), (np.repeat(nodes[:, 0], nodes.shape[1] - 1), nodes[:, 1:].ravel())),
        shape=(offsets[-1], offsets[-1]),
    )
    part = connected_components(links, directed=False)[1]
    return np.unique(part[nodes[:, 0]], return_inverse=True)[1]


def _nearest_labels(table: Array, cells: Cells, labels: NDArray[np.int64]) -> Array:
    """Cells that were ignored take the component of their first observable, if it has one."""
    channel = cells.channel(labels)
    by_value = {int(v): int(label) for v, label in zip(cells.place[:, 0], labels, strict=True)}
    known = {tuple(p) for p in cells.place.tolist()}
    for place in np.argwhere(table > 0).tolist():
        if tuple(place) not in known:
            channel[tuple(place)] = np.eye(channel.shape[-1])[by_value.get(place[0], 0)]
    return channel


def functional_common_information(law: ArrayLike) -> FoundLatent:
    """Find the smallest H(Λ) over functions Λ of X given which the observables are independent.

    Cost: grows as the number of partitions of the cells, which is exponential; for small tables.

    >>> round(functional_common_information(np.diag([0.5, 0.5])).score.value, 6)
    0.693147

    Args:
        law: Probabilities, one axis per observable; at most 14 cells with mass.

    Returns:
        The latent; its score is H(Λ).

    Raises:
        DataError: If there are too many cells with mass.
    """
    table = as_law(law)
    cells = Cells.of(table)
    size = len(cells.mass)
    if size > EXHAUSTIVE:
        raise DataError(
            f"law: has {size} cells with mass; all partitions are searched up to {EXHAUSTIVE}. Merge levels, or use wyner."
        )
    channel = cells.channel(best_partition(cells.functional_cost, size))
    return _exact(table, channel, f"all partitions of {size} cells", "H of the mediator")


def _exact(law: Array, channel: Array, method: str, what: str) -> FoundLatent:
    value = entropy(latent_joint(law, channel), [law.ndim])
    bound = Bound(value, method=what, tolerance=_ROUNDING)
    return FoundLatent(channel, bound, bound.as_lower(), bound, {}, method)


def wyner(
    law: ArrayLike, *, tolerance: float = 1e-5, nodes: int = 200_000, rounds: int = 400, seed: int = 0
) -> FoundLatent:
    """Bound the smallest I(X; Λ) over latents that mediate exactly (Wyner 1975) from both sides.

    For a symmetric pair with P(X ≠ Y) = a: ln 2 + h(a) − 2 h(b) with b = (1 − √(1 − 2a))/2.

    Cost: the upper end takes ``rounds`` times the cells and values; the lower end at most ``nodes`` boxes.

    >>> pair = np.array([[0.45, 0.05], [0.05, 0.45]])
    >>> a = 0.1; b = (1 - (1 - 2 * a) ** 0.5) / 2
    >>> h = lambda t: -t * np.log(t) - (1 - t) * np.log(1 - t)
    >>> best = wyner(pair)
    >>> round(best.score.value - float(np.log(2) + h(a) - 2 * h(b)), 4) == 0, best.gap < 1e-4
    (True, True)

    Args:
        law: Probabilities, one axis per observable; 2 to 10 of them.
        tolerance: Gap in nats at which the search stops.
        nodes: Budget of the global bound.
        rounds: Budget of column generation.
        seed: Of the starting points.

    Returns:
        The latent; its score is I(X; Λ), its lower bound what no mediator can go below.

    Raises:
        DataError: If there are too few or too many observables.
    """
    table = as_law(law)
    if not 2 <= table.ndim <= MAX_OBSERVABLES:
        raise DataError(f"law: has {table.ndim} observables. Common information is bounded for 2 to {MAX_OBSERVABLES}.")
    common = gacs_korner(table)
    if mediation_error(table, common.channel) <= _ROUNDING:
        # Every mediator determines a part that each observable knows, so no I(X; Λ) is below its entropy.
        return replace(common, method="the common part mediates")
    pricing = IndependentComponents(table.shape, (table > 0).ravel())
    envelope = concave_envelope(table, pricing, tolerance=tolerance / 2, rounds=rounds, nodes=nodes, seed=seed)
    channel = envelope.channel(table.shape)
    joint = latent_joint(table, channel)
    observed = list(range(table.ndim))
    value = entropy(table) - conditional_entropy(joint, observed, [table.ndim])
    return FoundLatent(
        channel=channel,
        score=Bound(value, method="finite distribution", tolerance=_ROUNDING),
        lower=_wyner_floor(table, common.score.value, value, entropy(table) - envelope.upper, envelope.method),
        latent_entropy=Bound(entropy(joint, [table.ndim]), method="finite distribution", tolerance=_ROUNDING),
        baselines={f"copy of X_{i + 1}": entropy(table, [i]) for i in range(table.ndim)} if table.ndim == 2 else {},
        method=envelope.method,
    )


def _wyner_floor(law: Array, common: float, reached: float, dual: float, method: str) -> Bound:
    """The best of three lower bounds: the dual, the common part, and what two groups say of each other.

    I(X; Λ) ≥ I(X_A; Λ) ≥ I(X_A; X_B) when Λ mediates, for every split of the observables into A and B.
    """
    sides = [[i for i in range(law.ndim) if mask >> i & 1] for mask in range(1, 1 << (law.ndim - 1))]
    shared = max(mutual_information(law, a, [i for i in range(law.ndim) if i not in a]) for a in sides)
    floors = {method: dual, "entropy of the common part": common, "mutual information": shared}
    best = max(floors, key=lambda name: floors[name])
    return Bound(max(0.0, min(reached, floors[best] - _ROUNDING)), "lower", method=best)


def resampling(law: ArrayLike) -> Array:
    """Build the channel Λ = X' with every X'_i drawn from P(X_i | X_{−i}), independently given X.

    A latent that can always be written down (Lorell and Wentworth 2024). It keeps redundancy in total
    variation and Jensen–Shannon; in Kullback–Leibler it has no such guarantee, so check what it reaches.

    Cost: quadratic in the cells of the table.

    >>> resampling(np.diag([0.5, 0.5]))[0, 0].round(3)
    array([1., 0., 0., 0.])

    Args:
        law: Probabilities, one axis per observable; at most 4096 cells.

    Returns:
        K(x'|x), (|X_1|, ..., |X_n|, cells).

    Raises:
        DataError: If there are too many cells.
    """
    table = as_law(law)
    if table.size**2 > 2**24:
        raise DataError(f"law: has {table.size} cells, and the resampled latent as many values. Use at most 4096.")
    n = table.ndim
    rows = np.ones((table.size, 1))
    for i in range(n):
        total = table.sum(axis=i, keepdims=True)
        guess = np.divide(table, total, out=np.full_like(table, 1.0 / table.shape[i]), where=total > 0)
        # P(X_i = · | x_{−i}) for every cell x, whatever its own x_i.
        spread = np.broadcast_to(np.expand_dims(np.moveaxis(guess, i, -1), i), (*table.shape, table.shape[i]))
        rows = (rows[:, :, None] * spread.reshape(table.size, 1, -1)).reshape(table.size, -1)
    return rows.reshape(*table.shape, -1)
