"""Mutual information, conditional too: from arrays to an estimate with its interval and its cautions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from latentry.data import aligned, joined_columns
from latentry.errors import DataError, nearest
from latentry.evidence import Estimate, check_units
from latentry.information.blocks import as_blocks
from latentry.information.cautions import cautions, constant_caution, identity_caution, label_caution, unused_caution
from latentry.information.estimators import ESTIMATORS, TAKES_LABELS, without_constant_columns
from latentry.information.normalisers import NORMALISERS
from latentry.information.questions import Answer, Options, Question
from latentry.information.row_checks import Finding, row_structure
from latentry.information.row_structure import MOST_DRAWS, Structure
from latentry.information.uncertainty import check_confidence, interval, subsampling_error
from latentry.streams import stream

__all__ = ["mutual_information"]

Array = np.ndarray
SHORT = "too few rows for an interval: give more, or read the value alone"
INFINITE = "columns of x determine columns of y, within rounding: the answer is infinite, and no interval bounds it"
FEWEST_INDEPENDENT = 20  # rows that an estimate from independent rows asks for
ERROR_DRAWS = 3  # draws whose own error is computed
FEWEST_FOR_INTERVAL = 10  # rows: the spread of fewer tells no error
TRAINED = ("mine", "infonce", "nwj", "smile", "flow")  # take one draw: each is trained anew


def mutual_information(
    x: ArrayLike,
    y: ArrayLike,
    given: ArrayLike | None = None,
    *,
    estimator: str = "auto",
    normalize: str | None = "default",
    units: str = "nats",
    confidence: float | None = 0.95,
    seed: int = 0,
    discrete: Iterable[str] | None = None,
    k: int | None = None,
    bins: int | None = None,
    correction: str = "miller_madow",
    scan_scale: bool = False,
    steps: int | None = None,
    groups: ArrayLike | None = None,
    time: ArrayLike | bool | None = None,
) -> Estimate:
    """Estimate I(X; Y), or I(X; Y | Z), of paired rows; the answer does not depend on the units of x, y or z.

    Cost: up to three joint columns rows · log rows. In more, neighbours of at most 20 000 drawn rows are counted ("auto" says
    so in its warnings), and the rest grows as rows · columns². The named neighbour counts take all rows, nearly rows² in many
    columns; the trained estimators grow with steps.

    Args:
        x: rows of the first variable, one column or several; a list of series is a table. Rows of pandas objects are paired by
            their index. Numbers and dates may stand beside labels: text, categories and truth values.
        y: rows of the second.
        given: rows of the condition z, if any.
        estimator: "auto" weighs candidates on held-out rows; "ksg" (= "ksg1"), "ksg2", "gaussian", "student", "binned", "discrete",
            "mixed", the trained "mine", "infonce", "nwj", "smile", "flow", and "single_radius" for reproduction.
        normalize: "std", "l2", "rms", "linf", "copula", "whiten"; "default" is the estimator's own (linf for ksg, std beside
            labels, rms for critics, copula for auto); None leaves the units in, to show what they do.
        units: "nats" or "bits".
        confidence: of the interval [low, high]; None skips it, and the extra runs it costs.
        seed: decides every random choice.
        discrete: which of "x", "y", "given" are labels; None reads it off the dtype (integers, booleans, text).
        k: neighbours, for the estimators that count them.
        bins: boxes a column, for "binned".
        correction: of discrete entropies: "plugin", "miller_madow", "jackknife", "bayes".
        scan_scale: for KSG, search the size of y for the largest answer and subtract what the search finds in shuffled rows.
        steps: of training, for the trained estimators.
        groups: one label for each row; rows of a group (subject, batch, plate) may depend on each other. The estimate is then the
            mean over draws of one row a group.
        time: one number for each row, or True for rows in the order of time; the estimate is then the mean over draws of
            rows so far apart that the series has forgotten. Without groups and time, copies of rows and rows that resemble
            those before them are looked for, and a warning says what was found; False says that the order has no meaning.

    Returns:
        Value, interval, method, reason and cautions.

    Raises:
        DataError: If the variables or settings cannot be used.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> x = rng.standard_normal((2000, 1))
        >>> y = 1e-9 * (x + rng.standard_normal((2000, 1)))
        >>> estimate = mutual_information(x, y)
        >>> bool(estimate.low < 0.3466 < estimate.high), estimate.method
        (True, 'auto: gaussian')
    """
    check_names(estimator, normalize)
    check_confidence(confidence)
    check_units(units)
    blocks = {name: joined_columns(name, rows) for name, rows in (("x", x), ("y", y), ("given", given))}
    parts, _ = aligned({**blocks, "groups": groups, "time": time})
    question = Question(
        *as_blocks(parts["x"], parts["y"], parts["given"], label_roles(estimator, discrete)),
        options=Options(normalize, k, bins, correction, scan_scale, seed, steps, units),
    )
    rows = row_structure(question, parts["groups"], parts["time"])
    if discrete is None and estimator in TAKES_LABELS:
        looks = tuple(filter(None, map(label_caution, question.blocks)))
        rows = replace(rows, warnings=rows.warnings + looks)
    return _estimate(question, estimator, confidence, rows).to(units)


def check_names(estimator: str, normalize: str | None) -> None:
    """Check that names exist, and name the nearest that does."""
    if estimator not in ESTIMATORS:
        raise DataError(f"estimator={estimator!r} is not known{nearest(estimator, ESTIMATORS)}")
    if normalize is not None and normalize not in NORMALISERS and normalize != "default":
        raise DataError(f"normalize={normalize!r} is not known{nearest(normalize, [*NORMALISERS, 'default'])}")


def label_roles(estimator: str, discrete: Iterable[str] | None) -> Iterable[str] | None:
    """Return which variables are labels, for this estimator."""
    if estimator == "discrete":
        return ("x", "y", "given")
    if estimator in TAKES_LABELS:
        return discrete
    if discrete:
        raise DataError(
            f"discrete={discrete!r}: estimator={estimator!r} measures numbers, not labels. "
            "Use 'auto', 'mixed', 'binned' or 'discrete'."
        )
    return ()


def _estimate(question: Question, estimator: str, confidence: float | None, rows: Finding) -> Estimate:
    n, level = question.x.n, np.nan if confidence is None else confidence
    reason = constant_caution(question)
    if reason:
        return Estimate(0.0, low=0.0, high=0.0, method="constant", n=n, confidence=level, warnings=(reason,))
    identity = identity_caution(question)
    spoken = (*([identity] if identity else []), *cautions(question, estimator), *unused_caution(question, estimator))
    question = without_constant_columns(question)
    found = _reading(question, estimator, rows.structure, errors=confidence is not None)
    answer, low, high = found.answer, np.nan, np.nan
    if np.isnan(answer.value):
        raise DataError(
            f"estimator={estimator!r}: {n} rows in {sum(b.d for b in question.blocks)} columns have no such answer. "
            "Give more rows, or fewer columns."
        )
    spoken = rows.warnings + spoken + found.warnings
    if confidence is not None:
        low, high, more = _interval(found, confidence, infinite=bool(identity))
        spoken += more
    return Estimate(
        answer.value, low=low, high=high, method=answer.method, normaliser=answer.normaliser, n=n, reason=answer.reason,
        confidence=level, warnings=spoken + answer.warnings,
    )  # fmt: skip


@dataclass(frozen=True)
class _Reading:
    """An answer, its standard error (NaN if there is none) with degrees of freedom, and what to know about them."""

    answer: Answer
    error: float = np.nan
    freedom: float = np.nan
    warnings: tuple[str, ...] = ()


def _reading(question: Question, estimator: str, structure: Structure | None, *, errors: bool) -> _Reading:
    """Read all rows, or the mean over draws of rows that may be taken for independent."""
    if structure is None:
        return _all_rows(question, estimator, errors=errors)
    if structure.independent < FEWEST_INDEPENDENT:
        words = (
            f"{structure.said}: {structure.independent} independent rows are too few; the answer is that of all rows as if they "
            "were independent, likely too high, and has no interval"
        )
        return _Reading(ESTIMATORS[estimator](question), warnings=(words,))
    rng = stream("information/draws", question.options.seed)
    drawn = [question.take(rows) for rows in structure.draws(rng, 1 if estimator in TRAINED else MOST_DRAWS)]
    first = [_all_rows(q, estimator, errors=errors) for q in drawn[:ERROR_DRAWS]]
    answers = [r.answer for r in first] + [ESTIMATORS[estimator](q) for q in drawn[ERROR_DRAWS:]]
    return _averaged(first, answers, structure)


def _averaged(first: list[_Reading], answers: list[Answer], structure: Structure) -> _Reading:
    values, count = np.array([a.value for a in answers]), len(answers)
    if not np.isfinite(values).all():
        return _Reading(replace(answers[0], value=float(values.max())), warnings=first[0].warnings)
    single = float(np.mean([r.error**2 for r in first]))
    # Draws of one group may all say the same: the mean over draws never counts for more than one row of each group.
    variance = max(single, structure.variance_of_mean(single, values))
    effective = structure.independent * single / variance if variance > 0 else float(structure.independent)
    size = "" if np.isnan(effective) else f", worth {effective:.0f} independent rows"
    why = f"{structure.said}: mean over {count} draws of {structure.independent} rows{size}"
    answer = replace(
        answers[0], value=float(values.mean()), shortfall=float(np.mean([a.shortfall for a in answers])),
        excess=float(np.mean([a.excess for a in answers])),
        reason="; ".join(filter(None, [answers[0].reason, why])),
    )  # fmt: skip
    freedom = min(first[0].freedom, structure.independent - 1)
    return _Reading(answer, float(np.sqrt(variance)), freedom, first[0].warnings)


def _all_rows(question: Question, estimator: str, *, errors: bool) -> _Reading:
    answer = ESTIMATORS[estimator](question)
    if not errors:
        return _Reading(answer)
    error, freedom = _error(answer, question, estimator)
    return _Reading(answer, error, freedom, _disagreement(answer, error, question, estimator))


def _interval(found: _Reading, confidence: float, *, infinite: bool) -> tuple[float, float, tuple[str, ...]]:
    """Return both ends, and what to know about them."""
    low, high = interval(found.answer.value, found.error, confidence, found.freedom)
    low, high = low - found.answer.excess, high + found.answer.shortfall
    short = (SHORT,) if np.isnan(low) else ()
    if infinite or np.isinf(found.answer.value):
        return low, np.inf, short if infinite else (INFINITE,)
    return low, high, short


def _error(answer: Answer, question: Question, estimator: str) -> tuple[float, float]:
    """Return the estimator's own standard error, or one by subsampling; NaN if the rows are too few."""
    if question.x.n < FEWEST_FOR_INTERVAL:
        return np.nan, np.nan
    if answer.error is not None:
        return answer.error, np.inf
    if np.isinf(answer.value):
        return np.nan, np.nan
    smallest = max(30, 4 * sum(b.d for b in question.blocks), 4 * question.options.neighbours(5))
    try:
        error, freedom = subsampling_error(
            lambda rows: ESTIMATORS[estimator](question.take(rows)).value, question.x.n, question.options.seed, smallest
        )
        return float(np.hypot(error, answer.drawn)), freedom
    except DataError:
        return np.nan, np.nan


def _disagreement(answer: Answer, error: float, question: Question, estimator: str) -> tuple[str, ...]:
    """Return a sentence when a scale for the block and a scale for each column lead to different answers."""
    if not estimator.startswith("ksg") or answer.normaliser != "linf" or np.isnan(error):
        return ()
    other = ESTIMATORS[estimator](replace(question, options=replace(question.options, normalize="std"))).value
    if abs(other - answer.value) <= 3 * error + 0.01:
        return ()
    return (
        f"with normalize='std' the answer is {question.say(other)} instead of {question.say(answer.value)}: columns differ in "
        "size, and whether the small ones carry signal or noise decides which to believe",
    )
