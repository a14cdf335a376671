"""What a file may claim: regular files only, and no more than fits into memory."""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from latentry.errors import DataError

__all__ = ["array_bytes", "most_bytes", "require_header", "require_regular", "require_room"]

_GB = 10**9
_GROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")  # of a container


def require_regular(path: Path, *, folder: bool) -> None:
    """Refuse pipes, devices and sockets before they are opened, and folders where a file is meant.

    Args:
        path: That exists.
        folder: Whether it may be a folder.

    Raises:
        DataError: If it is anything else.
    """
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or (folder and stat.S_ISDIR(mode))):
        kind = "a folder" if stat.S_ISDIR(mode) else "a pipe, a device or a socket"
        raise DataError(f"{path}: it is {kind}. Give a regular file.")


def most_bytes(max_gb: float | None) -> float:
    """Return how many bytes a file may expand to.

    Args:
        max_gb: In units of 10^9 bytes; None for half of the memory that this process may use.

    Returns:
        Bytes.

    Raises:
        DataError: If the number is not positive.
    """
    if max_gb is None:
        return 0.5 * _memory()
    if isinstance(max_gb, bool) or not isinstance(max_gb, int | float) or not 0 < max_gb < math.inf:
        raise DataError(f"max_gb={max_gb!r}: is no size. Give a positive number of gigabytes.")
    return max_gb * _GB


def _memory() -> float:
    try:
        machine = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # a system that does not tell
        return 16.0 * _GB
    try:
        return min(machine, float(_GROUP_LIMIT.read_text()))
    except (OSError, ValueError):  # no container, or one without a limit
        return machine


def require_room(path: Path, claimed: float, most: float) -> None:
    """Refuse a file that would expand to more than is allowed, before anything is expanded.

    Args:
        path: Of the file.
        claimed: Bytes that it says it holds.
        most: Bytes that are allowed.

    Raises:
        DataError: If it claims more.
    """
    if claimed > most:
        raise DataError(
            f"{path}: it would expand to {claimed / _GB:.3g} GB, more than {most / _GB:.3g} GB. Raise max_gb= (--max-gb) if you "
            "trust it and have the memory, or store it as zarr or npy, which are read piece by piece."
        )


def array_bytes(shape: Iterable[int], itemsize: int) -> int:
    """Return the bytes of an array.

    Args:
        shape: Of the array.
        itemsize: Bytes of one element.

    Returns:
        Their product, as a whole number of any size.
    """
    return math.prod(map(int, shape)) * int(itemsize)


def require_header(name: str, header: tuple[tuple[int, ...], np.dtype], present: int) -> None:
    """Refuse an array whose header claims another size than its bytes have.

    Args:
        name: Of the array, for errors.
        header: Shape and type.
        present: Bytes after the header.

    Raises:
        DataError: If they differ, or the array holds objects.
    """
    shape, dtype = header
    if dtype.hasobject:
        raise DataError(
            f"array {name!r}: it holds Python objects, which are never unpacked. Store numbers; or text, as array.astype(str)."
        )
    claimed = array_bytes(shape, dtype.itemsize)
    if claimed != present:
        raise DataError(
            f"array {name!r}: its header claims {claimed} bytes, {present} are there. Write the file again."
        )
