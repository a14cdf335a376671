"""One array per file, memory-mapped: it is read as it is needed."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from latentry.data.dataset import Dataset
from latentry.data.files.roles import Roles
from latentry.errors import DataError


def read(path: Path, roles: Roles) -> Dataset:
    """Read the array as a single modality, which stays on disk."""
    if roles.taken:
        raise DataError(
            f"{path}: holds one array and no domain, groups, time or factors. Use Dataset(array, domain=...) or npz."
        )
    return Dataset({roles.only(): np.load(path, mmap_mode="r", allow_pickle=False)})


def write(data: Dataset, path: Path) -> None:
    """Write the single modality, without domain, factors or holes."""
    name = data.names[0]
    parts = (data.domain, data.groups, data.time, data.rows)
    more = any(part is not None for part in parts) or data.factors or data.columns
    if len(data.names) > 1 or more or not data.observed[name].all():
        raise DataError(f"{path.name}: a npy file holds one whole modality and nothing else. Write npz instead.")
    np.save(path, np.asarray(data[name]), allow_pickle=False)
