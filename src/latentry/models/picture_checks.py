"""Sentences for pictures and parameters that a CGGAN cannot learn from."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from latentry.data import Dataset, blocks
from latentry.errors import DataError, nearest
from latentry.models.checks import real_number, whole_number
from latentry.nets import AUGMENTATIONS, resolutions

__all__ = ["check_equal_sizes", "check_parameters", "check_pictures", "check_range", "check_resolution"]

_SMALLEST, _LARGEST = 8, 256
_WEIGHTS = (
    "sparsity",
    "r1",
    "path",
    "regression",
    "reconstruction",
    "divergence",
    "matching",
    "average_rows",
    "adapt_rows",
)
_SHARES = ("translation", "pretrain", "autoencode")


def check_equal_sizes(pictures: Any) -> None:
    """A list of pictures of one size."""
    if not isinstance(pictures, (list, tuple)) or not pictures:
        return
    first = np.shape(pictures[0])
    for row, picture in enumerate(pictures):
        if np.shape(picture) != first:
            raise DataError(
                f"picture {row} has shape {np.shape(picture)}, picture 0 has {first}: bring them to one size, by cropping or "
                "resizing, before fitting."
            )


def check_pictures(data: Dataset) -> str:
    """One modality of square pictures, nothing missing; its name."""
    if len(data.names) != 1:
        raise DataError(f"CGGAN learns from one modality of pictures, the data have {', '.join(data.names)}: keep one.")
    name = data.names[0]
    shape = data.layout.shape(name)
    if len(shape) not in (2, 3) or (len(shape) == 3 and shape[2] not in (1, 3)):
        raise DataError(
            f"modality {name!r} has rows of shape {shape}: CGGAN takes pictures, (height, width) or (height, width, 1 or 3)."
        )
    if shape[0] != shape[1]:
        raise DataError(f"modality {name!r} has pictures of {shape[0]} × {shape[1]}: crop or pad them to squares.")
    missing = np.flatnonzero(~data.observed[name].astype(bool))
    if missing.size:
        raise DataError(f"modality {name!r} is missing in row {missing[0]}: drop rows without a picture.")
    return name


def check_resolution(resolution: Any, size: int) -> int:
    """The resolution that is asked for, or that of the pictures."""
    if resolution is not None:
        whole_number("resolution", resolution, least=_SMALLEST)
    wanted = size if resolution is None else int(resolution)
    if not _SMALLEST <= wanted <= _LARGEST or not resolutions(wanted):
        near = min((abs(n - wanted), n) for n in range(16, _LARGEST + 1) if resolutions(n))[1]
        raise DataError(
            f"pictures of {wanted} × {wanted} cannot be reached by doubling from 4 to 7 pixels, within {_SMALLEST} to {_LARGEST}: "
            f"set resolution={near}, and they are resized."
        )
    return wanted


def check_range(data: Dataset, name: str, value_range: Sequence[float]) -> None:
    """Values within the range that was declared."""
    low, high = value_range
    for start, piece in blocks(data[name]):
        flat = np.asarray(piece).reshape(len(piece), -1)
        bad = ~((flat >= low) & (flat <= high))
        if bad.any():
            row, entry = np.argwhere(bad)[0]
            raise DataError(
                f"modality {name!r}, row {start + row}: {flat[row, entry]:g} lies outside value_range = ({low:g}, {high:g}). "
                "Declare the range that the pictures have, such as (0, 255), or scale them."
            )


def check_parameters(model: Any) -> None:
    """The parameters of a CGGAN."""
    for name in ("channels", "most_channels", "style_width", "mapping_layers", "style_dim"):
        whole_number(name, getattr(model, name), least=1)
    whole_number("law_layers", model.law_layers, least=0)
    for name in _WEIGHTS:
        _at_least_zero(name, getattr(model, name))
    if model.mask is not None:
        _at_least_zero("mask", model.mask)
    for name in _SHARES:
        value = getattr(model, name)
        if not isinstance(value, numbers.Real) or isinstance(value, bool) or not 0 <= float(value) < 1:
            raise DataError(f"{name} = {value!r}: give a share from 0 to below 1.")
    _check_choices(model)
    if model.validation:
        raise DataError(
            f"validation = {model.validation!r}: the losses of two players say nothing on held-out rows. Leave it at 0, and "
            "compare samples with rows of your own by identifiability.frechet_distance."
        )
    if model.restarts != 1:
        raise DataError(f"restarts = {model.restarts}: CGGAN has no held-out loss to choose by; fit several seeds yourself.")


def _check_choices(model: Any) -> None:
    for name, known in (("conditioning", ("flow", "embedding")), ("precision", ("auto", "float32", "bfloat16"))):
        if getattr(model, name) not in known:
            raise DataError(f"{name} = {getattr(model, name)!r} is not known{nearest(str(getattr(model, name)), known)}")
    for kind in model.augmentation:
        if kind not in AUGMENTATIONS:
            raise DataError(f"augmentation {kind!r} is not known{nearest(str(kind), AUGMENTATIONS)}")
    if model.style_dim > model.latent_dim:
        raise DataError(f"style_dim = {model.style_dim}, but there are {model.latent_dim} latents: give at most as many.")
    if model.conditioning == "embedding" and model.sparsity:
        raise DataError('sparsity is of latents that change with the domain: with conditioning="embedding" set sparsity=0.')
    try:
        low, high = (float(end) for end in model.value_range)
    except (TypeError, ValueError):
        raise DataError(f"value_range = {model.value_range!r}: give two numbers, such as (0, 1).") from None
    if not -np.inf < low < high < np.inf:
        raise DataError(f"value_range = {model.value_range!r}: give the lowest and the highest value, such as (0, 1).")


def _at_least_zero(name: str, value: Any) -> None:
    if value != 0:
        real_number(name, value, above=0)
