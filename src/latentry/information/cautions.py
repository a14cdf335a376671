"""Sentences about what the data make doubtful."""

from __future__ import annotations

import numpy as np

from latentry.information.answers import Question
from latentry.information.blocks import Block

__all__ = ["cautions", "constant_caution", "dimension_caution", "identity_caution"]

NEIGHBOUR_METHODS = ("ksg", "mixed")


def constant_caution(question: Question) -> str | None:
    """Why the answer is exactly zero, if a variable does not vary."""
    for block in (question.x, question.y):
        if block.constant:
            return f"{block.name} is constant: it carries no information, so the answer is 0"
    return None


def cautions(question: Question, method: str) -> tuple[str, ...]:
    """All sentences that apply to these data and this method."""
    found = [identity_caution(question.x, question.y), dimension_caution(question, method)]
    found += [_ties(block, method) for block in question.blocks]
    found += [_constant_columns(block) for block in question.blocks]
    found += [_many_labels(block) for block in question.blocks]
    return tuple(sentence for sentence in found if sentence)


def identity_caution(x: Block, y: Block) -> str | None:
    """Why the truth is infinite, if x and y share a column of numbers."""
    if x.discrete or y.discrete:
        return None
    alike = np.argwhere(x.values[0][:, None] == y.values[0][None])  # a first row in common is cheap to look for
    shared = [(i, j) for i, j in alike if np.array_equal(x.values[:, i], y.values[:, j])]
    if not shared:
        return None
    i, j = shared[0]
    return (
        f"column {i} of x and column {j} of y are the same numbers: the mutual information is infinite, and any finite "
        "value only grows with the number of rows"
    )


def dimension_caution(question: Question, method: str) -> str | None:
    """Too few rows for so many columns."""
    columns, n = sum(b.d for b in question.blocks if not b.discrete), question.x.n
    if method.startswith(NEIGHBOUR_METHODS) and columns > 2 * np.log10(n):
        return f"{n} rows are few for neighbour counts in {columns} dimensions: expect an answer that is too low"
    if method.startswith(("gaussian", "student")) and n < 10 * columns:
        return f"{n} rows are few for {columns * (columns - 1) // 2} correlations: expect a wide error"
    if method.startswith("binned") and columns > 4:
        return f"nearly every box in {columns} dimensions holds one row: expect an answer that is far too high"
    return None


def _copies(rows: np.ndarray) -> int:
    """How many rows repeat another; a column without repeats, which is the usual case, settles it by one sort."""
    if not np.any(np.diff(np.sort(rows[:, 0])) == 0):
        return 0
    return len(rows) - len(np.unique(rows, axis=0))


def _ties(block: Block, method: str) -> str | None:
    if block.discrete or not method.startswith(("ksg", "flow", "auto")):
        return None
    copies = _copies(block.values)
    if copies == 0 or (method.startswith("auto") and copies > 0.05 * block.n):  # auto takes such columns as they are
        return None
    return (
        f"{copies} of {block.n} rows of {block.name} repeat another row: neighbour counts assume continuous values; if "
        f"{block.name} is discrete or rounded, use estimator='mixed'"
    )


def _many_labels(block: Block) -> str | None:
    if not block.discrete:
        return None
    levels = len(np.unique(block.values[:, 0]))
    if levels <= 20 or levels <= 0.02 * block.n:
        return None
    return (
        f"{block.name} was counted as labels and has {levels} of them in {block.n} rows: if they are measured whole "
        f"numbers, leave {block.name} out of discrete (discrete=() declares none)"
    )


def _constant_columns(block: Block) -> str | None:
    still = np.flatnonzero(np.all(block.values == block.values[:1], axis=0))
    if len(still) == 0 or block.discrete or len(still) == block.d:
        return None
    return f"column {still[0]} of {block.name} is constant ({len(still)} such columns) and was ignored"
