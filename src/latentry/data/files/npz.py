"""NumPy archives: one named array per modality."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from latentry.data.dataset import Dataset
from latentry.data.files.roles import Roles, from_arrays, to_arrays
from latentry.errors import DataError


def read(path: Path, roles: Roles) -> Dataset:
    """All arrays of the archive; objects inside are refused."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            return from_arrays({name: archive[name] for name in archive.files}, roles)
    except zipfile.BadZipFile as problem:
        raise DataError(f"{path} is not a whole npz archive ({problem}): write it again.") from problem


def write(data: Dataset, path: Path) -> None:
    """One compressed archive."""
    arrays: dict[str, Any] = {name: np.asarray(array) for name, array in to_arrays(data).items()}
    with open(path, "wb") as file:
        np.savez_compressed(file, **arrays)
