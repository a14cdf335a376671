"""The best latent of two bits in closed form."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latentry.errors import DataError
from latentry.natural.distributions import as_law
from latentry.natural.entropies import entropy

__all__ = ["two_by_two"]

Array = NDArray[np.float64]


def two_by_two(law: ArrayLike) -> tuple[float, Array]:
    """Compute the smallest I(X;Y|Λ) + I(Λ;X|Y) + I(Λ;Y|X) over all latents of a 2×2 distribution.

    With cells a, b, c, d oriented so that ad > bc, s = a + d and u_0 the largest root of
    u³ − (b + c) u² − bc u − bc s: if √(ad) ≤ u_0 the constant latent is best; otherwise two components are,
    (s ± ρ)/2 on the diagonal with ρ² = s² − 4 u_0².

    >>> score, channel = two_by_two([[0.6, 0.05], [0.05, 0.3]])
    >>> round(score, 7), channel.shape
    (0.1756294, (2, 2, 2))

    Args:
        law: (2, 2) probabilities.

    Returns:
        The score in nats, and a channel (2, 2, |Λ|) that reaches it.

    Raises:
        DataError: If the shape is not (2, 2).
    """
    table = as_law(law)
    if table.shape != (2, 2):
        raise DataError(f"law: has shape {table.shape}; the closed form is for two bits, shape (2, 2). Use search.")
    if table[0, 0] * table[1, 1] < table[0, 1] * table[1, 0]:
        score, flipped = two_by_two(table[:, ::-1])
        return score, flipped[:, ::-1]
    (a, b), (c, d) = table
    s, v, w = a + d, b + c, b * c
    u = _largest_root([1.0, -v, -w, -w * s])
    if np.sqrt(a * d) <= u:
        return max(0.0, entropy(table, [0]) + entropy(table, [1]) - entropy(table)), np.ones((2, 2, 1))
    spread = np.sqrt(s * s - 4 * u * u)
    ends = [np.array([[(s + r) / 2, b], [c, (s - r) / 2]]) for r in (spread, -spread)]
    proportion = (a - (s - spread) / 2) / spread
    score = max(0.0, float(_ceiling(table) - proportion * _worth(ends[0]) - (1 - proportion) * _worth(ends[1])))
    masses = np.stack([proportion * ends[0], (1 - proportion) * ends[1]], axis=-1)
    total = masses.sum(axis=-1, keepdims=True)
    return score, np.divide(masses, total, out=np.full_like(masses, 0.5), where=total > 0)


def _largest_root(coefficients: list[float]) -> float:
    roots = np.roots(coefficients)
    return float(max(r.real for r in roots if abs(r.imag) <= 1e-7 * max(1.0, abs(r))))


def _worth(q: Array) -> float:
    """Φ(q) = 3 H(q) − 2 H(q_1) − 2 H(q_2)."""
    return 3 * entropy(q) - 2 * entropy(q, [0]) - 2 * entropy(q, [1])


def _ceiling(p: Array) -> float:
    """Ψ(p) = 2 H(p) − H(p_1) − H(p_2)."""
    return 2 * entropy(p) - entropy(p, [0]) - entropy(p, [1])
