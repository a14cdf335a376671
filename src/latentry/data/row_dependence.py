r"""Rows that depend on each other: which of them belong together, and whether neighbours are alike.

Bounds and tests count independent rows. Rows of one subject, or of one moment, count once: groups are the units where they
are given, and blocks of time, each several autocorrelation times long, where a time is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latentry.data.cells import raw_column
from latentry.data.inputs import LabelsLike
from latentry.data.latents import missing_entries
from latentry.data.ranks import normal_scores
from latentry.errors import DataError
from latentry.row_order import label_order_p_value, lagged_products, least_over_lags

__all__ = ["OrderDependence", "group_labels", "order_dependence", "time_blocks", "time_values"]

Codes = NDArray[np.int64]
_LEVELS = 30  # of a label that are looked at, the most frequent ones
_COLUMNS = 64  # of a table that are looked at
_WHOLE = 3.0  # autocorrelation times in a block: neighbouring blocks are then hardly dependent
_SAID = 0.05  # p-value below which it is said how many independent rows are left
_CLEAR = 4.0  # standard errors of an autocorrelation that is there
_ALIKE = 0.7  # of the clearest autocorrelation: a lag that is as clear
_FADED = 0.05  # autocorrelation below which a lag no longer counts


def group_labels(groups: LabelsLike, rows: int) -> np.ndarray:
    """Return one label for each row, as given.

    Args:
        groups: Labels: whole numbers, text or truth values.
        rows: Number of rows.

    Returns:
        (rows,).

    Raises:
        DataError: For another shape or type, and where a row has no group, by number.
    """
    labels = np.asarray(groups)
    if labels.shape != (rows,):
        raise DataError(f"groups of shape {labels.shape}: not one label for each of {rows} rows. Give one per row.")
    gone = np.flatnonzero(missing_entries(labels))
    if len(gone):
        raise DataError(
            f"groups: missing at row {gone[0]}. Give every row a group, one of its own where it stands alone."
        )
    if labels.dtype.kind == "O":
        labels = np.array([str(label) for label in labels.tolist()])
    if labels.dtype.kind == "f" and (labels == np.round(labels)).all():
        labels = labels.astype(np.int64)  # one empty cell elsewhere in a file turns whole numbers into fractions
    if labels.dtype.kind not in "biuU":
        raise DataError(f"groups of dtype {labels.dtype}: not labels. Give whole numbers or text.")
    return labels


def time_values(time: ArrayLike, rows: int) -> NDArray[np.float64]:
    """Return one moment for each row as a number.

    Args:
        time: Numbers or dates.
        rows: Number of rows.

    Returns:
        (rows,).

    Raises:
        DataError: For another shape or type, and where a row has no time, by number.
    """
    values = np.asarray(time)
    if values.shape != (rows,):
        raise DataError(
            f"time of shape {values.shape}: not one moment for each of {rows} rows. Give one number per row."
        )
    if values.dtype.kind in "UO":
        column = raw_column("time", "time", values)
        values = _dates(values) if column.kind == "category" else column.cells
    if values.dtype.kind == "M":
        gone, numbers = np.isnat(values), values.astype("datetime64[ns]").astype(np.int64).astype(np.float64)
    elif values.dtype.kind in "iuf":
        numbers = values.astype(np.float64)
        gone = ~np.isfinite(numbers)
    else:
        raise DataError(
            f"time of dtype {values.dtype}: neither numbers nor dates. Give numbers, or dates such as 2024-03-31."
        )
    if gone.any():
        raise DataError(f"time: missing or infinite at row {np.flatnonzero(gone)[0]}. Give every row a time.")
    return numbers


def _dates(words: np.ndarray) -> np.ndarray:
    """Return dates such as 2024-03-31 or 2024-03-31T12:30, if all are."""
    try:
        return np.array(
            ["NaT" if word is None else str(word).strip() for word in words.tolist()], dtype="datetime64[ns]"
        )
    except ValueError:
        return words


@dataclass(frozen=True)
class OrderDependence:
    """How alike rows are that are near each other, or a fixed distance apart, in the order in which they are given.

    Args:
        p_value: Of the hypothesis that the order says nothing, over all columns and distances (Bonferroni).
        correlation: Of rows `lag` apart, in the column that shows it most.
        column: Number of that column, numbers before labels.
        effective_rows: Independent rows that would tell as much about a mean as these do.
        lag: Distance of the rows that are most alike: 1 for neighbours, 12 where 12 subjects take turns.
    """

    p_value: float
    correlation: float
    column: int
    effective_rows: float
    lag: int = 1


def order_dependence(columns: Sequence[np.ndarray], strata: np.ndarray | None = None) -> OrderDependence:
    r"""Test whether rows k apart are alike: :math:`r_k = \sum_t s_t s_{t+k} / \sum_t s_t^2` of normal scores s.

    Rows in random order have :math:`\sum_t s_t s_{t+k} / (\sum_t s_t^2 s_{t+k}^2)^{1/2}` close to standard normal. Neighbours
    (k = 1) have half of the level, all other distances up to half of the rows share the other half: subjects that take turns
    are alike at the distance of their number. Labels are compared by the number of rows that share one. Rows that were
    shuffled, or of which a random part was taken, show nothing, however they depend on each other.

    Args:
        columns: Each (rows,) or (rows, width): numbers, or labels (whole numbers, text), of which the most frequent are seen.
        strata: A whole number for each row; only neighbours of one stratum are compared, each stratum around its own mean.

    Returns:
        The test over all columns.

    >>> rng = np.random.default_rng(0)
    >>> bool(order_dependence([rng.normal(size=500)]).p_value > 0.01)
    True
    >>> bool(order_dependence([rng.normal(size=500).cumsum()]).p_value < 1e-9)
    True
    """
    rows = len(columns[0])
    level = np.zeros(rows, dtype=np.int64) if strata is None else np.unique(strata, return_inverse=True)[1]
    order = np.argsort(level, kind="stable")
    table = _scores(columns)[order]
    level = level[order]
    table = _standardised(table, level)
    live = (table**2).sum(axis=0) > 1e-12 * max(rows, 1)
    if not live.any() or (level[1:] == level[:-1]).sum() < 3:
        return OrderDependence(1.0, 0.0, 0, float(rows))
    products, pairs = (part[1 : len(part) // 2 + 1] for part in lagged_products(table, level))
    if not len(pairs):
        return OrderDependence(1.0, 0.0, 0, float(rows))
    numbers = sum(_width(column) for column in columns if column.dtype.kind == "f")
    tails = _number_tails(table[:, :numbers], level, products[:, :numbers], pairs)
    tails += [label_order_p_value(labels[order], level) for labels in _labels(columns)]
    p_value = min(1.0, min(tails, default=1.0) * len(tails))
    return _described(table, level, p_value, products, pairs)


def _number_tails(table: np.ndarray, level: Codes, products: np.ndarray, pairs: np.ndarray) -> list[float]:
    """Return the p-value of each column of numbers, over all lags."""
    squares = lagged_products(table**2, level)[0][1 : len(pairs) + 1]
    live = squares > 1e-9 * np.maximum(pairs[:, None], 1)  # a stratum may be constant
    tails = np.where(live, _normal_tail(products / np.sqrt(np.where(live, squares, 1.0))), 1.0)
    return [least_over_lags(column, pairs) for column, some in zip(tails.T, live.T, strict=True) if some.any()]


def _described(
    table: np.ndarray, level: Codes, p_value: float, products: np.ndarray, pairs: np.ndarray
) -> OrderDependence:
    """Say which column and which distance show it most, and how many independent rows are left."""
    rows, spread = len(table), (table**2).sum(axis=0)
    rho = products / np.where(spread > 1e-12 * rows, spread, np.inf) * rows / np.maximum(pairs[:, None], 1)
    clear = rho * np.sqrt(pairs[:, None])  # in standard errors
    near = int(clear[0].argmax())
    if p_value >= _SAID or clear[0, near] > _CLEAR:
        lag, worst = 1, near
    else:
        worst = int(clear.max(axis=0).argmax())
        lag = 1 + int(np.argmax(clear[:, worst] > _ALIKE * clear[:, worst].max()))  # the first of its multiples
    lasting = 1.0
    if p_value < _SAID:
        repeated = 1 + 2 * float(rho[:, worst][clear[:, worst] > _CLEAR].sum())
        lasting = max(autocorrelation_time(table[:, [worst]], level), repeated)
    return OrderDependence(p_value, float(rho[lag - 1, worst]), worst, rows / lasting, lag)


def _normal_tail(z: np.ndarray) -> np.ndarray:
    from scipy.special import ndtr  # slow to load: only when it is asked for

    tail: np.ndarray = ndtr(-z)
    return tail


def _width(column: np.ndarray) -> int:
    return min(int(np.prod(column.shape[1:], dtype=int)), _COLUMNS)


def _labels(columns: Sequence[np.ndarray]) -> list[Codes]:
    flat = [column.reshape(len(column), -1) for column in columns if column.dtype.kind != "f"]
    return [np.unique(labels, return_inverse=True)[1] for table in flat for labels in table.T[:_COLUMNS]]


def _scores(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Return normal scores of numbers, then a column of zeros and ones for each frequent level of a label."""
    parts: list[np.ndarray] = []
    for column in (column for column in columns if column.dtype.kind == "f"):
        flat = column.reshape(len(column), -1)
        some = np.linspace(0, flat.shape[1] - 1, _width(column)).astype(int)
        parts.append(normal_scores(np.nan_to_num(flat[:, some])))
    return np.hstack([*parts, *(_indicators(labels) for labels in _labels(columns))])


def _indicators(labels: np.ndarray) -> np.ndarray:
    values, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    frequent = np.argsort(-counts)[: min(_LEVELS, len(values))]
    return np.asarray(codes[:, None] == frequent, dtype=np.float64)


def _standardised(table: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Return columns with mean 0 and variance 1 in each stratum: those with large variances would outweigh the others."""
    away = table - _means(table, level)
    variance = _means(away**2, level)
    return np.where(variance > 1e-12, away / np.sqrt(np.maximum(variance, 1e-12)), 0.0)


def _means(table: np.ndarray, level: np.ndarray) -> np.ndarray:
    counts = np.bincount(level)
    sums = np.zeros((len(counts), table.shape[1]))
    np.add.at(sums, level, table)
    means: np.ndarray = (sums / np.maximum(counts, 1)[:, None])[level]
    return means


def autocorrelation_time(table: np.ndarray, level: np.ndarray) -> float:
    r"""Return the largest :math:`1 + 2 \sum_k \rho_k` of the columns, summed until the autocorrelation has faded.

    Args:
        table: Columns in order of time, (rows, width), centred within levels.
        level: Of each row; lags do not reach over its borders.

    Returns:
        Rows that a dependence lasts, at least 1.
    """
    spread = np.maximum((table**2).sum(axis=0), 1e-300)
    products, pairs = lagged_products(table, level)
    # Fewer pairs remain at a long lag: the sum is scaled as if none were lost.
    rho = products[1:] / spread * len(table) / np.maximum(pairs[1:, None], 1)
    going = np.logical_and.accumulate((rho > _FADED) & (pairs[1:, None] > 0), axis=0)
    return float(1 + 2 * np.where(going, rho, 0.0).sum(axis=0).max(initial=0.0))


def time_blocks(time: NDArray[np.float64], columns: Sequence[np.ndarray], strata: np.ndarray | None = None) -> Codes:
    """Cut rows into blocks of neighbouring moments, long enough for blocks to be nearly independent.

    Args:
        time: Of each row.
        columns: By which the length of dependence is measured, as for :func:`order_dependence`.
        strata: A whole number for each row; blocks do not reach over them.

    Returns:
        The number of each row's block, (rows,).
    """
    level = np.zeros(len(time), dtype=np.int64) if strata is None else np.unique(strata, return_inverse=True)[1]
    order = np.lexsort((time, level))
    table = _scores(columns)[order]
    table = _standardised(table, level[order])
    length = max(1, int(np.ceil(_WHOLE * autocorrelation_time(table, level[order]))))
    _, starts = np.unique(level[order], return_index=True)
    place = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    pairs = np.column_stack([level[order], place // length])
    codes = np.empty(len(order), dtype=np.int64)
    codes[order] = np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1)
    return codes
