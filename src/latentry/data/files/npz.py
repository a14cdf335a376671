"""NumPy archives: one named array per modality."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from latentry.data.dataset import Dataset
from latentry.data.files.checksums import digest, require_same, seal
from latentry.data.files.limits import require_header
from latentry.data.files.npy import read_header
from latentry.data.files.roles import KEY, Roles, about_of, from_arrays, to_arrays
from latentry.data.files.survey import Seen, survey_arrays
from latentry.errors import DataError

_LONGEST_END = 22 + 65_535  # of a zip archive: what counts its entries, and a comment
_MORE = 65_535  # counted elsewhere


def claimed(path: Path, most: float) -> float:
    """Return the bytes of all arrays, if no header claims others than are there."""
    with _explained(path), zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        _require_all(entries, path)
        total = float(sum(entry.file_size for entry in entries))
        if total <= most:
            for entry in entries:
                with archive.open(entry) as file:
                    header = read_header(file)
                    require_header(entry.filename.removesuffix(".npy"), header, entry.file_size - file.tell())
    return total


def read(path: Path, roles: Roles) -> Dataset:
    """Read all arrays of the archive; objects inside are refused, and the checksum of what we wrote is checked."""
    return from_arrays(arrays(path), roles)


def arrays(path: Path) -> dict[str, np.ndarray]:
    """Read each array by its name, and check the checksum of what we wrote."""
    with _explained(path), open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
        found = {name: archive[name] for name in archive.files}
    if KEY in found:
        about = about_of(found[KEY])
        if "content" in about:
            require_same(
                digest({name: part for name, part in found.items() if name != KEY}), about["content"], str(path)
            )
    return found


def _require_all(entries: Sequence[zipfile.ZipInfo], path: Path) -> None:
    """Refuse a directory that lists fewer arrays than its end counts: a changed length in it swallows those that follow."""
    with open(path, "rb") as file:
        file.seek(max(0, path.stat().st_size - _LONGEST_END))
        end = file.read()
    (counted,) = struct.unpack_from("<H", end, end.rfind(b"PK\5\6") + 10)
    if counted not in (len(entries), _MORE):
        raise DataError(
            f"{path}: not a whole npz archive (it lists {len(entries)} arrays, and counts {counted}). Write it again."
        )


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError) as problem:
        raise DataError(f"{path}: not a whole npz archive ({problem}). Write it again.") from problem


def survey(path: Path, roles: Roles) -> list[Seen]:
    """Say how each array would be read."""
    return survey_arrays(arrays(path), roles)


def write(data: Dataset, path: Path) -> None:
    """Write one compressed archive."""
    named: dict[str, np.ndarray] = {name: np.asarray(array) for name, array in to_arrays(data).items()}
    about = about_of(named.pop(KEY))
    named[KEY] = np.array(json.dumps(seal({**about, "content": digest(named)})))
    with open(path, "wb") as file:
        _save(file, named)


def _save(file: IO[bytes], arrays: dict[str, np.ndarray]) -> None:
    # As savez_compressed, which would take an array called "file" for its own argument.
    with zipfile.ZipFile(file, "w", compression=zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)
