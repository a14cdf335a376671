"""One writer for a folder: a lock that the operating system frees when its process ends, however it ends."""

from __future__ import annotations

import errno
import os
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from latentry.errors import CheckpointError, DataWarning

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["LOCK", "locked"]

LOCK = ".lock"
_CANNOT = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)  # file systems without locks


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep every other writer, also of this process, from a folder.

    Args:
        folder: That exists.

    Returns:
        A context that holds the lock until its block ends.

    Raises:
        CheckpointError: If another writer holds it; it is named.
        OSError: If the lock file cannot be written.
    """
    if fcntl is None:
        yield
        return
    handle = _take(folder)
    try:
        os.ftruncate(handle, 0)
        os.write(handle, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        yield
    finally:
        try:
            with suppress(OSError):  # while it is held: who opens it next makes a new one
                os.unlink(folder / LOCK)
        finally:  # also where an interrupt falls into the line above: an open handle keeps the lock
            os.close(handle)


def _take(folder: Path) -> int:
    """Return the open lock file, locked, and still under its name: a writer that ended removed its own."""
    while True:
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _flock(handle, folder)
            if _is_named(handle, folder / LOCK):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _flock(handle: int, folder: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as problem:
        holder = os.read(handle, 200).decode(errors="replace").strip() or "another process"
        raise CheckpointError(
            f"{folder}: {holder} is writing this run. Wait until it ends, or choose another folder; nothing was written."
        ) from problem
    except OSError as problem:
        if problem.errno not in _CANNOT:
            raise
        warnings.warn(
            f"{folder}: this file system has no locks; a second process that writes there would not be noticed.",
            DataWarning,
            stacklevel=2,
        )


def _is_named(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False
