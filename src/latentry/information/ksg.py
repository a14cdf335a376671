"""Mutual information from neighbour counts (Kraskov, Stögbauer and Grassberger, Phys. Rev. E 69, 066138, 2004).

KSG1: ψ(k) + ψ(n) − ⟨ψ(n_x + 1) + ψ(n_y + 1)⟩, one radius for both blocks, "<".
KSG2: ψ(k) − 1/k + ψ(n) − ⟨ψ(n_x) + ψ(n_y)⟩, its own radius for each block, "≤".
Conditional (Frenzel and Pompe, Phys. Rev. Lett. 99, 204101, 2007): ψ(k) − ⟨ψ(n_xz + 1) + ψ(n_yz + 1) − ψ(n_z + 1)⟩.
Rounded columns are first spread over their cells (`rounding.py`). Rows that still have k exact copies have no
neighbourhood; for them ties are counted as in `mixed_variables.py`.
The answer depends on the size of X relative to Y: normalise first.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import special

from latentry.data import unrounded
from latentry.errors import DataError
from latentry.information.neighbours import kth_distance, neighbourhoods

__all__ = [
    "digamma_of_counts",
    "ksg_local",
    "ksg_total_correlation",
    "neighbour_entropy",
    "single_radius_local",
]

Array = np.ndarray


def digamma_of_counts(counts: Array) -> Array:
    """Return ψ of integers through a table: counts repeat, digamma is slow.

    Args:
        counts: Integers of at least 1.

    Returns:
        ψ of each.

    >>> digamma_of_counts(np.array([1, 2])).round(4).tolist()
    [-0.5772, 0.4228]
    """
    table: Array = special.digamma(np.arange(counts.max() + 1.0))
    return np.asarray(table[counts])


def check_rows(n: int, k: int) -> None:
    """Check that there is at least one row more than neighbours."""
    if k < 1:
        raise DataError(f"k={k}: there must be at least 1 neighbour. Use k=3 to 10.")
    if n <= k:
        raise DataError(
            f"k={k}: {n} rows are too few for so many neighbours. Give at least {k + 1} rows, better some {20 * k}."
        )


def ksg_local(
    x: Array, y: Array, z: Array | None = None, *, k: int = 3, variant: int = 1, asked: Array | None = None
) -> Array:
    """Return the contribution of every row, or of the asked ones; their mean is the estimate.

    Args:
        x: Rows.
        y: Rows.
        z: Rows of the condition, if any.
        k: Neighbours.
        variant: 1 or 2.
        asked: Rows to answer for; None is every row. Neighbours are looked for among all rows, so that the bias is that of all
            rows and the sampling error that of the asked ones.

    Returns:
        Nats for each row.

    Raises:
        DataError: If there are too few rows, or the variant does not exist.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((2000, 1))
    >>> y = 0.75 * x + np.sqrt(1 - 0.75**2) * rng.standard_normal((2000, 1))
    >>> bool(abs(ksg_local(x, y).mean() - 0.4133) < 0.08)
    True
    """
    check_rows(len(x), k)
    if variant not in (1, 2):
        raise DataError(f"variant={variant}: KSG has no such variant. Give 1 or 2.")
    if variant == 2 and z is not None:
        raise DataError("variant=2: the conditional form exists for KSG1 only. Use estimator='ksg'.")
    x, y, *rest = unrounded((x, y) if z is None else (x, y, z), k)
    z = rest[0] if rest else None
    return _ksg2(x, y, k, asked) if variant == 2 else _ksg1(x, y, z, k, asked)


def _parts(x: Array, y: Array, z: Array | None) -> tuple[tuple[Array, ...], tuple[tuple[int, ...], ...]]:
    """The blocks, and the spaces to count in: x and y, or xz, yz and z."""
    return ((x, y), ((0,), (1,))) if z is None else ((x, y, z), ((0, 2), (1, 2), (2,)))


def _ksg1(x: Array, y: Array, z: Array | None, k: int, asked: Array | None) -> Array:
    result = neighbourhoods(*_parts(x, y, z), k, asked=asked)
    terms = [digamma_of_counts(c + 1) for c in result.counts]
    last = special.digamma(len(x)) if z is None else terms.pop()
    local = special.digamma(k) + last - terms[0] - terms[1]
    return _with_copies(local, result.radius, lambda: tied_local(x, y, z, k, asked))


def _with_copies(local: Array, radius: Array, tied: Callable[[], Array]) -> Array:
    """Count ties for rows with k exact copies, which have no neighbourhood."""
    copied = radius == 0
    return np.where(copied, tied(), local) if np.any(copied) else local


def tied_local(x: Array, y: Array, z: Array | None, k: int, asked: Array | None = None) -> Array:
    """Return ψ(k~) + ψ(n) − ψ(n_x) − ψ(n_y), or ψ(k~) − ψ(n_xz) − ψ(n_yz) + ψ(n_z); every count takes in its ties, k~ too."""
    if z is None:
        return _tied_total_correlation((x, y), k, asked)
    result = neighbourhoods(*_parts(x, y, z), k, "within", asked)
    near_xz, near_yz, near_z = (digamma_of_counts(c) for c in result.counts)
    return np.asarray(digamma_of_counts(result.ties) + near_z - near_xz - near_yz)


def _tied_total_correlation(parts: tuple[Array, ...], k: int, asked: Array | None = None) -> Array:
    """ψ(k~) + (m − 1) ψ(n) − Σ ψ(n_i), every count with its ties."""
    result = neighbourhoods(parts, tuple((i,) for i in range(len(parts))), k, "within", asked)
    near = sum(digamma_of_counts(c) for c in result.counts)
    return np.asarray(digamma_of_counts(result.ties) + (len(parts) - 1) * special.digamma(len(parts[0])) - near)


def _ksg2(x: Array, y: Array, k: int, asked: Array | None) -> Array:
    result = neighbourhoods((x, y), ((0,), (1,)), k, "rectangle", asked)
    near_x, near_y = (digamma_of_counts(np.maximum(c, 1)) for c in result.counts)
    local = special.digamma(k) - 1 / k + special.digamma(len(x)) - near_x - near_y
    return _with_copies(local, result.radius, lambda: tied_local(x, y, None, k, asked))


def single_radius_local(x: Array, y: Array, *, k: int = 3) -> Array:
    """Return ψ(k) + ψ(n) − 1/k − ψ(n_x) − ψ(n_y) with one radius and "≤": for reproduction only.

    A hybrid of KSG1 and KSG2 that is in print; it reads about 1/k low at every scale, and tends to −1/k + 1/(n − 1) when one
    block shrinks to nothing.

    Args:
        x: Rows.
        y: Rows.
        k: Neighbours.

    Returns:
        Nats for each row.
    """
    check_rows(len(x), k)
    result = neighbourhoods((x, y), ((0,), (1,)), k, rule="within")
    near_x, near_y = (digamma_of_counts(c) for c in result.counts)
    return np.asarray(special.digamma(k) + special.digamma(len(x)) - 1 / k - near_x - near_y)


def ksg_total_correlation(parts: tuple[Array, ...], *, k: int = 3) -> float:
    """Estimate how far m blocks are from independence: ψ(k) + (m − 1) ψ(n) − ⟨Σ ψ(n_i + 1)⟩.

    Args:
        parts: Blocks with the same rows.
        k: Neighbours.

    Returns:
        Nats.
    """
    n = len(parts[0])
    check_rows(n, k)
    parts = unrounded(parts, k)
    result = neighbourhoods(parts, tuple((i,) for i in range(len(parts))), k)
    local = (
        special.digamma(k)
        + (len(parts) - 1) * special.digamma(n)
        - sum(digamma_of_counts(c + 1) for c in result.counts)
    )
    return float(_with_copies(local, result.radius, lambda: _tied_total_correlation(parts, k)).mean())


def neighbour_entropy(x: Array, *, k: int = 3) -> float:
    """Estimate ψ(n) − ψ(k) + d ⟨log 2r⟩, r the max-norm distance to the k-th neighbour (Kozachenko and Leonenko 1987).

    Args:
        x: Rows.
        k: Which neighbour.

    Returns:
        Nats.

    Raises:
        DataError: If rows have k exact copies.

    >>> rng = np.random.default_rng(0)
    >>> bool(abs(neighbour_entropy(rng.uniform(size=(4000, 1)))) < 0.06)  # a uniform on [0, 1] has entropy 0
    True
    """
    check_rows(len(x), k)
    radius = kth_distance(x, k)
    if np.any(radius == 0):
        raise DataError(
            f"k={k}: {np.sum(radius == 0)} rows have that many exact copies, and the entropy of such a variable is −∞ nats. "
            "Declare it discrete."
        )
    return float(special.digamma(len(x)) - special.digamma(k) + x.shape[1] * np.mean(np.log(2 * radius)))
