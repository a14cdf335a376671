"""Sizes, priors and numbers of latents, chosen by rows that no candidate was fitted on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from latentry.contracts import HasLikelihood
from latentry.data import Dataset
from latentry.errors import DataError
from latentry.models.estimator import LatentModel

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

    model: Any
    candidates: tuple[Any, ...]
    scores: tuple[float, ...]
    errors: tuple[float, ...]
    rows: int

    def __repr__(self) -> str:
        best = self.candidates.index(self.model)
        lines = [
            f"Choice among {len(self.scores)} by {self.rows} rows set aside; {self.model.score_name}, nats per row:"
        ]
        for number, (model, score, error) in enumerate(zip(self.candidates, self.scores, self.errors, strict=True)):
            words = " ".join(repr(model).split())
            gap = "best" if number == best else f"{score - self.scores[best]:.4g} ± {error:.2g}"
            lines.append(f"  {score:10.4f}  {gap:>18}  {words}")
        return "\n".join(lines)


def choose(candidates: Sequence[Any], X: Any, y: Any = None, *, share: float = 0.1, seed: int = 0) -> Choice:
    """Fit each candidate to the same rows and keep the one with the best score on rows that none of them saw.

    Args:
        candidates: Models with the settings to be compared: sizes, priors, numbers of latents. They are not changed.
        X: Data, as for ``fit``.
        y: The auxiliary variable u, as for ``fit``.
        share: Share of the rows to set aside. What a model holds out to choose its epoch comes from the others.
        seed: Of the split.

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
    if not 0 < share < 1:
        raise DataError(f"share = {share!r}: give a share of the rows between 0 and 1.")
    data = X if isinstance(X, Dataset) else Dataset(X, y)
    data = data if y is None or not isinstance(X, Dataset) else data.with_domain(y)
    training, aside = data.split(1 - share, share, seed=seed)
    fitted = _fitted(candidates, training)
    rows = [model.score_rows(aside) for model in fitted]
    for number, found in enumerate(rows):
        if not np.isfinite(found).all():
            raise DataError(f"candidate {number} gives a row set aside a score that is not finite: {fitted[number]!r}.")
    best = int(np.argmax([found.mean() for found in rows]))
    errors = tuple(float((found - rows[best]).std() / np.sqrt(len(found))) for found in rows)
    return Choice(fitted[best], fitted, tuple(float(found.mean()) for found in rows), errors, len(aside))


def _fitted(candidates: Sequence[Any], training: Dataset) -> tuple[Any, ...]:
    """All of them, unless one turns out to score another kind of thing than the first."""
    fitted: list[Any] = []
    for model in candidates:
        fitted.append(clone(model).fit(training))
        kinds = sorted({f"{one.score_name} of {_likelihoods(one)}" for one in fitted})
        if len(kinds) > 1:
            raise DataError(
                f"the scores of the candidates are not of one kind ({'; '.join(kinds)}): compare like with like."
            )
    return tuple(fitted)


def _likelihoods(model: HasLikelihood) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in model.likelihoods().items())
