"""What an optimiser step costs, before it is taken."""

from __future__ import annotations

import equinox as eqx
import jax

from latentry.data import Batch
from latentry.training.compiled import batch_of, gradient
from latentry.training.loop import Task
from latentry.training.phase import Loss, Module

__all__ = ["operations_per_row", "seconds_per_epoch"]

OPERATIONS_PER_SECOND = 3e10  # of one core, as measured in fits of small images and tables
_STEP_SECONDS, _EPOCH_SECONDS = (
    5e-5,
    3e-3,
)  # of work that does not grow with a batch: parts of a program, the books of an epoch


def operations_per_row(task: Task) -> float | None:
    """Count floating-point operations for one row in one step, forwards and backwards: the largest over the phases.

    The count is XLA's, of the program before it is optimised. Phases with an update of their own, and losses with loops, whose
    repetitions XLA does not count, are left out.

    Args:
        task: What would be trained.

    Returns:
        The count, or None where every phase is left out.
    """
    module, window = task.make(jax.random.key(task.seed)), task.training.window((task.seed, 0, 0, 0), 0)
    batch, key = batch_of(window, 0), jax.random.key(0)
    counts = [
        eqx.filter_jit(gradient).lower(phase.recipe, module, batch, key).lowered.cost_analysis()["flops"]  # type: ignore[attr-defined]
        for phase in task.phases
        if phase.update is None and not _loops(phase.loss, module, batch, key)
    ]
    return max(counts) / task.training.plan.batch if counts else None


def _loops(loss: Loss, module: Module, batch: Batch, key: jax.Array) -> bool:
    program = str(eqx.filter_make_jaxpr(loss)(module, batch, key)[0])
    return "scan[" in program or "while[" in program


def seconds_per_epoch(operations: float, rows: int, batch: int) -> float:
    """Estimate seconds of one core for an epoch: its operations, its steps, and what each epoch costs besides.

    Args:
        operations: For one row.
        rows: Of an epoch.
        batch: Rows of a step.

    Returns:
        Seconds.

    >>> round(seconds_per_epoch(3e6, 1000, 100), 4)
    0.1035
    """
    return operations * rows / OPERATIONS_PER_SECOND + _STEP_SECONDS * -(-rows // batch) + _EPOCH_SECONDS
