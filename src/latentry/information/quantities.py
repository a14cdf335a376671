"""Entropy, total correlation, and matrices of pairwise information."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from latentry.data import aligned, joined_columns
from latentry.errors import DataError, nearest
from latentry.evidence import Estimate, check_units
from latentry.information.blocks import Block, as_blocks
from latentry.information.cautions import tie_caution
from latentry.information.discrete import discrete_entropy
from latentry.information.gaussian import log_determinant
from latentry.information.ksg import ksg_total_correlation, neighbour_entropy
from latentry.information.measure import FEWEST_INDEPENDENT, SHORT, mutual_information
from latentry.information.normalisers import normalise
from latentry.information.questions import Options, Question
from latentry.information.row_checks import Finding, row_structure
from latentry.information.uncertainty import check_confidence, interval, subsampling_error
from latentry.streams import stream

__all__ = ["entropy", "pairwise", "total_correlation"]

Array = np.ndarray
Rule = Callable[[Array], float]


def entropy(
    x: ArrayLike, *, estimator: str | None = None, units: str = "nats", discrete: bool | None = None, k: int = 3,
    correction: str = "miller_madow", confidence: float | None = 0.95, seed: int = 0, groups: ArrayLike | None = None,
    time: ArrayLike | bool | None = None,
) -> Estimate:  # fmt: skip
    """Estimate the entropy of labels, or the differential entropy of numbers (which, unlike mutual information, has units in it).

    Cost: labels linear in the rows; "gaussian" rows · columns²; "knn" rows · log rows in few columns and nearly rows² in many.
    The interval costs three times as much again.

    Args:
        x: Rows.
        estimator: "discrete", "knn" (Kozachenko–Leonenko) or "gaussian"; by default read off the dtype.
        units: "nats" or "bits".
        discrete: Whether x is a label; None reads it off the dtype.
        k: Neighbours, for "knn".
        correction: Of the bias, for "discrete".
        confidence: Of the interval; None skips it.
        seed: Of the subsamples.
        groups: As in :func:`mutual_information`: one label for each row, where rows of a group depend on each other.
        time: As in :func:`mutual_information`: one number for each row, True for rows in the order of time, False for an order
            without meaning.

    Returns:
        Value and interval.

    Raises:
        DataError: If x or the settings cannot be used.

    >>> e = entropy(np.random.default_rng(0).integers(0, 2, 1000), units="bits")
    >>> bool(abs(e - 1) < 0.01), e.method
    (True, 'discrete')
    """
    rules: dict[str, Rule] = {
        "discrete": lambda rows: discrete_entropy(rows[:, 0].astype(np.int64), correction),
        "knn": lambda rows: neighbour_entropy(rows, k=k),
        "gaussian": _gaussian_entropy,
    }
    if estimator is not None:
        _check_rule(estimator, rules)
        discrete = estimator == "discrete"
    x, groups, time = _in_one_order(x, groups, time)
    (block,) = as_blocks(x, discrete=None if discrete is None else ("x",) if discrete else ())
    if block.digits:
        raise DataError("x: it holds numbers and labels, whose entropies have no sum. Give the columns of one kind.")
    name = estimator or ("discrete" if block.discrete else "knn")
    found = _found(block, groups, time, seed)
    return _with_interval(rules[name], block, name, units, confidence, seed, k if name == "knn" else 1, found)


def _in_one_order(x: ArrayLike, groups: ArrayLike | None, time: ArrayLike | bool | None) -> tuple[Any, Any, Any]:
    """Return rows, groups and time with their rows in the order of the first one that has an index."""
    parts, _ = aligned({"x": joined_columns("x", x), "groups": groups, "time": time})
    return parts["x"], parts["groups"], parts["time"]


def _check_rule(name: str, rules: dict[str, Rule]) -> None:
    if name not in rules:
        raise DataError(f"estimator={name!r} is not known{nearest(name, rules)}")


def _gaussian_entropy(rows: Array) -> float:
    """½ (d log 2πe + log|Σ|); columns are brought near 1 by powers of two, so that no square under- or overflows."""
    exponents = _exponents(rows)
    value = log_determinant(np.ldexp(rows, -exponents), correct=True) + 2 * np.log(2) * exponents.sum()
    if np.isinf(value):
        raise DataError(
            "estimator='gaussian': some columns of x are constant or determined by others, and their differential entropy is −∞. "
            "Drop them."
        )
    return float(0.5 * (rows.shape[1] * np.log(2 * np.pi * np.e) + value))


def _exponents(rows: Array) -> Array:
    """Return the powers of two that bring each column near 1."""
    return np.asarray(np.frexp(np.max(np.abs(rows), axis=0))[1])


def _found(block: Block, groups: ArrayLike | None, time: ArrayLike | bool | None, seed: int) -> Finding:
    """Return how the rows of one variable depend on each other, as declared or as it was found; units do not matter."""
    if not block.discrete:
        block = Block(block.name, np.ldexp(block.values, -_exponents(block.values)))
    return row_structure(Question(block, block, options=Options(seed=seed)), groups, time)


def _with_interval(
    rule: Rule, block: Block, method: str, units: str, confidence: float | None, seed: int, k: int, found: Finding
) -> Estimate:
    check_confidence(confidence)
    check_units(units)
    rows, ends, spoken = block.values, (np.nan, np.nan), found.warnings
    smallest = max(30, 4 * rows.shape[1], 4 * k)
    if method in ("knn", "ksg"):
        spoken += tuple(filter(None, [tie_caution(block, "read the value with care")]))
    drawn, few = _draws(found, len(rows), seed)
    values = np.array([rule(rows[part]) for part in drawn])
    value, why = float(values.mean()), ""
    if found.structure is not None and not few:
        why = f"{found.structure.said}: mean over {len(drawn)} draws of {found.structure.independent} rows"
    if np.isinf(value):
        spoken += ("columns of x determine each other, within rounding: the answer is infinite, and has no interval",)
    if confidence is not None and np.isfinite(value) and not few:
        # Draws of one group may all say the same: their mean is taken to be no surer than one of them.
        error, freedom = _subsampled(rule, rows[drawn[0]], seed, smallest)
        ends = interval(value, error, confidence, freedom)
        spoken += (SHORT,) if np.isnan(ends[0]) else ()
    result = Estimate(
        value, low=ends[0], high=ends[1], method=method, n=len(rows), warnings=spoken + few, reason=why,
        confidence=np.nan if confidence is None else confidence,
    )  # fmt: skip
    return result.to(units)


def _draws(found: Finding, rows: int, seed: int) -> tuple[list[Array], tuple[str, ...]]:
    """Return draws of rows that may be taken for independent, all rows where they are, and what to say where they are too few."""
    if found.structure is None:
        return [np.arange(rows)], ()
    if found.structure.independent < FEWEST_INDEPENDENT:
        words = (
            f"{found.structure.said}: {found.structure.independent} independent rows are too few; the answer is that of all rows "
            "as if they were independent, and has no interval"
        )
        return [np.arange(rows)], (words,)
    return found.structure.draws(stream("information/draws", seed)), ()


def _subsampled(rule: Rule, rows: Array, seed: int, smallest: int) -> tuple[float, float]:
    """Standard error and degrees of freedom; NaN if some part of the rows is degenerate."""
    try:
        return subsampling_error(lambda part: rule(rows[part]), len(rows), seed, smallest)
    except DataError:
        return np.nan, np.nan


def total_correlation(
    x: ArrayLike, *, estimator: str = "ksg", normalize: str | None = "std", units: str = "nats", k: int = 3,
    confidence: float | None = 0.95, seed: int = 0, groups: ArrayLike | None = None,
    time: ArrayLike | bool | None = None,
) -> Estimate:  # fmt: skip
    """Estimate Σ h(X_j) − h(X): how far the columns of a variable are from independent.

    Cost: "gaussian" rows · columns²; "ksg" rows · log rows in few columns and nearly rows² in many. The interval costs three
    times as much again.

    Args:
        x: Rows of two or more columns.
        estimator: "ksg" or "gaussian".
        normalize: As in :func:`mutual_information`.
        units: "nats" or "bits".
        k: Neighbours, for "ksg".
        confidence: Of the interval; None skips it.
        seed: Of the subsamples.
        groups: As in :func:`mutual_information`: one label for each row, where rows of a group depend on each other.
        time: As in :func:`mutual_information`.

    Returns:
        Value and interval.

    Raises:
        DataError: If x has a single column, or the settings cannot be used.

    >>> rng = np.random.default_rng(0)
    >>> bool(abs(total_correlation(rng.standard_normal((1000, 3)))) < 0.05)
    True
    """
    rules: dict[str, Rule] = {
        "ksg": lambda rows: ksg_total_correlation(tuple(c[:, None] for c in rows.T), k=k),
        "gaussian": _gaussian_total_correlation,
    }
    _check_rule(estimator, rules)
    if normalize == "whiten":
        raise DataError(
            "normalize='whiten': it removes the very dependence that total correlation measures. Use 'std'."
        )
    x, groups, time = _in_one_order(x, groups, time)
    (block,) = as_blocks(x, discrete=())
    if block.d < 2:
        raise DataError("x: it has 1 column, and total correlation compares columns. Give two or more.")
    varies, scale = np.ptp(block.values, axis=0) > 0, "std" if normalize == "default" else normalize
    spoken = () if varies.all() else (f"{np.sum(~varies)} columns of x are constant and add nothing",)
    if varies.sum() < 2:
        return Estimate(0.0, low=0.0, high=0.0, method="constant", n=block.n, confidence=confidence or np.nan,
                        warnings=spoken).to(units)  # fmt: skip
    block, rule = Block("x", block.values[:, varies]), rules[estimator]
    found = _found(block, groups, time, seed)
    found = replace(found, warnings=spoken + found.warnings)
    return _with_interval(
        lambda rows: rule(normalise(rows, scale)), block, estimator, units, confidence, seed, k, found
    )


def _gaussian_total_correlation(rows: Array) -> float:
    """½ (Σ log σ²_j − log|Σ|) less its bias; ∞ if columns determine each other."""
    single = sum(log_determinant(rows[:, [j]], correct=True) for j in range(rows.shape[1]))
    return 0.5 * (single - log_determinant(rows, correct=True))


def pairwise(
    x: ArrayLike, y: ArrayLike | None = None, *, estimator: str = "ksg", normalize: str | None = "default",
    units: str = "nats", seed: int = 0, k: int | None = None, groups: ArrayLike | None = None,
    time: ArrayLike | bool | None = None,
) -> Array:  # fmt: skip
    """Estimate the matrix of I(x_i; y_j) between columns; with x alone, between its own columns, NaN on the diagonal.

    Cost: that of :func:`mutual_information` of two columns, rows · log rows, for each pair of columns.

    Args:
        x: Rows.
        y: Rows, if any.
        estimator: As in :func:`mutual_information`.
        normalize: As in :func:`mutual_information`.
        units: "nats" or "bits".
        seed: Of random choices.
        k: Neighbours, for estimators that count them.
        groups: As in :func:`mutual_information`.
        time: As in :func:`mutual_information`.

    Returns:
        (columns of x, columns of y).

    >>> rng = np.random.default_rng(0)
    >>> a = rng.standard_normal(500)
    >>> table = pairwise(np.stack([a, a + rng.standard_normal(500), rng.standard_normal(500)], axis=1))
    >>> bool(table[0, 1] > 0.2), bool(table[0, 2] < 0.1), bool(np.isnan(table[0, 0]))
    (True, True, True)
    """
    parts, _ = aligned({"x": joined_columns("x", x), "y": joined_columns("y", y), "groups": groups, "time": time})
    groups, time = parts["groups"], parts["time"]
    blocks = as_blocks(parts["x"], parts["y"], discrete=())
    left, right = blocks[0].values, blocks[-1].values

    def information(i: int, j: int) -> float:
        return mutual_information(
            left[:, i],
            right[:, j],
            estimator=estimator,
            normalize=normalize,
            units=units,
            seed=seed,
            k=k,
            confidence=None,
            groups=groups,
            time=time,
        )

    table = np.full((left.shape[1], right.shape[1]), np.nan)
    for i in range(left.shape[1]):
        for j in range(right.shape[1]):
            if y is not None:
                table[i, j] = information(i, j)
            elif i < j:
                table[i, j] = table[j, i] = information(i, j)
    return table
