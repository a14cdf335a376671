"""Which rows' neighbours are counted, and what is said when they are not all."""

from __future__ import annotations

import numpy as np

from latentry.streams import stream

__all__ = [
    "LOW_DIMENSION",
    "MOST_ROWS",
    "SHARED",
    "drawn_rows",
    "drawn_words",
    "mean_and_error",
    "searched",
    "settings",
]

Array = np.ndarray
LOW_DIMENSION = 3  # joint columns up to which neighbour counts are nearly unbiased
SHARED = 1.25  # rows share neighbours: the spread of their terms understates the error by so much, as measured
SEARCHED_WHOLE = 8  # joint columns up to which a search among all rows stays fast for the drawn ones
MOST_ROWS = 20_000  # for fitting ν, for learning functions, and whose neighbours are counted in many dimensions


def drawn_rows(n: int, columns: int, seed: int) -> Array | None:
    """Draw the rows whose neighbours are counted: None for all, unless there are many and the search is slow.

    In up to three dimensions a search takes n log n steps; in many it nears n for every row, and all rows would take n².

    Args:
        n: Rows.
        columns: Joint dimension.
        seed: Of the draw.

    Returns:
        Row numbers, or None.

    >>> drawn_rows(1000, 10, 0) is None, len(drawn_rows(30_000, 10, 0))
    (True, 20000)
    """
    if columns <= LOW_DIMENSION or n <= MOST_ROWS:
        return None
    return stream("information/asked rows", seed).permutation(n)[:MOST_ROWS]


def searched(parts: tuple[Array, ...], rows: Array | None) -> tuple[tuple[Array, ...], Array | None]:
    """Return among which rows neighbours are looked for, and around which: in many columns the drawn rows alone.

    A search of one row's neighbours nears n steps in many columns, so that 20 000 of them would take hours among a million.

    Args:
        parts: Blocks with the same rows.
        rows: The rows that were drawn, None for all.

    Returns:
        The blocks, and the rows to ask, None for all of them.

    >>> searched((np.zeros((50, 20)),), np.arange(7))[0][0].shape
    (7, 20)
    """
    if rows is None or sum(part.shape[1] for part in parts) <= SEARCHED_WHOLE:
        return parts, rows
    return tuple(part[rows] for part in parts), None


def settings(k: int, rows: Array | None) -> str:
    """Return the settings of a neighbour count, for the name of a method.

    Args:
        k: Neighbours.
        rows: The rows that were asked, None for all.

    Returns:
        Words.
    """
    return f"k={k}" if rows is None else f"k={k}, {len(rows)} rows"


def drawn_words(rows: Array | None, n: int) -> tuple[str, ...]:
    """Return a sentence when not all rows were looked at.

    Args:
        rows: The rows that were asked, None for all.
        n: All rows.

    Returns:
        One sentence or none.
    """
    if rows is None:
        return ()
    return (
        f"neighbours were counted around {len(rows)} of the {n} rows, drawn by seed: the interval is that of so many rows",
    )


def mean_and_error(local: Array) -> tuple[float, float]:
    """Return the mean and its standard error.

    Args:
        local: Independent contributions.

    Returns:
        Both.
    """
    return float(local.mean()), float(local.std(ddof=1) / np.sqrt(len(local)))
