"""Sentences for parameters and values that cannot be right."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np

from latentry.data import Dataset
from latentry.data.rows import blocks
from latentry.errors import DataError, nearest
from latentry.nets import HEADS

__all__ = ["check_common", "check_rows", "levels_of", "likelihoods"]


def check_common(model: Any) -> None:
    """The parameters that every model has."""
    for name in ("latent_dim", "epochs", "batch_size", "restarts"):
        if not (name == "latent_dim" and model.latent_dim is None and model.takes_latents_from_data):
            _whole(name, getattr(model, name), least=1)
    _whole("seed", model.seed, least=0)
    if model.patience is not None:
        _whole("patience", model.patience, least=1)
    _real("learning_rate", model.learning_rate, above=0)
    if model.clip is not None:
        _real("clip", model.clip, above=0)
    if not isinstance(model.validation, numbers.Real) or not 0 <= float(model.validation) < 1:
        raise DataError(f"validation = {model.validation!r}: give a share of the rows from 0 to below 1.")


def _whole(name: str, value: Any, least: int) -> None:
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
        raise DataError(f"{name} = {value!r}: give a whole number of at least {least}.")


def _real(name: str, value: Any, above: float) -> None:
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or not above < float(value) < np.inf:
        raise DataError(f"{name} = {value!r}: give a number above {above}.")


def likelihoods(chosen: str | Mapping[str, str], modalities: tuple[str, ...]) -> dict[str, str]:
    """The likelihood of each modality: one name for all, or a mapping (Gaussian where it is silent)."""
    if isinstance(chosen, str):
        found = dict.fromkeys(modalities, chosen)
    else:
        for name in chosen:
            if name not in modalities:
                raise DataError(f"likelihood names {name!r}, which is no modality{nearest(name, modalities)}")
        found = {name: chosen.get(name, "gaussian") for name in modalities}
    for name in found.values():
        if name not in HEADS:
            raise DataError(f"likelihood {name!r} is not known{nearest(name, HEADS)}")
    return found


def levels_of(data: Dataset, modality: str) -> int:
    """Number of levels of a categorical modality coded 0, 1, 2, ..."""
    return 1 + int(max(piece.max() for _, piece in blocks(data[modality])))


def check_rows(data: Dataset, facts: Mapping[str, Any]) -> None:
    """Values must be possible under their likelihood."""
    for name, kind in facts.get("likelihoods", {}).items():
        if kind == "gaussian":
            continue
        for start, piece in blocks(data[name]):
            flat = piece.reshape(len(piece), -1)
            bad = (
                ~_possible(kind, flat, facts["levels"].get(name))
                & data.observed[name][start : start + len(piece), None]
            )
            if bad.any():
                row, entry = np.argwhere(bad)[0]
                wanted = _wanted(kind, facts["levels"].get(name))
                raise DataError(f"modality {name!r}, row {start + row}: {flat[row, entry]} is not {wanted} ({kind}).")


def _possible(kind: str, values: np.ndarray, levels: int | None) -> np.ndarray:
    if kind == "bernoulli":
        return (values >= 0) & (values <= 1)
    whole = (values >= 0) & (values == np.floor(values))
    return whole if levels is None else whole & (values < levels)


def _wanted(kind: str, levels: int | None) -> str:
    if kind == "bernoulli":
        return "between 0 and 1"
    return "a count" if levels is None else f"one of the codes 0 to {levels - 1}"
