"""Run folders: written whole or not at all, checked when they are read. No code is ever loaded."""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from latentry.errors import CheckpointError
from latentry.training.history import Row, without_nan

__all__ = ["FORMAT", "RunFiles", "holds_run", "read_run", "write_run"]

FORMAT = 1
_MANIFEST, _WEIGHTS, _OPTIMISER, _HISTORY = (
    "manifest.json",
    "weights.safetensors",
    "optimiser.safetensors",
    "history.jsonl",
)
_PARTS = (_WEIGHTS, _OPTIMISER, _HISTORY)


@dataclass(frozen=True)
class RunFiles:
    """What a run folder holds."""

    manifest: Mapping[str, Any]
    weights: Mapping[str, np.ndarray]
    optimiser: Mapping[str, np.ndarray]
    history: Sequence[Row]


def holds_run(folder: str | Path) -> bool:
    """Return whether a folder (or what an interrupted save left of it) holds a run.

    Args:
        folder: Need not exist.

    Returns:
        True where a manifest with format and checksums can be read.
    """
    folder = Path(folder).absolute()
    return _is_run(folder) or _is_run(_old(folder))


def _is_run(folder: Path) -> bool:
    try:
        return {"format", "checksums"} <= set(json.loads((folder / _MANIFEST).read_bytes()))
    except (OSError, ValueError, TypeError):
        return False


def write_run(folder: str | Path, run: RunFiles) -> None:
    """Write a sibling folder, flush it to disk, and rename it into place; an earlier run stays until then.

    Args:
        folder: New, empty, or an earlier run, which is replaced.
        run: Manifest, arrays and history.

    Raises:
        CheckpointError: If the folder holds something else, or cannot be written.
    """
    folder = Path(folder).absolute()
    if folder.exists() and not _is_run(folder) and (not folder.is_dir() or any(folder.iterdir())):
        raise CheckpointError(f"{folder}: it exists and is no run folder. Choose another place; nothing was written.")
    draft = folder.with_name(f".{folder.name}.new")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        _write_draft(draft, run)
        _swap(folder, draft)
    except OSError as problem:
        shutil.rmtree(draft, ignore_errors=True)
        kept = " The run that was there is untouched." if holds_run(folder) else ""
        raise CheckpointError(f"{folder}: the run could not be saved: {problem}.{kept}") from problem


def _write_draft(draft: Path, run: RunFiles) -> None:
    parts = {
        _WEIGHTS: safetensors.numpy.save(dict(run.weights)),
        _OPTIMISER: safetensors.numpy.save(dict(run.optimiser)),
        _HISTORY: "".join(json.dumps(without_nan(row)) + "\n" for row in run.history).encode(),
    }
    manifest = {
        "format": FORMAT,
        **run.manifest,
        "checksums": {name: _sha256(content) for name, content in parts.items()},
    }
    manifest["checksum"] = _sha256(_canonical(manifest))
    parts[_MANIFEST] = json.dumps(manifest, indent=1).encode()
    for name, content in parts.items():
        with open(draft / name, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    _sync_folder(draft)


def _swap(folder: Path, draft: Path) -> None:
    """Put the draft in place of the folder. A kill at any line leaves a whole run under one of the two names."""
    old = _old(folder)
    if folder.exists():
        _clear_old(folder)
        os.rename(folder, old)
    try:
        os.rename(draft, folder)
    except OSError:
        if old.exists():
            os.rename(old, folder)
        raise
    _sync_folder(folder.parent)
    _clear_old(folder)


def _clear_old(folder: Path) -> None:
    """Remove what an earlier swap left, after moving what the user keeps there to the folder in use."""
    old = _old(folder)
    if old.exists():
        for guest in old.iterdir():
            if guest.name not in (*_PARTS, _MANIFEST) and not (folder / guest.name).exists():
                os.rename(guest, folder / guest.name)
        shutil.rmtree(old, ignore_errors=True)


def _old(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.old")


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_run(folder: str | Path) -> RunFiles:
    """Read a run folder and check every byte of it.

    Args:
        folder: As given to :func:`write_run`.

    Returns:
        Manifest, arrays and history.

    Raises:
        CheckpointError: If there is no run, or a file of it is missing, damaged or of another format.
    """
    folder = Path(folder).absolute()
    try:
        if not folder.exists() and _old(folder).exists():
            os.rename(_old(folder), folder)  # a save was cut off between its two renames
        return _read(folder)
    except CheckpointError:
        raise
    except OSError as problem:
        raise CheckpointError(f"{folder}: the run cannot be read: {problem}.") from problem


def _read(folder: Path) -> RunFiles:
    manifest = _read_manifest(folder)
    contents = {name: _read_part(folder, name, manifest["checksums"]) for name in _PARTS}
    history = [json.loads(line) for line in contents[_HISTORY].decode().splitlines()]
    return RunFiles(
        manifest,
        _tensors(folder / _WEIGHTS, contents[_WEIGHTS]),
        _tensors(folder / _OPTIMISER, contents[_OPTIMISER]),
        [{name: math.nan if value is None else value for name, value in row.items()} for row in history],
    )


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / _MANIFEST
    if not path.is_file():
        raise CheckpointError(
            f"{folder}: it holds no run, there is no {_MANIFEST} in it. Give the folder of a saved run."
        )
    try:
        manifest: dict[str, Any] = json.loads(path.read_bytes())
        version, checksum = manifest["format"], manifest.pop("checksum")
    except (ValueError, KeyError, AttributeError, TypeError) as problem:
        raise CheckpointError(
            f"{path}: it is damaged ({problem}). Restore the folder from a copy, or fit again."
        ) from problem
    if version != FORMAT:
        raise CheckpointError(
            f"{path}: it has format {version}; this latentry reads format {FORMAT}. Use the version that wrote it."
        )
    if checksum != _sha256(_canonical(manifest)):
        raise CheckpointError(
            f"{path}: its checksum is wrong, it was changed or damaged after it was written. "
            "Restore the folder from a copy, or fit again."
        )
    return manifest


def _read_part(folder: Path, name: str, checksums: Mapping[str, str]) -> bytes:
    path = folder / name
    if not path.is_file():
        raise CheckpointError(f"{path}: it is missing. Restore the folder from a copy, or fit again.")
    content = path.read_bytes()
    if _sha256(content) != checksums.get(name):
        raise CheckpointError(
            f"{path}: its checksum is wrong ({len(content)} bytes), it is cut short, damaged or from another run. "
            "Restore the folder from a copy, or fit again."
        )
    return content


def _tensors(path: Path, content: bytes) -> dict[str, np.ndarray]:
    try:
        return safetensors.numpy.load(content)
    except safetensors.SafetensorError as problem:
        raise CheckpointError(
            f"{path}: it is no safetensors file ({problem}). Restore the folder from a copy, or fit again."
        ) from problem


def _canonical(manifest: Mapping[str, Any]) -> bytes:
    return json.dumps(manifest, sort_keys=True).encode()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
