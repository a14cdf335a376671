"""Steps that a model takes itself: several optimisers in turn, or terms that are not computed at each step.

Here each step is called by itself rather than from within a compiled loop, so that an update may choose among several compiled
programs. It also spares convolutions the loops of XLA on processors, within which they run many times more slowly.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import jax
import jax.numpy as jnp

from latentry.data import Batch
from latentry.training.phase import Module

__all__ = ["Update", "run_own_steps"]


class Update(Protocol):
    """A step of a model's own. It must be a pure function of its arguments: then runs resume bit for bit."""

    def start(self, module: Module) -> Any:
        """The optimisers' state before the first step."""
        ...

    def __call__(
        self, module: Module, optimiser: Any, batch: Batch, key: jax.Array, step: int, rate: jax.Array
    ) -> tuple[Module, Any, dict[str, jax.Array]]:
        """The module, the optimisers and the metrics after a step; the metrics are those of the phase's loss, and "loss"."""
        ...


def run_own_steps(recipe: Any, knobs: Any, now: Any, window: Batch, key: jax.Array, start: int, stop: int) -> Any:
    """Like ``run_steps``, by the recipe's own update; stops before a step whose metrics are not finite."""
    for index in range(start, stop):
        step, batch = int(now.step), jax.tree.map(lambda array, at=index: array[at], window)
        rate = knobs.learning_rate * recipe.rate(now.step, knobs.total)
        module, optimiser, reported = recipe.update(
            now.module, now.optimiser, batch, jax.random.fold_in(key, step), step, rate
        )
        if not all(math.isfinite(float(value)) for value in reported.values()):
            # The sums are those of the bad step, which says what is wrong; whoever sees the flag does not add them up.
            return now._replace(finite=jnp.bool_(0), sums=reported)
        weight = batch.weight.sum()
        sums = {name: now.sums[name] + weight * reported[name] for name in now.sums}
        now = type(now)(module, optimiser, now.step + 1, sums, now.rows + weight, now.finite)
    return now
