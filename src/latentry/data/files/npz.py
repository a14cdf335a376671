"""NumPy archives: one named array per modality."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import IO

import numpy as np

from latentry.data.dataset import Dataset
from latentry.data.files.roles import Roles, from_arrays, to_arrays
from latentry.errors import DataError


def read(path: Path, roles: Roles) -> Dataset:
    """Read all arrays of the archive; objects inside are refused."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            return from_arrays({name: archive[name] for name in archive.files}, roles)
    except zipfile.BadZipFile as problem:
        raise DataError(f"{path}: not a whole npz archive ({problem}). Write it again.") from problem


def write(data: Dataset, path: Path) -> None:
    """Write one compressed archive."""
    arrays: dict[str, np.ndarray] = {name: np.asarray(array) for name, array in to_arrays(data).items()}
    with open(path, "wb") as file:
        _save(file, arrays)


def _save(file: IO[bytes], arrays: dict[str, np.ndarray]) -> None:
    # As savez_compressed, which would take an array called "file" for its own argument.
    with zipfile.ZipFile(file, "w", compression=zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)
