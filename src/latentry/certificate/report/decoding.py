"""From latents to data, by whatever a model offers."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from latentry.errors import DataWarning

__all__ = ["decoder_of", "with_warnings", "sampled", "takes_do"]

Decoder = Callable[[np.ndarray], dict[str, np.ndarray]]


def decoder_of(model: Any) -> Decoder | None:
    """Expected modalities for given latents, in the data's own units; None where a model cannot say."""
    if model is None or not hasattr(model, "module_"):
        return None
    if not hasattr(model.module_, "expected"):
        return None
    return lambda z: _named(model, model.decode(z))


def _named(model: Any, arrays: Any) -> dict[str, np.ndarray]:
    return dict(arrays) if isinstance(arrays, dict) else {model.layout_.modalities[0]: np.asarray(arrays)}


def takes_do(model: Any) -> bool:
    """Whether samples can be drawn with a node set."""
    return hasattr(model, "sample") and "do" in inspect.signature(model.sample).parameters


def sampled(model: Any, count: int, do: Mapping[str, int] | None, seed: int) -> dict[str, np.ndarray]:
    """Modalities as the model draws them with nodes set; without the noise of measurement where it can leave that out."""
    quiet = {"noise": False} if "noise" in inspect.signature(model.sample).parameters else {}
    return _named(model, model.sample(count, do=do, seed=seed, **quiet))


def with_warnings(call: Callable[[], Any]) -> tuple[Any, list[str]]:
    """What a call gives, and what it warns of: the page must say it too."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", DataWarning)
        found = call()
    return found, [str(w.message) for w in said if issubclass(w.category, DataWarning)]
