"""What can go wrong, in words that name the place and the remedy."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "CheckpointError",
    "DataError",
    "DataWarning",
    "FileError",
    "LatentryError",
    "MissingExtra",
    "TrainingDiverged",
    "nearest",
]


class LatentryError(Exception):
    """Any problem that latentry explains itself: the command line shows its sentence and nothing else."""


class DataError(LatentryError, ValueError):
    """The data or an argument cannot be used as they are."""


class FileError(DataError):
    """A file that people write cannot be used; its sentence is in the words of that file, on the command line too."""


class CheckpointError(LatentryError, OSError):
    """A run folder cannot be written or read; ``state`` is what could not be written, if it was that."""

    state: object = None


class MissingExtra(LatentryError, ImportError):
    """An optional package is needed and not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package {package}: pip install 'latentry[{extra}]'")


class TrainingDiverged(LatentryError, ArithmeticError):
    """Training met a number that is not finite and stopped before using it; ``state`` is the last good one."""

    state: object = None


class DataWarning(UserWarning):
    """The data can be used, but something about them is worth knowing."""


def nearest(name: object, options: Iterable[str]) -> str:
    """Return a hint for a mistyped name.

    Args:
        name: What was given.
        options: Known names.

    Returns:
        The end of a sentence: the closest name, if any is close, and all known names.

    >>> nearest("ivea", ["vae", "ivae"])
    "; did you mean 'ivae'? Known: ivae, vae"
    """
    known = sorted(options)
    close = difflib.get_close_matches(str(name), known, n=1)
    return (f"; did you mean {close[0]!r}?" if close else ".") + f" Known: {', '.join(known)}"
