"""Zarr groups: arrays that stay on disk and are read in chunks."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import DTypeLike

from latentry.data.dataset import Dataset
from latentry.data.files.roles import KEY, Roles, from_arrays, to_arrays
from latentry.data.inputs import StoredRows
from latentry.data.lazy_rows import BLOCK_BYTES, blocks, is_lazy
from latentry.errors import MissingExtra

if TYPE_CHECKING:
    import zarr


def _library() -> ModuleType:
    try:
        import zarr as library
    except ImportError as problem:
        raise MissingExtra("zarr", "zarr", "a zarr store") from problem
    return library


def read(path: Path, roles: Roles) -> Dataset:
    """Read labels, factors and masks, which are small; arrays of rank 2 and more stay on disk."""
    store = _library().open(str(path), mode="r")
    if not hasattr(store, "arrays"):
        return from_arrays({"x": store}, roles)
    arrays: dict[str, StoredRows] = {}
    _collect(store, "", arrays)
    if KEY in store.attrs:
        arrays[KEY] = np.array(store.attrs[KEY])
    return from_arrays(arrays, roles)


def _collect(group: zarr.Group, prefix: str, arrays: dict[str, StoredRows]) -> None:
    for name, array in group.arrays():
        arrays[prefix + name] = cast(StoredRows, array) if array.ndim >= 2 else _small(array)
    for name, inner in group.groups():
        _collect(inner, f"{prefix}{name}/", arrays)


def _small(array: zarr.Array[Any]) -> np.ndarray:
    values = np.asarray(array[...])
    return np.array(values.tolist()) if values.dtype.kind in "OT" else values


def is_store(path: Path) -> bool:
    """Return whether a folder is a zarr group or array."""
    return any((path / name).is_file() for name in ("zarr.json", ".zgroup", ".zarray"))


def write(data: Dataset, path: Path) -> None:
    """Write chunks of about a megabyte, whole rows each; data on disk are copied piece by piece."""
    root = _library().open_group(str(path), mode="w")
    for name, array in to_arrays(data).items():
        if name == KEY:
            root.attrs[KEY] = str(array)
            continue
        # A lost chunk then reads as missing rows, not as zeros.
        gap = {"fill_value": np.nan} if np.dtype(array.dtype).kind == "f" else {}
        stored = root.create_array(name, shape=array.shape, dtype=_dtype(array), chunks=_chunks(array), **gap)
        if is_lazy(array):
            for start, piece in blocks(array):
                stored[start : start + len(piece)] = piece
        else:
            stored[...] = array


def _dtype(array: StoredRows) -> DTypeLike:
    return str if np.dtype(array.dtype).kind == "U" else array.dtype


def _chunks(array: StoredRows) -> tuple[int, ...]:
    size = max(1, int(np.prod(array.shape[1:])) * np.dtype(array.dtype).itemsize)
    return (min(array.shape[0], max(1, BLOCK_BYTES // size)), *array.shape[1:])
