"""Rows of one domain: those with one label, or with neighbouring values of a continuous u."""

from __future__ import annotations

import numpy as np

from latentry.data import Domain, column_scales, nearest_centres
from latentry.errors import DataError

__all__ = ["LEAST_ROWS", "groups_of", "levelled"]

LEAST_ROWS = 20  # below, a variance has a relative error of a third


def groups_of(domain: Domain, latents: int, seed: int) -> tuple[np.ndarray, tuple[object, ...]]:
    """Return codes and names of domains: labels as they are, neighbouring values of a continuous u together.

    Args:
        domain: Of every row.
        latents: Number of latents; more of them need more groups.
        seed: Of the centres of groups, when u has several columns.

    Returns:
        The number of each row's group, (rows,), and a name for each group.

    Raises:
        DataError: If there are too few rows for a continuous u.
    """
    if domain.labels is not None:
        return domain.values, domain.labels
    values = domain.values
    count = int(np.clip(len(values) // 100, 2, max(4 * latents + 2, 20)))
    if len(values) < 2 * LEAST_ROWS:
        raise DataError(f"{len(values)} rows are too few for a continuous u. Give at least {2 * LEAST_ROWS}.")
    if values.shape[1] == 1:
        codes = (np.argsort(np.argsort(values[:, 0])) * count) // len(values)
    else:
        codes = nearest_centres(values / column_scales(values), count, starts=2, seed=seed)
    return codes, tuple(f"u near {_near(values[codes == code])}" for code in range(count))


def levelled(z: np.ndarray, u: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return latents without the linear trend in u that they have within each group.

    Args:
        z: Latents, (rows, latents).
        u: The continuous variable, (rows, columns).
        codes: The number of each row's group, (rows,).

    Returns:
        (rows, latents).
    """
    level = z.copy()
    for code in np.unique(codes):
        own = codes == code
        away = u[own] - u[own].mean(axis=0)
        level[own] -= away @ np.linalg.lstsq(away, z[own] - z[own].mean(axis=0), rcond=None)[0]
    return level


def _near(values: np.ndarray) -> str:
    return ", ".join(f"{value:.3g}" for value in values.mean(axis=0)) if len(values) else "nothing"
