"""From latents to data, by whatever a model offers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from latentry.contracts import CanBeIntervenedOn, DecodesLatents, KeepsFitRecord
from latentry.errors import DataWarning

__all__ = ["Decoder", "decoder_of", "with_warnings", "sampled"]

Out = TypeVar("Out")
Decoder: TypeAlias = Callable[[np.ndarray], dict[str, np.ndarray]]


def decoder_of(model: object) -> Decoder | None:
    """Return a function from latents to expected modalities, in the data's own units.

    Args:
        model: Of any kind.

    Returns:
        The function; None where a model cannot decode.
    """
    if not isinstance(model, DecodesLatents) or not isinstance(model, KeepsFitRecord):
        return None
    record = model.fit_record()
    if record is None:
        return None
    return lambda z: _named(record.layout.modalities[0], model.decode(z))


def _named(name: str, arrays: Mapping[str, np.ndarray] | ArrayLike) -> dict[str, np.ndarray]:
    return dict(arrays) if isinstance(arrays, Mapping) else {name: np.asarray(arrays)}


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

    Returns:
        Arrays (count, ...), by the name of the modality.
    """
    return _named(name, model.sample(count, do=do, noise=False, seed=seed))


def with_warnings(call: Callable[[], Out]) -> tuple[Out, list[str]]:
    """Call a function and collect what it warns of: the page must say it too.

    Args:
        call: Without arguments.

    Returns:
        What the call gives, and its warnings about data.
    """
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", DataWarning)
        result = call()
    return result, [str(w.message) for w in said if issubclass(w.category, DataWarning)]
