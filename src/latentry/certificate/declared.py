"""Settings as plain numbers, or a sentence that names the argument."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from latentry.errors import DataError

__all__ = ["check_blocks", "number", "whole"]


def number(name: str, value: object) -> float:
    """Return a number.

    Args:
        name: Of the argument.
        value: What was given.

    Returns:
        The number.

    Raises:
        DataError: If it is none.

    >>> number("epsilon", 1)
    1.0
    """
    given = np.asarray(value)
    if given.ndim or given.dtype.kind not in "fiub":
        raise DataError(f"{name}={value!r}: is no number. Give a number.")
    return float(given)


def whole(name: str, value: object) -> int:
    """Return a whole number.

    Args:
        name: Of the argument.
        value: What was given.

    Returns:
        The number.

    Raises:
        DataError: If it is none.

    >>> whole("restarts", 2)
    2
    """
    given = np.asarray(value)
    if given.ndim or given.dtype.kind not in "iub":
        raise DataError(f"{name}={value!r}: is no whole number. Give one.")
    return int(given)


def check_blocks(blocks: object) -> None:
    """Check that blocks are names, or lists of columns by name.

    Args:
        blocks: What was given.

    Raises:
        DataError: If they are something else.
    """
    inside = list(blocks.values()) if isinstance(blocks, Mapping) else []
    for value in (blocks, *inside):
        if value is not None and (isinstance(value, str) or not np.iterable(value)):
            raise DataError(
                f"blocks={blocks!r}: {value!r} is no list. Give names of modalities, such as ['a', 'b'], or columns of a "
                "single table by the name of the block, such as {'a': [0, 1], 'b': [2]}."
            )
