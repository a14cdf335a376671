"""Mutual information when a variable is discrete, or partly so.

Ross (PLoS ONE 9, e87357, 2014): Y a label; ψ(n) + ⟨ψ(k)⟩ − ⟨ψ(N_y)⟩ − ⟨ψ(m)⟩, m rows of any label within the distance to the
k-th neighbour of the own label. Mesner and Shalizi (IEEE Trans. Inf. Theory 67, 2021): any mixture, conditional too;
ψ(k~) − ψ(n_xz) − ψ(n_yz) + ψ(n_z), where k~ counts every row up to the k-th distance, ties included.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from latentry.data import unrounded
from latentry.errors import DataError
from latentry.information.ksg import check_rows, digamma_of_counts, tied_local
from latentry.information.neighbours import count_within, kth_distance, slack

__all__ = ["category_columns", "mesner_shalizi_local", "ross_local"]

Array = np.ndarray


def ross_local(x: Array, labels: Array, *, k: int = 3, asked: Array | None = None) -> Array:
    """Return contributions to I(X; label) of the rows, or of the asked ones, whose label occurs at least twice.

    Args:
        x: Rows of numbers.
        labels: Codes.
        k: Neighbours.
        asked: Rows to answer for; None is every row.

    Returns:
        Nats for each such row.

    Raises:
        DataError: If no label repeats.

    >>> rng = np.random.default_rng(0)
    >>> label = rng.integers(0, 2, 1000)
    >>> bool(abs(ross_local(rng.uniform(size=(1000, 1)) + 5 * label[:, None], label).mean() - np.log(2)) < 0.01)
    True
    """
    check_rows(len(x), 1)
    sizes = np.bincount(labels)[labels]
    kept = sizes > 1
    if not np.any(kept):
        raise DataError(
            "labels: every label occurs once, and a label must repeat for its rows to have neighbours. "
            "Leave the variable out of discrete."
        )
    chosen = np.isin(np.arange(len(x)), asked)[kept] if asked is not None else np.ones(np.sum(kept), dtype=bool)
    if chosen.sum() < 2:  # labels repeat so rarely that hardly a row was drawn that has a neighbour
        chosen = np.ones(np.sum(kept), dtype=bool)
    x, labels, sizes = x[kept], labels[kept], sizes[kept]
    (x,) = unrounded((x,), k, labels)
    radius, near = _own_radius(x, labels, chosen, np.minimum(k, sizes - 1)), np.minimum(k, sizes - 1)[chosen]
    around = count_within(x, radius - slack((x,)), np.flatnonzero(chosen)) + 1
    copied = radius == 0
    if np.any(copied):  # no neighbourhood: count the copies, with the own label and with any
        near = np.where(copied, _copies(np.column_stack([x, labels]))[chosen], near)
        around = np.where(copied, _copies(x)[chosen], around)
    terms = digamma_of_counts(near) - digamma_of_counts(sizes[chosen]) - digamma_of_counts(around)
    local: Array = special.digamma(len(x)) + terms
    return local


def _own_radius(x: Array, labels: Array, chosen: Array, near: Array) -> Array:
    """Measure the distance of each chosen row to its `near`-th neighbour of the same label."""
    radius = np.empty(len(x))
    for label in np.unique(labels[chosen]):
        own = np.flatnonzero(labels == label)
        asked = np.flatnonzero(chosen[own])
        radius[own[asked]] = kth_distance(x[own], int(near[own[0]]), asked)
    return np.asarray(radius[chosen])


def _copies(rows: Array) -> Array:
    """Count the rows that equal each row, itself among them."""
    _, where, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    copies: Array = counts[where.reshape(-1)]
    return copies


def category_columns(codes: Array) -> Array:
    """Return columns whose max-norm distance is 0 within a label and 1 across: the binary digits of the label's number.

    Args:
        codes: From 0.

    Returns:
        (rows, digits).

    >>> category_columns(np.array([0, 1, 2])).tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    """
    digits = max(1, int(codes.max()).bit_length())
    return ((codes[:, None] >> np.arange(digits)) & 1).astype(np.float64)


def mesner_shalizi_local(
    x: Array, y: Array, z: Array | None = None, *, k: int = 5, asked: Array | None = None
) -> Array:
    """Return contributions to I(X; Y | Z) for any mixture of continuous and discrete rows, labels as `category_columns`.

    Args:
        x: Rows.
        y: Rows.
        z: Rows of the condition, if any.
        k: Neighbours.
        asked: Rows to answer for; None is every row.

    Returns:
        Nats for each row.
    """
    check_rows(len(x), k)
    return tied_local(x, y, z, k, asked)
