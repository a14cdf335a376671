"""From latents to data, by whatever a model offers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from latentry.contracts import CanBeIntervenedOn, DecodesLatents, KeepsFitRecord
from latentry.errors import DataWarning

__all__ = ["decoder_of", "with_warnings", "sampled"]

Decoder = Callable[[np.ndarray], dict[str, np.ndarray]]


def decoder_of(model: Any) -> Decoder | None:
    """Expected modalities for given latents, in the data's own units; None where a model cannot say."""
    if not isinstance(model, DecodesLatents) or not isinstance(model, KeepsFitRecord):
        return None
    record = model.fit_record()
    if record is None:
        return None
    return lambda z: _named(record.layout.modalities[0], model.decode(z))


def _named(name: str, arrays: Any) -> dict[str, np.ndarray]:
    return dict(arrays) if isinstance(arrays, dict) else {name: np.asarray(arrays)}


def sampled(
    model: CanBeIntervenedOn, count: int, do: Mapping[str, int] | None, seed: int, name: str
) -> dict[str, np.ndarray]:
    """Return modalities as the model draws them with nodes set, without the noise of measurement.

    Args:
        model: That draws.
        count: Of rows.
        do: Nodes and the values that they are set to.
        seed: Of the draws.
        name: Of the modality, for a model that gives a bare array.
    """
    return _named(name, model.sample(count, do=do, noise=False, seed=seed))


def with_warnings(call: Callable[[], Any]) -> tuple[Any, list[str]]:
    """What a call gives, and what it warns of: the page must say it too."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", DataWarning)
        found = call()
    return found, [str(w.message) for w in said if issubclass(w.category, DataWarning)]
