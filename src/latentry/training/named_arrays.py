"""Trees of arrays as flat dictionaries of named arrays, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from latentry.errors import CheckpointError

__all__ = ["fill", "leaf_names", "to_named"]


def leaf_names(tree: Any) -> list[tuple[str, Any]]:
    """(path, array) of each array of a tree.

    >>> [name for name, _ in leaf_names({"layers": [{"weight": jnp.ones(2)}]})]
    ['layers/0/weight']
    """
    found = jax.tree_util.tree_flatten_with_path(eqx.filter(tree, eqx.is_array))[0]
    return [(jax.tree_util.keystr(path, simple=True, separator="/"), leaf) for path, leaf in found]


def to_named(prefix: str, tree: Any) -> dict[str, np.ndarray]:
    """Arrays of the tree by name, in NumPy."""
    # order="C" rather than ascontiguousarray, which would give scalars an axis
    return {f"{prefix}/{name}": np.asarray(leaf, order="C") for name, leaf in leaf_names(tree)}


def fill(prefix: str, like: Any, named: Mapping[str, np.ndarray], where: str) -> Any:
    """The tree ``like`` with the arrays found under ``prefix``; every leaf must be there, in shape and type."""
    arrays, rest = eqx.partition(like, lambda leaf: hasattr(leaf, "shape") and hasattr(leaf, "dtype"))
    paths, structure = jax.tree_util.tree_flatten_with_path(arrays)
    leaves = []
    for path, wanted in paths:
        name = f"{prefix}/{jax.tree_util.keystr(path, simple=True, separator='/')}"
        if name not in named:
            raise CheckpointError(f"{where} has no array {name!r}: it was written by a model of another make.")
        found = named[name]
        if found.shape != wanted.shape or found.dtype != wanted.dtype:
            raise CheckpointError(
                f"{where}: {name!r} is {found.dtype}{list(found.shape)} but the model needs {wanted.dtype}{list(wanted.shape)}."
            )
        leaves.append(jnp.asarray(found))
    return eqx.combine(jax.tree_util.tree_unflatten(structure, leaves), rest)
