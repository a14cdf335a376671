"""Is there any dependence at all? Permutation tests on top of any estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from latentry.data import aligned, joined_columns
from latentry.errors import DataError
from latentry.information.blocks import as_blocks
from latentry.information.cautions import constant_caution
from latentry.information.estimators import ESTIMATORS, without_constant_columns
from latentry.information.measure import check_names, label_roles
from latentry.information.normalisers import normalise
from latentry.information.questions import Options, Question
from latentry.information.row_checks import Finding, row_structure
from latentry.information.row_structure import Series
from latentry.information.shuffled_values import shuffled_values
from latentry.information.uncertainty import (
    PermutationTest,
    local_permutation,
    permutation_p_value,
    stratified_permutation,
)
from latentry.streams import stream
from latentry.training import EngineLike

__all__ = ["independence_test"]

Array = np.ndarray
FEWEST_ROWS = 10  # that are shuffled
Shuffle = Callable[[np.random.Generator], Array]


def independence_test(
    x: ArrayLike, y: ArrayLike, given: ArrayLike | None = None, *, estimator: str = "ksg", normalize: str | None = "default",
    permutations: int = 199, seed: int = 0, discrete: Iterable[str] | None = None, k: int | None = None,
    groups: ArrayLike | None = None, time: ArrayLike | bool | None = None,
    executor: EngineLike = "here", workers: int | None = None,
) -> PermutationTest:  # fmt: skip
    """Test whether I(X; Y | Z) is larger than chance: p = (1 + b)/(1 + B) over shuffles of y, among rows with similar z if given.

    Without `given`, or given labels, the p-value is exact: at most α of independent pairs have p ≤ α. Given numbers, the test is
    approximate. Groups are exchanged as wholes, which is exact too; series are shifted in a circle, which is right for long
    ones. Without groups and time, copies of rows are looked for and exchanged together, and of rows that resemble those before
    them only some that lie far apart are used; `kind` says so.

    Cost: that of one estimate without an interval, for each permutation; all permutations see all rows.

    Args:
        x: Rows of the first variable.
        y: Rows of the second.
        given: Rows of the condition, if any.
        estimator: As in :func:`mutual_information`.
        normalize: As in :func:`mutual_information`.
        permutations: B.
        seed: Of the shuffles.
        discrete: Which of "x", "y", "given" are labels.
        k: Neighbours, for estimators that count them.
        groups: One label for each row, if rows of a group may depend on each other.
        time: One number for each row, or True for rows in the order of time; False if the order has no meaning.
        executor: Where the estimates of shuffled rows are made, side by side but for "here": see :func:`latentry.fit_many`. The
            result is the same.
        workers: Processes, where the engine is started here.

    Returns:
        Statistic and p-value.

    Raises:
        DataError: If the variables or settings cannot be used.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal(300)
    >>> independence_test(x, x + rng.standard_normal(300), permutations=99).p_value
    0.01
    """
    check_names(estimator, normalize)
    if not (isinstance(permutations, Integral) and permutations >= 1):
        raise DataError(f"permutations={permutations!r}: they leave nothing to compare with. Give 99 or more.")
    given_rows = {name: joined_columns(name, rows) for name, rows in (("x", x), ("y", y), ("given", given))}
    parts, _ = aligned({**given_rows, "groups": groups, "time": time})
    blocks = as_blocks(parts["x"], parts["y"], parts["given"], label_roles(estimator, discrete))
    question = Question(*blocks, options=Options(normalize, k, seed=seed))
    if constant_caution(question):
        return PermutationTest(0.0, 1.0, permutations, "constant variable")
    question, rng = without_constant_columns(question), stream("information/permutations", seed)
    question, shuffle, kind = _structured(question, row_structure(question, parts["groups"], parts["time"]), rng)
    rule = ESTIMATORS[estimator]
    if question.x.n < FEWEST_ROWS:
        return PermutationTest(np.nan, 1.0, 0, f"too few rows to shuffle; {kind}")
    observed = rule(question).value
    values = shuffled_values(question, estimator, partial(shuffle, rng), int(permutations), executor, workers)
    return PermutationTest(observed, permutation_p_value(observed, values), permutations, kind)


def _structured(question: Question, found: Finding, rng: np.random.Generator) -> tuple[Question, Shuffle, str]:
    """Choose the rows and what changes places.

    Whole groups, or the series as a whole; but rows that may be taken for independent where there is a condition, which y would
    lose, and where the series was found and not declared: it may consist of groups, which a shift would tear apart.
    """
    structure = found.structure
    if structure is None:
        return (question, *_shuffler(question))
    if question.given is None and not (found.warnings and isinstance(structure, Series)):
        kind = "; ".join([structure.exchange, *found.warnings])
        return question.take(structure.arranged(rng)), structure.shuffled, kind
    rows = structure.draws(rng, 1)[0]
    shuffle, kind = _shuffler(thinned := question.take(rows))
    return thinned, shuffle, "; ".join([f"{kind} among {len(rows)} independent rows", *found.warnings])


def _shuffler(question: Question) -> tuple[Shuffle, str]:
    """Choose how rows of y may change places without changing how y goes with z."""
    n, given = question.x.n, question.given
    if given is None:
        return lambda rng: rng.permutation(n), "shuffled rows"
    if given.discrete:
        return lambda rng: stratified_permutation(given.values[:, 0], rng), "shuffles within labels"
    near = normalise(given.values, question.normaliser("std"))
    return lambda rng: local_permutation(near, rng), "local shuffles"
