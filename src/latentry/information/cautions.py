"""Sentences about what the data make doubtful."""

from __future__ import annotations

import numpy as np
from scipy import stats

from latentry.information.blocks import Block
from latentry.information.gaussian import gaussian_information
from latentry.information.normalisers import std
from latentry.information.questions import Options, Question

__all__ = [
    "cautions",
    "constant_caution",
    "dimension_caution",
    "identity_caution",
    "label_caution",
    "tie_caution",
    "unused_caution",
]

NEIGHBOUR_METHODS = ("ksg", "mixed")
_MANY_LABELS = 10  # more of them, and more than one in fifty rows, may be counts


def constant_caution(question: Question) -> str | None:
    """Say why the answer is exactly zero, if a variable does not vary.

    Args:
        question: Variables and options.

    Returns:
        A sentence, or None.
    """
    for block in (question.x, question.y):
        if block.constant:
            return f"{block.name} is constant: it carries no information, so the answer is 0"
    return None


def cautions(question: Question, method: str) -> tuple[str, ...]:
    """Return all sentences that apply to these data and this method, but for `identity_caution`.

    Args:
        question: Variables and options.
        method: Name of the estimator.

    Returns:
        Sentences.
    """
    sentences = [dimension_caution(question, method)]
    sentences += [tie_caution(b) for b in question.blocks if _minds_ties(b, method)]
    sentences += [_constant_columns(block) for block in question.blocks]
    sentences += [_many_labels(block) for block in question.blocks]
    return tuple(sentence for sentence in sentences if sentence)


def identity_caution(question: Question) -> str | None:
    """Say why the truth is infinite, if x and y determine a number in common.

    Args:
        question: Variables and options.

    Returns:
        A sentence, or None.
    """
    x, y = question.x, question.y
    conditional = question.given is not None and not question.given.constant
    if x.discrete or y.discrete or conditional:
        return None
    for i, j in _candidates(x.values[:_PROBE], y.values[:_PROBE]):
        words = _same_order(x.values[:, i], y.values[:, j])
        if words:
            return f"column {i} of x and column {j} of y are {words}: the mutual information is infinite, {_GROWS}"
    if _share_a_direction(x.values, y.values):
        return f"a linear combination of x is one of y as well: the mutual information is infinite, {_GROWS}"
    return None


_GROWS = "and any finite value only grows with the number of rows"
_PROBE = 64  # rows that settle it in nearly all cases


def _candidates(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Pairs of columns whose ranks agree, or are opposite, in the first rows."""
    left, right = (std(stats.rankdata(v, axis=0)) for v in (x, y))
    return np.argwhere(np.abs(left.T @ right) > (1 - 1e-9) * len(x))


def _same_order(a: np.ndarray, b: np.ndarray) -> str | None:
    """Whether two columns are the same, or rise or fall together without exception."""
    if len(a) < 10 or len(np.unique(a)) < len(a) / 2:
        return None
    if np.array_equal(a, b):
        return "the same numbers"
    order = np.argsort(a)
    rises, steps = np.diff(a[order]) > 0, np.diff(b[order])
    for sign, words in ((1, "increasing"), (-1, "decreasing")):
        if np.array_equal(rises, sign * steps > 0) and np.all(sign * steps >= 0):
            return f"{words} functions of each other"
    return None


def _share_a_direction(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether the columns that are not mere labels have a linear combination in common."""
    x, y = (v[:, [len(np.unique(c)) > _PROBE // 2 for c in v[:_PROBE].T]] for v in (x, y))
    columns, n = x.shape[1] + y.shape[1], len(x)
    if n < max(_PROBE, 3 * columns) or not x.shape[1] * y.shape[1]:
        return False
    some = slice(None, min(n, 3 * columns + _PROBE))
    return all(np.isinf(gaussian_information(std(x[rows]), std(y[rows]))) for rows in (some, slice(None)))


def unused_caution(question: Question, method: str) -> tuple[str, ...]:
    """Name settings that this estimator does not look at.

    Args:
        question: Variables and options.
        method: Name of the estimator.

    Returns:
        A sentence for each.
    """
    options, unused = (
        question.options,
        set(_USERS) - {name for name, users in _USERS.items() if method.startswith(users)},
    )
    ignored = [name for name in sorted(unused) if getattr(options, name) != getattr(Options(), name)]
    return tuple(f"{name}={getattr(options, name)!r} is not used by estimator={method!r}" for name in ignored)


_TRAINED = ("mine", "infonce", "nwj", "smile", "flow")
_USERS: dict[str, tuple[str, ...]] = {
    "k": ("ksg", "single_radius", "mixed", "auto"),
    "bins": ("binned",),
    "correction": ("discrete", "binned", "auto"),
    "scan_scale": ("ksg",),
    "steps": _TRAINED,
    "normalize": ("ksg", "single_radius", "gaussian", "binned", "mixed", "auto", *_TRAINED),
}


def dimension_caution(question: Question, method: str) -> str | None:
    """Say that there are too few rows for so many columns, if so.

    Args:
        question: Variables and options.
        method: Name of the estimator.

    Returns:
        A sentence, or None.
    """
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


def _minds_ties(block: Block, method: str) -> bool:
    if block.discrete or not method.startswith(("ksg", "flow", "auto")):
        return False
    return not (
        method.startswith("auto") and _copies(block.values) > 0.05 * block.n
    )  # auto takes such columns as they are


def tie_caution(block: Block, remedy: str = "use estimator='mixed'") -> str | None:
    """Say that rows repeat, which neighbour counts do not expect.

    Args:
        block: A variable.
        remedy: What to do about it.

    Returns:
        A sentence, or None.
    """
    copies = _copies(block.values)
    if copies == 0:
        return None
    return (
        f"{copies} of {block.n} rows of {block.name} repeat another row: neighbour counts assume continuous values; if "
        f"{block.name} is discrete, {remedy}"
    )


def _many_labels(block: Block) -> str | None:
    if not block.discrete:
        return None
    levels = len(np.unique(block.values[:, 0]))
    if levels <= _MANY_LABELS or levels <= 0.02 * block.n:
        return None
    return (
        f"{block.name} was counted as labels and has {levels} of them in {block.n} rows: if they are measured whole "
        f"numbers, leave {block.name} out of discrete (discrete=() declares none)"
    )


def label_caution(block: Block) -> str | None:
    """Say that numbers look like labels: one column of three to twenty whole numbers, stored as fractions.

    Args:
        block: A variable whose kind was read off its dtype.

    Returns:
        A sentence, or None.

    >>> label_caution(Block("y", np.tile([1.0, 2.0, 3.0], 100)[:, None]))
    'y has 3 whole numbers in 300 rows, stored as fractions, and was read as numbers: if they are labels, say discrete=("y",)...'
    """
    if block.discrete or block.d > 1:
        return None
    some = block.values[:_PROBE, 0]
    if np.any(some != np.round(some)) or np.any(block.values != np.round(block.values)):
        return None
    levels = len(np.unique(block.values))
    if not 3 <= levels <= min(_MOST_LEVELS, block.n // 10):
        return None
    return (
        f"{block.name} has {levels} whole numbers in {block.n} rows, stored as fractions, and was read as numbers: if they are "
        f'labels, say discrete=("{block.name}",) or store them as integers; discrete=() says that they are numbers'
    )


_MOST_LEVELS = 20  # of whole numbers that may be labels


def _constant_columns(block: Block) -> str | None:
    still = np.flatnonzero(np.all(block.values == block.values[:1], axis=0))
    if len(still) == 0 or block.discrete or len(still) == block.d:
        return None
    return f"column {still[0]} of {block.name} is constant ({len(still)} such columns) and was ignored"
