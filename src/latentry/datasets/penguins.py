"""Penguins of the Palmer archipelago."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from latentry.data import Dataset
from latentry.datasets.files import numbers, packaged, table
from latentry.errors import DataError, nearest

__all__ = ["penguins"]

_DOMAINS = ("island", "species", "sex", "year")
_MEASURED = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")


def penguins(*, domain: str | None = "island", path: str | Path | None = None) -> Dataset:
    """Read 342 penguins of three species on three islands: bill length and depth, flipper length, body mass.

    Measured by Gorman, Williams and Fraser (*PLoS ONE* 9, 2014), collected by Horst, Hill and Gorman (*palmerpenguins*,
    2020); the file ships in the PyPI package palmerpenguins. Two birds without any measurement are left out.

    Factors are species, sex ("unknown" for nine birds), year and island.

    Cost: the size of its file, which is read whole.

    Args:
        domain: "island", "species", "sex", "year", or None.
        path: Wheel or folder of palmerpenguins, if it is not installed.

    Returns:
        A dataset with columns named by what was measured.

    Raises:
        DataError: If the domain is not known.
        MissingData: If the file is not on this machine.
    """
    if domain is not None and domain not in _DOMAINS:
        raise DataError(f"domain={domain!r} is not known{nearest(domain, _DOMAINS)}")
    names, rows = table(packaged("palmerpenguins", "0.1.6", "palmerpenguins/data/penguins.csv", path))
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    measured = numbers([list(row) for row in zip(*(columns[name] for name in _MEASURED), strict=True)])
    kept = ~np.isnan(measured).any(axis=1)
    factors = {name: np.array(columns[name])[kept] for name in _DOMAINS}
    factors["sex"] = np.where(factors["sex"] == "NA", "unknown", factors["sex"])
    chosen = None if domain is None else factors[domain]
    return Dataset(measured[kept], chosen, factors=factors, columns={"x": _MEASURED})
