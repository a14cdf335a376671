"""Saying where training went wrong."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from latentry.data import Batch
from latentry.errors import TrainingDiverged
from latentry.training.compiled import gradient
from latentry.training.named_arrays import leaf_names
from latentry.training.phase import Metrics, Module, Phase

__all__ = ["diverged", "never_finite", "not_finite"]

_LARGEST_RATE, _USUAL_RATE = 0.1, 0.002  # beyond the first, a tenth of it would diverge too


def diverged(
    phase: Phase, module: Module, batch: Batch, key: jax.Array, at: tuple[int, int], reported: Metrics | None = None
) -> TrainingDiverged:
    """Build the error for the step on this batch by taking the same step again, outside the compiled program.

    A step of the model's own is not taken again: it has ``reported`` its metrics.

    Args:
        phase: Whose step it was.
        module: Before the step.
        batch: Rows of the step.
        key: Of the step.
        at: Epoch and step, from 0.
        reported: Metrics of a model's own step, or None.

    Returns:
        An error that names the first part that is not finite, and a remedy.
    """
    culprit = _first("the module's", module)
    if culprit is None and reported is not None:
        culprit = _first("the metric", reported)
    elif culprit is None:
        (loss, metrics), gradients = gradient(phase.recipe, module, batch, key)
        culprit = (
            _first("the loss's part", {**metrics})
            or _first("the gradient of", gradients)
            or f"the loss ({float(loss)})"
        )
    return TrainingDiverged(
        f"training stopped in phase {phase.name!r}, epoch {at[0] + 1}, step {at[1] + 1}: {culprit} is not finite. "
        f"{_advice(phase, batch)} The last good state is kept."
    )


def not_finite(phase: Phase, module: Module, epoch: int) -> TrainingDiverged | None:
    """Build the error for a module that an after-epoch hook spoiled.

    Args:
        phase: Whose hook it was.
        module: What the hook returned.
        epoch: From 0.

    Returns:
        The error, or None if every array is finite.
    """
    culprit = _first("the module's", module)
    if culprit is None:
        return None
    return TrainingDiverged(
        f"the update after epoch {epoch + 1} of phase {phase.name!r} left {culprit} not finite. The last good state is kept."
    )


def never_finite(phase: Phase, state: object) -> TrainingDiverged:
    """Build the error for a phase whose held-out loss was never finite.

    Args:
        phase: Which.
        state: Kept with the error.

    Returns:
        The error.
    """
    error = TrainingDiverged(
        f"the held-out loss was not finite in any epoch of phase {phase.name!r}, though the training loss was: "
        "held-out rows lie far outside the training rows; look at their range, or standardise. The last state is kept."
    )
    error.state = state
    return error


def _first(what: str, tree: PyTree) -> str | None:
    for name, leaf in leaf_names(tree):
        # In NumPy: dozens of small programs in turn would take longer than an epoch of few rows.
        if jnp.issubdtype(leaf.dtype, jnp.inexact) and not np.isfinite(np.asarray(leaf, np.float32)).all():
            return f"{what} {name.replace('/', '.')}"
    return None


def _advice(phase: Phase, batch: Batch) -> str:
    largest = max((float(jnp.abs(array).max()) for array in batch.values.values()), default=0.0)
    if largest > 1e4:
        return f"The batch holds values as large as {largest:.3g}: standardise the data."
    rate = phase.learning_rate / 10 if phase.learning_rate <= _LARGEST_RATE else _USUAL_RATE
    smaller = f"Try learning_rate={rate:.2g}"
    return smaller + (", or clip=1.0." if phase.clip is None or phase.clip > 1 else ", or a smaller network.")
