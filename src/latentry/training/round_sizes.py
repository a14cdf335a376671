"""Round sizes: a program is compiled for each shape, so data of nearly the same size are filled up to the same one."""

from __future__ import annotations

__all__ = ["SMALL_BYTES", "filled_rows", "filled_steps"]

SMALL_BYTES = 1 << 20  # windows up to here are small
_FEW_ROWS = 16  # fewest rows, and fewest steps of a small window


def filled_rows(rows: int, least: int = _FEW_ROWS) -> int:
    """Return to how many rows an array with a place for each row is filled up.

    Args:
        rows: Of the data.
        least: Fewest places, where they cost nothing.

    Returns:
        At least ``least``, then a number that is at most a quarter larger than ``rows``.

    >>> [filled_rows(rows) for rows in (3, 45, 100, 188, 225)]
    [16, 48, 112, 192, 256]
    """
    return max(least, _rounded(rows, 4))


def filled_steps(steps: int, size: int) -> int:
    """Return to how many steps a window in memory is filled up.

    Args:
        steps: Of the window.
        size: Bytes of a step.

    Returns:
        A power of two from 16 on while such a window is small; else a number that is at most an eighth larger than ``steps``.

    >>> [filled_steps(steps, 1000) for steps in (1, 17, 100)], [filled_steps(steps, 1 << 20) for steps in (1, 17, 100)]
    ([16, 32, 128], [1, 18, 104])
    """
    power = max(_FEW_ROWS, 1 << (steps - 1).bit_length())
    if power * size <= SMALL_BYTES:
        return power
    return _rounded(steps, 8)


def _rounded(number: int, parts: int) -> int:
    # The next number in a grid that cuts the way from a power of two to the next one into so many parts.
    apart = max(1, (1 << (number - 1).bit_length()) // (2 * parts))
    return -(-number // apart) * apart
