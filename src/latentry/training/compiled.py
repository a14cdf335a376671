"""The two compiled programs: many optimiser steps, and an evaluation.

Both take whole windows of batches and run over ``start <= i < stop`` with bounds that are known only
when they run. So one program serves a full epoch, the rest of an epoch after a resume, and a single
step, with the same bits; and data in memory and on disk go through the same program.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from latentry.data import Batch
from latentry.training.phase import Loss, Module, Recipe

__all__ = ["Knobs", "Progressed", "evaluate", "gradient", "initial_optimiser", "metric_zeros", "run_steps"]


class Knobs(NamedTuple):
    """Numbers that may change without compiling again."""

    learning_rate: jax.Array
    clip: jax.Array  # infinite when there is no clipping
    total: jax.Array  # steps of the phase


class Progressed(NamedTuple):
    """What optimiser steps change."""

    module: Module
    optimiser: Any
    step: jax.Array  # since the phase began
    sums: dict[str, jax.Array]  # metrics summed over rows since the epoch began
    rows: jax.Array
    finite: jax.Array


def initial_optimiser(recipe: Recipe, module: Module) -> Any:
    """The optimiser's state before the first step."""
    if recipe.update is not None:
        return recipe.update.start(module)
    return recipe.direction().init(eqx.filter(module, recipe.trainable(module)))


def metric_zeros(loss: Loss, module: Module, window: Batch, key: jax.Array) -> dict[str, jax.Array]:
    """A zero for each metric that the loss reports."""
    _, metrics = eqx.filter_eval_shape(loss, module, _batch(window, 0), key)
    return {name: jnp.zeros(()) for name in ("loss", *sorted(metrics))}


def gradient(recipe: Recipe, module: Module, batch: Batch, key: jax.Array) -> tuple[tuple[jax.Array, Any], Module]:
    """Loss, metrics, and the gradient over the trainable parts."""
    moving, still = eqx.partition(module, recipe.trainable(module))
    return eqx.filter_value_and_grad(lambda part: recipe.loss(eqx.combine(part, still), batch, key), has_aux=True)(
        moving
    )


@eqx.filter_jit
def run_steps(
    recipe: Recipe, knobs: Knobs, now: Progressed, window: Batch, key: jax.Array, start: jax.Array, stop: jax.Array
) -> Progressed:
    """Optimiser steps on batches ``start`` to ``stop`` of a window; stops before a step that is not finite."""
    moving, rest = eqx.partition(now.module, recipe.trainable(now.module))
    direction = recipe.direction()

    def onward(carry: tuple[jax.Array, Progressed]) -> jax.Array:
        return (carry[0] < stop) & carry[1].finite

    def step(carry: tuple[jax.Array, Progressed]) -> tuple[jax.Array, Progressed]:
        index, old = carry
        batch = _batch(window, index)
        module = eqx.combine(old.module, rest)
        (loss, metrics), slope = gradient(recipe, module, batch, jax.random.fold_in(key, old.step))
        size = optax.tree.norm(slope)
        finite = jnp.isfinite(loss) & jnp.isfinite(size)
        shrink = jnp.minimum(1.0, knobs.clip / jnp.maximum(size, 1e-30))
        way, optimiser = direction.update(jax.tree.map(lambda g: g * shrink, slope), old.optimiser, old.module)
        rate = -knobs.learning_rate * recipe.rate(old.step, knobs.total)
        moved = jax.tree.map(lambda value, d: value + (rate * d).astype(value.dtype), old.module, way)
        weight = batch.weight.sum()
        reported = {"loss": loss, **metrics}
        new = Progressed(
            moved,
            optimiser,
            old.step + 1,
            {name: old.sums[name] + weight * reported[name] for name in old.sums},
            old.rows + weight,
            finite,
        )
        # A step that is not finite changes nothing but the flag.
        kept = jax.tree.map(lambda a, b: jnp.where(finite, a, b), new._replace(finite=old.finite), old)
        return index + finite.astype(index.dtype), kept._replace(finite=finite)

    _, end = jax.lax.while_loop(onward, step, (start, now._replace(module=moving)))
    return end._replace(module=eqx.combine(end.module, rest))


@eqx.filter_jit
def evaluate(
    loss: Loss,
    module: Module,
    window: Batch,
    sums: dict[str, jax.Array],
    rows: jax.Array,
    key: jax.Array,
    first: jax.Array,
    stop: jax.Array,
) -> tuple[dict[str, jax.Array], jax.Array]:
    """Metrics summed over the rows of the first ``stop`` batches, on top of ``sums`` and ``rows``.

    ``first`` is the number of batches in earlier windows: each batch has its own, fixed noise.
    """

    def step(index: jax.Array, carry: tuple[dict[str, jax.Array], jax.Array]) -> tuple[dict[str, jax.Array], jax.Array]:
        batch = _batch(window, index)
        value, metrics = loss(module, batch, jax.random.fold_in(key, first + index))
        reported, weight = {"loss": value, **metrics}, batch.weight.sum()
        return {name: carry[0][name] + weight * reported[name] for name in carry[0]}, carry[1] + weight

    return jax.lax.fori_loop(0, stop, step, (sums, rows))


def _batch(window: Batch, index: Any) -> Batch:
    return jax.tree.map(lambda array: array[index], window)
