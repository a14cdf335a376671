"""A search over ranges by Optuna: trials are asked for and told, and poor ones are ended early."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from latentry.errors import DataError, MissingExtra
from latentry.sweeps.fit_many import fit_many
from latentry.sweeps.jobs import Job
from latentry.sweeps.many_fits import ManyFits
from latentry.sweeps.sweep_file import Range, Sweep, job_for

if TYPE_CHECKING:
    import optuna

__all__ = ["search"]

_AT_ONCE = 4  # trials asked for before any of them is told: the same on every engine, so that the result is too
_RUNGS = (0.25, 1.0)  # fractions of the epochs after which a trial may end


def search(sweep: Sweep, folder: str | Path, *, progress: bool | str = "auto") -> ManyFits:
    """Search the ranges of a sweep for the best score on rows aside (Akiba et al., 2019).

    Trials are asked for in groups, whose fits run at once. After a part of its epochs a trial below the median of the others
    ends; the others are fitted in full. The journal in the folder keeps every trial, so that a search goes on where it was stopped.

    Cost: one fit for each trial, divided by the workers.

    Args:
        sweep: With ranges, one file, one seed, rows aside, and ``search``.
        folder: For runs and journal.
        progress: True, False or "auto".

    Returns:
        A line for each fit.

    Raises:
        DataError: If the sweep cannot be searched.
        MissingExtra: If Optuna is not installed.
    """
    asked = dict(sweep.search or {})
    if len(sweep.data) > 1 or len(sweep.models) > 1 or not sweep.aside:
        raise DataError("search: takes one data file, one entry of models, and aside above 0. Write a sweep of each.")
    study = _study(Path(folder), int(asked.get("seed", 0)))
    kind, values = sweep.models[0]
    done: list[ManyFits] = []
    while (left := asked.get("trials", 20) - len(_ended(study))) > 0:
        trials = [study.ask() for _ in range(min(_AT_ONCE, left))]
        chosen = [_suggested(trial, values) for trial in trials]
        done.append(_group(study, trials, chosen, kind, sweep, Path(folder), progress))
    return ManyFits(tuple(row for part in done for row in part), Path(folder).absolute())


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


def _suggested(trial: optuna.Trial, values: Mapping[str, Sequence[Any] | Range]) -> dict[str, Any]:
    return {name: _suggest(trial, name, value) for name, value in values.items()}


def _suggest(trial: optuna.Trial, name: str, value: Sequence[Any] | Range) -> Any:
    if not isinstance(value, Range):
        return value[0] if len(value) == 1 else value[trial.suggest_categorical(name, list(range(len(value))))]
    if isinstance(value.low, int) and isinstance(value.high, int):
        return trial.suggest_int(name, value.low, value.high, log=value.log)
    return trial.suggest_float(name, value.low, value.high, log=value.log)


def _group(
    study: optuna.Study,
    trials: Sequence[optuna.Trial],
    chosen: Sequence[Mapping[str, Any]],
    kind: str,
    sweep: Sweep,
    folder: Path,
    progress: bool | str,
) -> ManyFits:
    """Fit a group of trials for a part of their epochs; then those that were not ended for all of them."""
    (source,) = sweep.data.values()
    rungs = tuple((sweep.search or {}).get("rungs", _RUNGS))
    alive, rows = dict(zip([trial.number for trial in trials], zip(trials, chosen, strict=True), strict=True)), {}
    for step, part in enumerate(rungs):
        jobs = {n: _job(n, step, kind, one, part, source, sweep.seeds[0]) for n, (_, one) in alive.items()}
        found = fit_many(
            jobs.values(), folder=folder, aside=sweep.aside, split=sweep.split, progress=progress, **sweep.engine,
            certify=sweep.certify and step == len(rungs) - 1, epsilon=sweep.epsilon,
        )  # fmt: skip
        for number, row in zip(jobs, found, strict=True):
            rows[number] = row
            trial = alive[number][0]
            if row.score is None:
                study.tell(trial, state=_state("FAIL"))
                del alive[number]
                continue
            trial.report(row.score, step)
            last = step == len(rungs) - 1
            if last or trial.should_prune():
                study.tell(trial, row.score if last else None, state=None if last else _state("PRUNED"))
                del alive[number]
    return ManyFits(tuple(rows.values()), folder)


def _job(
    number: int, step: int, kind: str, chosen: Mapping[str, Any], part: float, source: Mapping[str, Any], seed: int
) -> Job:
    job = job_for(kind, {**chosen, "seed": seed}, source, f"trial-{number:04d}-{step}")
    epochs = max(1, round(part * job.model.epochs))
    return Job(job.model.set_params(epochs=epochs), job.data, job.name, job.roles)


def _state(name: str) -> optuna.trial.TrialState:
    import optuna

    state: optuna.trial.TrialState = optuna.trial.TrialState[name]
    return state
