"""Run folders: what they hold, and how it is read and checked. No code is ever loaded."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from latentry.errors import CheckpointError
from latentry.json_forms import JsonForm, read_regular
from latentry.training.history import Row, from_plain
from latentry.whole_files import real_path

__all__ = [
    "FORMAT",
    "HISTORY",
    "MANIFEST",
    "OPTIMISER",
    "WEIGHTS",
    "RunFiles",
    "canonical",
    "holds_run",
    "manifest_text",
    "named_files",
    "old_place",
    "read_run",
    "sha256",
    "versioned",
]

FORMAT = 2  # 1 had contents under fixed names, and its folders were replaced as a whole
_READABLE = (1, 2)
MANIFEST, WEIGHTS, OPTIMISER, HISTORY = (
    "manifest.json",
    "weights.safetensors",
    "optimiser.safetensors",
    "history.jsonl",
)
_PARTS = (WEIGHTS, OPTIMISER, HISTORY)
_REMEDY = "Restore the folder from a copy, or fit again."
_MOST_BYTES = 16 << 30  # of one file of arrays; a file is read whole, since its checksum is of the whole
_MARK = {"type": "string", "pattern": "[0-9a-f]{64}"}
_NAMES = {"type": "object", "required": list(_PARTS), "additionalProperties": {"type": "string", "maxLength": 200}}
_MANIFEST_FORM = JsonForm(
    {
        "type": "object",
        "required": ["format", "checksums", "checksum"],
        "properties": {
            "format": {"type": "integer"},
            "files": _NAMES,
            "checksums": {**_NAMES, "additionalProperties": _MARK},
            "checksum": _MARK,
        },
    },
    _REMEDY,
    CheckpointError,
)
_ROW_FORM = JsonForm(
    {
        "type": "object",
        "properties": {
            "restart": {"type": "integer", "minimum": 0},
            "phase": {"type": "string"},
            "epoch": {"type": "integer", "minimum": 0},
        },
        "additionalProperties": {"type": ["string", "number", "null"]},
        "maxProperties": 1000,
    },
    _REMEDY,
    CheckpointError,
    most_bytes=1 << 20,
    most_depth=1,
)
_TRIES = 100  # a reader whose files were replaced while it read begins again


@dataclass(frozen=True)
class RunFiles:
    """What a run folder holds."""

    manifest: Mapping[str, Any]
    weights: Mapping[str, np.ndarray]
    optimiser: Mapping[str, np.ndarray]
    history: Sequence[Row]


def holds_run(folder: str | Path) -> bool:
    """Return whether a folder (or what an interrupted save of an earlier version left of it) holds a run.

    Args:
        folder: Need not exist.

    Returns:
        True where a manifest with format and checksums can be read.
    """
    return _is_run(_place(folder))


def _is_run(folder: Path) -> bool:
    try:
        content = read_regular(folder / MANIFEST, _MANIFEST_FORM.most_bytes, CheckpointError)
        return {"format", "checksums"} <= set(json.loads(content))
    except (OSError, ValueError, TypeError, RecursionError):
        return False


def _place(folder: str | Path) -> Path:
    """Where a run is read: its folder, or the name that earlier versions moved it to while they saved."""
    path = real_path(folder)
    return old_place(path) if not path.exists() and old_place(path).is_dir() else path


def old_place(folder: Path) -> Path:
    """Return the name to which earlier versions moved a run folder while they saved.

    Args:
        folder: The run folder.

    Returns:
        A path beside it.
    """
    return folder.with_name(f".{folder.name}.old")


def versioned(name: str, checksum: str) -> str:
    """Return the name of one version of a file: other contents have other names, so that none is ever written over.

    Args:
        name: Such as "weights.safetensors".
        checksum: Of the content.

    Returns:
        Such as "weights-0123456789abcdef.safetensors".
    """
    stem, _, ending = name.partition(".")
    return f"{stem}-{checksum[:16]}.{ending}"


def named_files(folder: Path) -> tuple[str, ...]:
    """Return the names of the contents that a run folder's manifest speaks of.

    Args:
        folder: Need not hold a run.

    Returns:
        Names of files; none where no manifest can be read.
    """
    try:
        return tuple(_file_names(folder / MANIFEST, _parsed(folder / MANIFEST)[0]).values())
    except (CheckpointError, OSError):
        return ()


def read_run(folder: str | Path) -> RunFiles:
    """Read a run folder and check every byte of it. Nothing is changed, also where a save is going on.

    Args:
        folder: As given to :func:`latentry.training.write_run`.

    Returns:
        Manifest, arrays and history.

    Raises:
        CheckpointError: If there is no run, or a file of it is missing, damaged or of another format.
    """
    place = _place(folder)
    try:
        for _ in range(_TRIES):
            before = _stamp(place)
            try:
                return _read(place)
            except (CheckpointError, FileNotFoundError):
                if _stamp(place) == before:  # otherwise a writer was faster, and its new run is read
                    raise
        raise CheckpointError(f"{place}: the run was replaced {_TRIES} times while it was read. Try again.")
    except CheckpointError:
        raise
    except OSError as problem:
        raise CheckpointError(f"{place}: the run cannot be read: {problem}.") from problem


def _stamp(folder: Path) -> tuple[int, int, int] | None:
    """What changes when a manifest is replaced; several times, since numbers of files are used again and clocks go back."""
    try:
        found = os.stat(folder / MANIFEST)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns


def _read(folder: Path) -> RunFiles:
    manifest = _read_manifest(folder)
    names = _file_names(folder / MANIFEST, manifest)
    contents = {name: _read_part(folder / names[name], manifest["checksums"][name]) for name in _PARTS}
    lines = contents[HISTORY].split(b"\n")
    history = [_ROW_FORM.parse(line, f"{folder / names[HISTORY]}, line {i}") for i, line in enumerate(lines, 1) if line]
    return RunFiles(
        manifest,
        _tensors(folder / names[WEIGHTS], contents[WEIGHTS]),
        _tensors(folder / names[OPTIMISER], contents[OPTIMISER]),
        [{name: from_plain(value) for name, value in row.items()} for row in history],
    )


def _file_names(path: Path, manifest: Mapping[str, Any]) -> dict[str, str]:
    """Names of the contents; a manifest may say only what its checksums imply, so no path of its own is followed."""
    if manifest["format"] == 1:
        return {name: name for name in _PARTS}
    names = {name: versioned(name, manifest["checksums"][name]) for name in _PARTS}
    if manifest.get("files") != names:
        raise CheckpointError(
            f"{path}: the files that it names are not those of a run. Restore the folder from a copy."
        )
    return names


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    if not path.is_file():
        raise CheckpointError(
            f"{folder}: it holds no run, there is no {MANIFEST} in it. Give the folder of a saved run."
        )
    manifest, checksum = _parsed(path)
    if checksum != sha256(canonical(manifest)):
        raise CheckpointError(
            f"{path}: its checksum is wrong, it was changed or damaged after it was written. "
            "Restore the folder from a copy, or fit again."
        )
    return manifest


def _parsed(path: Path) -> tuple[dict[str, Any], object]:
    """A manifest of a format that is read, without its checksum; and the checksum."""
    manifest: dict[str, Any] = _MANIFEST_FORM.read(path)
    version, checksum = manifest["format"], manifest.pop("checksum")
    if version not in _READABLE:
        raise CheckpointError(
            f"{path}: it has format {version}; this latentry reads formats {_READABLE[0]} to {FORMAT}. "
            "Use the version that wrote it."
        )
    return manifest, checksum


def _read_part(path: Path, checksum: object) -> bytes:
    if not path.exists():
        raise CheckpointError(f"{path}: it is missing. Restore the folder from a copy, or fit again.")
    content = read_regular(path, _MOST_BYTES, CheckpointError)
    if sha256(content) != checksum:
        raise CheckpointError(
            f"{path}: its checksum is wrong ({len(content)} bytes), it is cut short, damaged or from another run. "
            "Restore the folder from a copy, or fit again."
        )
    return content


def _tensors(path: Path, content: bytes) -> dict[str, np.ndarray]:
    try:
        return safetensors.numpy.load(content)
    except (safetensors.SafetensorError, KeyError, TypeError, ValueError) as problem:  # also for types that NumPy lacks
        raise CheckpointError(
            f"{path}: it is no safetensors file ({problem}). Restore the folder from a copy, or fit again."
        ) from problem


def manifest_text(manifest: Mapping[str, Any], path: Path) -> str:
    """Return the text of a manifest, if it will be read again.

    Args:
        manifest: All of it.
        path: Where it goes, for errors.

    Returns:
        JSON.

    Raises:
        CheckpointError: If a part of it is no plain data: what would be refused on load is not written.
    """
    try:
        text = json.dumps(manifest, indent=1)
    except (TypeError, ValueError, RecursionError) as problem:
        raise CheckpointError(f"{path}: the run could not be saved: {problem}. Give plain data.") from None
    _MANIFEST_FORM.parse(text, str(path))
    return text


def canonical(manifest: Mapping[str, Any]) -> bytes:
    """Return the bytes that a manifest's checksum is of.

    Args:
        manifest: Without its checksum.

    Returns:
        JSON with sorted keys.
    """
    return json.dumps(manifest, sort_keys=True).encode()


def sha256(content: bytes) -> str:
    """Return a checksum.

    Args:
        content: Any bytes.

    Returns:
        64 hexadecimal digits.
    """
    return hashlib.sha256(content).hexdigest()
