"""The functions people call: mutual information, conditional too, entropy, total correlation, matrices, tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from latentry.errors import DataError, nearest
from latentry.evidence.estimate import Estimate, check_units
from latentry.information.answers import Answer, Options, Question
from latentry.information.blocks import as_blocks
from latentry.information.cautions import cautions, constant_caution, identity_caution
from latentry.information.discrete import discrete_entropy
from latentry.information.estimators import ESTIMATORS, TAKES_LABELS, without_constant_columns
from latentry.information.gaussian import log_determinant
from latentry.information.ksg import ksg_total_correlation, neighbour_entropy
from latentry.information.normalisers import NORMALISERS, normalise
from latentry.information.uncertainty import (
    PermutationTest,
    check_confidence,
    interval,
    local_permutation,
    permutation_p_value,
    subsampling_error,
)  # fmt: skip

__all__ = ["entropy", "independence_test", "mutual_information", "pairwise", "total_correlation"]

Array = np.ndarray


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
) -> Estimate:
    """I(X; Y), or I(X; Y | Z), of paired rows; the answer does not depend on the units of x, y or z.

    Args:
        x: rows of the first variable, one column or several.
        y: rows of the second.
        given: rows of the condition z, if any.
        estimator: "auto" weighs candidates on held-out rows; "ksg" (= "ksg1"), "ksg2", "gaussian", "student", "binned", "discrete",
            "mixed", the trained "mine", "infonce", "nwj", "smile", "flow", and "single_radius" for reproduction.
        normalize: "std", "l2", "rms", "linf", "copula", "whiten"; "default" is the estimator's own (linf for neighbours, rms for
            critics, copula for auto); None leaves the units in, to show what they do.
        units: "nats" or "bits".
        confidence: of the interval [low, high]; None skips it, and the extra runs it costs.
        seed: decides every random choice.
        discrete: which of "x", "y", "given" are labels; None reads it off the dtype (integers, booleans).
        k: neighbours, for the estimators that count them.
        bins: boxes a column, for "binned".
        correction: of discrete entropies: "plugin", "miller_madow", "jackknife", "bayes".
        scan_scale: for KSG, search the size of y for the largest answer and subtract what the search finds in shuffled rows.
        steps: of training, for the trained estimators.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> x = rng.standard_normal((2000, 1))
        >>> y = 1e-9 * (x + rng.standard_normal((2000, 1)))
        >>> found = mutual_information(x, y)
        >>> bool(found.low < 0.3466 < found.high), found.method
        (True, 'auto: gaussian')
    """
    _check_names(estimator, normalize)
    check_confidence(confidence)
    check_units(units)
    labels = _labels(estimator, discrete)
    question = Question(
        *as_blocks(x, y, given, labels),
        options=Options(normalize, k, bins, correction, scan_scale, seed, steps),
    )
    return _estimate(question, estimator, confidence).to(units)


def _check_names(estimator: str, normalize: str | None) -> None:
    if estimator not in ESTIMATORS:
        raise DataError(f"estimator={estimator!r} is not known{nearest(estimator, ESTIMATORS)}")
    if normalize is not None and normalize not in NORMALISERS and normalize != "default":
        raise DataError(f"normalize={normalize!r} is not known{nearest(normalize, [*NORMALISERS, 'default'])}")


def _labels(estimator: str, discrete: Iterable[str] | None) -> Iterable[str] | None:
    """Which variables are labels, for this estimator."""
    if estimator == "discrete":
        return ("x", "y", "given")
    if estimator in TAKES_LABELS:
        return discrete
    if discrete:
        raise DataError(
            f"estimator={estimator!r} measures numbers, not labels; use 'auto', 'mixed', 'binned' or 'discrete'"
        )
    return ()


def _estimate(question: Question, estimator: str, confidence: float | None) -> Estimate:
    n = question.x.n
    reason = constant_caution(question)
    if reason:
        return Estimate(
            0.0,
            low=0.0,
            high=0.0,
            method="constant",
            n=n,
            confidence=confidence or np.nan,
            warnings=(reason,),
        )
    spoken = cautions(question, estimator)
    question = without_constant_columns(question)
    answer = ESTIMATORS[estimator](question)
    low, high = np.nan, np.nan
    if confidence is not None:
        error, freedom = _error(answer, question, estimator)
        low, high = interval(answer.value, error, confidence, freedom)
        high = np.inf if identity_caution(question.x, question.y) else high
        spoken += _disagreement(answer, error, question, estimator)
    return Estimate(
        answer.value, low=low, high=high, method=answer.method, normaliser=answer.normaliser, n=n, reason=answer.reason,
        confidence=np.nan if confidence is None else confidence, warnings=spoken + answer.warnings,
    )  # fmt: skip


def _error(answer: Answer, question: Question, estimator: str) -> tuple[float, float]:
    """The estimator's own standard error, or one by subsampling."""
    if answer.error is not None:
        return answer.error, np.inf
    smallest = max(30, 4 * sum(b.d for b in question.blocks), 4 * (question.options.k or 5))
    return subsampling_error(
        lambda rows: ESTIMATORS[estimator](question.take(rows)).value,
        question.x.n,
        question.options.seed,
        smallest,
    )


def _disagreement(answer: Answer, error: float, question: Question, estimator: str) -> tuple[str, ...]:
    """A sentence when one scale for the block and one for each column tell different stories."""
    if not estimator.startswith("ksg") or answer.normaliser != "linf":
        return ()
    other = ESTIMATORS[estimator](replace(question, options=replace(question.options, normalize="std"))).value
    if abs(other - answer.value) <= 3 * error + 0.01:
        return ()
    return (
        f"with normalize='std' the answer is {other:.3f} instead of {answer.value:.3f}: columns differ in size, and whether the "
        "small ones carry signal or noise decides which to believe",
    )


def entropy(
    x: ArrayLike, *, estimator: str | None = None, units: str = "nats", discrete: bool | None = None, k: int = 3,
    correction: str = "miller_madow", confidence: float | None = 0.95, seed: int = 0,
) -> Estimate:  # fmt: skip
    """Entropy of labels, or differential entropy of numbers (which, unlike mutual information, has units in it).

    estimator: "discrete", "knn" (Kozachenko–Leonenko) or "gaussian"; by default read off the dtype.

    >>> e = entropy(np.random.default_rng(0).integers(0, 2, 1000), units="bits")
    >>> bool(abs(e - 1) < 0.01), e.method
    (True, 'discrete')
    """
    declared = None if discrete is None else (("x",) if discrete else ())
    (block,) = as_blocks(x, discrete=("x",) if estimator == "discrete" else declared)
    name = estimator or ("discrete" if block.discrete else "knn")
    rules: dict[str, Callable[[Array], float]] = {
        "discrete": lambda rows: discrete_entropy(rows[:, 0].astype(np.int64), correction),
        "knn": lambda rows: neighbour_entropy(rows, k=k),
        "gaussian": lambda rows: _gaussian_entropy(rows),
    }
    if name not in rules:
        raise DataError(f"estimator={name!r} is not known{nearest(name, rules)}")
    return _with_interval(rules[name], block.values, name, units, confidence, seed)


def _gaussian_entropy(rows: Array) -> float:
    return 0.5 * (rows.shape[1] * np.log(2 * np.pi * np.e) + log_determinant(rows, correct=True))


def _with_interval(
    rule: Callable[[Array], float], rows: Array, method: str, units: str, confidence: float | None, seed: int
) -> Estimate:
    value, low, high = float(rule(rows)), np.nan, np.nan
    if confidence is not None:
        error, freedom = subsampling_error(lambda part: rule(rows[part]), len(rows), seed, max(30, 4 * rows.shape[1]))
        low, high = interval(value, error, confidence, freedom)
    found = Estimate(value, low=low, high=high, method=method, n=len(rows), confidence=confidence or np.nan)
    return found.to(units)


def total_correlation(
    x: ArrayLike, *, estimator: str = "ksg", normalize: str | None = "std", units: str = "nats", k: int = 3,
    confidence: float | None = 0.95, seed: int = 0,
) -> Estimate:  # fmt: skip
    """Σ h(X_j) − h(X): how far the columns of one variable are from independent.

    >>> rng = np.random.default_rng(0)
    >>> bool(abs(total_correlation(rng.standard_normal((1000, 3)))) < 0.05)
    True
    """
    (block,) = as_blocks(x, discrete=())
    rules: dict[str, Callable[[Array], float]] = {
        "ksg": lambda rows: ksg_total_correlation(tuple(c[:, None] for c in rows.T), k=k),
        "gaussian": _gaussian_total_correlation,
    }
    if estimator not in rules:
        raise DataError(f"estimator={estimator!r} is not known{nearest(estimator, rules)}")
    if block.d < 2:
        raise DataError("x has one column; total correlation compares two or more")
    rule = rules[estimator]
    return _with_interval(
        lambda rows: rule(normalise(rows, normalize)), block.values, estimator, units, confidence, seed
    )


def _gaussian_total_correlation(rows: Array) -> float:
    single = sum(log_determinant(rows[:, [j]], correct=True) for j in range(rows.shape[1]))
    return 0.5 * (single - log_determinant(rows, correct=True))


def pairwise(
    x: ArrayLike, y: ArrayLike | None = None, *, estimator: str = "ksg", normalize: str | None = "default",
    units: str = "nats", seed: int = 0, k: int | None = None,
) -> Array:  # fmt: skip
    """Matrix of I(x_i; y_j) between columns; with x alone, between its own columns, NaN on the diagonal.

    >>> rng = np.random.default_rng(0)
    >>> a = rng.standard_normal(500)
    >>> table = pairwise(np.stack([a, a + rng.standard_normal(500), rng.standard_normal(500)], axis=1))
    >>> bool(table[0, 1] > 0.2), bool(table[0, 2] < 0.1), bool(np.isnan(table[0, 0]))
    (True, True, True)
    """
    blocks = as_blocks(x, y, discrete=())
    left, right = blocks[0].values, blocks[-1].values

    def one(i: int, j: int) -> float:
        return mutual_information(
            left[:, i],
            right[:, j],
            estimator=estimator,
            normalize=normalize,
            units=units,
            seed=seed,
            k=k,
            confidence=None,
        )

    table = np.full((left.shape[1], right.shape[1]), np.nan)
    for i in range(left.shape[1]):
        for j in range(right.shape[1]):
            if y is not None:
                table[i, j] = one(i, j)
            elif i < j:
                table[i, j] = table[j, i] = one(i, j)
    return table


def independence_test(
    x: ArrayLike, y: ArrayLike, given: ArrayLike | None = None, *, estimator: str = "ksg", normalize: str | None = "default",
    permutations: int = 199, seed: int = 0, discrete: Iterable[str] | None = None, k: int | None = None,
) -> PermutationTest:  # fmt: skip
    """Is I(X; Y | Z) larger than chance? p = (1 + b)/(1 + B) over shuffles of y, among rows with similar z if given.

    Without `given` the p-value is exact: at most α of independent pairs have p ≤ α. With it, the test is approximate.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal(300)
    >>> independence_test(x, x + rng.standard_normal(300), permutations=99).p_value
    0.01
    """
    _check_names(estimator, normalize)
    question = Question(*as_blocks(x, y, given, _labels(estimator, discrete)), options=Options(normalize, k, seed=seed))
    rng, rule = np.random.default_rng(seed), ESTIMATORS[estimator]
    if constant_caution(question):
        return PermutationTest(0.0, 1.0, permutations, "constant variable")

    def shuffled() -> float:
        rows = (
            rng.permutation(question.x.n) if question.given is None else local_permutation(question.given.values, rng)
        )
        return rule(_with_y(question, rows)).value

    question = without_constant_columns(question)
    observed = rule(question).value
    p_value = permutation_p_value(observed, np.array([shuffled() for _ in range(permutations)]))
    return PermutationTest(observed, p_value, permutations, "shuffled rows" if given is None else "local shuffles")


def _with_y(question: Question, rows: Array) -> Question:
    return replace(question, y=replace(question.y, values=question.y.values[rows]))
