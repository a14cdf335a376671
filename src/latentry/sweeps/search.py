"""A search over ranges by Optuna: trials are asked for and told, and poor ones are ended early."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from latentry.errors import DataError, FileError, MissingExtra
from latentry.sweeps.fit_many import fit_many, kept_rows
from latentry.sweeps.jobs import Job
from latentry.sweeps.many_fits import FitRow, ManyFits
from latentry.sweeps.sweep_file import Range, Sweep, job_for
from latentry.training import locked

if TYPE_CHECKING:
    import optuna

    AnyTrial: TypeAlias = optuna.Trial | optuna.trial.FrozenTrial

__all__ = ["search"]

_AT_ONCE = 4  # trials asked for before any of them is told: the same on every engine, so that the result is too
_RUNGS = (0.25, 1.0)  # fractions of the epochs after which a trial may end
_RUNG, _REASON = "rung", "reason"  # names in the journal: of a trial's last fit
_SEARCH = "search"  # the same: a checksum of what is searched


def search(sweep: Sweep, folder: str | Path, *, progress: bool | str = "auto") -> ManyFits:
    """Search the ranges of a sweep for the best score on rows aside (Akiba et al., 2019).

    Trials are asked for in groups, whose fits run at once. After a part of its epochs a trial below the median of the others
    ends; the others are fitted in full. The journal in the folder keeps every trial, so that a search goes on where it was stopped:
    with the trials that had begun, then with new ones. One process searches in a folder at a time.

    Cost: one fit for each trial, divided by the workers.

    Args:
        sweep: With ranges, one file, one seed, rows aside, and ``search``.
        folder: For runs and journal.
        progress: True, False or "auto".

    Returns:
        A line for each trial of the journal: its last fit.

    Raises:
        DataError: If the sweep cannot be searched.
        FileError: If the folder holds another search.
        CheckpointError: If another process searches in the folder.
        MissingExtra: If Optuna is not installed.
    """
    asked = dict(sweep.search or {})
    if len(sweep.data) > 1 or len(sweep.models) > 1 or not sweep.aside:
        raise DataError("search: takes one data file, one entry of models, and aside above 0. Write a sweep of each.")
    place = Path(folder).absolute()
    study = _study(place, int(asked.get("seed", 0)))
    with locked(place):
        _same_search(study, sweep, place)
        while (left := asked.get("trials", 20) - len(_ended(study))) > 0:
            _group(study, _trials(study, min(_AT_ONCE, left)), sweep, place, progress)
        return _table(study, sweep, place)


def _same_search(study: optuna.Study, sweep: Sweep, place: Path) -> None:
    """Refuse a folder that holds trials of another search: its table would lose them; the number of trials may change."""
    (source,), (kind, values) = sweep.data.values(), sweep.models[0]
    asked = {name: value for name, value in (sweep.search or {}).items() if name != "trials"}
    known = {name: repr(value) for name, value in values.items()}
    text = json.dumps(
        [kind, known, source, sweep.seeds, asked, sweep.split, sweep.certify], sort_keys=True, default=str
    )
    mark = hashlib.sha256(f"{text} {sweep.aside} {sweep.epsilon}".encode()).hexdigest()
    if study.user_attrs.get(_SEARCH, mark) != mark:
        raise FileError(
            f"{place}: holds a search of another file, or of this one before it was changed. Choose another folder."
        )
    study.set_user_attr(_SEARCH, mark)


def _study(folder: Path, seed: int) -> optuna.Study:
    try:
        import optuna
        from optuna.storages.journal import JournalFileBackend
    except ImportError as problem:
        raise MissingExtra("optuna", "optuna", "a search") from problem
    folder.mkdir(parents=True, exist_ok=True)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna.create_study(
        study_name="latentry",
        storage=optuna.storages.JournalStorage(JournalFileBackend(str(folder / "search.journal"))),
        sampler=optuna.samplers.TPESampler(seed=seed),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=_AT_ONCE),
        direction="maximize",
        load_if_exists=True,
    )


def _ended(study: optuna.Study) -> list[optuna.trial.FrozenTrial]:
    return [trial for trial in study.trials if trial.state.is_finished()]


def _trials(study: optuna.Study, count: int) -> list[optuna.Trial]:
    """Return trials that an interrupted search had begun, then new ones."""
    import optuna

    begun = study.get_trials(deepcopy=False, states=(_state("RUNNING"),))[:count]
    return [optuna.trial.Trial(study, trial._trial_id) for trial in begun] + [
        study.ask() for _ in range(count - len(begun))
    ]


def _suggested(trial: AnyTrial, values: Mapping[str, Sequence[Any] | Range]) -> dict[str, Any]:
    return {name: _suggest(trial, name, value) for name, value in values.items()}


def _suggest(trial: AnyTrial, name: str, value: Sequence[Any] | Range) -> Any:
    if not isinstance(value, Range):
        return value[0] if len(value) == 1 else value[trial.suggest_categorical(name, list(range(len(value))))]
    if isinstance(value.low, int) and isinstance(value.high, int):
        return trial.suggest_int(name, value.low, value.high, log=value.log)
    return trial.suggest_float(name, value.low, value.high, log=value.log)


def _group(
    study: optuna.Study, trials: Sequence[optuna.Trial], sweep: Sweep, folder: Path, progress: bool | str
) -> None:
    """Fit a group of trials for a part of their epochs; then those that were not ended for all of them."""
    alive, last = {trial.number: trial for trial in trials}, len(_rungs(sweep)) - 1
    for rung in range(last + 1):
        if not alive:
            return
        jobs = {number: _job(trial, rung, sweep) for number, trial in alive.items()}
        found = fit_many(jobs.values(), folder=folder, progress=progress, **_settings(sweep, rung), **sweep.engine)
        for number, row in zip(jobs, found, strict=True):
            if _told(study, alive[number], row, rung, last):
                del alive[number]


def _told(study: optuna.Study, trial: optuna.Trial, row: FitRow, rung: int, last: int) -> bool:
    """Tell a trial's score, and return whether the trial has ended."""
    score = row.score
    trial.set_user_attr(_RUNG, rung)
    trial.set_user_attr(_REASON, row.reason)
    if score is None:
        study.tell(trial, state=_state("FAIL"))
        return True
    if rung not in study.trials[trial.number].intermediate_values:
        trial.report(score, rung)
    if rung == last:
        study.tell(trial, score)
    elif trial.should_prune():
        study.tell(trial, state=_state("PRUNED"))
    else:
        return False
    return True


def _table(study: optuna.Study, sweep: Sweep, folder: Path) -> ManyFits:
    """Read the last fit of every trial that has ended, of earlier calls too."""
    rows: list[FitRow] = []
    for trial in _ended(study):
        rung = trial.user_attrs.get(_RUNG, max(trial.intermediate_values, default=0))
        (row,) = kept_rows([_job(trial, rung, sweep)], folder, **_settings(sweep, rung))
        rows.append(row if row.score is not None else replace(row, reason=trial.user_attrs.get(_REASON) or row.reason))
    return ManyFits(tuple(rows), folder)


def _rungs(sweep: Sweep) -> tuple[float, ...]:
    return tuple((sweep.search or {}).get("rungs", _RUNGS))


def _settings(sweep: Sweep, rung: int) -> dict[str, Any]:
    """Return how fits of a rung are judged: certificates are for those that had all of their epochs."""
    certify = sweep.certify and rung == len(_rungs(sweep)) - 1
    return {"aside": sweep.aside, "split": sweep.split, "certify": certify, "epsilon": sweep.epsilon}


def _job(trial: AnyTrial, rung: int, sweep: Sweep) -> Job:
    (source,), (kind, values) = sweep.data.values(), sweep.models[0]
    chosen = {**_suggested(trial, values), "seed": sweep.seeds[0]}
    job = job_for(kind, chosen, source, f"trial-{trial.number:04d}-{rung}")
    epochs = max(1, round(_rungs(sweep)[rung] * job.model.epochs))
    return Job(job.model.set_params(epochs=epochs), job.data, job.name, job.roles)


def _state(name: str) -> optuna.trial.TrialState:
    import optuna

    state: optuna.trial.TrialState = optuna.trial.TrialState[name]
    return state
