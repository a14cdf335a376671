"""Candidates for the answer of `auto` that can be taken apart row by row: neighbour counts, in several coordinates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from latentry.data import normal_scores
from latentry.information.canonical_variates import held_out_variates
from latentry.information.column_pairs import dependent_pairs, pair_terms
from latentry.information.drawn_rows import LOW_DIMENSION, SHARED, drawn_rows, mean_and_error, searched, settings
from latentry.information.ksg import ksg_local
from latentry.information.normalisers import linf
from latentry.information.ranks import uniforms
from latentry.information.underestimation import extrapolated

__all__ = ["FEWEST_ROWS", "Candidate", "neighbour_candidate", "neighbour_candidates", "neighbour_counts", "preferred"]

Array = np.ndarray
FEWEST_ROWS = 100  # for splitting off rows and learning functions
# Times the difference between readings in two coordinates, of which the truth knows nothing: so much too high an answer may be.
COORDINATES = 1.0


@dataclass(frozen=True)
class Candidate:
    """An estimate that can be taken apart row by row.

    Args:
        name: Of the method.
        local: Contribution of each row.
        value: Their mean, in nats.
        error: Its standard error.
        missing: Computes, when asked, how much the value may be too low.
        excess: Computes, when asked, how much it may be too high.
        learned: Whether it was measured on learned functions.
        low_side: Whether columns that it leaves out may tell more.
        rows: The rows that `local` speaks of, None for all of them.
    """

    name: str
    local: Array
    value: float
    error: float
    missing: Callable[[], float]
    excess: Callable[[], float] = lambda: 0.0
    learned: bool = False
    low_side: bool = False
    rows: Array | None = None

    def of(self, values: Array) -> Array:
        """Return the values of the rows that `local` speaks of."""
        return values if self.rows is None else values[self.rows]

    @property
    def drawn(self) -> float:
        """Return the standard error, if not all rows were looked at, else 0."""
        return 0.0 if self.rows is None else self.error


def neighbour_candidate(coordinates: str, *parts: Array, k: int, rows: Array | None = None) -> Candidate:
    """Estimate by counting neighbours, around all rows or around some.

    Args:
        coordinates: Their name.
        *parts: Blocks in these coordinates: x, y and, if any, z.
        k: Neighbours.
        rows: The rows to ask, None for all.

    Returns:
        The candidate.
    """
    among, asked = searched(parts, rows)
    local, columns = ksg_local(*among, k=k, asked=asked), sum(p.shape[1] for p in parts)
    value, error = mean_and_error(local)

    def missing() -> float:
        coarse = min(2 * k, len(among[0]) - 1)
        return extrapolated(value, float(ksg_local(*among, k=coarse, asked=asked).mean()), 1 / columns)

    def excess() -> float:
        return _coordinate_spread(value, parts, k) if columns <= LOW_DIMENSION else 0.0

    name = f"ksg1 on {coordinates} ({settings(k, rows)})"
    return Candidate(name, local, value, SHARED * error, missing, excess, rows=rows)


def _coordinate_spread(value: float, parts: tuple[Array, ...], k: int) -> float:
    """Return by how much the answer may be too high: part of what another choice of coordinates adds, which changes no truth."""
    return COORDINATES * abs(float(ksg_local(*(uniforms(p) for p in parts), k=k).mean()) - value)


def _pair_candidate(x: Array, y: Array, scores: list[Array], said: str, k: int) -> Candidate | None:
    """Sum over pairs of columns that depend on each other, where there are any."""
    pairs = dependent_pairs(x, y)
    if not pairs.columns:
        return None
    local = pair_terms(scores[0], scores[1], pairs, k)
    value, error = mean_and_error(local)

    def missing() -> float:
        return extrapolated(value, float(pair_terms(scores[0], scores[1], pairs, 2 * k).mean()), 0.5)

    def excess() -> float:
        return COORDINATES * abs(float(pair_terms(uniforms(x), uniforms(y), pairs, k).mean()) - value)

    low_side = len(pairs.measured) < min(x.shape[1], y.shape[1])
    name = f"ksg1 on {len(pairs.measured)} pairs of columns ({said})"
    return Candidate(
        name,
        local,
        value,
        SHARED * error,
        missing,
        excess,
        low_side=low_side,
    )


def neighbour_counts(x: Array, y: Array, scores: list[Array], k: int, rows: Array | None) -> list[Candidate]:
    """Count neighbours on normal scores and on scaled blocks.

    Args:
        x: Rows.
        y: Rows.
        scores: Normal scores of both.
        k: Neighbours.
        rows: The rows to ask, None for all.

    Returns:
        Two candidates.
    """
    coordinates = {"normal scores": scores, "scaled blocks": [linf(x), linf(y)]}
    return [neighbour_candidate(name, *parts, k=k, rows=rows) for name, parts in coordinates.items()]


def preferred(candidates: list[Candidate]) -> Candidate:
    """Return the first candidate, unless another reads more beyond two standard errors of their paired difference.

    The largest of several readings is too high by chance alone.

    Args:
        candidates: At least one, about the same rows.

    Returns:
        One of them.
    """
    first = candidates[0]
    best = max(candidates, key=lambda c: c.value)
    return best if best.value - first.value > 2 * mean_and_error(best.local - first.local)[1] else first


def neighbour_candidates(x: Array, y: Array, scores: list[Array], seed: int, k: int) -> list[Candidate]:
    """Count neighbours on scores, on scaled blocks and, in many columns, on learned functions and on pairs of columns.

    Args:
        x: Rows.
        y: Rows.
        scores: Normal scores of both.
        seed: Of drawn rows, folds and features.
        k: Neighbours.

    Returns:
        Candidates, that on normal scores first.
    """
    rows = drawn_rows(len(x), x.shape[1] + y.shape[1], seed)
    result = neighbour_counts(x, y, scores, k, rows)
    if x.shape[1] + y.shape[1] > LOW_DIMENSION and len(x) >= FEWEST_ROWS:
        some = slice(None) if rows is None else rows
        result.append(replace(_canonical_candidate(x[some], y[some], seed, settings(k, rows), k), rows=rows))
        pairs = _pair_candidate(x[some], y[some], [s[some] for s in scores], settings(k, rows), k)
        result += [] if pairs is None else [replace(pairs, rows=rows)]
    return result


def _canonical_candidate(x: Array, y: Array, seed: int, settings: str, k: int) -> Candidate:
    """Count neighbours on learned functions; a third reports as many functions as read most in the other thirds."""
    count = min(3, x.shape[1], y.shape[1])
    thirds = held_out_variates(x, y, count, seed)

    def read(pair: tuple[Array, Array], m: int, k: int) -> Array:
        return ksg_local(normal_scores(pair[0][:, :m]), normal_scores(pair[1][:, :m]), k=k)

    result = [[read(third.full, m, k) for m in range(1, count + 1)] for third in thirds]
    means = np.array([[local.mean() for local in third] for third in result])
    chosen = [1 + int(np.argmax(np.delete(means, i, axis=0).mean(axis=0))) for i in range(len(thirds))]
    local = np.empty(len(x))
    for third, locals_, m in zip(thirds, result, chosen, strict=True):
        local[third.rows] = locals_[m - 1]

    def missing() -> float:
        """Return what finer neighbourhoods and, apart from them, more rows to learn from would add; mean over the thirds."""
        total = []
        for third, m in zip(thirds, chosen, strict=True):
            value = float(local[third.rows].mean())
            total.append(
                extrapolated(value, float(read(third.full, m, 2 * k).mean()), 1 / m)
                + extrapolated(value, float(read(third.half(), m, k).mean()), 0.5)
            )
        return float(np.mean(total))

    sizes = "/".join(map(str, sorted(set(chosen))))
    return Candidate(
        f"canonical ({sizes} variates a side, ksg1, {settings})", local, *mean_and_error(local), missing, learned=True
    )
