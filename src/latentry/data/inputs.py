"""Types of what may be handed over as data and as labels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["DataFrameLike", "Label", "LabelsLike", "RowsLike", "StoredRows"]

Label: TypeAlias = str | int  # of a domain, as Python sees it; truth values are whole numbers


@runtime_checkable
class DataFrameLike(Protocol):
    """A table with named columns: a pandas data frame, or what behaves as one."""

    @property
    def columns(self) -> Iterable[Hashable]:
        """Names of the columns."""

    def to_numpy(self) -> np.ndarray:
        """Return the cells, (rows, columns)."""

    def __getitem__(self, key: Any, /) -> Any: ...  # columns of any library, each with its own index types


class StoredRows(Protocol):
    """Rows that are read a piece at a time: a memory map, a zarr or HDF5 array, or a view of one."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rows, and the shape of one."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers."""

    @property
    def ndim(self) -> int:
        """Number of axes."""

    def __getitem__(self, index: Any, /) -> Any: ...  # slices and integer arrays, typed differently by every library


# One modality: rows along the first axis; None in a sequence is a missing row.
RowsLike: TypeAlias = ArrayLike | Sequence[ArrayLike | None] | DataFrameLike | StoredRows

# One label for each row.
LabelsLike: TypeAlias = ArrayLike | Sequence[Hashable]
