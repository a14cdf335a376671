"""Sizes, priors and numbers of latents, chosen by rows that no candidate was fitted on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np

from latentry.contracts import HasLikelihood
from latentry.data import DataLike, Dataset, DomainLike
from latentry.errors import DataError
from latentry.models.estimator import AnyModel, LatentModel, Whole, clone, require
from latentry.models.many import fit_all
from latentry.training import EngineLike

__all__ = ["Choice", "choose", "score_kind"]

_ENOUGH = 500  # rows set aside that decide alone
_FOLDS = 5
_Fitting: TypeAlias = Callable[[Sequence[AnyModel], Sequence[Dataset]], list[AnyModel]]


@dataclass(frozen=True, eq=False)
class Choice:
    """What was tried and how it scored.

    Args:
        model: The best candidate, fitted on the training rows; with folds, on all rows.
        candidates: All of them, in the order given; fitted, but with folds only the best is.
        scores: Mean log evidence of the rows set aside, one for each.
        errors: Standard errors of each score's distance from the best, over groups where rows have groups.
        rows: Rows set aside.
        folds: Parts in which every row was set aside once; 1 where one part was.
    """

    model: AnyModel
    candidates: tuple[AnyModel, ...]
    scores: tuple[float, ...]
    errors: tuple[float, ...]
    rows: int
    folds: int = 1

    def __repr__(self) -> str:
        best = self.candidates.index(self.model)
        how = f" in {self.folds} parts" if self.folds > 1 else ""
        lines = [
            f"Choice among {len(self.scores)} by {self.rows} rows set aside{how}; {_scorer(self.model).score_name}, nats per row:"
        ]
        for number, (model, score, error) in enumerate(zip(self.candidates, self.scores, self.errors, strict=True)):
            words = " ".join(repr(model).split())
            gap = "best" if number == best else f"{score - self.scores[best]:.4g} ± {error:.2g}"
            lines.append(f"  {score:10.4f}  {gap:>18}  {words}")
        return "\n".join(lines)


def choose(
    candidates: Sequence[AnyModel],
    X: DataLike,
    y: DomainLike | None = None,
    *,
    fraction: float = 0.1,
    folds: int | str = "auto",
    seed: int = 0,
    executor: EngineLike = "here",
    workers: int | None = None,
) -> Choice:
    """Fit each candidate to the same rows and keep the one with the best score on rows that none of them saw.

    Where few rows would be set aside, every row is set aside once, in so many parts (cross-validation), and the best
    candidate is then fitted to all rows. Rows of one group stay together.

    Cost: a fit of each candidate.

    Args:
        candidates: Models with the settings to be compared: sizes, priors, numbers of latents. They are not changed.
        X: Data, as for ``fit``.
        y: The auxiliary variable u, as for ``fit``.
        fraction: Fraction of the rows to set aside. What a model holds out to choose its epoch comes from the others.
        folds: Parts in which every row is set aside once; 1 sets one part aside; "auto" takes 5 parts where ``fraction`` would
            set aside fewer than 500 rows.
        seed: Of the split.
        executor: Where the fits run, at once but for "here": see :func:`latentry.fit_many`.
        workers: Processes, where the engine is started here.

    Returns:
        The best candidate, all of them, and their scores.

    Raises:
        DataError: If a candidate cannot score rows, scores another kind of thing than the others, or is not finite.

    >>> from latentry.generators import segments
    >>> from latentry.models import FlowMap, IFlow
    >>> data = segments(domains=4, rows_per_domain=100, latents=2)
    >>> tried = [IFlow(flow=FlowMap(size, 2), epochs=2, progress=False) for size in (1, 2)]
    >>> choose(tried, data, folds=1).rows
    40
    """
    if not isinstance(candidates, Sequence) or not candidates:
        raise DataError("candidates: give a list of models to choose from.")
    strange = next((m for m in candidates if not isinstance(m, LatentModel) or not isinstance(m, HasLikelihood)), None)
    if strange is not None:
        raise DataError(f"candidates: {strange!r} is not a model of latentry that scores rows.")
    if not 0 < fraction < 1:
        raise DataError(f"fraction={fraction!r}: not a fraction of the rows. Give a number between 0 and 1.")
    data = X if isinstance(X, Dataset) else Dataset(X, y)
    data = data if y is None or not isinstance(X, Dataset) else data.with_domain(y)
    fit = partial(fit_all, executor=executor, workers=workers)
    return _by_folds(candidates, data, _folds(folds, fraction, data), fraction, seed, fit)


def _folds(folds: int | str, fraction: float, data: Dataset) -> int:
    if folds == "auto":
        return _FOLDS if round(fraction * len(data)) < _ENOUGH else 1
    require("folds", folds, Whole(1))
    return int(folds)


def _by_folds(
    candidates: Sequence[AnyModel], data: Dataset, folds: int, fraction: float, seed: int, fit: _Fitting
) -> Choice:
    """Score every candidate on the rows of each part, fitted to the others."""
    if folds == 1:
        split = [data.split_rows(1 - fraction, fraction, seed=seed)]
    else:
        dealt = data.split_rows(*[1 / folds] * folds, seed=seed)
        split = [(np.setdiff1d(np.arange(len(data)), aside), aside) for aside in dealt]
    every = _fitted(candidates, [data.take(training) for training, _ in split], fit)
    asides = [data.take(aside) for _, aside in split]
    rows = [_scores(number, [fitted[number] for fitted in every], asides) for number in range(len(candidates))]
    best = int(np.argmax([evidence.mean() for evidence in rows]))
    order = np.concatenate([aside for _, aside in split])
    units = None if data.units is None else data.units[order]
    errors = tuple(_error(evidence - rows[best], units) for evidence in rows)
    fitted = every[0] if folds == 1 else _refitted(candidates, best, data, fit)
    scores = tuple(float(evidence.mean()) for evidence in rows)
    return Choice(fitted[best], fitted, scores, errors, len(order), folds)


def _scores(number: int, fitted: Sequence[AnyModel], asides: Sequence[Dataset]) -> np.ndarray:
    parts = [_scorer(model).score_rows(aside) for model, aside in zip(fitted, asides, strict=True)]
    evidence = np.concatenate(parts)
    if not np.isfinite(evidence).all():
        raise DataError(f"candidate {number} gives a row set aside a score that is not finite: {fitted[0]!r}.")
    return evidence


def _error(differences: np.ndarray, units: np.ndarray | None) -> float:
    """Return the standard error of a mean; rows of one unit are added up before they are compared."""
    if units is None:
        return float(differences.std() / np.sqrt(len(differences)))
    sums = np.bincount(np.unique(units, return_inverse=True)[1], differences - differences.mean())
    return float(np.sqrt((sums**2).sum()) / len(differences))


def _refitted(candidates: Sequence[AnyModel], best: int, data: Dataset, fit: _Fitting) -> tuple[AnyModel, ...]:
    fresh = [clone(model) for model in candidates]
    (fresh[best],) = fit([fresh[best]], [data])
    return tuple(fresh)


def _scorer(model: AnyModel) -> HasLikelihood:
    assert isinstance(model, HasLikelihood)  # checked before anything is fitted
    return model


def _fitted(candidates: Sequence[AnyModel], trainings: Sequence[Dataset], fit: _Fitting) -> list[tuple[AnyModel, ...]]:
    """Fit all of them to each part, and see that their scores are of one kind."""
    pairs = [(model, rows) for rows in trainings for model in candidates]
    fitted = fit([model for model, _ in pairs], [rows for _, rows in pairs])
    kinds = sorted({score_kind(_scorer(done)) for done in fitted})
    if len(kinds) > 1:
        raise DataError(f"candidates: their scores are not of one kind ({'; '.join(kinds)}). Compare like with like.")
    count = len(candidates)
    return [tuple(fitted[part * count : (part + 1) * count]) for part in range(len(trainings))]


def score_kind(model: HasLikelihood) -> str:
    """Return what the score of a fitted model is: scores are compared with others of the same kind.

    Cost: constant.

    Args:
        model: Fitted.

    Returns:
        Name of the score, and the likelihood of each modality.
    """
    likelihoods = ", ".join(f"{name} {kind}" for name, kind in model.likelihoods().items())
    return f"{model.score_name} of {likelihoods}"
