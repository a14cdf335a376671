"""Steps that a model takes itself: several optimisers in turn, or terms that are not computed at each step.

Here each step is called by itself rather than from within a compiled loop, so that an update may choose among several compiled
programs. It also spares convolutions the loops of XLA on processors, within which they run many times more slowly.
"""

from __future__ import annotations

import math
from typing import Protocol

import jax
import jax.numpy as jnp
from jaxtyping import PyTree

from latentry.data import Batch
from latentry.training.compiled import Knobs, Progressed, batch_of
from latentry.training.phase import Metrics, Module, Recipe

__all__ = ["Update", "run_own_steps"]


class Update(Protocol):
    """A step of a model's own. It must be a pure function of its arguments: then runs resume bit for bit."""

    def start(self, module: Module) -> PyTree:
        """Return the optimisers' state before the first step.

        Args:
            module: Untrained.

        Returns:
            A tree of arrays.
        """
        ...

    def __call__(
        self, module: Module, optimiser: PyTree, batch: Batch, key: jax.Array, step: int, rate: jax.Array
    ) -> tuple[Module, PyTree, Metrics]:
        """Return module, optimisers and metrics after a step; the metrics are those of the phase's loss, and "loss"."""
        ...


def run_own_steps(
    recipe: Recipe, knobs: Knobs, now: Progressed, window: Batch, key: jax.Array, start: int, stop: int
) -> Progressed:
    """Take steps like ``run_steps``, by the recipe's own update; stop before a step whose metrics are not finite.

    Args:
        recipe: With an update.
        knobs: Learning rate and steps of the phase.
        now: Module, optimisers and sums before the steps.
        window: Batches, with a leading step axis.
        key: Of the phase; each step folds in its number.
        start: First batch of the window.
        stop: The batch after the last.

    Returns:
        The same after the steps.
    """
    assert recipe.update is not None
    for index in range(start, stop):
        step, batch = int(now.step), batch_of(window, index)
        rate = knobs.learning_rate * recipe.rate(now.step, knobs.total)
        module, optimiser, reported = recipe.update(
            now.module, now.optimiser, batch, jax.random.fold_in(key, step), step, rate
        )
        if not all(math.isfinite(float(value)) for value in reported.values()):
            # The sums are those of the bad step, which says what is wrong; whoever sees the flag does not add them up.
            return now._replace(finite=jnp.bool_(0), sums=reported)
        weight = batch.weight.sum()
        sums = {name: now.sums[name] + weight * reported[name] for name in now.sums}
        now = Progressed(module, optimiser, now.step + 1, sums, now.rows + weight, now.finite)
    return now
