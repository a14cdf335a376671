"""How much sparsity: weights compared on rows that no fit saw, and by whether restarts agree on the mixing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from latentry.data import DataLike, Dataset, DomainLike
from latentry.errors import DataError
from latentry.models.cgvae import CGVAE
from latentry.models.estimator import Whole, clone, require

__all__ = ["PATH", "SparsityPath", "choose_sparsity"]

PATH = (0.0, 0.01, 0.05, 0.1, 0.5, 1.0)


@dataclass(frozen=True, eq=False)
class SparsityPath:
    """Weights that were tried, and what became of each.

    Args:
        model: The chosen fit.
        weight: Its weight λ.
        weights: All that were tried, ascending.
        scores: Mean log evidence of the rows set aside, of each weight's best start; those rows chose it, so it is optimistic.
        losses: How much worse each is than the best, with the price of its edges, and
        errors: the standard error of that.
        stability: Mean Cohen's κ between the edges of different starts.
        edges: Number of edges at a row, on average, as they are priced: one weaker than ``threshold`` counts in part.
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
    edges: tuple[float, ...]
    best: tuple[CGVAE, ...]
    fits: tuple[tuple[CGVAE, ...], ...]
    rows: int

    @property
    def restarts(self) -> tuple[CGVAE, ...]:
        """Return all fits with the chosen weight, the chosen one first: for ``identifiability.sparsity``."""
        return self.starts_of(self.weight)

    def starts_of(self, weight: float) -> tuple[CGVAE, ...]:
        """Return all fits with one weight, the best first.

        Args:
            weight: One of ``weights``.

        Returns:
            As many fits as starts.
        """
        at = self.weights.index(weight)
        return (self.best[at], *(fit for fit in self.fits[at] if fit is not self.best[at]))

    def __repr__(self) -> str:
        lines = [
            f"λ = {self.weight:g}, chosen by {self.rows} rows set aside ({self.model.score_name}) and stable edges:"
        ]
        lines.append("       λ       score  worse with the price   κ of starts  edges")
        columns = zip(self.weights, self.scores, self.losses, self.errors, self.stability, self.edges, strict=True)
        for weight, score, loss, error, same, edges in columns:
            lines.append(f"{weight:8g}  {score:10.4f}  {loss:13.4f} ± {error:.4f}  {same:12.2f}  {edges:5.1f}")
        return "\n".join(lines)


def choose_sparsity(
    model: CGVAE,
    X: DataLike,
    y: DomainLike | None = None,
    *,
    path: Sequence[float] = PATH,
    starts: int = 3,
    fraction: float = 0.2,
    price: float | None = None,
    seed: int = 0,
) -> SparsityPath:
    r"""Fit each weight from several starts, and choose by held-out likelihood and stability of the support.

    A penalty that the data bear costs no likelihood: many maps fit equally well, and it picks a sparse one. One that is
    too strong costs likelihood. So what a weight leads to is judged by the loss on rows set aside, plus a price for each edge
    that is the same for all weights: by default :math:`\frac{p \log N}{2N}` nats, what the Bayesian information criterion
    charges for the :math:`p = 3K + 1` numbers of one bent curve, K being ``components``, learned from N rows. Weights
    that are worse than the best by no more than one standard error are in the running; of these the one whose starts
    agree best on the edges is chosen.

    Args:
        model: Settings of the fits; its ``sparsity``, ``restarts`` and ``seed`` are replaced.
        X: Data, as for ``fit``.
        y: The auxiliary variable u, as for ``fit``.
        path: Weights to try.
        starts: Fits for each weight.
        fraction: Fraction of the rows set aside; they compare the starts of a weight, and then the weights.
        price: Of an edge, in nats a row.
        seed: Of the split and of the starts.

    Returns:
        The chosen fit, and what became of each weight.

    Raises:
        DataError: If an argument is not allowed, or no weight has a finite score.
    """
    _check(model, path, starts, fraction, price)
    data = X if isinstance(X, Dataset) else Dataset(X, y)
    data = data if y is None or not isinstance(X, Dataset) else data.with_domain(y)
    training, aside = data.split(1 - fraction, fraction, seed=seed)
    weights = tuple(sorted(float(weight) for weight in path))
    fits = tuple(_fits(model, training, weight, starts, seed) for weight in weights)
    best = tuple(min(several, key=lambda fit: float(fit.penalised_rows(aside).mean())) for several in fits)
    cost = price if price is not None else _price(model.flow.components, len(training))
    edges = tuple(fit.edge_count(aside) for fit in best)
    rows = [cost * count - fit.score_rows(aside) for count, fit in zip(edges, best, strict=True)]
    means = np.array([loss.mean() for loss in rows])
    top = rows[int(means.argmin())]
    losses = tuple(float((loss - top).mean()) for loss in rows)
    errors = tuple(float((loss - top).std() / np.sqrt(len(loss))) for loss in rows)
    stability = tuple(_stability(several, aside) for several in fits)
    chosen = choose_weight(losses, errors, stability)
    scores = tuple(fit.score(aside) for fit in best)
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


def _check(model: object, path: Sequence[float], starts: int, fraction: float, price: float | None) -> None:
    if not isinstance(model, CGVAE):
        raise DataError(f"model: give a CGVAE, not {type(model).__name__}.")
    require("starts", starts, Whole(2))
    if not isinstance(path, Sequence) or not path:
        raise DataError("path: give some weights to try.")
    if not 0 < fraction < 1:
        raise DataError(f"fraction={fraction!r}: not a fraction of the rows. Give a number between 0 and 1.")
    if price is not None and not 0 <= price < np.inf:
        raise DataError(f"price={price!r}: not a finite number of at least 0. Give one, or leave it out.")


def _fits(model: CGVAE, data: Dataset, weight: float, starts: int, seed: int) -> tuple[CGVAE, ...]:
    same = clone(model).set_params(sparsity=weight, restarts=1)
    return tuple(clone(same).set_params(seed=seed + start).fit(data) for start in range(starts))


def _stability(models: Sequence[CGVAE], data: Dataset) -> float:
    supports = [model.support(data) for model in models]
    return float(np.mean([first.beyond_chance(other) for first, other in combinations(supports, 2)]))


def _price(components: int, rows: int) -> float:
    return (3 * components + 1) * float(np.log(rows)) / (2 * rows)


def choose_weight(losses: Sequence[float], errors: Sequence[float], stability: Sequence[float]) -> int:
    """Choose, of weights within one standard error of the best, the steadiest, and of equally steady ones the largest."""
    running = [k for k in range(len(losses)) if losses[k] <= errors[k]]
    if not running:
        raise DataError("no weight has a finite score on the rows set aside: look at the data, or lower learning_rate.")
    return max(running, key=lambda k: (round(stability[k], 2), k))
