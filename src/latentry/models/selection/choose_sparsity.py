"""How much sparsity: weights compared with no penalty, on rows that no fit saw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from latentry.data import DataLike, Dataset, DomainLike
from latentry.errors import DataError
from latentry.models.cgvae import CGVAE
from latentry.models.estimator import Whole, clone, require
from latentry.models.many import fit_all
from latentry.models.selection.weigh_sparsity import FitFacts, Weighed, alike, choose_weight, free_agreement, weigh
from latentry.training import EngineLike

__all__ = ["PATH", "SparsityPath", "choose_sparsity"]

_RELEASE = 0.4  # of the epochs, after all others, without the penalty
PATH = (0.0, 0.01, 0.05, 0.1, 0.5, 1.0)


@dataclass(frozen=True, eq=False)
class SparsityPath:
    """Weights that were tried, and what became of each.

    Args:
        model: The chosen fit.
        weight: Its weight λ.
        weights: All that were tried, ascending; 0 is always among them.
        scores: Mean log evidence of the rows set aside, of each weight's best start; those rows chose it, so it is optimistic.
        losses: Nats a row by which each is less likely than the best fit without a penalty, and
        errors: the standard error of that.
        reached: Starts of each weight that are as likely as its best one and have as few edges.
        stability: Mean Cohen's κ between the edges of these.
        agreement: Mean correlation between the latents of these, in the best pairing.
        nearest: Correlation of the best start's latents with those of the nearest fit without a penalty.
        edges: Number of edges of the best start.
        refusals: Why a weight was not taken; empty for those that nothing speaks against.
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
    reached: tuple[int, ...]
    stability: tuple[float, ...]
    agreement: tuple[float, ...]
    nearest: tuple[float, ...]
    edges: tuple[int, ...]
    refusals: tuple[str, ...]
    best: tuple[CGVAE, ...]
    fits: tuple[tuple[CGVAE, ...], ...]
    rows: int

    @property
    def restarts(self) -> tuple[CGVAE, ...]:
        """Return all fits with the chosen weight, the chosen one first: for ``identifiability.sparsity``."""
        return self.starts_of(self.weight)

    @property
    def free(self) -> tuple[CGVAE, ...]:
        """Return all fits without a penalty, the best first: what ``identifiability.sparsity`` compares with."""
        return self.starts_of(0.0)

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
        lines = [f"λ = {self.weight:g}, chosen by {self.rows} rows set aside ({self.model.score_name}):"]
        lines.append("       λ       score  less likely by    starts  κ of edges  latents agree  near λ = 0  edges")
        columns = zip(
            self.weights, self.scores, self.losses, self.errors, self.reached, self.stability, self.agreement,
            self.nearest, self.edges, self.refusals, strict=True,
        )  # fmt: skip
        for weight, score, loss, error, starts, same, agree, near, edges, why in columns:
            numbers = f"{weight:8g}  {score:10.4f}  {loss:6.4f} ± {error:.4f}  {starts:6d}  {same:10.2f}  {agree:13.3f}"
            lines.append(f"{numbers}  {near:10.3f}  {edges:5d}  {why}".rstrip())
        return "\n".join(lines)


def choose_sparsity(
    model: CGVAE,
    X: DataLike,
    y: DomainLike | None = None,
    *,
    path: Sequence[float] = PATH,
    starts: int = 3,
    fraction: float = 0.2,
    seed: int = 0,
    executor: EngineLike = "here",
    workers: int | None = None,
) -> SparsityPath:
    r"""Fit each weight from several starts, and take a penalty only where the data bear it; else none.

    A penalty that the data bear costs no likelihood: many maps fit equally well, and it picks a sparse one. On a dense
    mixing it finds a false explanation that is sparser and less likely. So a weight is taken only if

    - its best start is as likely as the best fit without a penalty: the mean difference over all rows is at most two
      standard errors, or what fits without a penalty that count as equally likely differ by. All fits end with epochs
      without the penalty (``release``) and have as many numbers to learn, so that the rows of the training favour none of
      them. Nothing that edges save can make up for likelihood;
    - its mixing has fewer edges than a whole staircase, which explains any data, and no two latents act on the same
      variables (structural diversity, :attr:`MixingSupport.diverse`): otherwise sparsity identifies nothing;
    - the starts that reach that likelihood with as few edges agree on the edges beyond chance, and their latents agree at
      least as well as those of the fits without a penalty do;
    - its latents are as near to those of some fit without a penalty as these are to each other, on average: among the maps
      that are equally likely, the penalty picks one, and does not lead away from them.

    Of several such weights the one whose starts agree best on the edges is taken, and of equally steady ones the largest.

    Cost: a fit for each weight and start.

    Args:
        model: Settings of the fits; its ``sparsity``, ``restarts`` and ``seed`` are replaced.
        X: Data, as for ``fit``.
        y: The auxiliary variable u, as for ``fit``.
        path: Weights to try; 0 is tried in any case.
        starts: Fits for each weight.
        fraction: Fraction of the rows set aside; they compare the starts of a weight, and then the weights.
        seed: Of the split and of the starts.
        executor: Where the fits run, at once but for "here": see :func:`latentry.fit_many`.
        workers: Processes, where the engine is started here.

    Returns:
        The chosen fit, and what became of each weight.

    Raises:
        DataError: If an argument is not allowed, or fits without a penalty have no finite score.
    """
    _check(model, path, starts, fraction)
    data = X if isinstance(X, Dataset) else Dataset(X, y)
    data = data if y is None or not isinstance(X, Dataset) else data.with_domain(y)
    training, aside = data.split(1 - fraction, fraction, seed=seed)
    weights = tuple(sorted({0.0, *(float(weight) for weight in path)}))
    wanted = [one for weight in weights for one in _variants(model, weight, starts, seed)]
    fitted = fit_all(wanted, [training] * len(wanted), executor, workers)
    fits = tuple(tuple(fitted[n : n + starts]) for n in range(0, len(fitted), starts))
    facts = [[_facts(fit, training, aside) for fit in several] for several in fits]
    return _chosen(weights, fits, facts, len(aside))


def _chosen(
    weights: tuple[float, ...], fits: tuple[tuple[CGVAE, ...], ...], facts: list[list[FitFacts]], rows: int
) -> SparsityPath:
    free = alike(facts[0])
    weighed: list[Weighed] = [weigh(several, free) for several in facts]
    steady = free_agreement(free)
    chosen = choose_weight(weighed, steady)
    best = tuple(several[one.best] for several, one in zip(fits, weighed, strict=True))
    return SparsityPath(
        model=best[chosen],
        weight=weights[chosen],
        weights=weights,
        scores=tuple(
            float(several[one.best].scores[-rows:].mean()) for several, one in zip(facts, weighed, strict=True)
        ),
        losses=tuple(one.behind for one in weighed),
        errors=tuple(one.error for one in weighed),
        reached=tuple(one.reached for one in weighed),
        stability=tuple(one.stability for one in weighed),
        agreement=(steady, *(one.agreement for one in weighed[1:])),
        nearest=tuple(one.nearest for one in weighed),
        edges=tuple(one.support.edges for one in weighed),
        refusals=("", *(one.refusal(steady) for one in weighed[1:])),
        best=best,
        fits=fits,
        rows=rows,
    )


def _facts(fit: CGVAE, training: Dataset, aside: Dataset) -> FitFacts:
    scores = np.concatenate([fit.score_rows(training), fit.score_rows(aside)])
    return FitFacts(scores, float(fit.penalised_rows(aside).mean()), fit.support(aside), fit.transform(aside))


def _check(model: object, path: Sequence[float], starts: int, fraction: float) -> None:
    if not isinstance(model, CGVAE):
        raise DataError(f"model: give a CGVAE, not {type(model).__name__}.")
    require("starts", starts, Whole(2))
    if not isinstance(path, Sequence) or not path:
        raise DataError("path: give some weights to try.")
    if not 0 < fraction < 1:
        raise DataError(f"fraction={fraction!r}: not a fraction of the rows. Give a number between 0 and 1.")


def _variants(model: CGVAE, weight: float, starts: int, seed: int) -> tuple[CGVAE, ...]:
    release = model.mixing_penalty.release or _RELEASE
    same = clone(model).set_params(sparsity=weight, restarts=1, mixing_penalty__release=release)
    return tuple(clone(same).set_params(seed=seed + start) for start in range(starts))
