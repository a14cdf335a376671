"""Rows that repeat each other: which of them are copies of one."""

from __future__ import annotations

import numpy as np

from latentry import data
from latentry.information.questions import Question

__all__ = ["copy_groups"]


def copy_groups(question: Question) -> np.ndarray | None:
    """Return the code of a group for each row, copies of a row in one group; None if rows do not repeat each other.

    Args:
        question: Variables.

    Returns:
        Codes from 0, or None.

    >>> from latentry.information.blocks import Block
    >>> rows = np.random.default_rng(0).standard_normal((300, 2))
    >>> twice = np.concatenate([rows, rows.round(4)])
    >>> codes = copy_groups(Question(Block("x", twice[:, :1]), Block("y", twice[:, 1:])))
    >>> bool((codes[:300] == codes[300:]).all()), len(np.unique(codes)) <= 300
    (True, True)
    """
    columns = [column for block in question.blocks if not block.discrete for column in block.values.T]
    return data.copy_groups(columns, question.options.seed)
