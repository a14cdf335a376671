"""One fit of many, in whatever process: fitted, scored on rows that it did not see, kept in its folder."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, final

import numpy as np

from latentry.contracts import HasLikelihood
from latentry.data import Dataset, read
from latentry.errors import LatentryError
from latentry.models.estimator import AnyModel
from latentry.models.many.instructions import Instructions
from latentry.training import epochs_of, holds_run
from latentry.whole_files import write_whole

__all__ = ["Outcome", "carry_out", "fit_text", "finished", "rows_of", "written"]

_OUTCOME = "outcome.json"


@final
@dataclass(frozen=True)
class Outcome:
    """What came of a fit.

    Args:
        status: "done", "failed", or "interrupted".
        reason: Why it failed, or nothing.
        numbers: Rows, score, epochs and whatever else was measured: the same on every engine.
        seconds: That the fit took, where it ran.
        warnings: Sentences.
        mark: Of the instructions.
        error: Class of what went wrong, or nothing.
    """

    status: str
    reason: str = ""
    numbers: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    mark: str = ""
    error: str = ""

    @property
    def text(self) -> str:
        """Return the outcome as text; numbers that are not finite become null."""
        numbers = {name: _plain(value) for name, value in self.numbers.items()}
        return json.dumps({**asdict(self), "numbers": numbers})

    @classmethod
    def from_text(cls, text: str) -> Outcome:
        """Read what :attr:`text` wrote."""
        stored = json.loads(text)
        return cls(**{**stored, "warnings": tuple(stored["warnings"])})


def _plain(value: object) -> object:
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not np.isfinite(value) else value


def fit_text(text: str) -> str:
    """Carry out instructions, as engines ask for it.

    Args:
        text: Of :class:`Instructions`.

    Returns:
        Text of the :class:`Outcome`; what went wrong is in it.
    """
    given = Instructions.from_text(text)
    return written(given, carry_out(given)[0])


def carry_out(given: Instructions) -> tuple[Outcome, AnyModel | None]:
    """Fit a model and score it; a fit that was stopped goes on from its folder, and a finished one is read.

    Cost: a fit, and one reading of the rows that it is scored by.

    Args:
        given: What to do.

    Returns:
        The outcome, and the model where the fit is done.

    Raises:
        KeyboardInterrupt: If the second of two interrupts came.
    """
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model, numbers = _fitted(given)
            status, reason = ("interrupted", "") if model.state_.stopped == "interrupted" else ("done", "")
            error = ""
        except (LatentryError, ArithmeticError, ValueError, TypeError, MemoryError, RuntimeError) as problem:
            explained, error = isinstance(problem, LatentryError), type(problem).__name__
            model, numbers, status = None, {}, "failed"
            reason = f"{problem}" if explained else f"{type(problem).__name__}: {problem}"
    said = tuple(sorted({str(one.message) for one in caught}))
    return Outcome(status, reason, numbers, time.perf_counter() - began, said, given.mark, error), model


def written(given: Instructions, outcome: Outcome) -> str:
    """Keep an outcome beside its run, if the fit is done.

    Cost: constant.

    Args:
        given: What was to be done.
        outcome: What came of it.

    Returns:
        The outcome's text.
    """
    if outcome.status == "done":
        write_whole({Path(given.folder) / _OUTCOME: outcome.text + "\n"})
    return outcome.text


def finished(given: Instructions, mark: str) -> Outcome | None:
    """Return the outcome of a fit that was done before, in answer to the same request.

    Cost: constant.

    Args:
        given: What is to be done.
        mark: Of the request.

    Returns:
        The outcome; None where there is none.
    """
    try:
        outcome = Outcome.from_text((Path(given.folder) / _OUTCOME).read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return outcome if outcome.mark == mark and holds_run(given.folder) else None


def _fitted(given: Instructions) -> tuple[AnyModel, dict[str, Any]]:
    training, aside = rows_of(given)
    model = given.build().fit(training, run=given.folder, resume=holds_run(given.folder))
    numbers: dict[str, Any] = {"rows": len(training), "rows_aside": 0 if aside is None else len(aside)}
    numbers |= {"epochs": sum(epochs_of(model.history_).values()), "stopped": model.state_.stopped}
    if aside is not None and isinstance(model, HasLikelihood):
        scores = model.score_rows(aside)
        numbers |= {"score": float(scores.mean()), "score_name": model.score_name}
    return model, numbers


def rows_of(given: Instructions) -> tuple[Dataset, Dataset | None]:
    """Return the rows that a fit learns from, and those that it does not see.

    Cost: linear in the rows that are read.

    Args:
        given: What is to be done.

    Returns:
        Training rows, and rows aside, if there are any.
    """
    return _rows(given.rows, json.dumps(given.roles, sort_keys=True), given.aside, given.split)


@lru_cache(maxsize=2)
def _rows(path: str, roles: str, aside: float, seed: int) -> tuple[Dataset, Dataset | None]:
    data = read(path, **json.loads(roles))
    if not aside:
        return data, None
    training, fresh = data.split(1 - aside, aside, seed=seed)
    return training, fresh
