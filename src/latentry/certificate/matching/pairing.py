"""How far two latents agree, which pairs belong together, and how far shuffled rows would agree."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.stats import rankdata

from latentry.certificate.audits.explained_variance import (
    Fraction,
    entropy_of,
    jackknife_interval,
    joint_counts,
    plug_in,
    shared_entropy,
)
from latentry.certificate.matching.columns import LatentColumns
from latentry.data import column_scales
from latentry.identifiability import assigned, correlations
from latentry.streams import stream

__all__ = ["agreement_of", "agreements", "beside", "chance_agreement", "least_information", "outcome_order", "sign_of"]

_SHUFFLES = 199  # of the rows, for what chance gives
_MOST = 5000  # rows that are shuffled: more only lower what chance gives
_LEVEL = 0.05  # how often shuffled rows reach what is called chance


def agreements(reference: LatentColumns, other: LatentColumns, blocks: np.ndarray) -> np.ndarray:
    """Return how far each latent of one model agrees with each of another.

    Args:
        reference: Latents of some rows.
        other: Latents of the same rows, of the same kind.
        blocks: The block of each row, for the jackknife.

    Returns:
        (latents of the other, latents of the reference): absolute Spearman correlations, or for categories adjusted
        mutual information.
    """
    if not reference.categories:
        return correlations(other.table, reference.table, "spearman")
    pairs = [[shared_entropy(a, b, blocks, of_larger=True).value for a in reference.table.T] for b in other.table.T]
    return np.array(pairs)


def agreement_of(x: np.ndarray, y: np.ndarray, blocks: np.ndarray, *, categories: bool) -> Fraction:
    """Return the agreement of a pair with its 95 % interval, by the jackknife over blocks of rows.

    Args:
        x: A latent, (rows,).
        y: Its partner.
        blocks: The block of each row.
        categories: Whether they hold outcomes.

    Returns:
        Absolute Spearman correlation, or adjusted mutual information.
    """
    if categories:
        return shared_entropy(x, y, blocks, of_larger=True)
    whole = _spearman(x, y)
    sign = math.copysign(1.0, whole)
    without = [sign * _spearman(x[blocks != block], y[blocks != block]) for block in np.unique(blocks)]
    return jackknife_interval(sign * whole, np.array(without))


def _spearman(x: np.ndarray, y: np.ndarray) -> float:
    return _pearson(*rankdata([x, y], axis=1))


def _pearson(x: np.ndarray, y: np.ndarray) -> float:
    a, b = x - x.mean(), y - y.mean()
    spread = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / spread if spread > 0 else 0.0


def sign_of(x: np.ndarray, y: np.ndarray) -> int:
    """Return whether a latent rises or falls with its partner.

    Args:
        x: A latent, (rows,).
        y: Its partner.

    Returns:
        1, or −1.
    """
    return -1 if _spearman(x, y) < 0 else 1


def outcome_order(x: np.ndarray, y: np.ndarray) -> dict[int, int]:
    """Return which outcome of y is which of x: the one-to-one pairing with most rows in common.

    Args:
        x: Outcomes, (rows,).
        y: Outcomes of the same rows.

    Returns:
        The outcome of x for each one of y that has a partner.

    >>> outcome_order(np.array([0, 0, 1, 2]), np.array([5, 5, 3, 3]))
    {5: 0, 3: 1}
    """
    (own, codes), (theirs, others) = (np.unique(side, return_inverse=True) for side in (x, y))
    partner = assigned(joint_counts(others, codes)).estimated
    return {int(theirs[i]): int(value) for i, value in zip(partner, own, strict=True) if i >= 0}


def beside(x: np.ndarray, y: np.ndarray, *, categories: bool) -> float:
    """Return a second number: the absolute Pearson correlation, or Cohen's kappa of matched outcomes.

    Args:
        x: A latent, (rows,).
        y: Its partner.
        categories: Whether they hold outcomes.

    Returns:
        A number up to 1.
    """
    if not categories:
        return abs(_pearson(x, y))
    order, spare = outcome_order(x, y), int(x.max()) + 1
    renamed = np.array([order.get(int(value), spare) for value in y])
    expected = sum(float((x == value).mean() * (renamed == value).mean()) for value in np.unique(x))
    return (float((x == renamed).mean()) - expected) / (1 - expected) if expected < 1 else 0.0


def chance_agreement(reference: LatentColumns, other: LatentColumns, units: np.ndarray | None, seed: int) -> float:
    """Return what the best pair of two models reaches when rows are put together at random.

    The largest of many correlations is above 0 by chance. Rows of the other model are shuffled and matched anew; of
    rows that belong to one unit a single one is kept, for only units can be exchanged.

    Args:
        reference: Latents of some rows.
        other: Latents of the same rows, of the same kind.
        units: The independent unit of each row; None where rows stand alone.
        seed: Of the shuffles.

    Returns:
        The number that the best pair of shuffled rows exceeds in 5 of 100 cases at most.
    """
    rng = stream("certificate/matching", seed)
    kept = rng.permutation(len(reference.table))
    if units is not None:
        kept = kept[np.unique(units[kept], return_index=True)[1]]
    kept = kept[:_MOST]
    if len(kept) < 3:
        return 1.0
    table = (_information_tables if reference.categories else _rank_tables)(reference.table[kept], other.table[kept])
    best = [assigned(table(rng.permutation(len(kept)))).correlation.max() for _ in range(_SHUFFLES)]
    place = math.ceil((1 - _LEVEL) * (_SHUFFLES + 1)) - 1
    return float(np.sort(best)[place])


def _rank_tables(x: np.ndarray, y: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function from an order of the rows of y to absolute rank correlations."""
    own, theirs = (_standard_ranks(side) for side in (x, y))
    return lambda order: np.abs(theirs[order].T @ own) / len(own)


def _standard_ranks(table: np.ndarray) -> np.ndarray:
    ranks = rankdata(table, axis=0)
    standard: np.ndarray = (ranks - ranks.mean(axis=0)) / column_scales(ranks)
    return standard


def _information_tables(x: np.ndarray, y: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function from an order of the rows of y to I / max(H, H'), not adjusted: chance is what is asked for."""
    own, theirs = ([np.unique(column, return_inverse=True)[1] for column in side.T] for side in (x, y))
    sizes, others = ([entropy_of(np.bincount(codes) / len(codes)) for codes in side] for side in (own, theirs))
    larger = np.maximum(np.maximum.outer(others, sizes), 1e-9)

    def table(order: np.ndarray) -> np.ndarray:
        shared = [[plug_in(joint_counts(a, b[order])) for a in own] for b in theirs]
        return np.maximum(shared, 0.0) / larger

    return table


def least_information(threshold: float) -> float:
    r"""Return the adjusted mutual information of two even coins with a given correlation.

    Coins with correlation r differ in :math:`e = (1 - r) / 2` of the rows and share :math:`1 - h(e) / \ln 2` of their entropy:
    correlations and information are held to the same fraction of rows that may differ.

    Args:
        threshold: A correlation.

    Returns:
        A number between 0 and 1.

    >>> round(least_information(0.9), 2), least_information(1.0)
    (0.71, 1.0)
    """
    apart = (1 - threshold) / 2
    return 1 - entropy_of(np.array([apart, 1 - apart])) / math.log(2)
