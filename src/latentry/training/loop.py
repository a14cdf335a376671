"""The loop: from one run state to the next."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from latentry.errors import DataError, TrainingDiverged
from latentry.random_keys import fold_in
from latentry.training.compiled import (
    Knobs,
    Progressed,
    Sums,
    batch_of,
    evaluate,
    initial_optimiser,
    metric_zeros,
    run_steps,
)
from latentry.training.divergence import diverged, never_finite, not_finite
from latentry.training.feed import Feed
from latentry.training.history import Cell
from latentry.training.model_updates import run_own_steps
from latentry.training.phase import Loss, Metrics, Module, Phase
from latentry.training.state import RunState

__all__ = ["Task", "blank_trees", "evaluate_feed", "mean_metrics"]

_TRAIN, _HELD_OUT, _HOOK = 0, 1, 2  # streams of random numbers that never meet


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be trained, on what, and how. ``advance`` is a pure function of the run state.

    Args:
        make: ``make(key)`` builds an untrained module.
        phases: One after the other.
        training: Rows to learn from.
        held_out: Rows to choose by, or None: then the last state is kept.
        seed: Of everything random.
        restarts: Independent runs, of which the best held-out loss is kept.
        begin: ``begin(module, restart)`` is what that restart begins with, where restarts differ in more than their key.
        keep_restarts: Whether the best module of every restart is kept, so that they can be compared.
        first: Number of the first restart, where others are made elsewhere.
    """

    make: Callable[[jax.Array], Module]
    phases: tuple[Phase, ...]
    training: Feed
    held_out: Feed | None
    seed: int = 0
    restarts: int = 1
    begin: Callable[[Module, int], Module] = lambda module, restart: module
    keep_restarts: bool = False
    first: int = 0

    def __post_init__(self) -> None:
        if not self.phases or any(phase.epochs < 1 for phase in self.phases):
            lengths = tuple(phase.epochs for phase in self.phases)
            raise DataError(
                f"epochs={lengths}: each phase needs at least 1 epoch. Give phases, and epochs of 1 or more."
            )
        if self.restarts > 1 and self.held_out is None:
            raise DataError(f"restarts={self.restarts}: they are compared on held-out rows. Set validation above 0.")

    def start(self) -> RunState:
        """Return the state before the first step."""
        return self._begin_restart(None, self.first)

    def begins_with(self, state: RunState) -> bool:
        """Return whether a state is the one before the first step.

        Args:
            state: Of this task.

        Returns:
            False after a step.
        """
        where = (state.restart, state.phase, state.epoch, state.step)
        return where == (self.first, 0, 0, 0) and not state.finished and not state.lengthened

    @property
    def steps(self) -> int:
        """Count the optimiser steps over all restarts and phases, if none ends early."""
        return self.restarts * sum(phase.epochs for phase in self.phases) * self.training.plan.steps

    def done(self, state: RunState) -> int:
        """Count the optimiser steps that lie behind a state.

        Args:
            state: Of this task.

        Returns:
            Steps, from 0 to :attr:`steps`.
        """
        if state.finished:
            return self.steps
        if state.lengthened:  # what is left is what counts
            return self.steps - (state.lengthened - state.epoch) * self.training.plan.steps + state.step
        restarts = state.restart - self.first
        epochs = restarts * sum(p.epochs for p in self.phases) + sum(p.epochs for p in self.phases[: state.phase])
        return (epochs + state.epoch) * self.training.plan.steps + state.step

    def phase_of(self, state: RunState) -> Phase:
        """Return the phase that a state is in, as long as it will last.

        Args:
            state: Of this task.

        Returns:
            The phase.
        """
        phase = self.phases[state.phase]
        return phase.lasting(state.lengthened) if state.lengthened else phase

    def lengthened(self, state: RunState, more: int) -> RunState:
        """Return a state from which a run goes on for more epochs of its last phase.

        Of a finished run with several restarts the best goes on alone; unless it was the last, its optimiser begins anew.

        Args:
            state: Finished, or lengthened before.
            more: Epochs.

        Returns:
            The state to go on from; where its phases have yet to end by themselves, the same.
        """
        if not state.finished:
            return replace(state, lengthened=state.lengthened + more) if state.lengthened else state
        best, last = state.ended[state.champion_restart] if state.ended else state.champion, len(self.phases) - 1
        other = state.history[-1]["phase"] != self.phases[last].name  # there was no epoch for it before
        compared = math.isfinite(state.champion_score) and not other
        onward = replace(
            state,
            module=best if other or state.champion_restart != state.restart else state.module,
            restart=state.champion_restart,
            phase=last,
            lengthened=more if other else state.epoch + more,
            waited=0 if state.stopped == "patience" else state.waited,
            best=best if compared else None,
            best_score=state.champion_score if compared else math.nan,
            champion=None,
            champion_score=math.nan,
            finished=False,
            stopped="running",
        )
        if other:
            return self._begin_phase(onward, last)
        if state.champion_restart == state.restart:
            return onward
        optimiser = initial_optimiser(self.phases[last].recipe, best)
        return replace(onward, optimiser=self.training.placement.copies(optimiser))

    def advance(self, state: RunState, most: int) -> RunState:
        """Take at most ``most`` optimiser steps, within a window; the end of an epoch is settled when it is reached.

        Args:
            state: Where to go on from.
            most: Largest number of steps.

        Returns:
            The next state.

        Raises:
            TrainingDiverged: If a loss or gradient is not finite; it carries the last good state.
        """
        if state.epoch == self.phase_of(state).epochs:
            return self._end_phase(state)
        if state.step == self.training.plan.steps:
            return self._end_epoch(state)
        onward, trouble = self._take_steps(state, most)
        if trouble is not None:
            taken = onward.step - state.step
            # The weights that gave a loss that is not finite are spoiled, those before them were sound: go there again.
            trouble.state = self._take_steps(state, taken - 1)[0] if taken else None
            raise trouble
        return self._end_epoch(onward) if onward.step == self.training.plan.steps else onward

    def _take_steps(self, state: RunState, most: int) -> tuple[RunState, TrainingDiverged | None]:
        plan, phase = self.training.plan, self.phase_of(state)
        number, start = divmod(state.step, plan.steps_per_window)
        stop = min(start + most, plan.steps_per_window, plan.steps - number * plan.steps_per_window)
        window = self.training.window((self.seed, state.restart, state.phase, state.epoch), number)
        key, first = self._key(state, _TRAIN), state.epoch * plan.steps + state.step
        now = Progressed(
            state.module, state.optimiser, jnp.asarray(first, dtype=jnp.int32), state.sums, state.rows, jnp.bool_(1)
        )
        knobs = _knobs(phase, phase.epochs * plan.steps)
        take = run_steps if phase.update is None else run_own_steps
        after = take(phase.recipe, knobs, now, window, key, start, stop)
        count = int(after.step) - first
        onward = replace(
            state,
            module=after.module,
            optimiser=after.optimiser,
            sums=after.sums,
            rows=after.rows,
            step=state.step + count,
        )
        if bool(after.finite):
            return onward, None
        noise = jax.random.fold_in(key, after.step)
        batch = batch_of(window, start + count)
        reported = None if phase.update is None else after.sums
        return onward, diverged(phase, after.module, batch, noise, (state.epoch, onward.step), reported)

    def _end_epoch(self, state: RunState) -> RunState:
        self.training.release()
        phase = self.phase_of(state)
        row: dict[str, Cell] = {"restart": state.restart, "phase": phase.name, "epoch": state.epoch + 1}
        row |= mean_metrics(state.sums, state.rows)
        if phase.after_epoch is not None:
            state = self._call_hook(state, phase)
        held_out = {} if self.held_out is None else self._held_out_metrics(phase.loss, state)
        row |= held_out
        score = held_out.get("held_out_loss", math.nan)
        better = math.isfinite(score) and not score >= state.best_score
        state = state.fresh_epoch(
            epoch=state.epoch + 1,
            best=state.module if better else state.best,
            best_score=score if better else state.best_score,
            waited=0 if better else state.waited + 1,
            history=(*state.history, row),
        )
        patient = phase.patience is None or self.held_out is None or state.waited < phase.patience
        if state.epoch < phase.epochs and patient:
            return state
        return self._end_phase(replace(state, stopped="epochs" if patient else "patience"))

    def _call_hook(self, state: RunState, phase: Phase) -> RunState:
        assert phase.after_epoch is not None
        key = fold_in(self._key(state, _HOOK), state.epoch)
        module = settled(phase.after_epoch(state.module, self.training.data, key))
        error = not_finite(phase, module, state.epoch)
        if error is not None:
            error.state = state
            raise error
        return replace(state, module=module)

    def _held_out_metrics(self, loss: Loss, state: RunState) -> dict[str, float]:
        assert self.held_out is not None
        means = evaluate_feed(loss, state.module, self.held_out, self._key(state, _HELD_OUT), dict(state.sums))
        return {f"held_out_{name}": value for name, value in means.items()}

    def _end_phase(self, state: RunState) -> RunState:
        if self.held_out is not None and state.best is None:
            raise never_finite(self.phases[state.phase], state)
        # The next phase goes on from the best state of this one.
        module = state.module if state.best is None else state.best
        if state.phase + 1 < len(self.phases):
            following = replace(state, module=module, best=None, best_score=math.nan, waited=0)
            return self._begin_phase(following, state.phase + 1)
        return self._end_restart(replace(state, best=module))

    def _end_restart(self, state: RunState) -> RunState:
        if self.keep_restarts:
            state = replace(state, ended=(*state.ended[: state.restart], state.best, *state.ended[state.restart + 1 :]))
        if state.champion is None or state.best_score < state.champion_score:
            state = replace(state, champion=state.best, champion_score=state.best_score, champion_restart=state.restart)
        if state.restart + 1 < self.first + self.restarts and not state.lengthened:
            return self._begin_restart(state, state.restart + 1)
        return replace(state, best=None, finished=True)

    def _begin_restart(self, state: RunState | None, restart: int) -> RunState:
        key = fold_in(jax.random.key(self.seed), restart)
        module = self.training.placement.copies(settled(self.begin(self.make(key), restart)))
        blank = RunState(module, None, {}, jnp.zeros(()), restart=restart)
        if state is not None:
            blank = replace(
                blank,
                champion=state.champion,
                champion_score=state.champion_score,
                champion_restart=state.champion_restart,
                ended=state.ended,
                history=state.history,
            )
        return self._begin_phase(blank, 0)

    def _begin_phase(self, state: RunState, phase: int) -> RunState:
        chosen = self.phases[phase]
        window = self.training.window((self.seed, state.restart, phase, 0), 0)
        zeros = metric_zeros(chosen.loss, state.module, window, jax.random.key(0))
        optimiser = self.training.placement.copies(initial_optimiser(chosen.recipe, state.module))
        last = phase + 1 == len(self.phases)
        return replace(state, phase=phase, last_phase=last, epoch=0, optimiser=optimiser, sums=zeros).fresh_epoch()

    def _key(self, state: RunState, stream: int) -> jax.Array:
        return _stream_key(self.seed, state.restart, state.phase, stream)


@lru_cache(maxsize=64)
def _stream_key(seed: int, restart: int, phase: int, stream: int) -> jax.Array:
    """Return a key of its own for each stream of random numbers; kept, since it is asked for three times an epoch."""
    key = jax.random.key(seed)
    for part in (restart, 1 + phase, stream):
        key = fold_in(key, part)
    return key


def settled(module: Module) -> Module:
    """Return the same arrays with fixed types: a weakly typed array would change type, and so compile again, at the first step."""
    return jax.tree.map(lambda a: jax.device_put(np.asarray(a)) if _is_weak(a) else a, module)


def _is_weak(leaf: object) -> bool:
    return isinstance(leaf, jax.Array) and leaf.aval.weak_type


def blank_trees(
    make: Callable[[jax.Array], Module], phases: tuple[Phase, ...], counters: dict[str, Any]
) -> dict[str, PyTree]:
    """Return trees of the shapes that a state with these counters has, to be filled from a file.

    Args:
        make: Builds an untrained module from a key.
        phases: Of the task.
        counters: As :meth:`RunState.counters` returns them.

    Returns:
        Trees by name, as in :meth:`RunState.arrays`.
    """
    module = settled(make(jax.random.key(0)))
    trees: dict[str, PyTree] = {"module": module, "rows": jnp.zeros(())}
    trees["optimiser"] = initial_optimiser(phases[counters["phase"]].recipe, module)
    trees["sums"] = {name: jnp.zeros(()) for name in counters["metrics"]}
    trees |= {f"ended{number}": module for number in range(counters.get("ended", 0))}
    return trees | {name: module for name in ("best", "champion") if counters[f"has_{name}"]}


def evaluate_feed(loss: Loss, module: Module, feed: Feed, key: jax.Array, sums: Metrics) -> dict[str, float]:
    """Return mean metrics over all rows of a feed.

    Args:
        loss: Of module, batch and key.
        module: What is evaluated.
        feed: Rows.
        key: Of random numbers.
        sums: Whose names say which metrics are wanted.

    Returns:
        Means by name.
    """
    total = Sums({name: jnp.zeros(()) for name in sums}, jnp.zeros(()))
    per_window = feed.plan.steps_per_window
    for number in range(feed.count):
        stop = min(per_window, feed.plan.steps - number * per_window)
        total = evaluate(loss, module, feed.window(None, number), total, key, number * per_window, stop)
    feed.release()
    return mean_metrics(*total)


def mean_metrics(sums: Metrics, rows: jax.Array) -> dict[str, float]:
    """Return sums over rows as means, the loss first.

    Args:
        sums: Scalars by name.
        rows: How many rows went into them.

    Returns:
        Means by name.
    """
    names = sorted(sums, key=lambda name: (name != "loss", name))
    return {name: float(sums[name]) / float(rows) for name in names}


def _knobs(phase: Phase, total: int) -> Knobs:
    clip = math.inf if phase.clip is None else phase.clip
    return Knobs(jnp.float32(phase.learning_rate), jnp.float32(clip), jnp.float32(total))
