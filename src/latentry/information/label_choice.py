"""Two labels: counts. Numbers and a label: neighbour counts or held-out classifiers, whichever says more.

Neighbour counts are nearly unbiased in up to three columns (how nearly: `second_reading.py`) and read less and less in more.
What a classifier says about held-out
rows is at most the truth in any number of columns. Where it says more than neighbour counts, it is the answer.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from latentry.information.classifiers import HeldOut, can_be_asked, held_out_bound
from latentry.information.discrete import discrete_entropy, discrete_information
from latentry.information.drawn_rows import (
    LOW_DIMENSION,
    SHARED,
    drawn_rows,
    drawn_words,
    mean_and_error,
    searched,
    settings,
)
from latentry.information.mixed_variables import ross_local
from latentry.information.questions import Answer, Question
from latentry.information.second_reading import second_reading
from latentry.information.underestimation import extrapolated

__all__ = ["counts_answer", "label_answer"]

Array = np.ndarray
USUAL = 0.5  # of the rows must have more than k of their label
TINY = 0.005  # nats by which a classifier must say more


def counts_answer(question: Question) -> Answer:
    """Answer for labels only.

    Args:
        question: Variables and options.

    Returns:
        Value, method, reason and cautions.
    """
    labels = [b.values[:, 0] for b in question.blocks]
    value = discrete_information(*labels, correction=question.options.correction)
    answer = Answer(value, "discrete", "", reason="all variables are labels: counts")
    options, (x, y, *given) = question.options, (b.values for b in question.blocks)
    missing, excess = second_reading(value, x, y, options.neighbours(5), options.seed, *given)
    return replace(answer, shortfall=missing, excess=excess)


def label_answer(question: Question) -> Answer:
    """Answer for one variable of numbers and one of labels.

    Args:
        question: Variables and options.

    Returns:
        Value, method, reason and cautions.
    """
    k, name, seed = question.options.neighbours(5), question.normaliser("std"), question.options.seed
    parts = question.numbers(name)
    label, numbers = (question.x, question.y) if question.x.discrete else (question.y, question.x)
    scaled, codes = parts[1] if question.x.discrete else parts[0], label.values[:, 0]
    rows = drawn_rows(question.x.n, scaled.shape[1] + 1, seed)
    local = _local(scaled, codes, k, rows)
    value, error = mean_and_error(local)
    error *= SHARED
    if np.mean(np.bincount(codes)[codes] > k) < USUAL:
        error = np.nan  # labels too rare for their own neighbours: the terms do not tell the error
    if numbers.d > LOW_DIMENSION:
        least = max(value, 0.0) + TINY
        learned = held_out_bound(numbers.values, codes, seed, least)
        if learned is not None and learned.value > least:
            return _learned_answer(question, learned, value, codes)
    missing, excess = _bias(value, scaled, codes, k, rows, seed)
    spoken = (*drawn_words(rows, question.x.n), *_doubts(question, numbers.d, missing, error))
    method = f"mixed (Ross, {settings(k, rows)})"
    asked = "no classifier says more about held-out rows" if can_be_asked(codes) else "too few rows to ask classifiers"
    why = f"{label.name} is a label" + (f"; {asked}" if numbers.d > LOW_DIMENSION else "")
    room = max(0.0, discrete_entropy(codes) - value)
    return Answer(value, method, name, error, why, spoken, min(missing, room), excess=excess)


def _local(x: Array, codes: Array, k: int, rows: Array | None) -> Array:
    """Count neighbours around the drawn rows, among all or among themselves."""
    (among, labels), asked = searched((x, codes[:, None]), rows)
    return ross_local(among, labels[:, 0], k=k, asked=asked)


def _bias(value: float, x: Array, codes: Array, k: int, rows: Array | None, seed: int) -> tuple[float, float]:
    """Return by how much the value may be too low, and too high."""
    missing = 0.0 if x.shape[1] == 1 else _still_missing(value, x, codes, k, rows)
    low, high = second_reading(value, x, codes[:, None], k, seed)
    return max(missing, low), high


def _still_missing(value: float, x: Array, codes: Array, k: int, rows: Array | None) -> float:
    """Return how much finer neighbourhoods would add."""
    coarse = float(_local(x, codes, 2 * k, rows).mean())
    return extrapolated(value, coarse, 1 / x.shape[1])


def _doubts(question: Question, columns: int, missing: float, error: float) -> tuple[str, ...]:
    n = question.x.n
    if columns > LOW_DIMENSION and columns > 2 * np.log10(n):
        return (
            f"{n} rows in {columns} columns cannot show a dependence that needs many columns together: the answer may be too low, "
            "and its interval too",
        )
    if missing > 2 * error:
        return (
            "finer neighbourhoods, or the labels read as a column, say more: the upper end was raised by "
            f"{question.say(missing)}, and may still be too low",
        )
    return ()


def _learned_answer(question: Question, learned: HeldOut, neighbours: float, codes: Array) -> Answer:
    room = max(0.0, discrete_entropy(codes) - learned.value)
    why = (
        f"{learned.name} says {question.say(learned.value)} about held-out labels, more than neighbour counts read "
        f"({question.say(neighbours)}), which are low in many columns"
    )
    spoken = (
        f"the answer is a lower bound, what {learned.name} says about labels of rows that it did not learn from: the truth may "
        "be higher",
    )
    return Answer(
        learned.value, f"auto: {learned.name}, held out", "", learned.error, why, spoken, min(learned.missing, room)
    )
