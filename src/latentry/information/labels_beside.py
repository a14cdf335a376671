"""Numbers of which some have labels beside them in the same variable, such as the columns of a data frame.

Let D be the labels of x and C its numbers: I(C, D; Y) = I(D; Y) + Σ_d P[d] I(C; Y | D = d). Each part is a question of its own, of
labels or of numbers alone. Neighbour counts of labels and numbers together are biased in many columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from latentry.information.blocks import Block, codes
from latentry.information.drawn_rows import LOW_DIMENSION
from latentry.information.questions import Answer, Question

__all__ = ["beside_labels_answer"]

Array = np.ndarray
Rule = Callable[[Question], Answer]
FEWEST_ROWS = 40  # of a label, within which numbers are compared
LOW_SIDE = "neighbour counts of labels and numbers in many columns err on the low side by an unknown amount: there is no upper end"


def beside_labels_answer(question: Question, auto: Rule, counted: Rule) -> Answer:
    """Answer by labels first and by numbers within labels; by neighbour counts where that cannot be.

    Args:
        question: Some of its variables hold numbers and labels.
        auto: Answers questions of labels or numbers alone.
        counted: Answers by neighbour counts.

    Returns:
        The sum, without an error of its own.
    """
    mixed = question.x if question.x.digits else question.y
    other = question.y if mixed is question.x else question.x
    labels = codes(mixed.values[:, mixed.d - mixed.digits :])
    alone = question.given is None and not other.discrete and not other.digits
    if not alone or np.bincount(labels).min() < FEWEST_ROWS:
        return _open_above(question, counted(question))
    of_labels = auto(Question(Block(mixed.name, labels[:, None], discrete=True), other, options=question.options))
    numbers = Block(mixed.name, mixed.values[:, : mixed.d - mixed.digits])
    rows = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    within = [_within(Question(numbers, other, options=question.options).take(one), auto) for one in rows]
    fractions = np.array([len(one) for one in rows]) / len(labels)
    each = [(1.0, of_labels), *zip(fractions, within, strict=True)]
    how = ", ".join(sorted({answer.method for _, answer in each}))
    return Answer(
        sum(part * answer.value for part, answer in each), f"labels, then numbers within labels ({how})", "copula",
        reason="; ".join(filter(None, [of_labels.reason, "numbers were compared within each label"])),
        shortfall=sum(part * answer.shortfall for part, answer in each),
        excess=sum(part * answer.excess for part, answer in each),
        warnings=tuple(dict.fromkeys(words for _, answer in each for words in answer.warnings)),
    )  # fmt: skip


def _within(question: Question, auto: Rule) -> Answer:
    """Answer for the rows of one label, where some columns may not vary."""
    x, y = (
        replace(block, values=block.values[:, np.ptp(block.values, axis=0) > 0]) for block in (question.x, question.y)
    )
    return auto(replace(question, x=x, y=y)) if x.d and y.d else Answer(0.0, "constant", "")


def _open_above(question: Question, answer: Answer) -> Answer:
    if sum(block.d for block in question.blocks) <= LOW_DIMENSION:
        return answer
    return replace(answer, shortfall=np.inf, warnings=(*answer.warnings, LOW_SIDE))
