"""Rounded columns, spread evenly over the cells that rounding made."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from latentry.streams import stream

__all__ = ["crowded", "lattice_step", "to_usual_digits", "unrounded"]

_NEARLY_ALL = 0.95
_COMMON = 0.1  # of the distances between neighbouring values are one step, at least, where most values were rounded
_STEPS = 12  # of the most frequent distances are tried
_DIGITS = 9  # of a distance over the range, within which distances are one
_EVEN = 1e-6  # fraction of a step by which the distances of rounded values may miss whole steps


def lattice_step(column: np.ndarray) -> float:
    """Return the step of which all distances between values are multiples; 0 if values do not repeat or there is none.

    Args:
        column: Numbers.

    Returns:
        The step.

    >>> round(lattice_step(np.array([0.1, 0.3, 0.3, 0.9])), 12), lattice_step(np.array([0.0, 1.0, 1.0, 2.718]))
    (0.2, 0.0)
    """
    values = np.unique(column)
    if len(values) == len(column) or len(values) < 2:
        return 0.0
    apart = np.diff(values)
    steps = apart / apart.min()
    even = np.abs(steps - np.round(steps)).max() <= _EVEN * max(1.0, steps.max() ** 0.5)
    return float(apart.min()) if even else 0.0


def to_usual_digits(column: np.ndarray) -> np.ndarray:
    """Round the few values that have more digits than all others, as tables have them that were typed in.

    The step is one of the most frequent distances between neighbouring values, so that the answer is that of any other unit.

    Args:
        column: Numbers.

    Returns:
        The column in whole steps, if 95 of 100 values are; as it is, if there is no such step or all values are.

    >>> typed = np.append(np.arange(60) / 100, 0.345)
    >>> round(float(to_usual_digits(typed)[-1]), 12), to_usual_digits(np.array([0.1, 3.14159265])).tolist()
    (0.34, [0.1, 3.14159265])
    """
    values, counts = np.unique(column, return_counts=True)
    first = values[counts.argmax()]
    for step in _usual_steps(np.diff(values)):
        steps = (column - first) / step
        whole = np.round(steps)
        usual = np.mean(np.abs(steps - whole) <= _EVEN * np.maximum(1.0, np.abs(steps) ** 0.5))
        rounded: np.ndarray = first + step * whole
        if usual >= _NEARLY_ALL:
            return rounded if usual < 1 and np.ptp(rounded) > 0 else column
    return column


def _usual_steps(apart: np.ndarray) -> list[float]:
    """Return the most frequent distances, if one of them is frequent: none where values are not rounded."""
    if len(apart) < 2:
        return []
    sizes, place, counts = np.unique(np.round(apart / apart.sum(), _DIGITS), return_inverse=True, return_counts=True)
    most = [size for size in np.argsort(-counts, kind="stable")[:_STEPS] if counts[size] > 1 and sizes[size] > 0]
    if not most or counts[most[0]] < _COMMON * len(apart):
        return []
    return [float(np.median(apart[place == size])) for size in most]


def unrounded(parts: Sequence[np.ndarray], k: int, labels: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
    r"""Return the blocks with :math:`U(-s/2, s/2)` added to each column of step s.

    Nothing is lost or gained: the rounded value can be read back, so that :math:`I(X + U; Y) = I(X; Y)`. Neighbour
    counts, which are made for continuous values, read rounded ones far too high. Where nearly all rows have k exact copies, all
    blocks and ``labels`` together, nothing is added: counting copies is sharper there. The draws depend on the place of
    the block alone, since two blocks must not have the same.

    Args:
        parts: Blocks with the same rows.
        k: Neighbours that will be counted.
        labels: Of the rows, if any.

    Returns:
        Blocks.
    """
    steps = [np.array([lattice_step(column) for column in part.T]) for part in parts]
    if not any(np.any(step) for step in steps) or crowded(np.hstack([*parts, *_columns(labels)]), k):
        return tuple(parts)
    return tuple(
        part + step * (stream(f"information/rounding {place}", len(step)).random(part.shape) - 0.5)
        for place, (part, step) in enumerate(zip(parts, steps, strict=True))
    )


def crowded(rows: np.ndarray, k: int) -> bool:
    """Return whether nearly all rows have more than k exact copies, itself among them: counts are sharper than distances then.

    Args:
        rows: Rows of numbers.
        k: Neighbours.

    Returns:
        Whether they have.
    """
    _, where, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    return bool(np.mean(counts[where.reshape(-1)] > k) > _NEARLY_ALL)


def _columns(labels: np.ndarray | None) -> tuple[np.ndarray, ...]:
    return () if labels is None else (labels[:, None],)
