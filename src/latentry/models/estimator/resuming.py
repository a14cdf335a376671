"""Going on with an earlier run: what must be the same, what may be another, and what is noted of it."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

from latentry.contracts import FitRecord
from latentry.data import Dataset
from latentry.errors import CheckpointError, DataError, DataWarning
from latentry.models.estimator.saving import parameters_of, stored_model
from latentry.training import RunFolder, RunState, Task, epochs_of, holds_run

if TYPE_CHECKING:
    from latentry.models.estimator.latent_model import AnyModel

__all__ = ["earlier_run", "refuse_used_folder", "resumed"]

_FREE_TO_CHANGE = ("progress",)  # parameters that do not touch the result
_NOTED = ("epochs", "learning_rate")  # those that may be others from here on


def refuse_used_folder(folder: RunFolder | None, *, resume: bool) -> None:
    """Refuse to write over an earlier run.

    Args:
        folder: Of the run, if there is one.
        resume: Whether the earlier run goes on.

    Raises:
        CheckpointError: If the folder holds a run that does not go on.
    """
    if folder is not None and not resume and holds_run(folder.path):
        raise CheckpointError(
            f"{folder.path} holds an earlier run: pass resume=True to go on with it, or choose another folder."
        )


def earlier_run(model: AnyModel, folder: RunFolder | None, data: Dataset) -> AnyModel | None:
    """Return the model of an earlier run with the same parameters on the same data.

    Args:
        model: That goes on.
        folder: Of the earlier run; None for a run that this model holds itself.
        data: The rows of the fit.

    Returns:
        The model as it was saved or interrupted; None if there is none.

    Raises:
        CheckpointError: If the earlier run had other parameters.
        DataError: If it had other data.
    """
    if folder is not None and holds_run(folder.path):
        earlier: AnyModel = stored_model(folder.path, model.get_params(deep=True))
    elif folder is None and "state_" in vars(model):
        earlier = model
    else:
        if folder is None:
            warnings.warn(
                "resume=True: there is nothing to go on from, and the fit begins anew: this model was not fitted before, and no "
                "run= names a folder. Give run= the folder of the run, or take the model that lt.load gives.",
                DataWarning,
                stacklevel=4,
            )
        return None
    _require_same(earlier, model, data)
    return earlier


def _require_same(earlier: AnyModel, model: AnyModel, data: Dataset) -> None:
    """Refuse to resume with another model, other parameters or other data, by name."""
    if type(earlier) is not type(model):
        raise CheckpointError(f"the earlier run is a {type(earlier).__name__}, not a {type(model).__name__}.")
    before, now = earlier.record_.parameters, parameters_of(model)
    for name in now:
        if name not in (*_FREE_TO_CHANGE, *_NOTED) and before[name] != now[name]:
            raise CheckpointError(
                f"the earlier run has {name} = {before[name]!r}, this model {now[name]!r}: resume with the same, or start anew. "
                "Only epochs, which may be raised, and learning_rate may be others."
            )
    _check_changes(earlier, model)
    if data.fingerprint != earlier.record_.fingerprint:
        earlier.record_.layout.require(data.layout)
        raise DataError(
            "the data differ from those of the earlier run (same shapes, other values): start anew instead."
        )


def _check_changes(earlier: AnyModel, model: AnyModel) -> None:
    """Refuse fewer epochs, and a learning rate that no step would use."""
    least, rate = (earlier.record_.parameters[name] for name in _NOTED)
    if not isinstance(least, int) or model.epochs < least:
        raise CheckpointError(
            f"epochs={model.epochs}: fewer than the {least} of the earlier run. Give {least} or more, or start anew."
        )
    if earlier.state_.finished and model.learning_rate != rate and model.epochs == least:
        raise CheckpointError(
            f"learning_rate={model.learning_rate:g}: the earlier run has ended, so no step would use it. Raise epochs too; "
            f"it had {least}."
        )


def resumed(record: FitRecord, task: Task, before: FitRecord, state: RunState) -> tuple[FitRecord, RunState]:
    """Return the record and the state with which a run goes on.

    Args:
        record: Of the model as it is now.
        task: What is trained.
        before: Record of the earlier run.
        state: Where the earlier run ended.

    Returns:
        The record with the latents' names, the changes and the origin of the earlier run; and the state, which is another only
        where a run is lengthened.
    """
    changed = {
        name: [before.parameters[name], record.parameters[name]]
        for name in _NOTED
        if before.parameters[name] != record.parameters[name]
    }
    kept = replace(record, latents=before.latents, changes=before.changes, origin=record.origin or before.origin)
    if not changed:
        return kept, state
    done = sum(epochs_of(state.history).values())
    kept = replace(kept, changes=(*before.changes, {"after": done, **changed}))
    if "epochs" not in changed:
        return kept, state
    old, new = changed["epochs"]
    assert isinstance(old, int)
    assert isinstance(new, int)
    return kept, task.lengthened(state, new - old)
