"""Entropies and mutual information of labels, from counts or from a table of probabilities."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import special

from latentry.errors import DataError, nearest

__all__ = ["CORRECTIONS", "discrete_entropy", "discrete_information", "information_of_table"]

Array = np.ndarray
_FEW_CELLS = 1000


def information_of_table(table: Array) -> float:
    """Return the exact I(X; Y), or I(X; Y | Z) from a table p(x, y, z), in nats.

    Cost: linear in the cells of the table.

    Args:
        table: Probabilities with axes x, y and, if any, z.

    Returns:
        Nats.

    Raises:
        DataError: If the table has other axes, is negative, or does not sum to 1.

    >>> round(information_of_table(np.array([[0.5, 0.0], [0.0, 0.5]])), 6)  # one bit
    0.693147
    """
    table = np.asarray(table, dtype=np.float64)
    if table.ndim not in (2, 3):
        raise DataError(f"table: it has {table.ndim} axes. Give 2 or 3: x, y[, given].")
    if np.any(~np.isfinite(table)) or np.any(table < 0):
        worst = table[~(table >= 0) | ~np.isfinite(table)][0]
        raise DataError(f"table: it holds {worst}, which is no probability. Give finite numbers >= 0 only.")
    if abs(table.sum() - 1) > 1e-9:
        raise DataError(f"table: the probabilities sum to {table.sum():.9g}. Divide the table by its sum.")
    table = table if table.ndim == 3 else table[:, :, None]
    parts = (table.sum(axis=1), table.sum(axis=0), table.sum(axis=(0, 1)), table)
    h_xz, h_yz, h_z, h_xyz = (special.entr(p).sum() for p in parts)
    return float(h_xz + h_yz - h_z - h_xyz)


def plugin(counts: Array) -> float:
    """Return −Σ p log p with p = counts / n."""
    return float(special.entr(counts / counts.sum()).sum())


def miller_madow(counts: Array) -> float:
    """Return the plug-in entropy plus (K − 1) / 2n, with K the number of labels seen (Miller 1955)."""
    return float(plugin(counts) + (np.count_nonzero(counts) - 1) / (2 * counts.sum()))


def jackknife(counts: Array) -> float:
    """Return n·H − (n − 1)·mean of the entropies with one row left out (Zahl 1977)."""
    n = counts.sum()
    if n < 2:
        return 0.0
    seen = counts[counts > 0]
    total = float(np.sum(special.xlogy(seen, seen)))
    changed = total - special.xlogy(seen, seen) + special.xlogy(seen - 1, seen - 1)
    left_out = np.log(n - 1) - changed / (n - 1)
    return float(n * (np.log(n) - total / n) - (n - 1) / n * np.sum(seen * left_out))


def bayes(counts: Array, prior: float = 0.5, cells: int | None = None) -> float:
    """Return the posterior mean entropy under a symmetric Dirichlet prior (Wolpert and Wolf 1995).

    The prior is over the labels seen, or over `cells`.
    """
    a = counts[counts > 0] + prior
    unseen = 0 if cells is None else cells - len(a)
    total = a.sum() + unseen * prior
    return float(
        special.digamma(total + 1)
        - np.sum(a / total * special.digamma(a + 1))
        - unseen * prior / total * special.digamma(prior + 1)
    )


CORRECTIONS: dict[str, Callable[[Array], float]] = {
    "plugin": plugin, "miller_madow": miller_madow, "jackknife": jackknife, "bayes": bayes,
}  # fmt: skip


def _entropy_rule(correction: str) -> Callable[[Array], float]:
    if correction not in CORRECTIONS:
        raise DataError(f"correction={correction!r} is not known{nearest(correction, CORRECTIONS)}")
    return CORRECTIONS[correction]


def discrete_entropy(codes: Array, correction: str = "miller_madow") -> float:
    """Estimate the entropy of integer codes, with a bias correction.

    Args:
        codes: Of each row.
        correction: "plugin", "miller_madow", "jackknife" or "bayes".

    Returns:
        Nats.

    >>> round(discrete_entropy(np.array([0, 0, 1, 1]), "plugin"), 6)
    0.693147
    """
    return _entropy_rule(correction)(np.bincount(codes))


def _counts(*columns: Array) -> Array:
    """Count each combination of codes that occurs, in the order of the codes."""
    codes, cells = np.zeros(len(columns[0]), dtype=np.int64), 1
    for column in columns:
        low = int(column.min())
        size = int(column.max()) - low + 1
        if cells * size > max(_FEW_CELLS, len(codes)):  # a table of all combinations would be longer than the rows
            return np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)[1]
        codes, cells = codes * size + (column.astype(np.int64) - low), cells * size
    counts = np.bincount(codes)
    return counts[counts > 0]


def discrete_information(x: Array, y: Array, z: Array | None = None, *, correction: str = "miller_madow") -> float:
    """Estimate I(X; Y | Z) = H(X,Z) + H(Y,Z) − H(Z) − H(X,Y,Z) of integer codes.

    Args:
        x: Codes.
        y: Codes.
        z: Codes of the condition, if any.
        correction: "plugin", "miller_madow", "jackknife" or "bayes".

    Returns:
        Nats.

    >>> x = np.array([0, 0, 1, 1] * 50)
    >>> round(discrete_information(x, 1 - x, correction="plugin"), 6)
    0.693147
    """
    h = _entropy_rule(correction)
    z = np.zeros_like(x) if z is None else z
    if correction == "bayes":
        return _posterior_information(x, y, z)
    h_xz, h_yz, h_z, h_xyz = (h(_counts(*of)) for of in ((x, z), (y, z), (z,), (x, y, z)))
    return h_xz + h_yz - h_z - h_xyz


def _posterior_information(x: Array, y: Array, z: Array, prior: float = 0.5) -> float:
    """Posterior mean of I(X; Y | Z), `prior` in every cell of the table of labels seen (Hutter 2001).

    A cell of a margin stands for several cells of the table, and carries the prior of all of them.
    """
    columns = [np.unique(c, return_inverse=True)[1] for c in (x, y, z)]
    levels = [int(c.max()) + 1 for c in columns]

    def h(*axes: int) -> float:
        cells = int(np.prod([levels[a] for a in axes]))
        counts = _counts(*(columns[a] for a in axes))
        return bayes(counts, prior * np.prod(levels) / cells, cells)

    return h(0, 2) + h(1, 2) - h(2) - h(0, 1, 2)
