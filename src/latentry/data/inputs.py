"""Types of what may be handed over as data and as labels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latentry.data.raw_columns import RawTable

__all__ = [
    "DataFrameLike",
    "Label",
    "LabelsLike",
    "RowIndex",
    "RowsLike",
    "StoredRows",
    "is_annotated",
    "kind_of",
]

# The name of a domain, as Python sees it; truth values are whole numbers.
Label: TypeAlias = str | int

# What chooses rows of an array.
RowIndex: TypeAlias = int | slice | NDArray[np.integer] | NDArray[np.bool_]


@runtime_checkable
class DataFrameLike(Protocol):
    """A table with named columns: a pandas data frame, or what behaves as one."""

    @property
    def columns(self) -> Iterable[Hashable]:
        """Return the names of the columns."""

    def to_numpy(self) -> np.ndarray:
        """Return the cells, (rows, columns)."""

    def __getitem__(self, key: Any, /) -> Any: ...  # columns of any library, each with its own index types


class StoredRows(Protocol):
    """Rows in memory or on disk: a NumPy array, a memory map, a zarr or HDF5 array, or a view of one."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the number of rows and the shape of one."""

    @property
    def dtype(self) -> np.dtype:
        """Return the type of the numbers."""

    @property
    def ndim(self) -> int:
        """Return the number of axes."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: RowIndex, /) -> np.ndarray: ...

    def __array__(self) -> np.ndarray: ...


# One modality: rows along the first axis; None in a sequence is a missing row.
RowsLike: TypeAlias = ArrayLike | Sequence[ArrayLike | None] | DataFrameLike | StoredRows | RawTable

# One label for each row.
LabelsLike: TypeAlias = ArrayLike | Sequence[Hashable]

_ANNOTATED = ("anndata.AnnData", "mudata.MuData", "xarray.DataArray", "xarray.Dataset")


def kind_of(found: object) -> str:
    """Return the library and class of an annotated table, whichever of its modules the class is in.

    Args:
        found: Anything.

    Returns:
        Such as "anndata.AnnData"; empty for anything else.
    """
    kinds = (f"{base.__module__.split('.')[0]}.{base.__name__}" for base in type(found).__mro__)
    return next((kind for kind in kinds if kind in _ANNOTATED), "")


def is_annotated(found: object) -> bool:
    """Return whether something is a table with annotations of its rows: AnnData, MuData or xarray.

    Args:
        found: Anything.

    Returns:
        Its truth; the libraries are not imported.
    """
    return bool(kind_of(found))
