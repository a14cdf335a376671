"""Counts of node values, whole or expected, from tables or from rows, with the interventions they were taken under."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latentry.errors import DataError, DataWarning
from latentry.graphs.names import as_names, as_outcomes, index_of, table_cells
from latentry.row_order import label_order_p_value

__all__ = ["Counts", "as_counts"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
Targets = str | Sequence[str]
_FEWEST, _LEVEL = 40, 0.001  # rows whose order is looked at, and the level of that test


@dataclass(frozen=True, eq=False)
class Block:
    """Rows taken under one intervention: their distinct values, how often each came, and the nodes that were set."""

    targets: frozenset[str]
    values: Codes
    weights: Array


@dataclass(frozen=True, eq=False)
class Counts:
    """How often each configuration of the nodes came; fractions are allowed, as in expected counts Σ_d γ_d.

    A row in which node A was set by the experimenter says nothing about what causes A: it is counted for all
    nodes but A (Cooper and Yoo 1999; Hauser and Bühlmann 2012).

    >>> c = Counts.from_table([[30, 10], [5, 55]], ["A", "B"], interventional={"B": [[20, 20], [30, 30]]})
    >>> c.marginal(["A"]), c.marginal(["A"], of="B")  # B's own counts leave out the rows where B was set
    (array([ 80., 120.]), array([40., 60.]))
    >>> c
    Counts(200 rows of A, B; 100 of them with B set)
    """

    names: tuple[str, ...]
    outcomes: tuple[int, ...]
    blocks: tuple[Block, ...]

    @classmethod
    def from_table(
        cls,
        table: ArrayLike,
        names: Sequence[str] | None = None,
        *,
        interventional: Mapping[Targets, ArrayLike] | None = None,
    ) -> Counts:
        """Build counts from a table with one axis per node.

        Args:
            table: (C_1, ..., C_L), finite and ≥ 0; may be all zero when interventional tables are given.
            names: Of the nodes; N1, N2, ... by default.
            interventional: Further tables of the same shape, by the node (or tuple of nodes) that was set.

        Returns:
            Checked counts, with one block per intervention.

        Raises:
            DataError: If a table is not finite or negative somewhere, shapes differ, all counts are zero, or a node
                is unknown.
        """
        first = _checked_table(table, "the table of counts")
        known = as_names(names, first.ndim)
        outcomes = as_outcomes(first.shape, known)
        blocks = [_block_of_table(frozenset(), first)]
        for targets, other in (interventional or {}).items():
            nodes = _as_targets(targets, known)
            each = _checked_table(other, f"the table of counts with {' and '.join(sorted(nodes))} set")
            if each.shape != first.shape:
                raise DataError(
                    f"the table with {sorted(nodes)} set: has shape {each.shape}, the first one {first.shape}. Make them equal."
                )
            blocks.append(_block_of_table(nodes, each))
        return _made(cls, known, outcomes, blocks)

    @classmethod
    def from_rows(
        cls,
        rows: ArrayLike | Mapping[str, ArrayLike],
        names: Sequence[str] | None = None,
        *,
        outcomes: int | Sequence[int] | None = None,
        weights: ArrayLike | None = None,
        targets: Sequence[Targets | None] | None = None,
        groups: ArrayLike | None = None,
    ) -> Counts:
        """Count rows of whole numbers; memory grows with the distinct rows, not with ∏ C.

        >>> Counts.from_rows({"A": [0, 1, 1], "B": [0, 2, 1]}, targets=[None, "A", "A"])
        Counts(3 rows of A, B; 2 of them with A set)
        >>> Counts.from_rows({"A": [0, 0, 1], "B": [0, 1, 1]}, groups=["anna", "anna", "ben"]).total
        2.0

        Args:
            rows: (n, L) of whole numbers from 0, or columns by name.
            names: Of the columns; N1, N2, ... by default.
            outcomes: Of each node; the largest value plus one by default.
            weights: Of the rows; one each by default.
            targets: For each row the node, or nodes, that were set in it; None for an observed row.
            groups: A label for each row, where rows of one subject, plate or batch depend on each other: each group then
                weighs as one row, since its rows may say no more than one. Without it, a warning says when rows that are near
                each other, or a fixed distance apart, are alike more often than by chance.

        Returns:
            Checked counts, with one block per intervention.

        Raises:
            DataError: If rows, weights or targets do not fit, or a value is not an outcome.
        """
        if isinstance(rows, Mapping):
            names, rows = tuple(rows), _stacked(rows)
        values = np.asarray(rows)
        if values.ndim != 2:
            raise DataError(f"rows: has shape {values.shape}. Give (rows, nodes).")
        known = as_names(names, values.shape[1])
        values = _checked_rows(values, known)
        limits = np.maximum(values.max(axis=0, initial=0) + 1, 2) if outcomes is None else outcomes
        each = as_outcomes(limits if isinstance(limits, int) else [int(v) for v in limits], known)
        _check_range(values, each, known)
        heaps = _checked_weights(weights, len(values)) * _group_weights(groups, len(values))
        parts = _grouped(targets, known, len(values))
        if groups is None and weights is None:
            _warn_of_order(values, parts)
        blocks = [_block_of_rows(nodes, values[chosen], heaps[chosen]) for nodes, chosen in parts]
        return _made(cls, known, each, blocks)

    @property
    def total(self) -> float:
        """Return the number of rows, all interventions together."""
        return float(sum(b.weights.sum() for b in self.blocks))

    @property
    def targets(self) -> tuple[frozenset[str], ...]:
        """List the sets of nodes that were set in some rows."""
        return tuple(b.targets for b in self.blocks if b.targets)

    def active(self, of: str | None) -> tuple[int, ...]:
        """List the blocks that count for a node: those in which it was not set.

        Args:
            of: The node; None for all blocks.

        Returns:
            Positions in `blocks`.
        """
        return tuple(i for i, b in enumerate(self.blocks) if of not in b.targets)

    def marginal(self, nodes: Sequence[str], of: str | None = None) -> Array:
        """Count the values of some nodes; rows that set `of` are left out.

        Args:
            nodes: Names, in the order of the axes.
            of: The node whose own counts are wanted; None to use all rows.

        Returns:
            Counts, one axis per node.

        Raises:
            DataError: If a node is unknown, or the table would be too large.
        """
        axes = [index_of(self.names, n, "the counts") for n in nodes]
        shape = [self.outcomes[a] for a in axes]
        cells = table_cells(shape, "marginal")
        total = np.zeros(cells)
        for i in self.active(of):
            block = self.blocks[i]
            total += np.bincount(codes(block.values, axes, self.outcomes), weights=block.weights, minlength=cells)
        return total.reshape(shape)

    def resampled(self, seed: int | np.random.Generator) -> Counts:
        """Draw a bootstrap replicate: as many rows as there are, with replacement within each intervention.

        Expected counts are drawn as if they were whole; to keep the uncertainty of soft assignments, resample
        the rows behind them and pass the new counts to `edge_frequencies` yourself.

        Args:
            seed: Of the draw, or a generator.

        Returns:
            Counts of the replicate.
        """
        rng = np.random.default_rng(seed)
        blocks = []
        for b in self.blocks:
            size = b.weights.sum()
            drawn = rng.multinomial(round(size), b.weights / size).astype(np.float64) if size else b.weights
            blocks.append(Block(b.targets, b.values, drawn))
        return Counts(self.names, self.outcomes, tuple(blocks))

    def __repr__(self) -> str:
        parts = [f"{self.total:g} rows of {', '.join(self.names)}"]
        for block in self.blocks:
            if block.targets:
                parts.append(f"{block.weights.sum():g} of them with {' and '.join(sorted(block.targets))} set")
        return f"Counts({'; '.join(parts)})"


def codes(values: Codes, axes: Sequence[int], outcomes: Sequence[int]) -> Codes:
    """Number the values on the given axes, one whole number per row, the last axis fastest."""
    code = np.zeros(len(values), dtype=np.int64)
    for axis in axes:
        code *= outcomes[axis]
        code += values[:, axis]
    return code


def as_counts(counts: Counts | ArrayLike, names: Sequence[str] | None = None) -> Counts:
    """Return counts as they are, or count a table.

    Args:
        counts: A table with one axis per node, or `Counts`.
        names: Of the nodes, for a table.

    Returns:
        Checked counts.

    Raises:
        DataError: If the names differ from those of the counts, or the table does not hold counts.
    """
    if isinstance(counts, Counts):
        if names is not None and tuple(names) != counts.names:
            raise DataError(f"names={tuple(names)}: differ from those of the counts, {counts.names}. Leave names out.")
        return counts
    return Counts.from_table(counts, names)


def _made(cls: type[Counts], names: tuple[str, ...], outcomes: tuple[int, ...], blocks: list[Block]) -> Counts:
    if not sum(b.weights.sum() for b in blocks) > 0:
        raise DataError("counts: are all zero. Give a table or rows with some weight.")
    return cls(names, outcomes, tuple(blocks))


def _as_targets(targets: Targets | None, names: Sequence[str]) -> frozenset[str]:
    nodes = () if targets is None else (targets,) if isinstance(targets, str) else tuple(targets)
    for node in nodes:
        index_of(names, node, "the counts (interventions)")
    return frozenset(nodes)


def _grouped(
    targets: Sequence[Targets | None] | None, names: Sequence[str], rows: int
) -> list[tuple[frozenset[str], NDArray[np.intp] | slice]]:
    """The rows taken under each intervention."""
    if targets is None:
        return [(frozenset(), slice(None))]
    if len(targets) != rows:
        raise DataError(
            f"targets: has {len(targets)} entries for {rows} rows. Give one per row, None for an observed one."
        )
    places: dict[frozenset[str], list[int]] = {}
    for row, target in enumerate(targets):
        places.setdefault(_as_targets(target, names), []).append(row)
    return [(nodes, np.array(places[nodes])) for nodes in sorted(places, key=sorted)]


def _checked_table(table: ArrayLike, what: str) -> Array:
    try:
        values = np.asarray(table, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{what}: is not an array of numbers. Give counts.") from None
    if values.ndim == 0:
        raise DataError(f"{what}: has no axes. It needs one per node.")
    if not np.isfinite(values).all() or (values < 0).any():
        at = tuple(int(i) for i in np.argwhere(~(np.isfinite(values) & (values >= 0)))[0])
        raise DataError(f"{what}: is {values[at]} at {at}. Counts are finite and ≥ 0.")
    return values


def _stacked(columns: Mapping[str, ArrayLike]) -> np.ndarray:
    arrays = {name: np.asarray(column) for name, column in columns.items()}
    if not arrays:
        raise DataError("rows: have no columns. Give one per node.")
    first = next(iter(arrays))
    for name, column in arrays.items():
        if column.ndim != 1 or len(column) != len(arrays[first]):
            raise DataError(
                f"column {name!r}: has shape {column.shape}, column {first!r} {arrays[first].shape}. Give one value a row."
            )
    return np.stack(list(arrays.values()), axis=1)


def _checked_rows(values: np.ndarray, names: Sequence[str]) -> Codes:
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError("rows: hold something that is not a number. Code the outcomes as 0, 1, 2, ...") from None
    bad = ~np.isfinite(numbers) | (numbers < 0) | (numbers != np.floor(numbers))
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        raise DataError(
            f"column {names[column]!r}: is {numbers[row, column]:g} in row {row}. Outcomes are 0, 1, 2, ..."
        )
    return numbers.astype(np.int64)


def _check_range(values: Codes, outcomes: Sequence[int], names: Sequence[str]) -> None:
    for column, (name, count) in enumerate(zip(names, outcomes, strict=True)):
        if (values[:, column] >= count).any():
            row = int(np.argmax(values[:, column] >= count))
            raise DataError(
                f"column {name!r}: is {values[row, column]} in row {row}. Node {name!r} takes 0 to {count - 1}."
            )


def _checked_weights(weights: ArrayLike | None, rows: int) -> Array:
    heaps = np.ones(rows) if weights is None else np.asarray(weights, dtype=np.float64)
    if heaps.shape != (rows,):
        raise DataError(f"weights: has shape {heaps.shape}; there are {rows} rows. Give one per row.")
    return _checked_table(heaps, "weights")


def _warn_of_order(values: Codes, parts: Sequence[tuple[frozenset[str], NDArray[np.intp] | slice]]) -> None:
    """Warn where the order of the rows says something about a node, within rows of one intervention."""
    if len(values) < _FEWEST:
        return
    strata = np.zeros(len(values), dtype=np.int64)
    for number, (_, chosen) in enumerate(parts):
        strata[chosen] = number
    p_value = values.shape[1] * min(label_order_p_value(column, strata) for column in values.T)
    if p_value <= _LEVEL:
        warnings.warn(
            f"rows: those near each other, or a fixed distance apart, are alike more often than by chance (p = {p_value:.1g}). "
            "Where rows of one subject depend on each other, edges look surer than they are: name subjects in groups=, or shuffle "
            "rows that were only sorted.",
            DataWarning,
            stacklevel=3,
        )


def _group_weights(groups: ArrayLike | None, rows: int) -> Array:
    if groups is None:
        return np.ones(rows)
    labels = np.asarray(groups)
    if labels.shape != (rows,):
        raise DataError(f"groups: has shape {labels.shape}; there are {rows} rows. Give one label per row.")
    _, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    return np.asarray(1.0 / sizes[codes])


def _block_of_table(targets: frozenset[str], table: Array) -> Block:
    return Block(targets, np.argwhere(table > 0).astype(np.int64), table[table > 0])


def _block_of_rows(targets: frozenset[str], values: Codes, weights: Array) -> Block:
    distinct, place = np.unique(values, axis=0, return_inverse=True)
    heaps: Array = np.bincount(place.reshape(-1), weights=weights, minlength=len(distinct)).astype(np.float64)
    return Block(targets, distinct, heaps)
