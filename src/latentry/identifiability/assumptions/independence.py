r"""Whether latents are independent of each other in each domain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from latentry.data import counted_names, normal_scores
from latentry.evidence import Assumption
from latentry.identifiability.assumptions.cross_moments import Excess, excess, power_at

__all__ = ["dependence", "independent_latents"]

Array = NDArray[np.float64]
_NAME = "latents are independent of each other in each domain"
_DEGREES = [(a, b) for a in range(3) for b in range(3)]
_TOLERANCE, _ALONE = 0.06, 0.2  # correlations that a good fit leaves, over the domains and in one of them
_PLANTED = 0.2  # correlation in each domain whose power is stated


def independent_latents(groups: Sequence[Array], rows: Array, level: float, names: Sequence[str] = ()) -> Assumption:
    r"""Test independence by correlations of Hermite polynomials of normal scores, in each domain and over all of them.

    Degrees 1 to 3 on both sides: (1, 1) is linear dependence, (2, 2) dependence of the spreads, (1, 2) a curve. Squares are
    summed over the domains, so that correlations of alternating sign do not cancel.

    Args:
        groups: Latents of each domain, (rows, latents).
        rows: Independent rows of each domain: fewer than there are where they depend on each other.
        level: Of the test.
        names: Of the latents; z1, z2, ... by default.

    Returns:
        The assumption, refuted where a dependence exceeds what a good fit leaves.

    >>> rng = np.random.default_rng(0)
    >>> parts = [rng.normal(size=(500, 2)) for _ in range(6)]
    >>> independent_latents(parts, np.full(6, 500.0), 0.05).outcome
    'not refuted'
    >>> mixed = [z @ [[1, 0.5 * (-1) ** d], [0, 1]] for d, z in enumerate(parts)]  # correlated, with alternating sign
    >>> independent_latents(mixed, np.full(6, 500.0), 0.05).outcome
    'refuted'
    """
    if groups[0].shape[1] < 2:
        return Assumption(_NAME, "not refuted", "a single latent")
    pairs = _pairs(groups)
    found = dependence(groups, rows)
    power = power_at(_PLANTED, rows, _TOLERANCE, len(pairs) * len(_DEGREES), level)
    (i, j), (a, b) = pairs[found.place // len(_DEGREES)], _DEGREES[found.place % len(_DEGREES)]
    test = f"correlations of Hermite polynomials up to degree 3 of each pair in {len(groups)} domains, against {_TOLERANCE:g}"
    known = names or counted_names(groups[0].shape[1])
    note = f"largest {found.size:.2f}, latents {known[i]} and {known[j]}{_kind(a, b)}; power for {_PLANTED:g}"
    return Assumption(_NAME, "refuted" if found.p_value <= level else "not refuted", test, found.p_value, power, note)


def dependence(groups: Sequence[Array], rows: Array) -> Excess:
    """Measure the dependence of two latents within domains: the largest root mean square correlation over the domains.

    Args:
        groups: Latents of each domain, (rows, latents), at least two.
        rows: Independent rows of each domain.

    Returns:
        Its size, with noise taken off, and the test against what a good fit leaves.
    """
    pairs = _pairs(groups)
    return excess(np.array([_moments(z, pairs) for z in groups]), rows, _TOLERANCE, _ALONE)


def _pairs(groups: Sequence[Array]) -> list[tuple[int, int]]:
    size = groups[0].shape[1]
    return [(i, j) for i in range(size) for j in range(i + 1, size)]


def _kind(a: int, b: int) -> str:
    return "" if (a, b) == (0, 0) else f", degrees {a + 1} and {b + 1}"


def _moments(z: Array, pairs: Sequence[tuple[int, int]]) -> Array:
    """Return the correlation of each pair of polynomials, for each pair of latents."""
    s = normal_scores(z)
    polynomials = np.stack([s, (s**2 - 1) / np.sqrt(2), (s**3 - 3 * s) / np.sqrt(6)])
    centred = polynomials - polynomials.mean(axis=1, keepdims=True)
    unit = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True))
    return np.array([(unit[a, :, i] * unit[b, :, j]).mean() for i, j in pairs for a, b in _DEGREES])
