"""The same model again: from other seeds, and from halves of the rows."""

from __future__ import annotations

from dataclasses import dataclass

from sklearn.base import clone

from latentry.certificate import Matching, match_latents
from latentry.data import Dataset
from latentry.discovery.candidates import Candidate
from latentry.discovery.fits import Fits
from latentry.errors import DataError, TrainingDiverged
from latentry.models import AnyModel

__all__ = ["Repeats", "repeat"]

_RESTARTS = 2  # fits besides the one that is kept


@dataclass(frozen=True, eq=False)
class Repeats:
    """The model that is kept, and the fits that it was matched with.

    Args:
        model: Fitted to all training rows.
        restarts: The same from other seeds.
        halves: The same from halves of the training rows; none where the budget did not reach.
        by_seed: Latents matched over seeds; None where there is one fit alone.
        by_half: Latents matched over halves.
        sentences: What reappeared, and what was left out.
    """

    model: AnyModel
    restarts: tuple[AnyModel, ...]
    halves: tuple[AnyModel, ...]
    by_seed: Matching | None
    by_half: Matching | None
    sentences: tuple[str, ...]

    @property
    def reproduced(self) -> tuple[str, ...]:
        """Return the latents that every fit to be matched has."""
        found = [set(one.reappearing) for one in (self.by_seed, self.by_half) if one is not None]
        names = () if not found else next(one for one in (self.by_seed, self.by_half) if one is not None).latents
        return tuple(name for name in names if all(name in some for some in found))


def repeat(best: Candidate, training: Dataset, data: Dataset, fits: Fits, *, seed: int, end: float = 0.0) -> Repeats:
    """Fit the best candidate to all training rows, again from other seeds and to two halves, and match the latents.

    Args:
        best: That was taken.
        training: All rows that may be fitted.
        data: All rows: those that no fit saw are matched.
        fits: That keep, count and time.
        seed: Of the halves.
        end: What the budget must have left afterwards.

    Returns:
        The model, the other fits, and what reappeared.
    """
    said: list[str] = []
    model = fits.fit(f"final {best.name}", clone(best.model), training)
    restarts = []
    for number in range(1, _RESTARTS + 1):
        if not fits.rounds(_again(fits, number), 1, end):
            said.append(f"Restart {number} of {_RESTARTS} was left out: the budget does not reach.")
            break
        again = clone(best.model).set_params(seed=best.model.seed + number)
        try:
            restarts.append(fits.fit(f"final {best.name}, seed {again.seed}", again, training))
        except TrainingDiverged as why:
            said.append(f"Restart {number} of {_RESTARTS} could not be fitted: {why}")
    halves = _halves(best, training, fits, seed, end, said)
    by_seed = _matched({"the fit": model, **{f"seed {one.seed}": one for one in restarts}}, data, said, "other seeds")
    named = {"the fit": model, **{f"half {i + 1}": one for i, one in enumerate(halves)}}
    by_half = _matched(named, data, said, "halves of the rows")
    return Repeats(model, tuple(restarts), halves, by_seed, by_half, tuple(said))


def _again(fits: Fits, number: int) -> float:
    """Return what a restart costs: the first one is compiled already, and takes about half of the time."""
    return fits.cost("final") * (0.5 if number == 1 and fits.budget.fits is None else 1.0)


def _halves(
    best: Candidate, training: Dataset, fits: Fits, seed: int, end: float, said: list[str]
) -> tuple[AnyModel, ...]:
    if not fits.rounds(fits.first("final") + fits.cost("final"), 1, end):
        said.append("Fits to halves of the rows were left out: the budget does not reach.")
        return ()
    try:
        two = training.split(0.5, 0.5, seed=seed)
        return tuple(fits.fit(f"half {i + 1} of {best.name}", clone(best.model), part) for i, part in enumerate(two))
    except (DataError, TrainingDiverged) as why:
        said.append(f"Halves of the rows could not be fitted: {why}")
        return ()


def _matched(models: dict[str, AnyModel], data: Dataset, said: list[str], what: str) -> Matching | None:
    if len(models) < 2:
        return None
    found = match_latents(models, data)
    said.append(f"Matched with {what}, {found.sentence}")
    return found
