"""Sentences for images and parameters that a CGGAN cannot learn from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from latentry.data import Dataset, blocks
from latentry.errors import DataError
from latentry.models.estimator import Whole, refuse, refuse_beta, require
from latentry.nets import resolutions

if TYPE_CHECKING:
    from latentry.models.cggan.estimator import CGGAN

__all__ = ["check_equal_sizes", "check_parameters", "check_images", "check_range", "check_resolution"]

_SMALLEST, _LARGEST = 8, 256


def check_equal_sizes(images: object) -> None:
    """Check that a list of images has images of one size.

    Args:
        images: A list; anything else passes.

    Raises:
        DataError: At the first image of another size.
    """
    if not isinstance(images, (list, tuple)) or not images:
        return
    first = np.shape(images[0])
    for row, image in enumerate(images):
        if np.shape(image) != first:
            raise DataError(
                f"image {row} has shape {np.shape(image)}, image 0 has {first}: bring them to one size, by cropping or "
                "resizing, before fitting."
            )


def check_images(data: Dataset) -> str:
    """Check that there is one modality of square images, nothing missing.

    Args:
        data: The rows of a fit.

    Returns:
        The name of the modality.

    Raises:
        DataError: If there are others, or they are not square, or one is missing.
    """
    if len(data.names) != 1:
        raise DataError(f"CGGAN learns from one modality of images, the data have {', '.join(data.names)}: keep one.")
    name = data.names[0]
    shape = data.layout.shape(name)
    if len(shape) not in (2, 3) or (len(shape) == 3 and shape[2] not in (1, 3)):
        raise DataError(
            f"modality {name!r} has rows of shape {shape}: CGGAN takes images, (height, width) or (height, width, 1 or 3)."
        )
    if shape[0] != shape[1]:
        raise DataError(f"modality {name!r} has images of {shape[0]} × {shape[1]}: crop or pad them to squares.")
    missing = np.flatnonzero(~data.observed[name].astype(bool))
    if missing.size:
        raise DataError(f"modality {name!r} is missing in row {missing[0]}: drop rows without a image.")
    return name


def check_resolution(resolution: int | None, size: int) -> int:
    """Return the resolution that is asked for, or that of the images.

    Args:
        resolution: Asked for, or None.
        size: Height of the images.

    Returns:
        Pixels along a side.

    Raises:
        DataError: If it cannot be reached by doubling.
    """
    if resolution is not None:
        require("resolution", resolution, Whole(_SMALLEST))
    wanted = size if resolution is None else int(resolution)
    if not _SMALLEST <= wanted <= _LARGEST or not resolutions(wanted):
        near = min((abs(n - wanted), n) for n in range(16, _LARGEST + 1) if resolutions(n))[1]
        raise DataError(
            f"images of {wanted} × {wanted} cannot be reached by doubling from 4 to 7 pixels, within {_SMALLEST} to {_LARGEST}: "
            f"set resolution={near}, and they are resized."
        )
    return wanted


def check_range(data: Dataset, name: str, value_range: Sequence[float]) -> None:
    """Check that values lie within the range that was declared.

    Args:
        data: Rows.
        name: Of the modality.
        value_range: Lowest and highest value.

    Raises:
        DataError: At the first value outside, with its row.
    """
    low, high = value_range
    for start, piece in blocks(data[name]):
        flat = np.asarray(piece).reshape(len(piece), -1)
        bad = ~((flat >= low) & (flat <= high))
        if bad.any():
            row, entry = np.argwhere(bad)[0]
            raise DataError(
                f"modality {name!r}, row {start + row}: {flat[row, entry]:g} lies outside value_range = ({low:g}, {high:g}). "
                "Declare the range that the images have, such as (0, 255), or scale them."
            )


def check_parameters(model: CGGAN) -> None:
    """Refuse parameters that do not suit each other.

    Args:
        model: With its parameters.

    Raises:
        DataError: With the name of one of them.
    """
    if model.validation:
        raise refuse(
            "validation", model.validation, "the losses of two players say nothing on held-out rows. Leave it at 0, and "
            "compare samples with rows of your own by identifiability.frechet_distance.",
        )  # fmt: skip
    refuse_beta(model.training, "a game of two players")
    if model.restarts != 1:
        raise refuse("restarts", model.restarts, "there is no held-out loss to choose by. Fit several seeds yourself.")
    if model.style_dim > model.latent_dim:
        raise refuse("style_dim", model.style_dim, f"there are {model.latent_dim} latents. Give at most as many.")
    if model.conditioning == "embedding" and model.sparsity:
        problem = 'it is of latents that change with the domain. With conditioning="embedding" set sparsity=0.'
        raise refuse("sparsity", model.sparsity, problem)
    if not model.value_range[0] < model.value_range[1]:
        raise refuse("value_range", model.value_range, "not the lowest and the highest value. Give them as (0, 1).")
