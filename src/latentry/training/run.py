"""Running a task to its end: pace, progress, saving, logging, interruption."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace

from latentry.errors import CheckpointError, DataError, DataWarning, TrainingDiverged
from latentry.training.devices import use_compilation_cache
from latentry.training.interrupt import Interrupts
from latentry.training.loggers import Logger
from latentry.training.loop import Task
from latentry.training.progress import Bar, wants_bar
from latentry.training.state import RunState

__all__ = ["run"]

_CALL_SECONDS = 0.5  # a compiled call lasts about this long, so that Ctrl-C acts soon and the bar moves

Save = Callable[[RunState], None]


def run(
    task: Task,
    state: RunState | None = None,
    *,
    save: Save | None = None,
    save_every: int | None = None,
    save_seconds: float = 60.0,
    logger: Logger | None = None,
    progress: bool | str = "auto",
) -> RunState:
    """Train from a state (or the start) to the end, or to where it was interrupted.

    Args:
        task: What to train.
        state: Where to go on from.
        save: Called with states that a later run may go on from.
        save_every: Save after this many optimiser steps; otherwise at ends of epochs, ``save_seconds`` apart.
        save_seconds: Least time between two saves at ends of epochs; the end is always saved.
        logger: Gets each epoch's row.
        progress: True, False, or "auto".

    Returns:
        The last state; ``stopped`` says why it ended.

    Raises:
        DataError: If ``save_every`` is no whole number of at least 1.
        TrainingDiverged: If a loss or gradient is not finite; the last good state is saved first.
        Terminated: If SIGTERM came; the state is saved, and the process ends with 143.
    """
    if save_every is not None and (not isinstance(save_every, int) or save_every < 1):
        raise DataError(f"save_every={save_every!r}: it is no number of steps. Give a whole number of at least 1.")
    use_compilation_cache()
    if state is not None and state.finished:
        return state
    state = task.start() if state is None else replace(state, stopped="running")
    keeper = _Keeper(save, save_every, save_seconds)
    pace = _Pace()
    with Interrupts() as interrupts, Bar(task.steps, shown=wants_bar(progress)) as bar:
        sound = state  # a state whose loss was finite when the next step was taken
        while not state.finished and not interrupts.asked:
            before, earlier = len(state.history), state
            try:
                state = pace.advance(task, state, keeper.steps_to_next(task.done(state)))
            except TrainingDiverged as error:
                last_good = error.state if isinstance(error.state, RunState) else sound
                error.state = last_good
                keeper.always(last_good)
                raise
            sound = earlier
            if logger is not None:
                for row in state.history[before:]:
                    logger.log(row)
            bar.show(task.done(state), _where(task, state), _words(state), _stage(task, state))
            keeper.maybe(state, task.done(state), epoch_ended=len(state.history) > before)
        if not state.finished:
            state = replace(state, stopped="interrupted")
        keeper.always(state)
    interrupts.end_process(state)
    return state


class _Pace:
    """Chooses how many steps one compiled call takes. It never changes the result, only when we look up."""

    def __init__(self) -> None:
        self._per_step: float | None = None

    def advance(self, task: Task, state: RunState, most: int | None) -> RunState:
        """Take as many steps as fit into a call, at most ``most``."""
        steps = 1 if self._per_step is None else max(1, int(_CALL_SECONDS / self._per_step))
        steps = steps if most is None else min(steps, most)
        began, done = time.monotonic(), task.done(state)
        state = task.advance(state, steps)
        taken = max(1, task.done(state) - done)
        seconds = (time.monotonic() - began) / taken
        # The first call compiles: it says nothing about the pace, and the next one is kept short.
        self._per_step = _CALL_SECONDS / 50 if self._per_step is None else seconds
        return state


class _Keeper:
    """Decides when to save."""

    def __init__(self, save: Save | None, every: int | None, seconds: float) -> None:
        self._save, self._every, self._seconds = save, every, seconds
        self._last = time.monotonic()

    def steps_to_next(self, done: int) -> int | None:
        """Count the steps to the next save, or return None where steps do not decide."""
        return None if self._every is None or self._save is None else self._every - done % self._every

    def maybe(self, state: RunState, done: int, *, epoch_ended: bool) -> None:
        """Save where it is due. A save that fails is said and tried again; what was trained goes on."""
        due = done % self._every == 0 if self._every else epoch_ended and time.monotonic() - self._last > self._seconds
        if due and not state.finished:
            try:
                self.always(state)
            except CheckpointError as problem:
                warnings.warn(f"{problem} Training goes on, and saving is tried again.", DataWarning, stacklevel=3)

    def always(self, state: RunState) -> None:
        """Save now; an error of saving carries the state."""
        if self._save is None:
            return
        try:
            self._save(state)
        except CheckpointError as error:
            error.state = state  # what could not be saved is not lost
            raise
        self._last = time.monotonic()


def _where(task: Task, state: RunState) -> str:
    phase = task.phase_of(state)
    restart = f"restart {state.restart + 1}/{task.restarts}, " if task.restarts > 1 else ""
    return f"{restart}{phase.name} {min(state.epoch + 1, phase.epochs)}/{phase.epochs}"


def _stage(task: Task, state: RunState) -> str:
    """Name what has programs of its own to compile: the first epoch of a phase, and all the others."""
    return f"{task.phase_of(state).name} {state.epoch > 0}"


def _words(state: RunState) -> str:
    if not state.history:
        return ""
    row = state.history[-1]
    held_out = f", held out {row['held_out_loss']:.4g}" if "held_out_loss" in row else ""
    return f"loss {row['loss']:.4g}{held_out}"
