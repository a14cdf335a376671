"""A function of module and batch, over all rows of a dataset."""

from __future__ import annotations

from collections.abc import Callable

import equinox as eqx
import jax
import numpy as np
from jaxtyping import PyTree

from latentry.data import Batch, Dataset, assemble
from latentry.random_keys import fold_in
from latentry.training.devices import use_compilation_cache
from latentry.training.phase import Module

__all__ = ["map_rows"]

_ROWS = 256  # always this many at once: a row's result must not depend on its company


def map_rows(function: Callable[..., PyTree], module: Module, data: Dataset, seed: int = 0) -> PyTree:
    """Return ``function(module, batch, key)`` for every row, as NumPy arrays with a leading row axis.

    The function is compiled once for a shape; it must be a module-level function or a frozen dataclass.

    Args:
        function: Of module, batch and key; its result is a tree of arrays with a leading row axis.
        module: A tree of arrays, the function's first argument.
        data: Rows to go over, a fixed number at a time.
        seed: Of the keys that the function gets.

    Returns:
        The function's tree, with arrays of ``len(data)`` rows.
    """
    use_compilation_cache()
    key, pieces = jax.random.key(seed), []
    for start in range(0, len(data), _ROWS):
        index = np.arange(start, start + _ROWS)
        index[index >= len(data)] = -1
        batch = jax.device_put(assemble(data, index))
        result = _call(function, module, batch, fold_in(key, start // _ROWS))
        pieces.append(jax.tree.map(np.asarray, result))
    joined = jax.tree.map(lambda *parts: np.concatenate(parts), *pieces)
    return jax.tree.map(lambda array: array[: len(data)], joined)


@eqx.filter_jit
def _call(function: Callable[..., PyTree], module: Module, batch: Batch, key: jax.Array) -> PyTree:
    return function(module, batch, key)
