"""Sizes, priors and numbers of latents, chosen by rows that no candidate was fitted on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from latentry.contracts import HasLikelihood
from latentry.data import DataLike, Dataset, DomainLike
from latentry.errors import DataError
from latentry.models.estimator import AnyModel, LatentModel, clone

__all__ = ["Choice", "choose"]


@dataclass(frozen=True, eq=False)
class Choice:
    """What was tried and how it scored.

    Args:
        model: The best candidate, fitted on the training rows.
        candidates: All of them, fitted, in the order given.
        scores: Mean log evidence of the rows set aside, one for each.
        errors: Standard errors of each score's distance from the best.
        rows: Rows set aside.
    """

    model: AnyModel
    candidates: tuple[AnyModel, ...]
    scores: tuple[float, ...]
    errors: tuple[float, ...]
    rows: int

    def __repr__(self) -> str:
        best = self.candidates.index(self.model)
        lines = [
            f"Choice among {len(self.scores)} by {self.rows} rows set aside; {_scorer(self.model).score_name}, nats per row:"
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
    seed: int = 0,
) -> Choice:
    """Fit each candidate to the same rows and keep the one with the best score on rows that none of them saw.

    Args:
        candidates: Models with the settings to be compared: sizes, priors, numbers of latents. They are not changed.
        X: Data, as for ``fit``.
        y: The auxiliary variable u, as for ``fit``.
        fraction: Fraction of the rows to set aside. What a model holds out to choose its epoch comes from the others.
        seed: Of the split.

    Returns:
        The best candidate, all of them, and their scores.

    Raises:
        DataError: If a candidate cannot score rows, scores another kind of thing than the others, or is not finite.

    >>> from latentry.generators import segments
    >>> from latentry.models import FlowMap, IFlow
    >>> data = segments(domains=4, rows_per_domain=100, latents=2)
    >>> tried = [IFlow(flow=FlowMap(size, 2), epochs=2, progress=False) for size in (1, 2)]
    >>> choose(tried, data).rows
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
    training, aside = data.split(1 - fraction, fraction, seed=seed)
    fitted = _fitted(candidates, training)
    rows = [_scorer(model).score_rows(aside) for model in fitted]
    for number, evidence in enumerate(rows):
        if not np.isfinite(evidence).all():
            raise DataError(f"candidate {number} gives a row set aside a score that is not finite: {fitted[number]!r}.")
    best = int(np.argmax([evidence.mean() for evidence in rows]))
    errors = tuple(float((evidence - rows[best]).std() / np.sqrt(len(evidence))) for evidence in rows)
    return Choice(fitted[best], fitted, tuple(float(evidence.mean()) for evidence in rows), errors, len(aside))


def _scorer(model: AnyModel) -> HasLikelihood:
    assert isinstance(model, HasLikelihood)  # checked before anything is fitted
    return model


def _fitted(candidates: Sequence[AnyModel], training: Dataset) -> tuple[AnyModel, ...]:
    """All of them, unless one turns out to score another kind of thing than the first."""
    fitted: list[AnyModel] = []
    for model in candidates:
        fitted.append(clone(model).fit(training))
        kinds = sorted({_kind(_scorer(done)) for done in fitted})
        if len(kinds) > 1:
            raise DataError(
                f"candidates: their scores are not of one kind ({'; '.join(kinds)}). Compare like with like."
            )
    return tuple(fitted)


def _kind(model: HasLikelihood) -> str:
    likelihoods = ", ".join(f"{name} {kind}" for name, kind in model.likelihoods().items())
    return f"{model.score_name} of {likelihoods}"
