"""Trees of arrays as flat dictionaries of named arrays, and back."""

from __future__ import annotations

from collections.abc import Mapping

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from latentry.errors import CheckpointError

__all__ = ["fill", "leaf_names", "to_named"]


def leaf_names(tree: PyTree) -> list[tuple[str, jax.Array]]:
    """Return path and array of each array of a tree.

    Args:
        tree: Of arrays and other leaves.

    Returns:
        Pairs in the tree's order; paths are joined by "/".

    >>> [name for name, _ in leaf_names({"layers": [{"weight": jnp.ones(2)}]})]
    ['layers/0/weight']
    """
    leaves = jax.tree_util.tree_flatten_with_path(eqx.filter(tree, eqx.is_array))[0]
    return [(jax.tree_util.keystr(path, simple=True, separator="/"), leaf) for path, leaf in leaves]


def to_named(prefix: str, tree: PyTree) -> dict[str, np.ndarray]:
    """Return arrays of the tree by name, in NumPy.

    Args:
        prefix: Before each name.
        tree: Of arrays and other leaves, which are left out.

    Returns:
        Arrays by ``prefix/path``.
    """
    # order="C" rather than ascontiguousarray, which would give scalars an axis
    return {f"{prefix}/{name}": np.asarray(leaf, order="C") for name, leaf in leaf_names(tree)}


def fill(prefix: str, like: PyTree, named: Mapping[str, np.ndarray], where: str) -> PyTree:
    """Return the tree ``like`` with the arrays under ``prefix``; every leaf must be there, in shape and type.

    Args:
        prefix: As given to :func:`to_named`.
        like: Says structure, shapes and types.
        named: Arrays of a file.
        where: The file, for errors.

    Returns:
        A tree like ``like``.

    Raises:
        CheckpointError: If an array is missing, or has another shape or type.
    """
    arrays, rest = eqx.partition(like, lambda leaf: hasattr(leaf, "shape") and hasattr(leaf, "dtype"))
    paths, structure = jax.tree_util.tree_flatten_with_path(arrays)
    leaves = []
    for path, wanted in paths:
        name = f"{prefix}/{jax.tree_util.keystr(path, simple=True, separator='/')}"
        if name not in named:
            raise CheckpointError(f"{where}: it has no array {name!r}, another model wrote it. Fit again.")
        stored = named[name]
        if stored.shape != wanted.shape or stored.dtype != wanted.dtype:
            raise CheckpointError(
                f"{where}: {name!r} is {stored.dtype}{list(stored.shape)} but the model needs "
                f"{wanted.dtype}{list(wanted.shape)}. Use the settings that it was saved with, or fit again."
            )
        leaves.append(jnp.asarray(stored))
    return eqx.combine(jax.tree_util.tree_unflatten(structure, leaves), rest)
