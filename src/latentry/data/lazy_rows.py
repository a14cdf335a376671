"""Reading rows of arrays that may be larger than memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
from numpy.typing import DTypeLike

from latentry.data.inputs import RowIndex, StoredRows

__all__ = ["BLOCK_BYTES", "LazyRows", "TakenRows", "blocks", "gather", "is_lazy", "row_bytes", "stays_on_disk"]

BLOCK_BYTES = 1 << 20  # one read: large enough to be sequential, small enough to hold many


class LazyRows(ABC):
    """Rows that are read, or computed, when they are asked for."""

    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self[:], dtype=dtype)

    @abstractmethod
    def __getitem__(self, index: RowIndex) -> np.ndarray: ...


class TakenRows(LazyRows):
    """Chosen rows of a stored array, in order, without reading them."""

    def __init__(self, source: StoredRows, rows: np.ndarray) -> None:
        self.source, self.rows = source, np.asarray(rows, dtype=np.int64)
        self.shape, self.dtype = (len(self.rows), *source.shape[1:]), np.dtype(source.dtype)

    def __getitem__(self, index: RowIndex) -> np.ndarray:
        rows = self.rows[index]
        return gather(self.source, rows) if rows.ndim else gather(self.source, rows[None])[0]


def stays_on_disk(array: object) -> bool:
    """Return whether an array is read piece by piece: a memory map, zarr, HDF5, or a view of one.

    Args:
        array: Whatever was given as rows.

    Returns:
        False for anything that NumPy reads at once.
    """
    library = type(array).__module__.split(".")[0]
    return isinstance(array, (np.memmap, LazyRows)) or library in ("zarr", "h5py")


def is_lazy(array: StoredRows) -> bool:
    """Return whether an accepted array stays on disk.

    Args:
        array: Values of a modality.

    Returns:
        False for an array in memory.
    """
    return isinstance(array, np.memmap) or not isinstance(array, np.ndarray)


def row_bytes(array: StoredRows) -> int:
    """Return the bytes of one row as training sees it (float32).

    Args:
        array: Values of a modality, (rows, ...).

    Returns:
        Four for each number of a row.
    """
    return 4 * int(np.prod(array.shape[1:], dtype=np.int64))


def blocks(array: StoredRows) -> Iterator[tuple[int, np.ndarray]]:
    """Yield pieces of an array in order, each about a megabyte.

    Statistics are summed over these pieces whether the array is in memory or not,
    so both give the same bits.

    Args:
        array: Values of a modality, (rows, ...).

    Returns:
        Pairs of the number of the first row, and the rows.
    """
    step = max(1, BLOCK_BYTES // max(1, row_bytes(array)))
    for start in range(0, array.shape[0], step):
        yield start, np.asarray(array[start : start + step])


def gather(array: StoredRows, rows: np.ndarray) -> np.ndarray:
    """Return ``array[rows]``, reading a stored array in sorted, near-contiguous slabs.

    Args:
        array: Values of a modality, (rows, ...).
        rows: Numbers of rows, in any order, repeated or not.

    Returns:
        A new array of these rows.
    """
    if not is_lazy(array):
        return array[rows]
    if isinstance(array, TakenRows):
        return gather(array.source, array.rows[rows])
    order = np.argsort(rows, kind="stable")
    out = np.empty((len(rows), *array.shape[1:]), dtype=array.dtype)
    for piece in np.split(order, _gaps(rows[order], array)):
        if piece.size:
            first, last = rows[piece[0]], rows[piece[-1]]
            out[piece] = np.asarray(array[int(first) : int(last) + 1])[rows[piece] - first]
    return out


def _gaps(ordered: np.ndarray, array: StoredRows) -> np.ndarray:
    # A jump shorter than a block is cheaper to read through than to seek over.
    block = max(1, BLOCK_BYTES // max(1, row_bytes(array)))
    far = np.diff(ordered) > block
    # …and a slab never grows past four blocks, so that memory stays bounded.
    slab = ordered[1:] // (4 * block) != ordered[:-1] // (4 * block)
    return np.flatnonzero(far | slab) + 1
