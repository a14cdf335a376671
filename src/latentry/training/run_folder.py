"""Writing run folders: new contents under new names, then one manifest that takes the place of the earlier one."""

from __future__ import annotations

import json
import os
import re
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import final

import safetensors.numpy

from latentry.errors import CheckpointError
from latentry.training.checkpoint import (
    FORMAT,
    HISTORY,
    MANIFEST,
    OPTIMISER,
    WEIGHTS,
    RunFiles,
    canonical,
    holds_run,
    manifest_text,
    named_files,
    old_place,
    sha256,
    versioned,
)
from latentry.training.folder_lock import LOCK, locked
from latentry.training.history import without_nan
from latentry.whole_files import real_path, replace_file, sync_folder

__all__ = ["RunFolder", "write_run"]

# Names that only a save gives: contents of some version, and drafts of a save that was killed.
_OURS = re.compile(r"(weights|optimiser|history)-[0-9a-f]{16}\.(safetensors|jsonl)|\..+\.\d+-[0-9a-f]{8}\.draft")

_OF_VOLUMES = "lost+found"  # what an empty volume of ext4 holds, before anybody wrote to it


def write_run(folder: str | Path, run: RunFiles) -> None:
    """Write a run; an earlier one stays until the new one is whole and on disk.

    Args:
        folder: New, empty, or an earlier run, which is replaced.
        run: Manifest, arrays and history.

    Raises:
        CheckpointError: If the folder holds something else, is being written by another process, or cannot be written.
    """
    with RunFolder(folder) as held:
        held.write(run)


@final
class RunFolder:
    """A run folder that nobody else writes to within a ``with`` block. The path is resolved once.

    Args:
        folder: New, empty, or an earlier run. It may be a link, a mount point or the working folder.
    """

    def __init__(self, folder: str | Path) -> None:
        self.path = real_path(folder)
        self._held = ExitStack()
        self._made = False

    def __enter__(self) -> RunFolder:
        """Make the folder if there is none, and lock it."""
        self._refuse_others()
        try:
            self._made = not self.path.exists()
            if self._made and old_place(self.path).is_dir():
                os.rename(old_place(self.path), self.path)  # an earlier version was killed between two renames
            self.path.mkdir(parents=True, exist_ok=True)
            self._held.enter_context(locked(self.path))
        except CheckpointError:
            raise
        except OSError as problem:
            raise self._failed(problem) from problem
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Free the folder; one that was made and holds nothing is removed."""
        self._held.close()
        if self._made:
            with suppress(OSError):
                self.path.rmdir()

    def _refuse_others(self) -> None:
        if not self.path.exists() or holds_run(self.path):
            return
        if not self.path.is_dir() or any(not _is_ours(name) for name in os.listdir(self.path)):
            raise CheckpointError(
                f"{self.path}: it exists and is no run folder. Choose another place; nothing was written."
            )

    def write(self, run: RunFiles) -> None:
        """Write contents under new names, flush them to disk, replace the manifest, and remove the earlier contents.

        Args:
            run: Manifest, arrays and history.

        Raises:
            CheckpointError: If it cannot be written; an earlier run is then untouched.
        """
        earlier = named_files(self.path)
        try:
            files = self._write_contents(run)
        except OSError as problem:
            now = named_files(self.path)
            if now or not (self.path / MANIFEST).exists():  # room for the next save
                self._clear(keep=set(now))
            raise self._failed(problem) from problem
        self._clear(keep=files, also=earlier)

    def _write_contents(self, run: RunFiles) -> set[str]:
        parts = {
            WEIGHTS: safetensors.numpy.save(dict(run.weights)),
            OPTIMISER: safetensors.numpy.save(dict(run.optimiser)),
            HISTORY: "".join(json.dumps(without_nan(row)) + "\n" for row in run.history).encode(),
        }
        checksums = {name: sha256(content) for name, content in parts.items()}
        files = {name: versioned(name, checksum) for name, checksum in checksums.items()}
        manifest = {"format": FORMAT, **run.manifest, "files": files, "checksums": checksums}
        manifest["checksum"] = sha256(canonical(manifest))
        text = manifest_text(manifest, self.path / MANIFEST)
        for name, content in parts.items():
            replace_file(self.path / files[name], content)
        sync_folder(self.path)
        replace_file(self.path / MANIFEST, text.encode())
        sync_folder(self.path)
        return set(files.values())

    def _clear(self, keep: set[str], also: tuple[str, ...] = ()) -> None:
        """Remove contents that no manifest names. What cannot be removed does no harm."""
        with suppress(OSError):
            for name in os.listdir(self.path):
                if name not in keep and (name in also or (_OURS.fullmatch(name) and name != LOCK)):
                    with suppress(OSError):
                        os.unlink(self.path / name)

    def _failed(self, problem: OSError) -> CheckpointError:
        kept = " The run that was there is untouched." if holds_run(self.path) else ""
        return CheckpointError(f"{self.path}: the run could not be saved: {problem}.{kept}")


def _is_ours(name: str) -> bool:
    return name in (LOCK, _OF_VOLUMES) or _OURS.fullmatch(name) is not None
