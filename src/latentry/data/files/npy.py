"""One array per file, memory-mapped: it is read as it is needed."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import numpy as np

from latentry.data.dataset import Dataset
from latentry.data.files.limits import require_header
from latentry.data.files.roles import Roles
from latentry.data.files.survey import Seen
from latentry.errors import DataError


def claimed(path: Path, most: float) -> float:
    """Return nothing: the array stays on disk. Its header must claim what is there."""
    with open(path, "rb") as file:
        header = read_header(file)
        require_header(path.name, header, path.stat().st_size - file.tell())
    return 0.0


def read_header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype]:
    """Return shape and type of an array from the header of a npy file, and stand behind it.

    Args:
        file: That begins with the header.

    Returns:
        Shape and type.

    Raises:
        DataError: If it is no such file.
    """
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    version = np.lib.format.read_magic(file)
    if version not in readers:
        raise DataError(f"its header is of version {version}. Write it with numpy.save.")
    shape, _, dtype = readers[version](file, max_header_size=10_000)
    return shape, dtype


def read(path: Path, roles: Roles) -> Dataset:
    """Read the array as a single modality, which stays on disk."""
    if roles.taken:
        raise DataError(
            f"{path}: holds one array and no domain, groups, time, ids or factors. Use Dataset(array, domain=...) or npz."
        )
    rows = np.load(path, mmap_mode="r", allow_pickle=False)
    if rows.dtype.kind in "USMm":
        held = "dates" if rows.dtype.kind in "Mm" else "text"
        raise DataError(
            f"{path}: holds {held} ({rows.dtype}), and a npy file is one modality of numbers. Write these beside the rows they "
            "belong to: numpy.savez(path, x=rows, labels=labels)."
        )
    return Dataset({roles.only(): rows})


def survey(path: Path, roles: Roles) -> list[Seen]:
    """Say nothing: the data describe themselves."""
    return []


def write(data: Dataset, path: Path) -> None:
    """Write the single modality, without domain, factors or holes."""
    name = data.names[0]
    parts = (data.domain, data.groups, data.time, data.rows)
    more = any(part is not None for part in parts) or data.factors or data.columns
    if len(data.names) > 1 or more or not data.observed[name].all():
        raise DataError(f"{path.name}: a npy file holds one whole modality and nothing else. Write npz instead.")
    np.save(path, np.asarray(data[name]), allow_pickle=False)
