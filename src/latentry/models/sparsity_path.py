"""How much sparsity: weights compared on rows that no fit saw, and by whether restarts agree on the mixing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.base import clone

from latentry.data import Dataset, MixingSupport
from latentry.errors import DataError
from latentry.models.cgvae import CGVAE
from latentry.models.checks import whole_number

__all__ = ["PATH", "SparsityPath", "choose_sparsity"]

PATH = (0.0, 0.01, 0.05, 0.1, 0.5, 1.0)


@dataclass(frozen=True, eq=False)
class SparsityPath:
    """Weights that were tried, and what became of each.

    Args:
        model: The chosen fit.
        weight: Its weight λ.
        weights: All that were tried, ascending.
        scores: Mean log evidence of the rows set aside, of each weight's best start.
        losses: How far each falls short of the best, and
        errors: the standard error of that.
        stability: Mean F1 between the edges that different starts found.
        edges: Number of edges.
        best: The best start of each weight, by the penalised loss.
        fits: All fits, by weight and start.
        rows: Rows set aside to compare weights.
    """

    model: CGVAE
    weight: float
    weights: tuple[float, ...]
    scores: tuple[float, ...]
    losses: tuple[float, ...]
    errors: tuple[float, ...]
    stability: tuple[float, ...]
    edges: tuple[int, ...]
    best: tuple[CGVAE, ...]
    fits: tuple[tuple[CGVAE, ...], ...]
    rows: int

    @property
    def restarts(self) -> tuple[CGVAE, ...]:
        """All fits with the chosen weight, the chosen one first: for ``identifiability.sparsity``."""
        return self.starts_of(self.weight)

    def starts_of(self, weight: float) -> tuple[CGVAE, ...]:
        """All fits with one weight, the best one first."""
        at = self.weights.index(weight)
        return (self.best[at], *(fit for fit in self.fits[at] if fit is not self.best[at]))

    def __repr__(self) -> str:
        lines = [f"λ = {self.weight:g}, chosen by {self.rows} rows set aside ({self.model.score_name}) and stable edges:"]
        lines.append("       λ       score  below the best       F1 of starts  edges")
        columns = zip(self.weights, self.scores, self.losses, self.errors, self.stability, self.edges, strict=True)
        for weight, score, loss, error, same, edges in columns:
            lines.append(f"{weight:8g}  {score:10.4f}  {loss:8.4f} ± {error:.4f}  {same:10.2f}  {edges:6d}")
        return "\n".join(lines)


def choose_sparsity(
    model: CGVAE,
    X: Any,
    y: Any = None,
    *,
    path: Sequence[float] = PATH,
    starts: int = 3,
    share: float = 0.1,
    tolerance: float = 0.01,
    seed: int = 0,
) -> SparsityPath:
    r"""Fit each weight from several starts, and choose by held-out likelihood and stability of the support.

    A penalty that the data bear costs no likelihood: many maps fit equally well, and it picks a sparse one. One that is
    too strong costs likelihood. So weights whose best start falls short of the best of all by no more than
    ``tolerance`` nats for each observed number, or two standard errors, are in the running; among these the one whose
    starts agree best on the edges is chosen, and the larger of two that agree equally (to 0.02).

    Args:
        model: Settings of the fits; its ``sparsity``, ``restarts`` and ``seed`` are replaced.
        X: Data, as for ``fit``.
        y: The auxiliary variable u, as for ``fit``.
        path: Weights to try.
        starts: Fits for each weight.
        share: Share of the rows set aside; half of them compares the starts of a weight, half the weights.
        tolerance: Nats per observed number that sparsity may cost.
        seed: Of the split and of the starts.
    """
    _check(model, path, starts, share, tolerance)
    data = X if isinstance(X, Dataset) else Dataset(X, y)
    data = data if y is None or not isinstance(X, Dataset) else data.with_domain(y)
    training, judging, aside = data.split(1 - share, share / 2, share / 2, seed=seed)
    weights = tuple(sorted(float(weight) for weight in path))
    fits = tuple(_fits(model, training, weight, starts, seed) for weight in weights)
    best = tuple(min(several, key=lambda one: _loss(one, judging)) for several in fits)
    rows = [one.score_rows(aside) for one in best]
    means = np.array([found.mean() for found in rows])
    top = rows[int(means.argmax())]
    losses = tuple(float((top - found).mean()) for found in rows)
    errors = tuple(float((top - found).std() / np.sqrt(len(found))) for found in rows)
    stability = tuple(_stability(several, aside) for several in fits)
    chosen = _chosen(losses, errors, stability, tolerance * data.layout.size)
    edges = tuple(one.support(aside).edges for one in best)
    scores = tuple(means.tolist())
    return SparsityPath(
        model=best[chosen],
        weight=weights[chosen],
        weights=weights,
        scores=scores,
        losses=losses,
        errors=errors,
        stability=stability,
        edges=edges,
        best=best,
        fits=fits,
        rows=len(aside),
    )


def _check(model: Any, path: Sequence[float], starts: int, share: float, tolerance: float) -> None:
    if not isinstance(model, CGVAE):
        raise DataError(f"model: give a CGVAE, not {type(model).__name__}.")
    whole_number("starts", starts, least=2)
    if not isinstance(path, Sequence) or not path:
        raise DataError("path: give some weights to try.")
    if not 0 < share < 1:
        raise DataError(f"share = {share!r}: give a share of the rows between 0 and 1.")
    if not tolerance >= 0:
        raise DataError(f"tolerance = {tolerance!r}: give a number of at least 0.")


def _fits(model: CGVAE, data: Dataset, weight: float, starts: int, seed: int) -> tuple[CGVAE, ...]:
    same = clone(model).set_params(sparsity=weight, restarts=1)
    return tuple(clone(same).set_params(seed=seed + start).fit(data) for start in range(starts))


def _loss(model: CGVAE, data: Dataset) -> float:
    """The penalised loss that starts with one weight are compared by."""
    return float(model.sparsity * model.mixing(data).sum() - model.score(data))


def _stability(models: Sequence[CGVAE], data: Dataset) -> float:
    found = [model.support(data) for model in models]
    return float(np.mean([_same(one, two) for one, two in combinations(found, 2)]))


def _same(one: MixingSupport, two: MixingSupport) -> float:
    return one.matched(two)[0]


def _chosen(losses: Sequence[float], errors: Sequence[float], stability: Sequence[float], tolerance: float) -> int:
    running = [k for k in range(len(losses)) if losses[k] <= max(tolerance, 2 * errors[k])]
    steadiest = max(stability[k] for k in running)
    return max(k for k in running if stability[k] >= steadiest - 0.02)
