"""The restarts of one fit, side by side, from one beginning; what comes back is the state of a run that made them in turn."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from latentry.data import Dataset, read
from latentry.errors import CheckpointError, LatentryError, TrainingDiverged
from latentry.models.estimator import AnyModel
from latentry.models.estimator.fitting import task_for
from latentry.models.estimator.saving import save_model, stored_model
from latentry.models.many.fits import stored_rows
from latentry.models.many.instructions import refuse_own
from latentry.training import (
    Bar,
    EngineLike,
    RunFolder,
    RunState,
    Task,
    engine_for,
    holds_run,
    run,
    run_texts,
    wants_bar,
)

__all__ = ["joined", "restart_text", "restarts_elsewhere"]

_PLACE = "restarts"  # within a run folder, while restarts are made


def restarts_elsewhere(
    model: AnyModel,
    task: Task,
    data: Dataset,
    executor: EngineLike,
    workers: int | None,
    folder: Path | None,
    save_every: int | None,
) -> RunState:
    """Make every restart of a fit on an engine, and return the state of a run that made them in turn.

    Cost: a fit for each restart, side by side where there are workers.

    Args:
        model: With the record of the fit.
        task: What is trained, with at least two restarts.
        data: The rows of the fit.
        executor: Where: see :func:`latentry.training.engine_for`.
        workers: Processes, where the engine is started here.
        folder: Of the run: restarts that were begun there go on; None for none.
        save_every: Optimiser steps between two saves.

    Returns:
        The finished state, bit for bit that of the restarts in turn.

    Raises:
        DataError: If the model cannot be sent to another process.
        TrainingDiverged: If a restart diverged; it carries the last good state.
        KeyboardInterrupt: If a restart was interrupted.
    """
    refuse_own(model)
    with _place(folder) as place, engine_for(executor, workers) as engine:
        with RunFolder(place / "begin") as begin:
            save_model(model, begin, task.start())
        rows = stored_rows(data, place)
        order = {"begin": str(place / "begin"), "rows": rows, "save_every": save_every}
        texts = [
            json.dumps({**order, "restart": number, "folder": str(place / f"{number}")})
            for number in range(task.restarts)
        ]
        ended: dict[int, RunState] = {}
        with Bar(task.restarts, shown=wants_bar(model.progress)) as bar:
            for number, answer in run_texts(engine, restart_text, texts):
                ended[number] = _state(place / f"{number}", answer, ended)
                bar.show(len(ended), f"restart {number + 1} ended", "", "restarts")
    return joined([ended[number] for number in range(task.restarts)])


@contextmanager
def _place(folder: Path | None) -> Iterator[Path]:
    """Make a folder for the restarts: within that of the run it stays until they are all done."""
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="latentry-restarts-") as own:
            yield Path(own)
        return
    place = folder / _PLACE
    place.mkdir(exist_ok=True)
    yield place
    shutil.rmtree(place, ignore_errors=True)


def joined(states: Sequence[RunState]) -> RunState:
    """Return the state of a run that made several restarts in turn.

    Args:
        states: Of each restart by itself, in order; the last may be unfinished.

    Returns:
        The last, with the champion, the history and the kept modules of all.
    """
    first, *others = states
    for later in others:
        earlier = later.champion is None or not later.champion_score < first.champion_score
        champion = first if earlier else later
        first = replace(
            later,
            champion=champion.champion,
            champion_score=champion.champion_score,
            champion_restart=champion.champion_restart,
            ended=(*first.ended, *later.ended),
            history=(*first.history, *later.history),
        )
    return first


def _state(folder: Path, answer: str | Exception, ended: dict[int, RunState]) -> RunState:
    """Return the state of a restart, or raise what ended it."""
    if isinstance(answer, Exception):
        raise LatentryError(f"restart {int(folder.name) + 1}: {answer}") from answer
    said = json.loads(answer)
    if said["status"] == "interrupted":
        raise KeyboardInterrupt
    if said["status"] == "failed":
        raise LatentryError(f"restart {int(folder.name) + 1}: {said['reason']}")
    state: RunState = stored_model(folder, {}).state_
    if said["status"] == "diverged":
        problem = TrainingDiverged(said["reason"])
        before = [ended[number] for number in sorted(ended) if number < int(folder.name)]
        problem.state = joined([*before, state])
        raise problem
    return state


def restart_text(text: str) -> str:
    """Make one restart, as engines ask for it; one that was begun goes on from its folder.

    Args:
        text: The folder of the run's beginning, rows, number of the restart, and its folder.

    Returns:
        How it ended; its state is in its folder.
    """
    given = json.loads(text)
    try:
        return json.dumps({"status": _made(given)})
    except TrainingDiverged as problem:
        return json.dumps({"status": "diverged", "reason": f"{problem}"})
    except (LatentryError, ArithmeticError, ValueError, TypeError, MemoryError, RuntimeError) as problem:
        named = "" if isinstance(problem, LatentryError) else f"{type(problem).__name__}: "
        return json.dumps({"status": "failed", "reason": f"{named}{problem}"})


def _made(given: dict[str, Any]) -> str:
    model, data = stored_model(given["begin"], {}), read(given["rows"])
    task = replace(task_for(model, data), first=given["restart"], restarts=1)
    before = _before(model, given["folder"])
    with RunFolder(given["folder"]) as folder:
        save = lambda state: save_model(model, folder, state)  # noqa: E731
        state = run(task, before, save=save, save_every=given["save_every"], progress=False)
    return "done" if state.finished else "interrupted"


def _before(model: AnyModel, folder: str) -> RunState | None:
    """Return where an earlier call left a restart, if it was of this fit."""
    if not holds_run(folder):
        return None
    try:
        earlier = stored_model(folder, {})
    except CheckpointError:  # half of a folder that was copied, say: the restart begins anew
        return None
    same = earlier.record_.fingerprint == model.record_.fingerprint
    return earlier.state_ if same and earlier.record_.parameters == model.record_.parameters else None
