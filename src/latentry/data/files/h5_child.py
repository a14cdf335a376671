"""Checking an HDF5 file in a child process with limits of memory and time."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from latentry.errors import DataError

__all__ = ["require_sound"]

_SCRIPT = Path(__file__).with_name("h5_check.py")
_SECONDS = 20  # for a small file
_BYTES_A_SECOND = 5e6  # slower than any disk; compressed files take longer than their size says


def require_sound(path: Path, most: float) -> None:
    """Refuse a file that breaks the HDF5 library, takes it too long, points to other files, or holds too much.

    Args:
        path: Of the file.
        most: Bytes that it may expand to.

    Raises:
        DataError: By what was met.
    """
    if os.name != "posix" or importlib.util.find_spec("h5py") is None:  # no limits there; without h5py nothing reads it
        return
    seconds = int(_SECONDS + path.stat().st_size / _BYTES_A_SECOND)
    command = [sys.executable, "-P", str(_SCRIPT), str(path.resolve()), str(int(most)), str(seconds)]
    quiet = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "HDF5_USE_FILE_LOCKING": "FALSE"}
    try:
        done = subprocess.run(command, capture_output=True, timeout=4 * seconds, check=False, env=quiet)
    except subprocess.TimeoutExpired:
        raise _damaged(path, f"reading it took more than {4 * seconds} s") from None
    words = done.stdout.decode("utf-8", "replace")
    if words:
        raise _damaged(path, words)
    if done.returncode:
        raise _damaged(path, f"the HDF5 library ends the process that reads it (code {done.returncode})")


def _damaged(path: Path, what: str) -> DataError:
    return DataError(
        f"{path}: it cannot be read: {what}. It may be damaged; restore it from a copy, or write it again."
    )
