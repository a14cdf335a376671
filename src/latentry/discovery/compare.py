"""Candidates compared on rows that no fit saw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from latentry.contracts import HasLikelihood
from latentry.data import Dataset
from latentry.discovery.candidates import Candidate
from latentry.discovery.fits import Fits
from latentry.discovery.held_out import ENOUGH, parts, some_rows
from latentry.errors import DataError, TrainingDiverged
from latentry.identifiability import mean_gain
from latentry.models import AnyModel
from latentry.models import score_kind as kind_of_score

__all__ = ["FINAL_FITS", "Comparison", "Score", "compare", "decide"]

_MOST_ROWS = 10_000  # by which candidates are compared
FOLDS = 5
FINAL_FITS = 3  # that are kept for the end: the model and two restarts


@dataclass(frozen=True, eq=False)
class Score:
    """How a candidate described rows that it was not fitted to.

    Args:
        name: Of the candidate.
        rank: How much it could identify.
        kind: What the score is; only scores of one kind are densities in the same sense. Empty without a likelihood.
        rows: The score of each row, nats; none without a likelihood.
    """

    name: str
    rank: int
    kind: str
    rows: np.ndarray

    @property
    def mean(self) -> float:
        """Return nats per row."""
        return float(self.rows.mean()) if len(self.rows) else float("nan")

    @property
    def exact(self) -> bool:
        """Return whether the score is a likelihood, and not a bound on it."""
        return self.kind.startswith("log likelihood")


@dataclass(frozen=True, eq=False)
class Comparison:
    """Candidates, their scores, and which of them was taken.

    Args:
        scores: One for each candidate that was fitted.
        best: The one that was taken.
        rows: Rows set aside that were scored.
        folds: How often the candidates were fitted.
        sentences: Each decision, with its number.
        units: The unit of each row that was scored.
    """

    scores: tuple[Score, ...]
    best: Candidate
    rows: int
    folds: int
    sentences: tuple[str, ...]
    units: np.ndarray | None = None


def compare(
    data: Dataset, tried: Sequence[Candidate], fits: Fits, *, seed: int, end: float, folds: int | None = None
) -> Comparison:
    """Fit the candidates to the same rows and compare them on others.

    Args:
        data: Rows that may be fitted.
        tried: In their order; the last ones are left out where the budget does not reach.
        fits: That keep, count and time.
        seed: Of the split.
        end: What the budget must have left afterwards, besides a final fit of the slowest candidate.
        folds: How often each is fitted, where an earlier comparison has settled it: scores then are of the same rows.

    Returns:
        Scores, the decision, and what was left out.

    Raises:
        DataError: If no candidate could be fitted.
    """
    if len(tried) == 1:
        said_alone = (f"{tried[0].name} is the only candidate, and needs no comparison.",)
        return Comparison((), tried[0], 0, 0, said_alone)
    rows = some_rows(data, _MOST_ROWS, seed) if len(data) > _MOST_ROWS else data
    folds, said = _folds(rows, len(tried), fits, end) if folds is None else (folds, [])
    split = parts(rows, folds, seed)
    order = np.concatenate([aside for _, aside in split])
    scores: list[Score] = []
    growth = max(1.0, 0.5 * len(data) / len(rows))
    for number, candidate in enumerate(tried):
        cost = _cost(candidate, tried[:number], folds, fits)
        last = FINAL_FITS if fits.budget.fits is not None else _final_cost(tried[: number + 1], cost, fits, growth)
        if number and not fits.rounds(cost, 1, end + last):
            said.append(f"{candidate.name} was left out: the budget does not reach.")
            continue
        try:
            scores.append(_scored(candidate, rows, split, fits))
        except (DataError, TrainingDiverged) as problem:
            said.append(f"{candidate.name} could not be fitted: {problem}")
    if not scores:
        raise DataError(f"data: no model could be fitted. {' '.join(said)}")
    units = None if rows.units is None else rows.units[order]
    chosen, why = decide(scores, units)
    best = next(one for one in tried if one.name == chosen.name)
    return Comparison(tuple(scores), best, len(order), folds, (*said, *why), units)


def _cost(candidate: Candidate, before: Sequence[Candidate], folds: int, fits: Fits) -> float:
    """Return what a candidate will cost: its fits, or seconds at the pace of those before it."""
    if fits.budget.fits is not None:
        return float(folds)
    return candidate.effort * max((fits.first(one.name) / one.effort for one in before), default=0.0)


def _final_cost(tried: Sequence[Candidate], cost: float, fits: Fits, growth: float) -> float:
    """Return the seconds of a final fit of the slowest candidate; compilation does not grow with the rows."""
    return growth * max(cost, *(fits.first(one.name) for one in tried))


def _folds(rows: Dataset, count: int, fits: Fits, end: float) -> tuple[int, list[str]]:
    """Return how often candidates are fitted: five times where rows are few, unless fits are counted and there are too few."""
    aside = round(0.2 * len(rows))
    if aside >= ENOUGH:
        return 1, []
    if fits.budget.fits is None or fits.left >= count * FOLDS + FINAL_FITS + end:
        return FOLDS, [f"{aside} rows set aside would be few, so that each row is set aside once in {FOLDS} parts."]
    return 1, [f"{aside} rows are set aside, which is few: the budget does not reach for {FOLDS} parts."]


def _scored(candidate: Candidate, rows: Dataset, split: Sequence[tuple[Dataset, np.ndarray]], fits: Fits) -> Score:
    kind, found = "", []
    for number, (fitted, aside) in enumerate(split):
        name = candidate.name if len(split) == 1 else f"{candidate.name}, part {number + 1} of {len(split)}"
        model = fits.fit(name, _fresh(candidate.model), fitted)
        if not isinstance(model, HasLikelihood):
            rank = candidate.rank if model.n_features_out > 1 else 0  # one value tells rows apart in nothing
            return Score(candidate.name, rank, "", np.zeros(0))
        kind = kind_of_score(model)
        found.append(model.score_rows(rows.take(aside)))
    scores = np.concatenate(found)
    if not np.isfinite(scores).all():
        raise DataError("a row set aside has a score that is not finite.")
    return Score(candidate.name, candidate.rank, kind, scores)


def _fresh(model: AnyModel) -> AnyModel:
    """Return the model as it was before any fit; comparisons need no restarts."""
    fresh: AnyModel = clone(model).set_params(restarts=1)
    return fresh


def decide(scores: Sequence[Score], units: np.ndarray | None = None) -> tuple[Score, tuple[str, ...]]:
    """Take, of candidates that describe the rows about equally well, the one that could identify most.

    Scores of one kind are compared by their difference, row by row. A bound is no likelihood: where a bound is higher than a
    likelihood its model is better; where it is lower nothing follows, and the model that could identify more is taken, the
    one with the likelihood where both could identify as much. So it is for a model without a score.

    Cost: candidates · rows.

    Args:
        scores: Of the candidates.
        units: The unit of each row.

    Returns:
        The one that is taken, and why.

    >>> rows = np.linspace(-1, 1, 50)
    >>> plain, changing = Score("VAE", 0, "bound", rows), Score("IVAE", 3, "bound", 0.999 * rows)
    >>> decide([plain, changing])[0].name
    'IVAE'
    """
    said: list[str] = []
    kinds = dict.fromkeys(one.kind for one in scores if one.kind)
    leaders = [_leader([one for one in scores if one.kind == kind], units, said) for kind in kinds]
    without = [one for one in scores if not one.kind]
    if not leaders:
        return without[0], (f"{without[0].name} is the only kind of model that applies.",)
    first = _across(leaders, units, said) if len(leaders) > 1 else leaders[0]
    for one in without:
        more = one.rank > first.rank
        why = f"which could identify {'more' if more else 'no more'} than {first.name}"
        said.append(f"{one.name} has no likelihood to be compared by: it is {'' if more else 'not '}taken, {why}.")
        first = one if more else first
    return first, tuple(said)


def _leader(scores: Sequence[Score], units: np.ndarray | None, said: list[str]) -> Score:
    """Return the most identifying of those within one standard error of the best of a kind."""
    best = max(scores, key=lambda one: one.mean)
    gaps = {one.name: mean_gain(best.rows - one.rows, units) for one in scores}
    level = [one for one in scores if gaps[one.name].mean <= gaps[one.name].error]
    taken = max(level, key=lambda one: (one.rank, one.mean))
    if len(scores) > 1:
        others = "; ".join(
            f"{one.name} {-gaps[one.name].mean:+.3f} ± {gaps[one.name].error:.3f}" for one in scores if one is not best
        )
        why = "" if taken is best else f" {taken.name} is no worse by one standard error, and could identify more."
        said.append(
            f"{best.name} describes rows set aside best, {best.mean:.3f} nats a row; of the others {others}.{why}"
        )
    return taken


def _across(leaders: Sequence[Score], units: np.ndarray | None, said: list[str]) -> Score:
    """Return one of several leaders whose scores are of different kinds."""
    exact = [one for one in leaders if one.exact]
    bounds = [one for one in leaders if not one.exact]
    first = max(leaders, key=lambda one: (one.rank, one.exact, one.mean))
    if len(exact) == 1 and bounds:
        higher = max(bounds, key=lambda one: one.mean)
        gap = mean_gain(higher.rows - exact[0].rows, units)
        if gap.mean > gap.error:
            said.append(
                f"{higher.name} is better than {exact[0].name}: even a lower bound on its likelihood is higher, by {gap} nats "
                "a row."
            )
            return max([one for one in bounds if one.rank >= higher.rank], key=lambda one: one.mean)
        said.append(
            f"{exact[0].name} has a likelihood ({exact[0].mean:.3f} nats a row) and {higher.name} a lower bound on one "
            f"({higher.mean:.3f}), which is not higher: {first.name} is taken, which could identify "
            f"{'more' if first.rank > min(one.rank for one in leaders) else 'as much'}."
        )
        return first
    said.append(
        f"Scores are of different kinds, and are not compared: {first.name} is taken, which could identify most."
    )
    return first
