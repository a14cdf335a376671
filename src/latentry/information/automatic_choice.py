"""Choose an estimator by evidence on rows that were not used to fit it, and say which and why.

Candidates, from the simplest: the Gaussian copula; the Student copula; neighbour counts on normal scores and on
scaled blocks; neighbour counts on held-out canonical variates (`canonical_variates.py`). None depends on units, and all but
the scaled blocks depend on ranks alone. The Student copula must earn its place on held-out rows. Neighbour counts
err on the low side in more than three joint dimensions, canonical variates always (data-processing inequality), so
when one of them reads *more* than the copula, beyond the error of their paired difference, the copula has missed
something and is dropped. In up to three joint dimensions neighbour counts are nearly unbiased and may also refute a
copula that reads too much.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from scipy import special

from latentry.data import normal_scores
from latentry.information.atoms import atom_answer, has_atoms
from latentry.information.candidates import (
    FEWEST_ROWS,
    Candidate,
    neighbour_candidate,
    neighbour_candidates,
    neighbour_counts,
    preferred,
)
from latentry.information.drawn_rows import (
    LOW_DIMENSION,
    MOST_ROWS,
    SHARED,
    drawn_rows,
    drawn_words,
    mean_and_error,
    searched,
    settings,
)
from latentry.information.gaussian import gaussian_information
from latentry.information.hidden_dependence import hidden_dependence
from latentry.information.label_choice import counts_answer, label_answer
from latentry.information.labels_beside import beside_labels_answer
from latentry.information.mixed_variables import mesner_shalizi_local, ross_local
from latentry.information.questions import Answer, Question
from latentry.information.ranks import folds, ranks_within, uniforms
from latentry.information.rounding import repeats, spread_ties
from latentry.information.second_reading import read_again, second_reading
from latentry.information.student_copula import EllipticalCopula, fit_gaussian_copula, fit_student_copula
from latentry.information.underestimation import residue
from latentry.streams import stream

__all__ = ["auto_answer"]

Array = np.ndarray

DOUBT = 3.0  # standard errors of a paired difference that refute a copula
TINY = 0.01  # nats: differences below this are not worth a change of method
OFF = "may still be too low"
LOW_SIDE = "neighbour counts in many dimensions err on the low side by an unknown amount"


def auto_answer(question: Question) -> Answer:
    """Dispatch on types first, then weigh the continuous candidates.

    Args:
        question: Variables and options.

    Returns:
        Value, method, reason and cautions.
    """
    kinds = [b.discrete for b in question.blocks]
    if all(kinds):
        return counts_answer(question)
    if _one_label(question):
        return label_answer(question)
    if any(b.digits for b in question.blocks):
        return beside_labels_answer(question, auto_answer, partial(mixed_answer, every_row=False))
    if not any(kinds) and question.given is None and has_atoms(question):
        return atom_answer(question)
    tied = any(repeats(c) for b in question.blocks for c in b.values.T)
    if any(kinds):
        return mixed_answer(question, every_row=False)
    if tied and question.given is not None:
        return _tied_given(question)
    if question.given is not None:
        answer = _conditional(question)
    else:
        answer = _tied(question) if tied else _continuous(question)
    chosen = question.options.normalize
    if chosen == "default":
        return answer
    spoken = f"auto measures ranks and scaled blocks whatever the normaliser: normalize={chosen!r} was not used"
    return replace(answer, warnings=(*answer.warnings, spoken))


def _tied(question: Question) -> Answer:
    """Break ties at random, which changes no mutual information; in few columns, count neighbours, as no copula has such steps."""
    rng = stream("information/ties", question.options.seed)
    x, y = (replace(b, values=spread_ties(b.values, rng)) for b in (question.x, question.y))
    spread, why = replace(question, x=x, y=y), "values repeat: ties were broken at random"
    if x.d + y.d > LOW_DIMENSION:
        answer = _continuous(spread)
        return replace(answer, reason=f"{why}; {answer.reason}")
    scores = [normal_scores(b.values) for b in (x, y)]
    k = min(question.options.neighbours(5), x.n - 1)
    return _free_answer(spread, preferred(neighbour_counts(x.values, y.values, scores, k, None)), why)


def _tied_given(question: Question) -> Answer:
    """Break ties at random in few columns, and leave room for what Mesner–Shalizi, which is biased by ties, reads otherwise."""
    mixed = mixed_answer(question, every_row=False)
    x, y, given = (b.values for b in question.blocks)
    k = question.options.neighbours(5)
    value = read_again(x, y, k, question.options.seed, given)
    if value is None:
        return mixed
    why = f"values repeat: ties were broken at random; with ties one reads {question.say(mixed.value)}"
    gap = mixed.value - value
    return Answer(
        value, f"auto: neighbours on normal scores (k={k})", "copula", reason=why, shortfall=max(0.0, gap),
        excess=max(0.0, -gap),
    )  # fmt: skip


def mixed_answer(question: Question, *, every_row: bool = True) -> Answer:
    """Answer by Ross when exactly one of x, y is a label and nothing is given, by Mesner–Shalizi otherwise."""
    k, name = question.options.neighbours(5), question.normaliser("std")
    parts, n = question.numbers(name), question.x.n
    rows = None if every_row else drawn_rows(n, sum(p.shape[1] for p in parts), question.options.seed)
    if _one_label(question):
        numbers, label = (parts[1], question.x) if question.x.discrete else (parts[0], question.y)
        (numbers, column), asked = searched((numbers, label.values[:, :1]), rows)
        local = ross_local(numbers, column[:, 0], k=k, asked=asked)
        method, why = f"mixed (Ross, {settings(k, rows)})", f"{label.name} is a label"
    else:
        among, asked = searched(parts, rows)
        local = mesner_shalizi_local(*among, k=k, asked=asked)
        method, why = f"mixed (Mesner–Shalizi, {settings(k, rows)})", "labels or repeated values"
    value, error = mean_and_error(local)
    answer = Answer(
        value, method, name, reason=why, warnings=drawn_words(rows, n), drawn=0.0 if rows is None else error
    )
    return answer if every_row else _with_room(question, answer, k, SHARED * error)


def _with_room(question: Question, answer: Answer, k: int, error: float) -> Answer:
    """Return the answer with room for bias, where values or labels repeat and there is a condition.

    Few rows of labels have no such neighbours as all rows have, so that their spread would not tell the error.
    """
    x, y, *given = (b.values for b in question.blocks)
    missing, excess = second_reading(answer.value, x, y, k, question.options.seed, *given)
    return replace(answer, error=error, shortfall=missing, excess=excess)


def _one_label(question: Question) -> bool:
    return question.given is None and question.x.discrete != question.y.discrete


def _conditional(question: Question) -> Answer:
    """Compare a Gaussian copula with conditional neighbour counts."""
    parts, k = [normal_scores(b.values) for b in question.blocks], question.options.neighbours(5)
    n, columns = question.x.n, sum(p.shape[1] for p in parts)
    if n <= 2 * columns:
        return _too_few(question, [neighbour_candidate("normal scores", *parts, k=min(k, n - 1))])
    neighbours = neighbour_candidate("normal scores", *parts, k=k, rows=drawn_rows(n, columns, question.options.seed))
    plain = gaussian_information(*parts)
    gap = neighbours.value - plain
    low_dimension = columns <= LOW_DIMENSION
    why = f"neighbour counts read {question.say(neighbours.value)}, a Gaussian copula {question.say(plain)}"
    if abs(gap) > DOUBT * neighbours.error + TINY and (gap > 0 or low_dimension):
        spoken = (*(() if low_dimension else (LOW_SIDE,)), *drawn_words(neighbours.rows, n))
        return Answer(neighbours.value, f"auto: {neighbours.name}", "copula", None, why, spoken, drawn=neighbours.drawn)
    return Answer(
        plain, "auto: gaussian", "copula", None, f"{why}: no contradiction", _conditional_doubts(question, parts)
    )


def _conditional_doubts(question: Question, parts: list[Array]) -> tuple[str, ...]:
    """Name patterns that a Gaussian copula of all three leaves between z and x, or between y and the two others."""
    x, y, z = parts
    if question.x.n <= FEWEST_ROWS + 4 * (x.shape[1] + y.shape[1] + z.shape[1]):
        return ()
    for left, right in ((z, x), (np.hstack([x, z]), y)):
        result = residue(left, right)
        if result.refuted:
            return (f"the Gaussian copula leaves dependence out ({result.where}): the answer {OFF} or too high",)
    return _assumption(question, "Gaussian")


def _continuous(question: Question) -> Answer:
    x, y = question.x.values, question.y.values
    seed, k = question.options.seed, question.options.neighbours(min(5, len(x) - 1))
    ranks = uniforms(np.hstack([x, y]))
    scores = np.split(special.ndtri(ranks), [x.shape[1]], axis=1)
    if len(x) <= 2 * (x.shape[1] + y.shape[1]):
        return _too_few(question, neighbour_counts(x, y, scores, min(k, len(x) - 1), None))
    copula, why = _parametric(question, ranks)
    ratio = copula.log_ratio(copula.scores(ranks))
    best = preferred(neighbour_candidates(x, y, scores, seed, k))
    two_sided = x.shape[1] + y.shape[1] <= LOW_DIMENSION
    kind = "gaussian" if np.isinf(copula.freedom) else f"student (ν={copula.freedom:.3g})"
    # What the copula reads on the rows of `best`:
    same_rows = copula.information + float(best.of(ratio).mean() - ratio.mean())
    gap, doubt = best.value - same_rows, DOUBT * mean_and_error(best.local - best.of(ratio))[1] + TINY
    if gap > doubt or (two_sided and -gap > doubt):
        verb = "more" if gap > 0 else "less"
        why = f"{best.name} reads {question.say(abs(gap))} {verb} than the {kind} copula (doubt begins at {question.say(doubt)})"
        return _free_answer(question, best, why)
    why = f"{why}; {best.name} ({question.say(best.value)}) does not contradict it ({question.say(copula.information)})"
    # What is left of the disagreement beyond one standard error counts as uncertainty: up, and where counts are unbiased down too.
    beyond = abs(gap) - (doubt - TINY) / DOUBT
    answer = Answer(
        copula.information, f"auto: {kind}", "copula", copula.error(ratio), why,
        shortfall=max(0.0, beyond) if gap > 0 else 0.0,
        excess=max(0.0, beyond) if gap < 0 and two_sided else 0.0,
    )  # fmt: skip
    return _unseen(question, _doubted(question, answer, best, scores), scores)


def _free_answer(question: Question, best: Candidate, why: str) -> Answer:
    """Answer by neighbour counts or learned functions, with room above for what they miss."""
    excess = best.excess()
    missing = max(best.missing(), excess / 2)
    spoken = [f"the answer was measured on learned functions of x and y and {OFF}"] if best.learned else []
    spoken += [f"the answer was measured on single pairs of columns and {OFF}"] if best.low_side else []
    spoken += drawn_words(best.rows, question.x.n)
    if missing > 2 * best.error:
        spoken.append(
            "the answer still grows with finer neighbourhoods and more rows: the upper end was raised by "
            f"{question.say(missing)}, extrapolated, and {OFF}"
        )
    return Answer(
        best.value, f"auto: {best.name}", "copula", best.error, why, tuple(spoken), missing, best.drawn, excess
    )


def _unseen(question: Question, answer: Answer, scores: list[Array]) -> Answer:
    """Test an answer near zero in many columns for dependence that it missed; there is no upper end then."""
    near_zero = answer.error is None or answer.value < 2 * answer.error + TINY
    if not near_zero or sum(s.shape[1] for s in scores) <= LOW_DIMENSION or len(scores[0]) < FEWEST_ROWS:
        return answer
    found = hidden_dependence(scores[0], scores[1], question.options.seed)
    if found is None:
        return answer
    spoken = (
        f"x and y depend on each other ({found}), which the answer does not show: it is too low by an unknown amount"
    )
    return replace(answer, warnings=(*answer.warnings, spoken), shortfall=np.inf)


def _doubted(question: Question, answer: Answer, best: Candidate, scores: list[Array]) -> Answer:
    """Add to the answer of a copula that nothing outdid what could hide from it."""
    x, y = scores
    if "student" in answer.method or len(x) <= FEWEST_ROWS + 4 * (x.shape[1] + y.shape[1]):
        return replace(answer, warnings=_assumption(question, "Student" if "student" in answer.method else "Gaussian"))
    result = residue(x, y)
    if not result.refuted:
        return replace(answer, warnings=_assumption(question, "Gaussian"))
    missing = max(result.gain, best.value + best.missing() - answer.value, answer.shortfall)
    spoken = (
        f"the Gaussian copula leaves dependence out ({result.where}, p = {result.p_value:.1g}): the upper end was raised by "
        f"{question.say(missing)}, and {OFF}"
    )
    return replace(answer, warnings=(spoken,), shortfall=missing)


def _assumption(question: Question, copula: str) -> tuple[str, ...]:
    """Say that in many columns no check has the power to refute a copula, which the interval cannot know."""
    columns, n = sum(b.d for b in question.blocks), question.x.n
    if columns <= 2 * np.log10(n):
        return ()
    return (f"{n} rows in {columns} columns cannot refute a {copula} copula: the answer and its interval assume it",)


def _too_few(question: Question, result: list[Candidate]) -> Answer:
    """Answer by neighbour counts, which exist even where correlations do not."""
    best = max(result, key=lambda c: c.value)
    n, columns = question.x.n, sum(b.d for b in question.blocks)
    caution = f"{n} rows are too few to fit or to split for {columns} columns: expect an answer that is too low"
    return Answer(best.value, f"auto: {best.name}", "copula", best.error, "too few rows for anything else", (caution,))


def _parametric(question: Question, ranks: Array) -> tuple[EllipticalCopula, str]:
    """Choose the Gaussian copula, unless the log-ratio of the Student copula says more about held-out rows."""
    rows, cut, seed = np.hstack([b.values for b in question.blocks]), question.x.d, question.options.seed
    plain = fit_gaussian_copula(ranks, cut)
    if len(rows) > MOST_ROWS:
        rows = rows[stream("information/student rows", seed).choice(len(rows), MOST_ROWS, replace=False)]
        ranks = uniforms(rows)
    heavy = fit_student_copula(ranks, cut)
    if np.isinf(heavy.freedom) or len(rows) < FEWEST_ROWS:
        return plain, "no finite ν fits better than the Gaussian copula"
    gain, error = _held_out_gain(rows, cut, seed)
    if gain > 2 * error:
        return heavy, f"a Student copula says {question.say(gain)} more about held-out rows than a Gaussian one"
    return plain, "a Student copula says no more about held-out rows than a Gaussian one"


def _held_out_gain(rows: Array, cut: int, seed: int) -> tuple[float, float]:
    """Return how much higher the Donsker–Varadhan bound of the Student log-ratio is than that of the Gaussian."""
    gains, parts = np.empty(len(rows)), folds(len(rows), 3, seed)
    for i, held in enumerate(parts):
        train = np.concatenate([p for j, p in enumerate(parts) if j != i])
        inside, outside = uniforms(rows[train]), ranks_within(rows[train], rows[held])
        plain, heavy = (
            _bound_terms(fit(inside, cut), outside, seed) for fit in (fit_gaussian_copula, fit_student_copula)
        )
        gains[held] = heavy - plain
    return mean_and_error(gains)


def _bound_terms(copula: EllipticalCopula, ranks: Array, seed: int, shuffles: int = 8) -> Array:
    """Return terms whose mean is E[T] − log E′[exp T], T the log-ratio of paired and T′ of shuffled rows: at most I(X; Y)."""
    rng, cut, scores = stream("information/partners", seed), copula.dim_x, copula.scores(ranks)
    weight_x, weight_y = np.zeros(len(scores)), np.zeros(len(scores))
    for _ in range(shuffles):
        partner = rng.permutation(len(scores))
        ratio = np.exp(copula.log_ratio(np.hstack([scores[:, :cut], scores[partner, cut:]])))
        weight_x += ratio / shuffles
        weight_y[partner] += ratio / shuffles
    level = weight_x.mean()
    # Of mean 0: each row's part in the error of the logarithm, by its x and its y.
    correction = (weight_x + weight_y) / level - 2
    terms: Array = copula.log_ratio(scores) - np.log(level) - correction
    return terms
