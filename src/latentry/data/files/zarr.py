"""Zarr groups: arrays that stay on disk and are read in chunks."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast, final

import numpy as np
from numpy.typing import DTypeLike

from latentry.data.dataset import Dataset
from latentry.data.files.checksums import require_same, seal
from latentry.data.files.limits import array_bytes
from latentry.data.files.roles import KEY, Roles, about_of, from_arrays, to_arrays
from latentry.data.files.survey import Seen, survey_arrays
from latentry.data.inputs import RowIndex, StoredRows
from latentry.data.lazy_rows import BLOCK_BYTES, LazyRows, blocks, is_lazy
from latentry.errors import DataError, MissingExtra
from latentry.json_forms import read_regular

if TYPE_CHECKING:
    import zarr


_MOST_METADATA = 16 << 20  # bytes of one description of an array


def _library() -> ModuleType:
    try:
        import zarr as library
        import zarr.codecs
    except ImportError as problem:
        raise MissingExtra("zarr", "zarr", "a zarr store") from problem
    return library


def claimed(path: Path, most: float) -> float:
    """Return the bytes of arrays that are read at once, and of the largest chunk of those that stay on disk."""
    if not is_store(path):
        raise DataError(f"{path}: it is no zarr group or array. Give a folder that zarr wrote.")
    arrays = _arrays(path).values()
    whole = sum(array_bytes(one.shape, one.dtype.itemsize) for one in arrays if one.ndim < 2)
    return float(whole + max((array_bytes(one.shards or one.chunks, one.dtype.itemsize) for one in arrays), default=0))


def read(path: Path, roles: Roles) -> Dataset:
    """Read labels, factors and masks, which are small; arrays of rank 2 and more stay on disk."""
    stored = _arrays(path)
    header = _header(path)
    if header is not None:
        _require_files(path, about_of(np.array(header)))
    arrays = _rows(path, stored)
    if header is not None:
        arrays[KEY] = np.array(header)
    return from_arrays(arrays, roles)


def _rows(path: Path, stored: dict[str, zarr.Array[Any]]) -> dict[str, StoredRows]:
    """Return small arrays as they are, and the others as rows that stay on disk."""
    for name, array in stored.items():
        _require_chunks(name, array)
    return {
        name: ZarrRows(f"{path}, array {name!r}", array) if array.ndim >= 2 else _small(array)
        for name, array in stored.items()
    }


@final
class ZarrRows(LazyRows):
    """Rows of a zarr array; a chunk that cannot be read is a sentence, whenever it is met."""

    def __init__(self, place: str, source: zarr.Array[Any]) -> None:
        self.place, self.source = place, source
        self.shape, self.dtype = tuple(source.shape), np.dtype(source.dtype)

    def __getitem__(self, index: RowIndex) -> np.ndarray:
        try:
            return np.asarray(self.source[cast(Any, index)])
        except Exception as problem:  # checksums, codecs, files that are gone
            raise DataError(
                f"{self.place}: a chunk cannot be read ({problem}). It was changed or damaged after it was written: restore the "
                "store from a copy, or write it again."
            ) from problem


def _arrays(path: Path) -> dict[str, zarr.Array[Any]]:
    """Return every array of a store by its path in it."""
    store = _library().open(str(path), mode="r")
    found: dict[str, zarr.Array[Any]] = {}
    if isinstance(store, _library().Array):
        return {"x": store}
    _collect(store, "", found)
    return found


def _header(path: Path) -> object:
    """Return what a group of ours says of itself; None for those of others."""
    return dict(_library().open(str(path), mode="r").attrs).get(KEY)


def _collect(group: zarr.Group, prefix: str, arrays: dict[str, zarr.Array[Any]]) -> None:
    for name, array in group.arrays():
        arrays[prefix + name] = array
    for name, inner in group.groups():
        _collect(inner, f"{prefix}{name}/", arrays)


def _require_files(path: Path, about: dict[str, Any]) -> None:
    """Refuse arrays that are stored otherwise than we wrote them: type, chunks, codecs, what stands for a lost chunk."""
    for name, checksum in about.get("files", {}).items():
        place = (path / name).resolve()
        if not place.is_relative_to(path.resolve()):
            raise DataError(f"{path}: its header names {name!r}, which is outside of it. Restore it from a copy.")
        content = read_regular(place, _MOST_METADATA)
        require_same(hashlib.sha256(content).hexdigest(), checksum, str(place))


def _require_chunks(name: str, array: zarr.Array[Any]) -> None:
    """Refuse chunks that are not stored: they would be read as zeros, and a lost domain as the first one."""
    stored, wanted = array.nchunks_initialized, array.nchunks
    if stored < wanted:
        raise DataError(
            f"array {name!r}: {wanted - stored} of {wanted} chunks are not stored, and would be read as {array.fill_value}. "
            "Restore the store from a copy; if such chunks were never written, write the store with "
            "zarr.config.set({'array.write_empty_chunks': True})."
        )


def _small(array: zarr.Array[Any]) -> np.ndarray:
    values = np.asarray(array[...])
    return np.array(values.tolist()) if values.dtype.kind in "OT" else values


def is_store(path: Path) -> bool:
    """Return whether a folder is a zarr group or array."""
    return any((path / name).is_file() for name in ("zarr.json", ".zgroup", ".zarray"))


def survey(path: Path, roles: Roles) -> list[Seen]:
    """Say how each array would be read."""
    return survey_arrays(_rows(path, _arrays(path)), roles)


def write(data: Dataset, path: Path) -> None:
    """Write chunks of about a megabyte, whole rows each; data on disk are copied piece by piece."""
    root = _library().open_group(str(path), mode="w")
    about: dict[str, Any] = {}
    for name, array in to_arrays(data).items():
        if name == KEY:
            about = about_of(array)
            continue
        stored = root.create_array(
            name, shape=array.shape, dtype=_dtype(array), chunks=_chunks(array), compressors=_compressors(),
            config={"write_empty_chunks": True},  # so that a chunk that is not there was lost
        )  # fmt: skip
        if is_lazy(array):
            for start, piece in blocks(array):
                stored[start : start + len(piece)] = piece
        else:
            stored[...] = array
    files = sorted(place for place in path.rglob("zarr.json") if place.parent != path)
    marks = {place.relative_to(path).as_posix(): hashlib.sha256(place.read_bytes()).hexdigest() for place in files}
    root.attrs[KEY] = json.dumps(seal({**about, "files": marks}))


def _compressors() -> list[object]:
    """Return zstd, and a checksum of each chunk, which zarr checks whenever it reads one."""
    codecs = _library().codecs
    return [codecs.ZstdCodec(level=0), codecs.Crc32cCodec()]


def _dtype(array: StoredRows) -> DTypeLike:
    return str if np.dtype(array.dtype).kind == "U" else array.dtype


def _chunks(array: StoredRows) -> tuple[int, ...]:
    size = max(1, int(np.prod(array.shape[1:])) * np.dtype(array.dtype).itemsize)
    return (min(array.shape[0], max(1, BLOCK_BYTES // size)), *array.shape[1:])
