"""A short fit to part of the rows, in a process of its own, timed phase by phase."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, final

import numpy as np

from latentry.data import Dataset
from latentry.errors import LatentryError
from latentry.models.estimator import AnyModel, clone
from latentry.models.estimator.fitting import task_for
from latentry.models.many import Instructions, rows_of
from latentry.training import Task, compile_anew, run

__all__ = ["Measured", "probe_text"]

_EPOCHS = 5  # of each phase: the first compiles, and the median of the last three counts
_BATCHES = (4, 16)  # rows of the two fits, in batches


@final
@dataclass(frozen=True)
class Measured:
    """What two short fits took.

    Args:
        rows: Of each fit.
        phases: Seconds of an epoch of each phase, by name, for each fit.
        epochs: How many epochs each phase would have, restarts counted.
        reading: Seconds until the rows were there.
        opening: Seconds besides the epochs, compiling among them; those of the fit that had more.
        studying: Of these, seconds in which the rows were checked and summed up, for each fit.
        closing: Seconds after the last epoch of each fit.
        peak: Largest memory of the process after each fit, in bytes.
        bytes_of_row: Of a row as it is trained on, in single precision.
        whole: Rows of the data.
        stays_on_disk: Whether rows are read when they are needed.
    """

    rows: tuple[int, ...]
    phases: tuple[Mapping[str, float], ...]
    epochs: Mapping[str, int]
    reading: float
    opening: float
    studying: tuple[float, ...]
    closing: tuple[float, ...]
    peak: tuple[int, ...]
    bytes_of_row: int
    whole: int
    stays_on_disk: bool


class _Clock:
    """Notes when each epoch ends, and of which phase it was."""

    def __init__(self) -> None:
        self.began, self.ends = time.perf_counter(), list[tuple[str, float]]()

    def log(self, row: Mapping[str, Any]) -> None:
        """Note an epoch."""
        self.ends.append((str(row["phase"]), time.perf_counter()))

    def seconds(self) -> dict[str, float]:
        """Return the seconds of an epoch of each phase once its programs are compiled."""
        taken: dict[str, list[float]] = {}
        for (_, before), (name, after) in zip([("", self.began), *self.ends], self.ends, strict=False):
            taken.setdefault(name, []).append(after - before)
        return {name: float(np.median(spans[-3:])) for name, spans in taken.items()}


def probe_text(text: str) -> str:
    """Measure a fit that instructions describe, as engines ask for it, in a process of its own.

    Args:
        text: Of :class:`Instructions`.

    Returns:
        Text of :class:`Measured`; or of the error that the fit would end with.
    """
    given = Instructions.from_text(text)
    compile_anew()  # other numbers of rows have other programs, which no earlier run kept
    try:
        began = time.perf_counter()
        data = rows_of(given)[0]
        return json.dumps(asdict(_measured(given.build(), data, time.perf_counter() - began)))
    except LatentryError as problem:
        return json.dumps({"error": str(problem)})


def _measured(model: AnyModel, data: Dataset, reading: float) -> Measured:
    sizes = sorted({min(len(data), count * model.batch_size) for count in _BATCHES})
    fits = [_fitted(clone(model), data, rows) for rows in sizes]
    task = fits[-1].task
    epochs: dict[str, int] = {}
    for phase in task.phases:
        epochs[phase.name] = epochs.get(phase.name, 0) + phase.epochs * task.restarts
    return Measured(
        rows=tuple(sizes),
        phases=tuple(fit.phases for fit in fits),
        epochs=epochs,
        reading=reading,
        opening=max(fit.opening for fit in fits),
        studying=tuple(fit.studying for fit in fits),
        closing=tuple(fit.closing for fit in fits),
        peak=tuple(fit.peak for fit in fits),
        bytes_of_row=4 * sum(int(np.prod(shape)) for _, shape in data.layout.shapes),
        whole=len(data),
        stays_on_disk=data.is_lazy,
    )


@dataclass(frozen=True)
class _Fitted:
    task: Task
    phases: Mapping[str, float]
    opening: float
    studying: float
    closing: float
    peak: int


def _fitted(model: AnyModel, data: Dataset, rows: int) -> _Fitted:
    """Fit to evenly spaced rows for a few epochs of each phase, and end as a whole fit ends."""
    began = time.perf_counter()
    part = data.take(np.linspace(0, len(data) - 1, rows).astype(int)) if rows < len(data) else data
    begun = time.perf_counter()
    model.record_ = model.decided(model.study(part), part, None)
    studied = time.perf_counter()
    task, clock = task_for(model, part), _Clock()
    brief = replace(task, phases=tuple(p.lasting(min(p.epochs, _EPOCHS)) for p in task.phases), restarts=1)
    state = run(brief, logger=clock, progress=False)
    trained = time.perf_counter()
    model.concluded(brief, state)
    ended = time.perf_counter()
    phases = clock.seconds()
    counted = sum(phases[name] for name, _ in clock.ends)
    return _Fitted(task, phases, trained - began - counted, studied - begun, ended - trained, _peak())


def _peak() -> int:
    """Return the largest memory of this program so far; what ``getrusage`` counts begins with the process that started it."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return 1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])
    except (OSError, StopIteration):  # not on Linux
        import resource

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else 1024 * most
