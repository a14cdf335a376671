"""How far off an answer may be, by reading the same information another way.

Ross's neighbour counts within labels, and counts of labels, are biased where labels are rare or their distributions have steps.
Each value as its number in their order plus a uniform (`spread_ties`) carries the same information, and neighbour counts on
normal scores of such columns err elsewhere. The truth knows nothing of the difference.
"""

from __future__ import annotations

import numpy as np

from latentry.data import crowded, normal_scores
from latentry.information.drawn_rows import LOW_DIMENSION
from latentry.information.ksg import ksg_local
from latentry.information.rounding import spread_ties
from latentry.streams import stream

__all__ = ["read_again", "second_reading"]


def second_reading(
    value: float, x: np.ndarray, y: np.ndarray, k: int, seed: int, given: np.ndarray | None = None
) -> tuple[float, float]:
    """Return by how much the value may be too low and too high; nothing in many columns, or where all rows have copies to count.

    Args:
        value: The first reading, in nats.
        x: Rows of numbers or codes.
        y: Rows of numbers or codes.
        k: Neighbours.
        seed: Of the uniforms.
        given: Rows of the condition, numbers or codes; the uniforms of its ties tell nothing, so that it may be spread too.

    Returns:
        Shortfall and excess, in nats.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((500, 1))
    >>> low, high = second_reading(0.5, x, rng.poisson(3.0, size=(500, 1)), 5, 0)  # they are independent
    >>> low, bool(0.4 < high < 0.6)
    (0.0, True)
    """
    again = read_again(x, y, k, seed, given)
    gap = 0.0 if again is None else again - value
    return max(0.0, gap), max(0.0, -gap)


def read_again(x: np.ndarray, y: np.ndarray, k: int, seed: int, given: np.ndarray | None = None) -> float | None:
    """Count neighbours on normal scores, ties broken at random.

    Args:
        x: Rows of numbers or codes.
        y: Rows of numbers or codes.
        k: Neighbours.
        seed: Of the uniforms.
        given: Rows of the condition.

    Returns:
        Nats; None in many columns, or where all rows have copies to count.
    """
    parts = (x, y) if given is None else (x, y, given)
    rows = np.hstack(parts)
    if rows.shape[1] > LOW_DIMENSION or len(x) <= k or crowded(rows, k):
        return None
    rng = stream("information/ties", seed)
    return float(ksg_local(*(normal_scores(spread_ties(part, rng)) for part in parts), k=k).mean())
