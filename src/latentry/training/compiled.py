"""The compiled programs: optimiser steps, and an evaluation.

Both take whole windows of batches and run over ``start <= i < stop`` with bounds that are known only
when they run. So one program serves a full epoch, the rest of an epoch after a resume, and a single
step, with the same bits; and data in memory and on disk go through the same program. How many batches one
call runs over is decided in `dispatch.py`.
"""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import PyTree

from latentry.data import Batch
from latentry.training.dispatch import dispatch_for, metric_names
from latentry.training.phase import Loss, Metrics, Module, Recipe

__all__ = [
    "Knobs",
    "Progressed",
    "Sums",
    "batch_of",
    "evaluate",
    "gradient",
    "initial_optimiser",
    "metric_zeros",
    "run_steps",
]


class Knobs(NamedTuple):
    """Numbers that may change without compiling again."""

    learning_rate: jax.Array
    clip: jax.Array  # infinite when there is no clipping
    total: jax.Array  # steps of the phase


class Progressed(NamedTuple):
    """What optimiser steps change."""

    module: Module
    optimiser: PyTree
    step: jax.Array  # since the phase began
    sums: Metrics  # metrics summed over rows since the epoch began
    rows: jax.Array
    finite: jax.Array


def initial_optimiser(recipe: Recipe, module: Module) -> PyTree:
    """Return the optimiser's state before the first step.

    Args:
        recipe: Of the phase.
        module: Whose trainable parts the optimiser will move.

    Returns:
        A tree of arrays.
    """
    if recipe.update is not None:
        return recipe.update.start(module)
    moving, start = eqx.filter(module, recipe.trainable(module)), recipe.direction().init
    if recipe.direction is not optax.scale_by_adam:
        return start(moving)
    # Nothing but zeros, which need not be compiled for each shape.
    return jax.tree.map(lambda a: jax.device_put(np.zeros(a.shape, a.dtype)), eqx.filter_eval_shape(start, moving))


def metric_zeros(loss: Loss, module: Module, window: Batch, key: jax.Array) -> Metrics:
    """Return a zero for each metric that the loss reports.

    Args:
        loss: Traced for its shapes, not run.
        module: Its first argument.
        window: Batches, of which the shapes are used.
        key: Of random numbers.

    Returns:
        Scalars by name: "loss" and the metrics.
    """
    return {name: jnp.zeros(()) for name in ("loss", *metric_names(loss, module, window, key))}


def gradient(recipe: Recipe, module: Module, batch: Batch, key: jax.Array) -> tuple[tuple[jax.Array, Metrics], Module]:
    """Return loss, metrics, and the gradient over the trainable parts.

    Args:
        recipe: Says the loss and what is trainable.
        module: Where the gradient is taken.
        batch: Rows.
        key: Of random numbers.

    Returns:
        ``(loss, metrics), gradient``; the gradient is None where the module is frozen.
    """
    moving, still = eqx.partition(module, recipe.trainable(module))
    return eqx.filter_value_and_grad(lambda part: recipe.loss(eqx.combine(part, still), batch, key), has_aux=True)(
        moving
    )


def run_steps(
    recipe: Recipe, knobs: Knobs, now: Progressed, window: Batch, key: jax.Array, start: int, stop: int
) -> Progressed:
    """Take optimiser steps on batches ``start`` to ``stop`` of a window; stop before a step that is not finite.

    Args:
        recipe: What is compiled in.
        knobs: Numbers that may change without compiling again.
        now: Module, optimiser and sums before the steps.
        window: Batches, with a leading step axis.
        key: Of the phase; each step folds in its number.
        start: First batch of the window.
        stop: The batch after the last.

    Returns:
        The same after the steps; ``finite`` is False where it stopped early.
    """
    if dispatch_for(recipe.loss, now.module, window, key) == "loop":
        return _many_steps(recipe, knobs, now, window, key, jnp.asarray(start), jnp.asarray(stop))
    # Calls do not wait for each other; after a step that is not finite, the rest do nothing.
    for index in range(start, stop):
        now = _one_step(recipe, knobs, now, window, key, jnp.asarray(index))
    return now


@eqx.filter_jit
def _many_steps(
    recipe: Recipe, knobs: Knobs, now: Progressed, window: Batch, key: jax.Array, start: jax.Array, stop: jax.Array
) -> Progressed:
    moving, rest = eqx.partition(now.module, recipe.trainable(now.module))

    def onward(carry: tuple[jax.Array, Progressed]) -> jax.Array:
        return (carry[0] < stop) & carry[1].finite

    def step(carry: tuple[jax.Array, Progressed]) -> tuple[jax.Array, Progressed]:
        index, old = carry
        new = _step(recipe, knobs, old, rest, batch_of(window, index), key)
        return index + new.finite.astype(index.dtype), new

    _, end = jax.lax.while_loop(onward, step, (start, now._replace(module=moving)))
    return end._replace(module=eqx.combine(end.module, rest))


@eqx.filter_jit
def _one_step(
    recipe: Recipe, knobs: Knobs, now: Progressed, window: Batch, key: jax.Array, index: jax.Array
) -> Progressed:
    moving, rest = eqx.partition(now.module, recipe.trainable(now.module))
    new = _step(recipe, knobs, now._replace(module=moving), rest, batch_of(window, index), key)
    return new._replace(module=eqx.combine(new.module, rest))


def _step(recipe: Recipe, knobs: Knobs, old: Progressed, rest: Module, batch: Batch, key: jax.Array) -> Progressed:
    """Take an optimiser step; a step that is not finite, or follows such a step, changes nothing but the flag."""
    module = eqx.combine(old.module, rest)
    (loss, metrics), gradients = gradient(recipe, module, batch, jax.random.fold_in(key, old.step))
    size = optax.tree.norm(gradients)
    finite = old.finite & jnp.isfinite(loss) & jnp.isfinite(size)
    shrink = jnp.minimum(1.0, knobs.clip / jnp.maximum(size, 1e-30))
    clipped = jax.tree.map(lambda g: g * shrink, gradients)
    direction, optimiser = recipe.direction().update(clipped, old.optimiser, old.module)
    rate = -knobs.learning_rate * recipe.rate(old.step, knobs.total)
    moved = jax.tree.map(lambda value, d: value + (rate * d).astype(value.dtype), old.module, direction)
    weight, reported = batch.weight.sum(), {"loss": loss, **metrics}
    sums = {name: old.sums[name] + weight * reported[name] for name in old.sums}
    new = Progressed(moved, optimiser, old.step + 1, sums, old.rows + weight, finite)
    kept: Progressed = jax.tree.map(lambda a, b: jnp.where(finite, a, b), new._replace(finite=old.finite), old)
    return kept._replace(finite=finite)


class Sums(NamedTuple):
    """Metrics summed over rows, and the number of rows."""

    metrics: Metrics
    rows: jax.Array


def evaluate(loss: Loss, module: Module, window: Batch, sums: Sums, key: jax.Array, first: int, stop: int) -> Sums:
    """Add the metrics of the first ``stop`` batches of a window to ``sums``.

    ``first`` is the number of batches in earlier windows: each batch has its own, fixed noise.

    Args:
        loss: Of module, batch and key.
        module: What is evaluated.
        window: Batches, with a leading step axis.
        sums: Of earlier windows.
        key: Each batch folds in its number.
        first: Number of batches in earlier windows.
        stop: Batches of this window that are used.

    Returns:
        The sums with this window's rows.
    """
    if dispatch_for(loss, module, window, key) == "loop":
        return _evaluate_many(loss, module, window, sums, key, jnp.asarray(first), jnp.asarray(stop))
    for index in range(stop):
        sums = _evaluate_one(loss, module, window, sums, key, jnp.asarray(first), jnp.asarray(index))
    return sums


@eqx.filter_jit
def _evaluate_many(
    loss: Loss, module: Module, window: Batch, sums: Sums, key: jax.Array, first: jax.Array, stop: jax.Array
) -> Sums:
    add = lambda index, carry: _add_batch(loss, module, window, carry, key, first, index)  # noqa: E731
    total: Sums = jax.lax.fori_loop(0, stop, add, sums)
    return total


def _add_batch(
    loss: Loss, module: Module, window: Batch, sums: Sums, key: jax.Array, first: jax.Array, index: jax.Array
) -> Sums:
    batch = batch_of(window, index)
    value, metrics = loss(module, batch, jax.random.fold_in(key, first + index))
    reported, weight = {"loss": value, **metrics}, batch.weight.sum()
    return Sums({name: old + weight * reported[name] for name, old in sums.metrics.items()}, sums.rows + weight)


_evaluate_one = eqx.filter_jit(_add_batch)


def batch_of(window: Batch, index: int | jax.Array) -> Batch:
    """Return a single batch of a window.

    Args:
        window: Batches, with a leading step axis.
        index: Of the batch.

    Returns:
        The same tree without the step axis.
    """
    batch: Batch = jax.tree.map(lambda array: array[index], window)
    return batch
