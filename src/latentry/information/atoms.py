"""Numbers that take some values again and again (zeros, limits of detection) and are continuous otherwise.

Let A say which columns of x are at which such value, or at none, and B the same of y. A is a function of x and B of y, so that
I(X; Y) = I(A; B) + I(A; Y | B) + I(X; B | A) + I(X; Y | A, B): counts, two sums over labels (Ross) and neighbour counts among
the rows where both are continuous. Each part is nearly unbiased, while neighbour counts of all rows together are not.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from latentry.data import normal_scores
from latentry.information.blocks import codes
from latentry.information.drawn_rows import SHARED, mean_and_error
from latentry.information.ksg import ksg_local
from latentry.information.mixed_variables import ross_local
from latentry.information.questions import Answer, Question
from latentry.information.rounding import repeats
from latentry.information.second_reading import second_reading

__all__ = ["atom_answer", "has_atoms"]

Array = np.ndarray
OFTEN = 0.02  # of the rows have a value that counts as an atom
FEWEST_ROWS = 20  # of a pattern whose neighbours are counted


def has_atoms(question: Question) -> bool:
    """Return whether some columns have atoms and all are continuous otherwise.

    Args:
        question: Two variables of numbers.

    Returns:
        Whether :func:`atom_answer` applies.
    """
    found = False
    for column in (c for b in (question.x, question.y) for c in b.values.T):
        atoms = _at_atom(column)
        if repeats(column[~atoms]):
            return False
        found |= bool(np.any(atoms))
    return found


def _at_atom(column: Array) -> Array:
    _, where, counts = np.unique(column, return_inverse=True, return_counts=True)
    return np.asarray(counts[where] >= max(OFTEN * len(column), FEWEST_ROWS))  # rarer values would be left out


def atom_answer(question: Question) -> Answer:
    """Answer by the four parts.

    Args:
        question: Two variables of numbers.

    Returns:
        Value, method, reason and cautions.
    """
    x, y, k, n = question.x.values, question.y.values, question.options.neighbours(5), question.x.n
    at_x, at_y = (np.stack([_at_atom(c) for c in v.T], axis=1) for v in (x, y))
    a, b = (codes(np.where(at, v, np.nan_to_num(np.inf))) for at, v in ((at_x, x), (at_y, y)))
    local, skipped = _counts_part(a, b), 0
    for side, free, held, label in ((y, ~at_y, b, a), (x, ~at_x, a, b)):
        for rows, columns in _patterns(held, free):
            skipped += _add_labels(local, side[np.ix_(rows, columns)], label[rows], rows, k)
    for rows, columns in _patterns(codes(np.stack([a, b], axis=1)), np.hstack([~at_x, ~at_y])):
        skipped += _add_pairs(local, np.hstack([x, y])[rows], columns, x.shape[1], rows, k)
    value, error = mean_and_error(local)
    spoken = (f"{skipped} rows with rare patterns of repeated values were left out",) if skipped > 0.05 * n else ()
    whole = np.any(np.all(np.hstack([at_x, at_y]), axis=0))  # a column of atoms alone: counts, or labels as numbers
    missing, excess = second_reading(value, x, y, k, question.options.seed) if whole else (0.0, 0.0)
    return Answer(
        value, f"auto: repeated values, counted apart (k={k})", "copula", SHARED * error,
        "some values occur again and again, the others do not", spoken, shortfall=missing, excess=excess,
    )  # fmt: skip


def _counts_part(a: Array, b: Array) -> Array:
    """Log p(a, b) / p(a) p(b) of each row, less the bias of the mean."""
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1 / len(a))
    bias = (table.shape[0] - 1) * (table.shape[1] - 1) / (2 * len(a))
    return np.asarray(np.log(table[a, b] / table.sum(axis=1)[a] / table.sum(axis=0)[b]) - bias)


def _patterns(held: Array, free: Array) -> Iterator[tuple[Array, Array]]:
    """The rows of each pattern, and the columns that are continuous in it."""
    for pattern in range(held.max() + 1):
        rows = np.flatnonzero(held == pattern)
        columns = np.flatnonzero(free[rows[0]])
        if len(columns):
            yield rows, columns


def _add_labels(local: Array, numbers: Array, label: Array, rows: Array, k: int) -> int:
    """Add what numbers of one side tell about the pattern of the other; return how many rows were too few."""
    if len(np.unique(label)) == 1:
        return 0
    common = np.isin(label, np.flatnonzero(np.bincount(label) >= FEWEST_ROWS))
    kept = np.unique(label[common], return_inverse=True)[1]
    if len(np.unique(kept)) > 1:
        local[rows[common]] += ross_local(normal_scores(numbers[common]), kept, k=k)
    return int(np.sum(~common))


def _add_pairs(local: Array, numbers: Array, columns: Array, cut: int, rows: Array, k: int) -> int:
    """Add what the continuous columns of both sides tell about each other; return how many rows were too few."""
    left, right = columns[columns < cut], columns[columns >= cut]
    if not len(left) or not len(right):
        return 0
    if len(rows) < FEWEST_ROWS:
        return len(rows)
    local[rows] += ksg_local(normal_scores(numbers[:, left]), normal_scores(numbers[:, right]), k=k)
    return 0
