"""From latents to data, by whatever way a model offers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

__all__ = ["decoder_of", "takes_do"]

Decoder = Callable[[np.ndarray], dict[str, np.ndarray]]


def decoder_of(model: Any) -> Decoder | None:
    """Expected modalities for given latents, in the data's own units; None where a model cannot say."""
    if model is None or not hasattr(model, "module_"):
        return None
    if hasattr(model, "decode"):
        return lambda z: _named(model, model.decode(z))
    module = model.module_
    networks = getattr(module, "networks", module)
    if not hasattr(networks, "means") or hasattr(module, "mixture"):  # clusters with decoders of their own
        return None
    flow = getattr(module, "flow", None)

    def decode(z: np.ndarray) -> dict[str, np.ndarray]:
        latents = jnp.asarray(z, jnp.float32)
        coordinates = latents if flow is None else jax.vmap(flow.inverse)(latents)
        means = {name: np.asarray(array) for name, array in networks.means(coordinates).items()}
        return {name: model.statistics_.undo(name, array) for name, array in means.items()}

    return decode


def _named(model: Any, arrays: Any) -> dict[str, np.ndarray]:
    return dict(arrays) if isinstance(arrays, dict) else {model.layout_.modalities[0]: np.asarray(arrays)}


def takes_do(model: Any) -> bool:
    """Whether samples can be drawn with a node set."""
    return hasattr(model, "sample") and "do" in inspect.signature(model.sample).parameters
