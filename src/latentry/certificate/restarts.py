"""The same model from other seeds, on the rows that trained it: do restarts find the same latents?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import clone

from latentry.certificate.splitting import Split
from latentry.contracts import KeepsFitRecord
from latentry.data import Dataset
from latentry.errors import DataError

__all__ = ["refitted"]


def refitted(
    model: Any, data: Dataset, split: Split, count: int, progress: Callable[[str], None] | None = None
) -> tuple[Any, ...]:
    """Fits from the seeds after the model's own; none of them sees a row that is audited."""
    if not count:
        return ()
    record = model.fit_record() if isinstance(model, KeepsFitRecord) else None
    if record is None:
        raise DataError("restarts: latents made elsewhere cannot be fitted again; only a model can.")
    if split.trained is None:
        raise DataError(
            "restarts: the rows of the fit are not among these data, so that nothing can be fitted again. Pass all rows, of "
            "which the fit had a part, or fits from other seeds as others=[...]."
        )
    training, found = data.take(split.trained), []
    for number in range(1, count + 1):
        if progress is not None:
            progress(f"restart {number} of {count}")
        again = clone(model).set_params(seed=record.seed + number, restarts=1, progress=False)
        found.append(again.fit(training))
        if again.state_.stopped == "interrupted":
            raise KeyboardInterrupt
    return tuple(found)
