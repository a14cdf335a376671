"""One fit of many, as a caller describes it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias, final

from latentry.data import Dataset
from latentry.errors import DataError
from latentry.models import AnyModel, LatentModel, clone
from latentry.streams import stream_seed

__all__ = ["Job", "JobLike", "jobs_of"]


@final
@dataclass(frozen=True)
class Job:
    """One fit.

    Args:
        model: With its parameters; it is copied, not changed.
        data: Rows, or a file of them, which every process reads by itself.
        name: Of its folder and its line in the table; made from its number and the model, if none is given.
        roles: For a file: arguments of :func:`latentry.read`, such as ``{"domain": "lab"}``.
    """

    model: AnyModel
    data: Dataset | str | Path
    name: str = ""
    roles: Mapping[str, Any] = field(default_factory=dict)


JobLike: TypeAlias = "Job | AnyModel | tuple[AnyModel, Dataset | str | Path]"


def jobs_of(given: Iterable[JobLike], data: Dataset | str | Path | None, seed: int | None) -> list[Job]:
    """Return jobs with names of their own, and seeds from their numbers if one seed is given for all.

    Args:
        given: Jobs, pairs of model and data, or models where ``data`` are for all of them.
        data: For models that come alone.
        seed: From which, and from a job's number, its model's seed is made; None keeps the models' own.

    Returns:
        The jobs, in order.

    Raises:
        DataError: If one of them is something else, or two have one name.
    """
    jobs = [_job(number, one, data) for number, one in enumerate(given)]
    if not jobs:
        raise DataError("jobs: there are none. Give at least one model.")
    names = [job.name or f"{number:04d}-{job.model.name}" for number, job in enumerate(jobs)]
    _check_names(names)
    return [
        replace(job, name=name, model=_seeded(job.model, number, seed))
        for number, (job, name) in enumerate(zip(jobs, names, strict=True))
    ]


def _job(number: int, given: JobLike, data: Dataset | str | Path | None) -> Job:
    job = given if isinstance(given, Job) else None
    if isinstance(given, LatentModel):
        if data is None:
            raise DataError(f"jobs[{number}]: is a model without data. Give data=, or pairs of model and data.")
        job = Job(given, data)
    elif isinstance(given, tuple) and len(given) == 2:
        job = Job(*given)
    if job is None or not isinstance(job.model, LatentModel) or not isinstance(job.data, Dataset | str | Path):
        raise DataError(
            f"jobs[{number}]={given!r}: neither a Job, nor a model, nor a pair of model and data. Give one of them."
        )
    return job


def _check_names(names: Sequence[str]) -> None:
    for name in names:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._=-]{0,150}", name):
            raise DataError(f"job {name!r}: cannot be the name of a folder. Use letters, digits, and . _ = - .")
    twice = next((name for number, name in enumerate(names) if name in names[:number]), None)
    if twice is not None:
        raise DataError(f"job {twice!r}: two jobs have this name. Give each its own.")


def _seeded(model: AnyModel, number: int, seed: int | None) -> AnyModel:
    copy = clone(model)
    return copy if seed is None else copy.set_params(seed=stream_seed(f"many fits/{number}", seed))
