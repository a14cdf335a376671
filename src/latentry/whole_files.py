"""Files that are there whole or not at all, also after a kill or a loss of power."""

from __future__ import annotations

import ctypes
import os
import secrets
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from latentry.errors import DataError

__all__ = [
    "draft_beside",
    "exchange",
    "real_path",
    "replace_file",
    "sync_file",
    "sync_folder",
    "sync_tree",
    "write_whole",
]

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2  # of renameat2(2)


def real_path(path: str | Path) -> Path:
    """Return where a path leads, so that a change of the working folder or of a link does not move it.

    Args:
        path: May hold links; need not exist.

    Returns:
        An absolute path without links.
    """
    return Path(os.path.realpath(path))


def draft_beside(path: Path) -> Path:
    """Return a name beside a path that no other process and no other call uses.

    Args:
        path: Of the file that is written.

    Returns:
        A hidden name in the same folder.
    """
    return path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.draft")


def write_whole(files: Mapping[str | Path, str]) -> None:
    """Write files that belong together: a kill at any moment leaves no new file beside an earlier one.

    All are written to drafts and flushed to disk. Then the earlier ones but the first are moved aside, and the new ones
    take their places. A kill between these steps leaves files missing, never two that do not belong together; an error
    puts the earlier ones back.

    Args:
        files: The text of each, by path; first the one from which the others can be made again.

    Raises:
        DataError: If one of them could not be written; all earlier ones are then as they were.
    """
    paths = [real_path(path) for path in files]
    drafts, aside = [draft_beside(path) for path in paths], [draft_beside(path) for path in paths]
    path = Path()
    try:
        for path, draft, text in zip(paths, drafts, files.values(), strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_draft(draft, text.encode())
        _replace_together(paths, drafts, aside)
        for folder in {path.parent for path in paths}:
            sync_folder(folder)
    except OSError as problem:
        raise DataError(f"{path} could not be written: {problem}. Choose another place, or make room.") from problem
    finally:
        _remove((*drafts, *aside))


def _replace_together(paths: list[Path], drafts: list[Path], aside: list[Path]) -> None:
    first = paths[0].read_bytes() if len(paths) > 1 and paths[0].is_file() else None
    moved: list[tuple[Path, Path]] = []
    try:
        for path, place in list(zip(paths, aside, strict=True))[1:]:
            if path.is_file():
                os.replace(path, place)
                moved.append((path, place))
        for path, draft in zip(paths, drafts, strict=True):
            os.replace(draft, path)
    except BaseException:
        for path, place in moved:
            os.replace(place, path)
        if first is not None:
            replace_file(paths[0], first)
        raise


def _remove(drafts: Iterable[Path]) -> None:
    for draft in drafts:
        with suppress(OSError):  # a file in the place of the folder: there is no draft either
            draft.unlink(missing_ok=True)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file beside its place, flush it to disk, and move it there in one step.

    Args:
        path: Where it goes; what is there stays until then.
        content: All of it.

    Raises:
        OSError: If it cannot be written; what was there is untouched.
    """
    draft = draft_beside(path)
    try:
        _write_draft(draft, content)
        os.replace(draft, path)
    finally:
        _remove((draft,))


def _write_draft(draft: Path, content: bytes) -> None:
    with open(draft, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to disk.

    Args:
        folder: Whose files were made, renamed or removed.
    """
    if os.name == "posix":  # elsewhere a folder cannot be opened
        sync_file(folder)


def sync_file(path: Path) -> None:
    """Flush a file to disk.

    Args:
        path: Of the file.
    """
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_tree(path: Path) -> None:
    """Flush a file, or a folder with all that it holds, to disk.

    Args:
        path: Of the file or folder.
    """
    if path.is_dir():
        for inner in path.iterdir():
            sync_tree(inner)
        sync_folder(path)
    else:
        sync_file(path)


def exchange(first: Path, second: Path) -> bool:
    """Exchange two files or folders in one step, where the system can (Linux, most file systems).

    Args:
        first: A path that exists.
        second: Another, on the same file system.

    Returns:
        Whether it was done.
    """
    if not sys.platform.startswith("linux"):
        return False
    swap = getattr(ctypes.CDLL(None), "renameat2", None)
    if swap is None:
        return False
    done = swap(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), ctypes.c_uint(_RENAME_EXCHANGE))
    return int(done) == 0
