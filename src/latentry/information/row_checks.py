"""What the rows are made of: as the caller says, or as it was found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from latentry.information.autocorrelation import memory_in_row_order
from latentry.information.copies import copy_groups
from latentry.information.questions import Question
from latentry.information.row_structure import Groups, Series, Structure, declared_structure

__all__ = ["Finding", "row_structure"]


@dataclass(frozen=True)
class Finding:
    """How rows depend on each other, None for not at all, and what to say about it."""

    structure: Structure | None
    warnings: tuple[str, ...] = ()


def row_structure(question: Question, groups: ArrayLike | None, time: ArrayLike | bool | None) -> Finding:
    """Take what the caller declared; otherwise look for copies of rows and for memory in their order.

    Args:
        question: Variables.
        groups: A label for each row, if any.
        time: A number for each row, True for rows in the order of time, False for an order without meaning.

    Returns:
        The structure and sentences.

    Raises:
        DataError: If there is no label or number for each row.
    """
    declared = declared_structure(question, groups, time)
    if declared is not None:
        return Finding(declared if declared.independent < question.x.n else None)
    copies = copy_groups(question)
    if copies is not None:
        return _copied(Groups(copies))
    return Finding(None) if time is False else _ordered(question)


def _copied(found: Groups) -> Finding:
    n = len(found.labels)
    words = (
        f"{n} rows are {found.independent} rows and copies of them, exact or nearly: copies were counted once. If they are "
        f"observations of their own, say groups=range({n})"
    )
    return Finding(found, (words,))


def _ordered(question: Question) -> Finding:
    memory = memory_in_row_order(question)
    if memory.sorted_by:
        words = (
            f"rows are sorted by {memory.sorted_by}: whether they depend on each other could not be looked for; give groups= or "
            "time= if they do, time=False if they do not"
        )
        return Finding(None, (words,))
    if memory.length == 1:
        return Finding(None)
    found = Series(np.arange(question.x.n), memory.length)
    words = (
        f"rows resemble those before them (autocorrelation {memory.strength:.2f}): they were taken for a series that forgets "
        f"within {memory.length} rows, {found.independent} independent rows in all. Give groups= or time= if they depend on each "
        "other, time=False if their order has no meaning"
    )
    return Finding(found, (words,))
