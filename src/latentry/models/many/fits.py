"""Models fitted at once on an engine, where each is needed back as a model."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from latentry.data import Dataset
from latentry.errors import CheckpointError, DataError, LatentryError, TrainingDiverged
from latentry.models.estimator import LatentModel, clone
from latentry.models.estimator.saving import load_model
from latentry.models.many.instructions import Instructions
from latentry.models.many.one_fit import Outcome, fit_text
from latentry.training import EngineLike, engine_for, run_texts, stays_here

__all__ = ["fit_all", "fit_each", "stored_rows"]

ModelT = TypeVar("ModelT", bound=LatentModel[Any, Any])

_ERRORS: dict[str, type[LatentryError]] = {
    kind.__name__: kind for kind in (DataError, CheckpointError, TrainingDiverged)
}  # of which a caller catches some


def fit_all(
    models: Sequence[ModelT], data: Sequence[Dataset], executor: EngineLike = "here", workers: int | None = None
) -> list[ModelT]:
    """Fit each model to its rows.

    Cost: a fit for each model, side by side where there are workers.

    Args:
        models: Not changed.
        data: Rows for each of them; the same object may stand for several.
        executor: Where the fits run: see :func:`latentry.training.engine_for`. "here" fits in this process, and takes models with
            functions of your own too.
        workers: Processes, where the engine is started here.

    Returns:
        The fitted models, in order.

    Raises:
        DataError: If the data or parameters of a fit cannot be used; from another process, the fit is named.
        LatentryError: If a fit failed in another way.
        KeyboardInterrupt: If a fit was interrupted.
    """
    fitted = []
    for found in fit_each(models, data, executor, workers):
        if isinstance(found, DataError):
            raise found
        fitted.append(found)
    return fitted


def fit_each(
    models: Sequence[ModelT],
    data: Sequence[Dataset],
    executor: EngineLike = "here",
    workers: int | None = None,
    begin: Callable[[int], None] | None = None,
) -> list[ModelT | DataError]:
    """Fit each model to its rows; data or parameters that cannot be used are a result.

    Cost: as of :func:`fit_all`.

    Args:
        models: Not changed.
        data: Rows for each of them.
        executor: Where the fits run.
        workers: Processes, where the engine is started here.
        begin: Called with the number of each fit as it begins; on an engine, with all of them before the first.

    Returns:
        Fitted models or errors, in order.

    Raises:
        LatentryError: If a fit failed in another way.
        KeyboardInterrupt: If a fit was interrupted.
    """
    begin = (lambda number: None) if begin is None else begin
    if stays_here(executor, workers):
        return [
            _here(model, rows, number, begin) for number, (model, rows) in enumerate(zip(models, data, strict=True))
        ]
    with tempfile.TemporaryDirectory(prefix="latentry-fits-") as place, engine_for(executor, workers) as engine:
        folder = Path(place)
        texts = [
            Instructions.of(clone(model), stored_rows(rows, folder), str(folder / f"fit-{number}")).text
            for number, (model, rows) in enumerate(zip(models, data, strict=True))
        ]
        for number in range(len(texts)):
            begin(number)
        found: dict[int, ModelT | DataError] = {}
        for number, result in run_texts(engine, fit_text, texts):
            if isinstance(result, Exception):
                raise LatentryError(f"fit {number} of {models[number]!r}: {result}") from result
            found[number] = _back(number, models[number], Outcome.from_text(result), folder / f"fit-{number}")
    return [found[number] for number in range(len(models))]


def _here(model: ModelT, rows: Dataset, number: int, begin: Callable[[int], None]) -> ModelT | DataError:
    begin(number)
    try:
        fitted = clone(model).fit(rows)
    except DataError as problem:
        return problem
    if fitted.state_.stopped == "interrupted":
        raise KeyboardInterrupt
    return fitted


def _back(number: int, model: ModelT, outcome: Outcome, folder: Path) -> ModelT | DataError:
    """Return the model of a fit that was made elsewhere, or what went wrong."""
    if outcome.status == "interrupted":
        raise KeyboardInterrupt
    if outcome.status == "failed":
        problem = _ERRORS.get(outcome.error, LatentryError)(f"fit {number}: {outcome.reason}")
        if isinstance(problem, DataError):
            return problem
        raise problem
    return cast("ModelT", load_model(folder).set_params(progress=model.progress))  # of the same class


def stored_rows(rows: Dataset, folder: Path) -> str:
    """Write rows once, under a name made of their content.

    Cost: linear in the bytes of the rows.

    Args:
        rows: Any.
        folder: That exists.

    Returns:
        The file.
    """
    path = folder / f"rows-{rows.fingerprint[:16]}.npz"
    if not path.exists():
        rows.write(path)
    return str(path)
