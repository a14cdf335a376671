"""Choose an estimator by evidence on rows that were not used to fit it, and say which and why.

Candidates, from the simplest: the Gaussian copula; the Student copula; neighbour counts on normal scores and on
scaled blocks; neighbour counts on held-out canonical variates (`canonical.py`). None depends on units, and all but
the scaled blocks depend on ranks alone. The Student copula must earn its place on held-out rows. Neighbour counts
err on the low side in more than three joint dimensions, canonical variates always (data-processing inequality), so
when one of them reads *more* than the copula, beyond the error of their paired difference, the copula has missed
something and is dropped. In up to three joint dimensions neighbour counts are nearly unbiased and may also refute a
copula that reads too much.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latentry.information.answers import Answer, Question
from latentry.information.canonical import held_out_variates
from latentry.information.discrete import discrete_information
from latentry.information.gaussian import gaussian_information
from latentry.information.ksg import ksg_local
from latentry.information.mixed import mesner_shalizi_local, ross_local
from latentry.information.normalisers import linf, normal_scores
from latentry.information.ranks import folds, ranks_within, uniforms
from latentry.information.student import EllipticalCopula, fit_gaussian_copula, fit_student_copula

__all__ = ["auto_answer"]

Array = np.ndarray

DOUBT = 3.0  # standard errors of a paired difference that refute a copula
TINY = 0.01  # nats: differences below this are not worth a change of method
LOW_DIMENSION = 3  # joint columns up to which neighbour counts are nearly unbiased
FEWEST_ROWS = 100  # for splitting off rows and learning functions
MOST_ROWS = 20_000  # for fitting ν and for learning functions: more would not change the choice


@dataclass(frozen=True)
class Candidate:
    """An estimate that can be taken apart row by row."""

    name: str
    local: Array
    value: float
    error: float


def auto_answer(question: Question) -> Answer:
    """Dispatch on types first, then weigh the continuous candidates."""
    kinds = [b.discrete for b in question.blocks]
    if all(kinds):
        labels = [b.values[:, 0] for b in question.blocks]
        value = discrete_information(*labels, correction=question.options.correction)
        return Answer(value, "discrete", "", reason="all variables are labels: counts")
    if any(kinds) or _heavily_tied(question):
        return mixed_answer(question)
    if question.given is not None:
        return _conditional(question)
    return _continuous(question.x.values, question.y.values, question.options.seed, question.options.k)


def _heavily_tied(question: Question) -> bool:
    """More than a twentieth of the values of some column are repeats: not a continuous variable."""
    columns = [c for b in question.blocks for c in b.values.T]
    return any(len(np.unique(c)) < 0.95 * len(c) for c in columns)


def mixed_answer(question: Question) -> Answer:
    """Ross when exactly one of x, y is a label and nothing is given; Mesner–Shalizi otherwise."""
    k = question.options.k or 5
    name = question.normaliser("linf")
    parts = question.numbers(name)
    if question.given is None and question.x.discrete != question.y.discrete:
        rows, label = (parts[1], question.x) if question.x.discrete else (parts[0], question.y)
        local = ross_local(rows, label.values[:, 0], k=k)
        return Answer(float(local.mean()), f"mixed (Ross, k={k})", name, reason=f"{label.name} is a label")
    local = mesner_shalizi_local(*parts, k=k)
    return Answer(float(local.mean()), f"mixed (Mesner–Shalizi, k={k})", name, reason="labels or repeated values")


def _conditional(question: Question) -> Answer:
    """Gaussian copula against conditional neighbour counts."""
    parts = [normal_scores(b.values) for b in question.blocks]
    k = question.options.k or 5
    local = ksg_local(*parts, k=k)
    neighbours = Candidate(f"ksg1 (k={k})", local, *_mean_and_error(local))
    plain = gaussian_information(*parts)
    gap = neighbours.value - plain
    if abs(gap) > DOUBT * neighbours.error + TINY and (gap > 0 or sum(p.shape[1] for p in parts) <= LOW_DIMENSION):
        why = f"neighbour counts read {neighbours.value:.3f}, a Gaussian copula {plain:.3f}: it misses something"
        return Answer(neighbours.value, f"auto: {neighbours.name}", "copula", reason=why)
    why = f"neighbour counts ({neighbours.value:.3f}) do not contradict the Gaussian copula ({plain:.3f})"
    return Answer(plain, "auto: gaussian", "copula", reason=why)


def _mean_and_error(local: Array) -> tuple[float, float]:
    return float(local.mean()), float(local.std(ddof=1) / np.sqrt(len(local)))


def _continuous(x: Array, y: Array, seed: int, k: int | None) -> Answer:
    if len(x) <= 2 * (x.shape[1] + y.shape[1]):
        return _too_few(x, y, k or 5)
    copula, why = _parametric(x, y, seed)
    ranks = uniforms(np.hstack([x, y]))
    ratio = copula.log_ratio(copula.scores(ranks))
    free = _neighbour_candidates(x, y, seed, k or 5)
    best = max(free, key=lambda c: c.value)
    kind = "gaussian" if np.isinf(copula.freedom) else f"student (ν={copula.freedom:.3g})"
    gap, doubt = best.value - copula.information, _paired_doubt(best, ratio)
    two_sided = x.shape[1] + y.shape[1] <= LOW_DIMENSION
    if gap > doubt or (two_sided and -gap > doubt):
        verb = "more" if gap > 0 else "less"
        why = f"{best.name} reads {abs(gap):.3f} nats {verb} than the {kind} copula (doubt begins at {doubt:.3f})"
        return Answer(best.value, f"auto: {best.name}", "copula", best.error, why, _low_side(best))
    why = f"{why}; {best.name} ({best.value:.3f}) does not contradict it ({copula.information:.3f})"
    return Answer(copula.information, f"auto: {kind}", "copula", _mean_and_error(ratio)[1], why)


def _too_few(x: Array, y: Array, k: int) -> Answer:
    """Neighbour counts, which exist even where correlations do not."""
    found = max(_neighbour_counts(x, y, min(k, len(x) - 1)), key=lambda c: c.value)
    columns = x.shape[1] + y.shape[1]
    caution = f"{len(x)} rows are too few to fit or to split for {columns} columns: expect an answer that is too low"
    return Answer(
        found.value, f"auto: {found.name}", "copula", found.error, "too few rows for anything else", (caution,)
    )


def _paired_doubt(candidate: Candidate, ratio: Array) -> float:
    return DOUBT * _mean_and_error(candidate.local - ratio)[1] + TINY


def _low_side(best: Candidate) -> tuple[str, ...]:
    if not best.name.startswith("canonical"):
        return ()
    return ("the answer was measured on learned functions of x and y: it errs on the low side by an unknown amount",)


def _parametric(x: Array, y: Array, seed: int) -> tuple[EllipticalCopula, str]:
    """The Gaussian copula, unless the log-ratio of the Student copula says more about held-out rows."""
    rows, cut = np.hstack([x, y]), x.shape[1]
    plain = fit_gaussian_copula(uniforms(rows), cut)
    if len(rows) > MOST_ROWS:
        rows = rows[np.random.default_rng(seed).choice(len(rows), MOST_ROWS, replace=False)]
    heavy = fit_student_copula(uniforms(rows), cut)
    if np.isinf(heavy.freedom) or len(rows) < FEWEST_ROWS:
        return plain, "no finite ν fits better than the Gaussian copula"
    gain, error = _held_out_gain(rows, cut, seed)
    if gain > 2 * error:
        return (
            heavy,
            f"a Student copula says {gain:.3g} ± {error:.2g} nats more about held-out rows than a Gaussian one",
        )
    return (
        plain,
        f"a Student copula says no more about held-out rows than a Gaussian one ({gain:.3g} ± {error:.2g} nats)",
    )


def _held_out_gain(rows: Array, cut: int, seed: int) -> tuple[float, float]:
    """How much higher the Donsker–Varadhan bound of the Student log-ratio is than that of the Gaussian."""
    gains, parts = np.empty(len(rows)), folds(len(rows), 3, seed)
    for i, held in enumerate(parts):
        train = np.concatenate([p for j, p in enumerate(parts) if j != i])
        inside, outside = uniforms(rows[train]), ranks_within(rows[train], rows[held])
        plain, heavy = (
            _bound_terms(fit(inside, cut), outside, seed) for fit in (fit_gaussian_copula, fit_student_copula)
        )
        gains[held] = heavy - plain
    return _mean_and_error(gains)


def _bound_terms(copula: EllipticalCopula, ranks: Array, seed: int, shuffles: int = 8) -> Array:
    """Terms whose mean is E[T] − log E[exp T′], T the log-ratio of paired and T′ of shuffled rows: at most I(X; Y)."""
    rng, cut, scores = np.random.default_rng(seed), copula.dim_x, copula.scores(ranks)
    shuffled = [
        copula.log_ratio(np.hstack([scores[:, :cut], scores[rng.permutation(len(scores)), cut:]]))
        for _ in range(shuffles)
    ]
    weight = np.mean(np.exp(shuffled), axis=0)
    level = weight.mean()
    return (
        copula.log_ratio(scores) - np.log(level) - (weight / level - 1)
    )  # the last part has mean 0: its share of the error


def _neighbour_counts(x: Array, y: Array, k: int) -> list[Candidate]:
    found = []
    for coordinates, normaliser in (("normal scores", normal_scores), ("scaled blocks", linf)):
        local = ksg_local(normaliser(x), normaliser(y), k=k)
        found.append(Candidate(f"ksg1 on {coordinates} (k={k})", local, *_mean_and_error(local)))
    return found


def _neighbour_candidates(x: Array, y: Array, seed: int, k: int) -> list[Candidate]:
    found = _neighbour_counts(x, y, k)
    if x.shape[1] + y.shape[1] > LOW_DIMENSION and FEWEST_ROWS <= len(x) <= MOST_ROWS:
        found.append(_canonical_candidate(x, y, seed, k))
    return found


def _canonical_candidate(x: Array, y: Array, seed: int, k: int) -> Candidate:
    """Neighbour counts on learned functions; the number of functions is the one that reads most."""
    count = min(3, x.shape[1], y.shape[1])
    thirds = held_out_variates(x, y, count, seed)
    found = {m: np.empty(len(x)) for m in range(1, count + 1)}
    for rows, u, v in thirds:
        u, v = normal_scores(u), normal_scores(v)
        for m, local in found.items():
            local[rows] = ksg_local(u[:, :m], v[:, :m], k=k)
    m = max(found, key=lambda size: found[size].mean())
    return Candidate(f"canonical ({m}+{m} variates, ksg1, k={k})", found[m], *_mean_and_error(found[m]))
