"""From data to a record, from a record to a training task, from a task to a fitted model."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from latentry.contracts import FitRecord
from latentry.data import Dataset, Standardiser, row_marks, sketches
from latentry.errors import CheckpointError, DataError, DataWarning, TrainingDiverged
from latentry.training import Feed, History, Logger, RunFolder, RunState, Task, Terminated, epochs_of, run

if TYPE_CHECKING:
    from latentry.models.estimator.latent_model import AnyModel

__all__ = ["held_folder", "record_of", "task_for", "train"]


def record_of(model: AnyModel, data: Dataset) -> FitRecord:
    """Check data against a model's parameters, choose the rows to hold out, and record what a fit must know.

    Args:
        model: With its parameters.
        data: The rows of the fit.

    Returns:
        The record.

    Raises:
        DataError: If the data do not suit the parameters.
    """
    facts = model.learn_facts(data)
    _check_size(model, data)
    kept, held = _parted(model, data)
    marks = row_marks(data, data.names)
    named = {"trained": np.sort(marks[kept])} | ({"held out": np.sort(marks[held])} if len(held) else {})
    statistics = Standardiser.of(data.take(kept) if len(held) else data, model.standardised(facts))
    from latentry.models.estimator.saving import parameters_of

    return FitRecord(
        layout=data.layout,
        statistics=statistics,
        fingerprint=data.fingerprint,
        rows=len(data),
        marks=named,
        sketches=sketches(data, statistics),
        held_out=held,
        seed=model.seed,
        facts=facts,
        parameters=parameters_of(model),
    )


def _parted(model: AnyModel, data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the rows to train on and of those held out: the same fraction of every domain, units whole."""
    if round(model.validation * len(data)) >= 1:
        if data.units is not None and (units := len(np.unique(data.units))) * model.validation <= 0.5:
            raise DataError(
                f"validation={model.validation:g}: of {units} groups (or blocks of time), which stay whole, none is held out. Give "
                f"validation={1 / units:.2g} or more, or 0 to hold nothing out."
            )
        kept, held = data.split_rows(1 - model.validation, model.validation, seed=model.seed)
        return kept, held
    if model.validation > 0:
        warnings.warn(
            f"{len(data)} rows are too few to hold {model.validation:.0%} of them out: the last epoch is kept, unchecked.",
            DataWarning,
            stacklevel=6,
        )
    return np.arange(len(data)), np.arange(0)


def _check_size(model: AnyModel, data: Dataset) -> None:
    if len(data) < 2:
        raise DataError(f"n_samples = {len(data)}: one row cannot be learned from; give at least 2.")
    if isinstance(model.latent_dim, int) and model.latent_dim > data.layout.size:
        raise DataError(
            f"latent_dim={model.latent_dim}: more latents than a row holds numbers (n_features = {data.layout.size}). "
            f"Give {data.layout.size} or fewer."
        )
    if model.least_domains:
        _check_domains(model, data)


def _check_domains(model: AnyModel, data: Dataset) -> None:
    name = type(model).__name__
    if data.domain is None:
        raise DataError(  # in scikit-learn's words first
            f"{name} requires y to be passed, but the target y is None: it needs a domain for each row, as "
            "fit(data, u) or Dataset(..., domain=)."
        )
    if not data.domain.is_continuous and data.domain.size < model.least_domains:
        raise DataError(
            f"{name} needs at least {model.least_domains} domains, the data have {data.domain.size}: "
            "add domains, or use VAE, which needs none."
        )


def task_for(model: AnyModel, data: Dataset) -> Task:
    """Return what is trained: the rows of the record, the module and the phases of the model.

    Args:
        model: With the record of a fit.
        data: The rows of the fit, not standardised.

    Returns:
        A task for :func:`latentry.training.run`.
    """
    record = model.record_
    held, statistics, data = record.held_out, record.statistics, model.prepared(data)
    training = data.take(np.setdiff1d(np.arange(len(data)), held)) if len(held) else data
    feed, aside = Feed(training.standardise(statistics), model.batch_size), None
    if len(held):
        aside = Feed(data.take(held).standardise(statistics), model.batch_size, feed.placement)
    return Task(
        model.build,
        model.phases(),
        feed,
        aside,
        seed=model.seed,
        restarts=model.restarts,
        begin=model.begun,
        keep_restarts=model.compares_restarts,
    )


def train(
    model: AnyModel,
    task: Task,
    before: RunState | None,
    folder: RunFolder | None,
    save_every: int | None,
    logger: Logger | None,
    elsewhere: Callable[[], RunState] | None = None,
) -> None:
    """Run a task to its end, or to where it was interrupted, and give the model what came of it.

    Args:
        model: Gets state, module and history.
        task: What is trained.
        before: Where an earlier run ended, if there was one.
        folder: Holds the run while it goes on; None for no files.
        save_every: Optimiser steps between two saves.
        logger: Gets each epoch's row.
        elsewhere: Makes the restarts side by side, and returns their last state; None to make them here, in turn.

    Raises:
        TrainingDiverged: If the loss is not finite; the model keeps the best state before that.
        CheckpointError: If the folder cannot be written.
        Terminated: If SIGTERM came; the state is saved, and the process ends with 143.
    """
    from latentry.models.estimator.saving import save_model

    save = None if folder is None else lambda state: save_model(model, folder, state)
    if save is not None and before is None:
        before = task.start()
        save(before)  # a place that cannot be written is noticed before hours of training
    try:
        if elsewhere is None:
            state = run(task, before, save=save, save_every=save_every, logger=logger, progress=model.progress)
        else:
            state = _logged(elsewhere(), logger)
    except (TrainingDiverged, CheckpointError) as error:
        if isinstance(error.state, RunState):
            _accept(model, error.state)
        raise
    except Terminated as end:
        if isinstance(end.state, RunState):
            _accept(model, end.state)
            if folder is not None:
                _say_interrupted(end.state, folder)
        raise
    if state.finished:
        state = replace(state, champion=model.concluded(task, state))
        if save is not None:
            save(state)
    _accept(model, state)
    if state.stopped == "interrupted":
        _say_interrupted(state, folder)
    _warn_of_rate(model)


_LARGEST_RATE = 1.0  # a step of Adam moves each weight by about the rate, and weights are about 1


def _warn_of_rate(model: AnyModel) -> None:
    """Say that a fit which did not diverge cannot have converged either."""
    if model.learning_rate > _LARGEST_RATE:
        warnings.warn(
            f"learning_rate={model.learning_rate:g}: each step moves every weight by about that much, and weights are about "
            f"1, so that a fit cannot settle. Fit again with learning_rate={type(model)().learning_rate:g}.",
            DataWarning,
            stacklevel=4,
        )


def _logged(state: RunState, logger: Logger | None) -> RunState:
    for row in state.history if logger is not None else ():
        logger.log(row)  # type: ignore[union-attr]
    return state


def _say_interrupted(state: RunState, folder: RunFolder | None) -> None:
    where = "this model" if folder is None else str(folder.path)
    warnings.warn(
        f"training was interrupted after {sum(epochs_of(state.history).values())} epochs; the best state so far is in use, and "
        f"{where} holds the rest: fit again with resume=True to go on.",
        DataWarning,
        stacklevel=4,
    )


def _accept(model: AnyModel, state: RunState) -> None:
    model.state_, model.module_, model.history_ = state, model.in_use(state.result), History(state.history)


def held_folder(folder: str | Path | None) -> AbstractContextManager[RunFolder | None]:
    """Keep other writers from a run folder for as long as a fit lasts.

    Args:
        folder: Of the run; None for no files.

    Returns:
        A context of the folder, locked; of None where there is none.
    """
    return nullcontext() if folder is None else RunFolder(folder)
