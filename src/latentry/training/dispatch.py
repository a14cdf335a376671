"""How many batches one call of a compiled program runs over.

A compiled loop over many batches saves the cost of a call a batch, which for small networks is most of a step. But
XLA prepares convolutions for its fast code only outside of loops on processors: within one, their gradients take
10 to 20 times as long. There each batch is a call of its own. On accelerators loops cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Literal

import equinox as eqx
import jax
from jaxtyping import PyTree, PyTreeDef

from latentry.data import Batch
from latentry.training.phase import Loss, Module

__all__ = ["Dispatch", "batch_shapes", "dispatch_for", "metric_names"]

Dispatch = Literal["loop", "calls"]
_KERNEL_AXES = 3  # outputs, inputs, and at least one axis to move over


def batch_shapes(window: Batch) -> Batch:
    """Return shapes and types of a single batch of a window.

    Args:
        window: Batches, with a leading step axis.

    Returns:
        A batch of ``jax.ShapeDtypeStruct``.
    """
    shapes: Batch = jax.tree.map(lambda array: _shape(array.shape[1:], array.dtype), window)
    return shapes


_shape: Callable[..., jax.ShapeDtypeStruct] = jax.ShapeDtypeStruct  # JAX has no types for it


def dispatch_for(loss: Loss, module: Module, window: Batch, key: jax.Array) -> Dispatch:
    """Choose between a loop over the batches of a window and a call for each, from what a loss computes and where.

    Args:
        loss: ``loss(module, batch, key)``; it is traced once for each shape, not run.
        module: A tree of arrays.
        window: Batches; their device is where the loss will run.
        key: Of random numbers.

    Returns:
        "calls" where convolutions meet a processor, else "loop".

    >>> import jax.numpy as jnp
    >>> window = Batch({"x": jnp.ones((2, 1, 1, 8))}, {}, None, jnp.ones((2, 1)))
    >>> convolve = lambda weight, batch, key: jax.lax.conv(batch.values["x"], weight, (1,), "SAME")
    >>> add = lambda weight, batch, key: batch.values["x"] + weight.sum()
    >>> [dispatch_for(loss, jnp.ones((2, 1, 3)), window, jax.random.key(0)) for loss in (convolve, add)]
    ['calls', 'loop']
    """
    arrays = [leaf for leaf in jax.tree.leaves(module) if eqx.is_array(leaf)]
    if all(array.ndim < _KERNEL_AXES for array in arrays) or not _on_processor(window):
        return "loop"  # without tracing, which takes a moment
    tree, shapes = _shapes_of(module, window, key)
    try:
        return "calls" if _convolves(loss, tree, shapes) else "loop"
    except TypeError:  # a loss that cannot be hashed is traced each time
        return "calls" if _convolves.__wrapped__(loss, tree, shapes) else "loop"


def metric_names(loss: Loss, module: Module, window: Batch, key: jax.Array) -> tuple[str, ...]:
    """Return the names of the metrics that a loss reports; it is traced once for each shape, not run.

    Args:
        loss: ``loss(module, batch, key)``.
        module: A tree of arrays.
        window: Batches, of which the shapes are used.
        key: Of random numbers.

    Returns:
        Names in alphabetical order.
    """
    tree, shapes = _shapes_of(module, window, key)
    try:
        return _reported(loss, tree, shapes)
    except TypeError:
        return _reported.__wrapped__(loss, tree, shapes)


def _shapes_of(module: Module, window: Batch, key: jax.Array) -> tuple[PyTreeDef, tuple[PyTree, ...]]:
    leaves, tree = jax.tree.flatten((module, batch_shapes(window), key))
    return tree, tuple(_shape(leaf.shape, leaf.dtype) if eqx.is_array(leaf) else leaf for leaf in leaves)


def _on_processor(window: Batch) -> bool:
    return any(device.platform == "cpu" for device in window.weight.devices())


@lru_cache(maxsize=256)
def _convolves(loss: Loss, tree: PyTreeDef, shapes: tuple[PyTree, ...]) -> bool:
    module, batch, key = jax.tree.unflatten(tree, shapes)
    return "conv_general_dilated" in str(eqx.filter_make_jaxpr(loss)(module, batch, key)[0])


@lru_cache(maxsize=256)
def _reported(loss: Loss, tree: PyTreeDef, shapes: tuple[PyTree, ...]) -> tuple[str, ...]:
    _, metrics = eqx.filter_eval_shape(loss, *jax.tree.unflatten(tree, shapes))
    return tuple(sorted(metrics))
