"""The same model from other seeds, on the rows that trained it: do restarts give the same latents?"""

from __future__ import annotations

from latentry.certificate.splitting import Split
from latentry.contracts import HasChannel, KeepsFitRecord, Variant, Where, fit_variants
from latentry.data import Dataset
from latentry.errors import DataError

__all__ = ["refitted", "training_rows"]


def refitted(model: object, data: Dataset, split: Split, count: int, where: Where) -> tuple[HasChannel, ...]:
    """Fit a model again from the seeds after its own; no fit sees a row that is audited.

    Args:
        model: That was fitted.
        data: All rows.
        split: Which of them trained the model.
        count: Of further fits.
        where: The engine of the fits.

    Returns:
        The further fits.

    Raises:
        DataError: If it is no model, or its training rows are not among the data.
        KeyboardInterrupt: If a fit was interrupted.
    """
    if not count:
        return ()
    training = training_rows(model, data, split, f"restarts={count}")
    assert isinstance(model, KeepsFitRecord)
    record = model.fit_record()
    assert record is not None
    settled = {**model.chosen_params(), "restarts": 1, "progress": False}
    variants = [
        Variant({**settled, "seed": record.seed + number}, training, f"restart {number} of {count}")
        for number in range(1, count + 1)
    ]
    assert isinstance(model, HasChannel)
    fits = fit_variants(model, variants, where)
    for fit in fits:
        if isinstance(fit, DataError):
            raise fit
    return tuple(fit for fit in fits if not isinstance(fit, DataError))


def training_rows(model: object, data: Dataset, split: Split, asked: str) -> Dataset:
    """Return the rows that trained a model.

    Args:
        model: That was fitted.
        data: All rows.
        split: Which of them trained the model.
        asked: What they are wanted for, as the caller wrote it, such as "restarts=2".

    Returns:
        Rows, none of which is audited.

    Raises:
        DataError: If it is no model, or its training rows are not among the data.
    """
    if not isinstance(model, KeepsFitRecord) or model.fit_record() is None:
        raise DataError(
            f"{asked}: latents made elsewhere cannot be fitted again. Give a model, or leave {asked.split('=')[0]} out."
        )
    if split.trained is None:
        raise DataError(
            f"{asked}: the rows of the fit are not among these data, so that nothing can be fitted again. Pass all "
            "rows, of which the fit had a part, or fits from other seeds as others=[...]."
        )
    return data.take(split.trained)
