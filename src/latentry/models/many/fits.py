"""Models fitted at once on an engine, where each is needed back as a model."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from latentry.data import Dataset
from latentry.errors import DataError
from latentry.models.estimator import AnyModel, clone
from latentry.models.estimator.saving import load_model
from latentry.models.many.instructions import Instructions
from latentry.models.many.one_fit import Outcome, fit_text
from latentry.training import EngineLike, engine_for, run_texts

__all__ = ["fit_all", "stored_rows"]


def fit_all(
    models: Sequence[AnyModel], data: Sequence[Dataset], executor: EngineLike = "here", workers: int | None = None
) -> list[AnyModel]:
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
        DataError: If a fit failed; it is named.
        KeyboardInterrupt: If a fit was interrupted.
    """
    if executor == "here":
        return [clone(model).fit(rows) for model, rows in zip(models, data, strict=True)]
    with tempfile.TemporaryDirectory(prefix="latentry-fits-") as place, engine_for(executor, workers) as engine:
        folder = Path(place)
        texts = [
            Instructions.of(clone(model), stored_rows(rows, folder), str(folder / f"fit-{number}")).text
            for number, (model, rows) in enumerate(zip(models, data, strict=True))
        ]
        fitted: dict[int, AnyModel] = {}
        for number, result in run_texts(engine, fit_text, texts):
            if isinstance(result, Exception):
                raise DataError(f"fit {number} of {models[number]!r}: {result}") from result
            _check(number, Outcome.from_text(result))
            fitted[number] = load_model(folder / f"fit-{number}")
    return [fitted[number] for number in range(len(models))]


def _check(number: int, outcome: Outcome) -> None:
    if outcome.status == "interrupted":
        raise KeyboardInterrupt
    if outcome.status == "failed":
        raise DataError(f"fit {number}: {outcome.reason}")


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
