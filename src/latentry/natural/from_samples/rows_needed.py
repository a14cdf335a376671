"""How many rows an open verdict would need, from the spread that was measured."""

from __future__ import annotations

import math

__all__ = ["rows_needed", "rows_needed_in_words"]

_MOST = 1e9


def rows_needed(rows: int, bound: float, estimate: float, variance: float, epsilon: float, delta: float) -> int | None:
    """Plan the number of rows at which an upper bound would reach a declared threshold.

    The bound is estimate + a/√n + b/n: a = √(2 v ln(1/δ)) from the variance v of a row, and b from what is left of the
    excess that was measured.

    >>> rows_needed(1000, 0.2, 0.0, 0.0, 0.1, 0.05), rows_needed(1000, 0.2, 0.15, 0.0, 0.1, 0.05)
    (2000, None)

    Args:
        rows: Rows behind the bound.
        bound: Upper bound that they gave.
        estimate: Of the quantity itself.
        variance: Of one row's part in the estimate.
        epsilon: The declared threshold.
        delta: One minus the confidence of the bound.

    Returns:
        Rows, to two digits; None where the estimate itself is above the threshold, or no number of rows would do.
    """
    gap, excess = epsilon - estimate, bound - estimate
    if gap <= 0 or not math.isfinite(excess):
        return None
    slow = min(excess, math.sqrt(2.0 * variance * math.log(1.0 / delta) / rows))
    quick = excess - slow
    # quick·u² + slow·u = gap, where u² is the ratio of today's rows to the rows needed.
    u = 2.0 * gap / (slow + math.sqrt(slow**2 + 4.0 * quick * gap)) if excess > 0 else math.inf
    wanted = rows / u**2
    if wanted > _MOST:
        return None
    step: int = 10 ** max(0, math.floor(math.log10(max(wanted, 1.0))) - 1)
    return math.ceil(wanted / step - 1e-9) * step


def rows_needed_in_words(wanted: int | None, rows: int, estimate: float, epsilon: float) -> str:
    """Say what would change an open verdict.

    >>> rows_needed_in_words(2000, 1000, 0.01, 0.1)
    'more rows, about 2,000 where there are 1,000 now, or a larger declared threshold'

    Args:
        wanted: From `rows_needed`.
        rows: Rows behind the bound.
        estimate: Of the quantity itself.
        epsilon: The declared threshold.

    Returns:
        A phrase.
    """
    if wanted is not None:
        return f"more rows, about {wanted:,} where there are {rows:,} now, or a larger declared threshold"
    if estimate >= epsilon:
        return (
            f"a larger declared threshold or another latent: the estimate itself, {estimate:.3g} nats, is not below "
            f"{epsilon:g}, so that more rows alone may not certify it"
        )
    return "a larger declared threshold: no number of rows in reach would do"
