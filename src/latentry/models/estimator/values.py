"""Sentences for values of the data and of latents that cannot be right."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from latentry.data import Dataset, blocks
from latentry.errors import DataError, nearest
from latentry.nets import HEADS

__all__ = ["check_latents", "check_rows", "levels_of", "likelihoods"]

_MOST_LEVELS = 10_000  # a decoder output per level and entry: more is a mistake in the coding


def likelihoods(chosen: str | Mapping[str, str], modalities: tuple[str, ...]) -> dict[str, str]:
    """Return the likelihood of each modality.

    Args:
        chosen: One name for all, or a mapping, which means Gaussian where it is silent.
        modalities: Their names.

    Returns:
        A name for each modality.

    Raises:
        DataError: If a modality or a likelihood is not known.
    """
    if not isinstance(chosen, (str, Mapping)):
        raise DataError(
            f"likelihood={chosen!r}: neither a name nor a mapping. Give a name, or a mapping from modality to name."
        )
    if isinstance(chosen, str):
        chosen_by_name = dict.fromkeys(modalities, chosen)
    else:
        for name in chosen:
            if name not in modalities:
                raise DataError(f"likelihood names {name!r}, which is no modality{nearest(name, modalities)}")
        chosen_by_name = {name: chosen.get(name, "gaussian") for name in modalities}
    for name in chosen_by_name.values():
        if name not in HEADS:
            raise DataError(f"likelihood {name!r} is not known{nearest(name, HEADS)}")
    return chosen_by_name


def levels_of(data: Dataset, modality: str) -> int:
    """Return the number of levels of a categorical modality coded 0, 1, 2, ...

    Args:
        data: The rows of a fit.
        modality: Its name.

    Returns:
        The largest code plus 1.

    Raises:
        DataError: If there are more than 10,000.
    """
    observed, most = data.observed[modality], 0
    for start, piece in blocks(data[modality]):
        seen = piece[observed[start : start + len(piece)]]
        known = seen[~np.isnan(seen)] if seen.dtype.kind == "f" else seen
        most = max(most, int(known.max()) if known.size else 0)
    if most >= _MOST_LEVELS:
        raise DataError(f"modality {modality!r} has codes up to {most}: categories are coded 0, 1, 2, … without gaps.")
    return 1 + most


def check_rows(data: Dataset, likelihoods: Mapping[str, str], levels: Mapping[str, int]) -> None:
    """Refuse values that are impossible under their likelihood.

    Args:
        data: Rows.
        likelihoods: A name for each modality.
        levels: A number for each categorical modality.

    Raises:
        DataError: At the first impossible value, with modality and row.
    """
    for name, kind in likelihoods.items():
        if kind == "gaussian":
            continue
        for start, piece in blocks(data[name]):
            flat = piece.reshape(len(piece), -1)
            bad = ~_possible(kind, flat, levels.get(name)) & data.observed[name][start : start + len(piece), None]
            bad = bad & ~np.isnan(flat) if name in data.partial else bad
            if bad.any():
                row, entry = np.argwhere(bad)[0]
                wanted = _wanted(kind, levels.get(name))
                raise DataError(
                    f"modality {name!r}, row {start + row}: {flat[row, entry]} is not {wanted} ({kind}). "
                    f"Mend it, or give likelihood={{{name!r}: 'gaussian'}}."
                )


def _possible(kind: str, values: np.ndarray, levels: int | None) -> np.ndarray:
    if kind == "bernoulli":
        return np.logical_and(values >= 0, values <= 1)
    if kind == "concrete":
        return np.logical_and(values > 0, values < 1)
    whole: np.ndarray = (values >= 0) & (values == np.floor(values))
    return whole if levels is None else whole & (values < levels)


def _wanted(kind: str, levels: int | None) -> str:
    if kind == "bernoulli":
        return "between 0 and 1"
    if kind == "concrete":
        return "strictly between 0 and 1"
    return "a count" if levels is None else f"one of the codes 0 to {levels - 1}"


def check_latents(latents: ArrayLike, size: int) -> np.ndarray:
    """Check latents, and return them as a module takes them.

    Args:
        latents: (rows, latents).
        size: Number of latents of the model.

    Returns:
        The same in single precision.

    Raises:
        DataError: If they are not finite numbers of that shape.
    """
    try:
        values = np.asarray(latents, dtype=np.float32)
    except (TypeError, ValueError):
        raise DataError("latents holds something other than numbers: give an array (rows, latents).") from None
    if values.ndim != 2 or values.shape[1] != size:
        raise DataError(f"latents has shape {values.shape}: give one row of {size} latents each.")
    if not np.isfinite(values).all():
        raise DataError(f"latents is NaN or infinite at row {int(np.argwhere(~np.isfinite(values))[0, 0])}.")
    return values
