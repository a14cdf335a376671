"""Is there any dependence at all? Permutation tests on top of any estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from latentry.errors import DataError
from latentry.information.blocks import as_blocks
from latentry.information.cautions import constant_caution
from latentry.information.estimators import ESTIMATORS, without_constant_columns
from latentry.information.measure import check_names, label_roles
from latentry.information.normalisers import normalise
from latentry.information.questions import Options, Question
from latentry.information.uncertainty import (
    PermutationTest,
    local_permutation,
    permutation_p_value,
    stratified_permutation,
)

__all__ = ["independence_test"]

Array = np.ndarray


def independence_test(
    x: ArrayLike, y: ArrayLike, given: ArrayLike | None = None, *, estimator: str = "ksg", normalize: str | None = "default",
    permutations: int = 199, seed: int = 0, discrete: Iterable[str] | None = None, k: int | None = None,
) -> PermutationTest:  # fmt: skip
    """Test whether I(X; Y | Z) is larger than chance: p = (1 + b)/(1 + B) over shuffles of y, among rows with similar z if given.

    Without `given`, or given labels, the p-value is exact: at most α of independent pairs have p ≤ α. Given numbers, the test is
    approximate.

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
    if permutations < 1:
        raise DataError(f"permutations={permutations}: they leave nothing to compare with. Give 99 or more.")
    blocks = as_blocks(x, y, given, label_roles(estimator, discrete))
    question = Question(*blocks, options=Options(normalize, k, seed=seed))
    if constant_caution(question):
        return PermutationTest(0.0, 1.0, permutations, "constant variable")
    question = without_constant_columns(question)
    rng, rule, (shuffle, kind) = np.random.default_rng(seed), ESTIMATORS[estimator], _shuffler(question)
    observed = rule(question).value
    values = [rule(_with_y(question, shuffle(rng))).value for _ in range(permutations)]
    return PermutationTest(observed, permutation_p_value(observed, np.array(values)), permutations, kind)


def _shuffler(question: Question) -> tuple[Callable[[np.random.Generator], Array], str]:
    """Choose how rows of y may change places without changing how y goes with z."""
    n, given = question.x.n, question.given
    if given is None:
        return lambda rng: rng.permutation(n), "shuffled rows"
    if given.discrete:
        return lambda rng: stratified_permutation(given.values[:, 0], rng), "shuffles within labels"
    near = normalise(given.values, question.normaliser("std"))
    return lambda rng: local_permutation(near, rng), "local shuffles"


def _with_y(question: Question, rows: Array) -> Question:
    return replace(question, y=replace(question.y, values=question.y.values[rows]))
