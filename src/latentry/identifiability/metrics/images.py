"""How generated and translated images compare with real ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from latentry.errors import DataError
from latentry.evidence import Estimate
from latentry.information import mutual_information

__all__ = ["attribute_leakage", "content_agreement", "frechet_distance", "kernel_distance"]

Images = TypeVar("Images")


def frechet_distance(real: Images, made: Images, *, features: Callable[[Images], ArrayLike] | None = None) -> float:
    r"""Compute the squared Fréchet distance between Gaussians with the means and covariances of two sets of features.

    :math:`|\mu_1-\mu_2|^2 + \operatorname{tr}\big(\Sigma_1 + \Sigma_2 - 2(\Sigma_1\Sigma_2)^{1/2}\big)` (Heusel et al., 2017).
    It depends on the features: only with those of the Inception network is it the published FID, and numbers compare only
    among equal features and equally many rows. From few rows it is too large.

    Cost: rows · features² and features³.

    Args:
        real: Images, or features themselves, (rows, numbers).
        made: Generated images, or their features.
        features: From images to features, such as ``PictureClassifier.features``, or ``torchscript_features(path)`` of an
            Inception network that you have; None if features are given.

    Returns:
        A number of at least 0.

    Raises:
        DataError: If there are fewer than 2 rows, or features are not finite or not equally many.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(500, 3))
    >>> round(frechet_distance(x, x + [1, 0, 2]), 6)
    5.0
    """
    first, second = _both(real, made, features, least=2)
    apart = ((first.mean(0) - second.mean(0)) ** 2).sum()
    first_cov, second_cov = (np.atleast_2d(np.cov(part, rowvar=False)) for part in (first, second))
    root = _root(first_cov)
    cross = np.sqrt(np.maximum(np.linalg.eigvalsh(root @ second_cov @ root), 0)).sum()
    return float(max(apart + np.trace(first_cov) + np.trace(second_cov) - 2 * cross, 0.0))


def kernel_distance(real: Images, made: Images, *, features: Callable[[Images], ArrayLike] | None = None) -> float:
    r"""Estimate the squared maximum mean discrepancy with the kernel :math:`(x\cdot y/d + 1)^3`, without bias.

    The estimate of Bińkowski et al. (2018). Its expectation is 0 for equal distributions, with any number of rows: it may
    be negative. With Inception's features it is the published KID.

    Cost: rows² · features.

    Args:
        real: Images, or features themselves, (rows, numbers).
        made: Generated images, or their features.
        features: From images to features; None if features are given.

    Returns:
        The estimate, which may be negative.

    Raises:
        DataError: If there are fewer than 2 rows, or features are not finite or not equally many.

    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(2, 300, 2))
    >>> abs(kernel_distance(x, y)) < 0.1 < kernel_distance(x, y + 1)
    True
    """
    first, second = _both(real, made, features, least=2)
    inner = [_kernel(part, part) for part in (first, second)]
    within = sum((k.sum() - np.trace(k)) / (len(k) * (len(k) - 1)) for k in inner)
    return float(within - 2 * _kernel(first, second).mean())


def content_agreement(before: Images | ArrayLike, after: Images, classify: Callable[[Images], ArrayLike]) -> float:
    """Return the fraction of rows that a classifier calls the same before and after translation.

    Cost: that of the classifier, twice.

    Args:
        before: Labels, or images before translation.
        after: Images after it.
        classify: From images to labels.

    Returns:
        A number between 0 and 1.

    Raises:
        DataError: If there are not as many rows before as after.

    >>> content_agreement(np.array([1, 0]), np.array([[0.9], [0.8]]), lambda x: (x[:, 0] > 0.5).astype(int))
    0.5
    """
    values = np.asarray(classify(after))
    labelled = np.ndim(cast(ArrayLike, before)) == 1
    wanted = np.asarray(before) if labelled else np.asarray(classify(cast(Images, before)))
    if len(values) != len(wanted):
        raise DataError(f"before has {len(wanted)} rows, after {len(values)}. Give the same images, in the same order.")
    return float((values == wanted).mean())


def attribute_leakage(changed: ArrayLike, unchanged: Mapping[str, ArrayLike], **options: Any) -> dict[str, Estimate]:
    """Estimate mutual information between what a translation changed and each factor that it should have kept.

    It is zero where the domain asked for says nothing about the factor.

    Cost: that of a :func:`latentry.mutual_information` for each factor.

    Args:
        changed: The domain asked for, row by row.
        unchanged: Factors read off the translated images, by name.
        **options: As of :func:`latentry.mutual_information`.

    Returns:
        An estimate for each factor, by name.

    >>> rng = np.random.default_rng(0)
    >>> colour = np.repeat([0, 1], 500)
    >>> leaked = attribute_leakage(colour, {"digit": rng.integers(0, 10, 1000), "tint": colour})
    >>> float(leaked["digit"]) < 0.02, round(float(leaked["tint"]), 2)
    (True, 0.69)
    """
    asked = _numbers(changed)
    return {name: mutual_information(asked, _numbers(values), **options) for name, values in unchanged.items()}


def _numbers(values: ArrayLike) -> np.ndarray:
    """Return names of classes as codes, numbers as they are."""
    array = np.asarray(values)
    return array if array.dtype.kind in "buif" else np.unique(array, return_inverse=True)[1]


def _both(
    real: Images, made: Images, features: Callable[[Images], ArrayLike] | None, least: int
) -> tuple[np.ndarray, np.ndarray]:
    both = []
    for name, raw in (("real", real), ("made", made)):
        values = np.asarray(raw if features is None else features(raw), dtype=np.float64)
        if values.ndim != 2 or len(values) < least:
            raise DataError(
                f"{name} gives features of shape {values.shape}, not (rows, numbers). Give at least {least} rows."
            )
        if not np.isfinite(values).all():
            raise DataError(
                f"{name} has features that are NaN or infinite at row {np.argwhere(~np.isfinite(values))[0, 0]}. "
                "Leave such rows out."
            )
        both.append(values)
    if both[0].shape[1] != both[1].shape[1]:
        raise DataError(
            f"real has {both[0].shape[1]} features a row, made {both[1].shape[1]}. Use the same function for both."
        )
    return both[0], both[1]


def _root(matrix: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(matrix)
    root: np.ndarray = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    return root


def _kernel(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    kernel: np.ndarray = (first @ second.T / first.shape[1] + 1) ** 3
    return kernel
