"""One-sided confidence bounds of a mean from independent rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student_t

from latentry.errors import DataError, nearest
from latentry.streams import stream

__all__ = ["LARGEST_BET", "METHODS", "MeanMethod", "mean_upper", "smallest_level", "staged_upper"]

Array = NDArray[np.float64]
MeanMethod = Literal["betting", "bernstein", "bootstrap", "t"]
_DRAWS = 2000
_FIRST_SPREAD = 0.05
LARGEST_BET = 0.99  # of the stake


def mean_upper(values: Array, top: float, delta: float, method: MeanMethod = "betting", *, seed: int = 0) -> float:
    """Bound the mean of the distribution behind `values` from above, with confidence 1 − delta.

    `betting` (Waudby-Smith and Ramdas 2024) and `bernstein` (Maurer and Pontil 2009) hold for every distribution on
    [0, top] at every sample size; `bootstrap` and `t` only for many rows, and need no `top`.

    Cost: linear in the values; "betting" times the steps of a search for the bound.

    >>> rows = np.full(200, 0.01)
    >>> mean_upper(rows, 1.0, 0.05) < mean_upper(rows, 1.0, 0.05, "bernstein") < 0.1
    True

    Args:
        values: Independent rows (n,).
        top: Largest possible value; the smallest is 0.
        delta: One minus the confidence.
        method: `betting`, `bernstein`, `bootstrap` or `t`.
        seed: Of the order of the rows, or of the resampling.

    Returns:
        The bound, in the units of the values.

    Raises:
        DataError: If there are fewer than two rows, the method is unknown, or values are not finite or out of range.
    """
    rows = np.asarray(values, dtype=np.float64)
    if rows.ndim != 1 or len(rows) < 2:
        raise DataError(f"values: has shape {rows.shape}; a bound of a mean needs at least 2 rows. Bring more.")
    if method not in METHODS:
        raise DataError(f"method={method!r}: is not known{nearest(str(method), METHODS)}")
    if not np.isfinite(rows).all():
        raise DataError(
            f"values: {int((~np.isfinite(rows)).sum())} of {len(rows)} values are not finite. Drop them: their mean has no bound."
        )
    if method in ("betting", "bernstein") and not (rows.min() >= 0 and rows.max() <= top + 1e-12):
        raise DataError(
            f"method={method!r}: needs values in [0, {top:g}]; they reach {rows.max():g}. "
            "Give the largest possible value as top, or use method='t'."
        )
    return METHODS[method](rows, top, delta, seed)


def _bernstein(rows: Array, top: float, delta: float, seed: int) -> float:
    n, log = len(rows), np.log(2.0 / delta)
    spread = np.sqrt(2.0 * rows.var(ddof=1) * log / n)
    return float(min(top, rows.mean() + spread + 7.0 * top * log / (3.0 * (n - 1))))


def _betting(rows: Array, top: float, delta: float, seed: int) -> float:
    """The largest mean m against which a gambler who bets on less has not multiplied the stake by 1/δ.

    Bets λ_t depend on earlier rows only, so that the capital Π_t (1 − λ_t (Y_t − m)) is a martingale when the
    mean is m; by Ville's inequality it ever passes 1/δ with probability at most δ. Rows are taken in random order:
    a file sorted by what is measured would otherwise be bet against as if its end were already known.
    """
    return staged_upper([[rows]], top, delta, seed=seed)


def staged_upper(stages: Sequence[Sequence[Array]], top: float, delta: float, *, seed: int = 0) -> float:
    """Bound the least mean that all stages allow, when each has losses of its own in one or several domains, by betting.

    In each stage the largest of the domains' means is at least m, whichever domain it is in. The least capital over the
    domains of a stage is then an e-value, and the product over the stages a supermartingale: losses of a student that is
    fitted again before each stage, on all earlier rows, are one bet.

    >>> early, late = np.full(100, 0.02), np.full(100, 0.01)
    >>> staged_upper([[early], [late]], 1.0, 0.05) < mean_upper(late, 1.0, 0.05)
    True

    Args:
        stages: For each stage, the losses in each domain, between 0 and `top`; the domains are the same in all stages.
        top: Largest possible value.
        delta: One minus the confidence.
        seed: Of the order of the rows in each stage.

    Returns:
        The bound, in the units of the losses.
    """
    rng = stream("natural/order of bets", seed)
    domains = [[rng.permutation(rows) / (top or 1.0) for rows in column] for column in zip(*stages, strict=True)]
    losses = [np.concatenate(parts) for parts in domains]
    bets = [_bets(y, delta) for y in losses]
    ends = [np.cumsum([len(part) for part in parts]) for parts in domains]

    def survives(mean: float) -> bool:
        logs = [np.cumsum(np.log1p(-bet * (y - mean))) for bet, y in zip(bets, losses, strict=True)]
        if len(logs) == 1:
            return bool(logs[0].max() < np.log(1.0 / delta))
        grown = [np.diff(np.append(0.0, log)[np.append(0, end)]) for log, end in zip(logs, ends, strict=True)]
        return bool(np.cumsum(np.min(grown, axis=0)).max() < np.log(1.0 / delta))

    low, high = 0.0, 1.0
    if survives(high):
        return top
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if survives(middle) else (low, middle)
    return float(high * top)


def _bets(y: Array, delta: float) -> Array:
    """Stakes that suit the spread of the earlier rows; before there are any, a spread that is small for losses."""
    n = len(y)
    count = np.arange(1, n + 1)
    running = (0.5 + np.cumsum(y)) / (1 + count)
    spread = (_FIRST_SPREAD + np.cumsum((y - running) ** 2)) / (1 + count)
    before = np.concatenate([[_FIRST_SPREAD], spread[:-1]])
    bets: Array = np.minimum(np.sqrt(2.0 * np.log(1.0 / delta) / (n * before)), LARGEST_BET)
    return bets


def _bootstrap(rows: Array, top: float, delta: float, seed: int) -> float:
    """Studentised bootstrap: the quantile of (mean* − mean)/se* turned round; infinite beyond its resolution."""
    error = float(rows.std(ddof=1) / np.sqrt(len(rows)))
    if error == 0:
        return float(rows.mean())
    if delta < 2.0 / _DRAWS:
        return float("inf")
    return float(rows.mean() - np.quantile(_bootstrap_ratios(rows.tobytes(), seed), delta) * error)


@lru_cache(maxsize=64)
def _bootstrap_ratios(data: bytes, seed: int) -> Array:
    """(mean* − mean)/se* of resampled rows; remembered, because one bound is asked for at many levels."""
    rows, rng = np.frombuffer(data), stream("natural/bootstrap of means", seed)
    n, ratios = len(rows), []
    for _ in range(_DRAWS // 100):
        drawn = rows[rng.integers(0, n, size=(100, n), dtype=np.int32)]
        errors = np.sqrt(np.maximum(drawn.var(axis=1), 1e-300) / n)
        ratios.append((drawn.mean(axis=1) - rows.mean()) / errors)
    return np.concatenate(ratios)


def _t(rows: Array, top: float, delta: float, seed: int) -> float:
    n = len(rows)
    return float(rows.mean() + student_t.ppf(1 - delta, n - 1) * rows.std(ddof=1) / np.sqrt(n))


METHODS: dict[str, Callable[[Array, float, float, int], float]] = {
    "betting": _betting,
    "bernstein": _bernstein,
    "bootstrap": _bootstrap,
    "t": _t,
}


def smallest_level(upper: Callable[[float], float], threshold: float, floor: float = 1e-6) -> float:
    """Find the smallest δ whose upper bound is under the threshold: the p-value of 'the truth is above it'.

    >>> round(smallest_level(lambda delta: 0.1 - 0.1 * delta, 0.05), 3)
    0.5

    Args:
        upper: Upper bound as a function of δ.
        threshold: The declared one.
        floor: Smallest δ to try.

    Returns:
        A level between `floor` and 1.
    """
    if upper(floor) <= threshold:
        return floor
    if upper(0.999) > threshold:
        return 1.0
    low, high = np.log(floor), np.log(0.999)
    for _ in range(14):
        middle = (low + high) / 2
        low, high = (low, middle) if upper(float(np.exp(middle))) <= threshold else (middle, high)
    return float(np.exp(high))
