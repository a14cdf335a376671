"""A function of module and batch, over all rows of a dataset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import numpy as np

from latentry.data import Dataset, assemble
from latentry.training.devices import use_compilation_cache

__all__ = ["map_rows"]

_ROWS = 256  # always this many at once: a row's result must not depend on its company


def map_rows(function: Callable[..., Any], module: Any, data: Dataset, seed: int = 0) -> Any:
    """``function(module, batch, key)`` for every row, as NumPy arrays with a leading row axis.

    The function is compiled once for a shape; it must be a module-level function or a frozen dataclass.
    """
    use_compilation_cache()
    key, pieces = jax.random.key(seed), []
    for start in range(0, len(data), _ROWS):
        index = np.arange(start, start + _ROWS)
        index[index >= len(data)] = -1
        batch = jax.device_put(assemble(data, index))
        found = _call(function, module, batch, jax.random.fold_in(key, start // _ROWS))
        pieces.append(jax.tree.map(np.asarray, found))
    joined = jax.tree.map(lambda *parts: np.concatenate(parts), *pieces)
    return jax.tree.map(lambda array: array[: len(data)], joined)


@eqx.filter_jit
def _call(function: Callable[..., Any], module: Any, batch: Any, key: jax.Array) -> Any:
    return function(module, batch, key)
