"""Batches in a shuffled order that can be resumed, from memory or from disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from latentry.data.dataset import Dataset
from latentry.data.lazy_rows import BLOCK_BYTES, gather, row_bytes

__all__ = ["WINDOW_BYTES", "Batch", "Plan", "assemble"]

WINDOW_BYTES = 64 << 20  # what is held at once when data stream from disk


# NumPy where a batch is assembled, JAX or a tracer of it where a loss sees the same batch.
BatchArray: TypeAlias = Any


class Batch(NamedTuple):
    """What a loss sees. Missing rows and cells hold zeros; rows that only fill up the shape have weight 0."""

    values: dict[str, BatchArray]  # modality -> (batch, ...) float32
    observed: dict[str, BatchArray]  # modality -> (batch,) 0 or 1
    domain: BatchArray  # (batch,) codes, (batch, width) columns, or None
    weight: BatchArray  # (batch,) 0 or 1
    row: BatchArray = None  # (batch,) int32 numbers of rows, where the dataset is numbered
    experiment: BatchArray = None  # (batch,) int32 numbers of experiments, likewise
    cells: dict[str, BatchArray] = {}  # modality of which cells may be missing -> 0 or 1 for each number of `values`


@dataclass(frozen=True)
class Plan:
    """How an epoch runs over the rows.

    Rows are shuffled within windows of whole, shuffled blocks: a window is what fits in memory,
    a block is one sequential read. Data smaller than a window get a plain permutation. The order
    depends on shapes and seed alone, so data on disk and in memory meet the same batches.
    """

    rows: int
    batch: int
    window: int  # rows per window, a multiple of the batch
    block: int  # rows per block

    @classmethod
    def of(cls, data: Dataset, batch: int) -> Plan:
        """Return the plan for these data.

        Args:
            data: The rows.
            batch: Rows of a step.

        Returns:
            The plan.
        """
        size = max(1, sum(row_bytes(array) for array in data.values.values()))
        window = max(batch, WINDOW_BYTES // size // batch * batch)
        most = -(-len(data) // batch) * batch
        return cls(len(data), batch, min(window, most), max(1, BLOCK_BYTES // size))

    @property
    def steps(self) -> int:
        """Return the steps of an epoch."""
        return -(-self.rows // self.batch)

    @property
    def steps_per_window(self) -> int:
        """Return the steps of a window; the last window may have fewer."""
        return self.window // self.batch

    def order(self, seed: tuple[int, ...]) -> np.ndarray:
        """Return every row once, shuffled.

        Args:
            seed: Whole numbers, such as the seed of a fit and the number of an epoch.

        Returns:
            Numbers of rows.

        >>> plan = Plan(rows=10, batch=2, window=4, block=2)
        >>> sorted(plan.order((0, 1)).tolist()) == list(range(10))
        True
        """
        rng = np.random.default_rng(seed)
        if self.rows <= self.window:
            return rng.permutation(self.rows)
        starts = rng.permutation(np.arange(0, self.rows, self.block))
        order = np.concatenate([np.arange(s, min(s + self.block, self.rows)) for s in starts])
        for start in range(0, self.rows, self.window):
            rng.shuffle(order[start : start + self.window])
        return order

    def windows(self, order: np.ndarray) -> list[np.ndarray]:
        """Cut an order into windows of one shape, filled up with -1.

        Args:
            order: From :meth:`order`.

        Returns:
            Numbers of rows, (steps, batch) for each window.
        """
        count = -(-len(order) // self.window)
        padded = np.full(count * self.window, -1, dtype=np.int64)
        padded[: len(order)] = order
        return list(padded.reshape(count, self.steps_per_window, self.batch))


def assemble(data: Dataset, index: np.ndarray) -> Batch:
    """Return chosen rows as one batch.

    Args:
        data: The rows.
        index: Numbers of rows, of any shape; -1 is a filler.

    Returns:
        A batch whose arrays begin with the shape of ``index``.
    """
    flat = index.reshape(-1)
    real = flat >= 0
    rows = np.where(real, flat, 0)
    values, observed, cells = {}, {}, {}
    for name, array in data.values.items():
        seen = data.observed[name][rows] & real
        taken = gather(array, rows).astype(np.float32, copy=False)
        taken[~seen] = 0
        if name in data.partial:
            known = seen.reshape(-1, *(1,) * (taken.ndim - 1)) & ~np.isnan(taken)
            taken[~known] = 0
            cells[name] = known.astype(np.float32).reshape(*index.shape, *array.shape[1:])
        values[name] = taken.reshape(*index.shape, *array.shape[1:])
        observed[name] = seen.astype(np.float32).reshape(index.shape)
    weight = real.astype(np.float32).reshape(index.shape)
    return Batch(values, observed, _domain(data, rows, index.shape), weight, *_numbers(data, rows, index.shape), cells)


def _numbers(data: Dataset, rows: np.ndarray, shape: tuple[int, ...]) -> tuple[np.ndarray | None, np.ndarray | None]:
    if data.numbering is None:
        return None, None
    return data.numbering.rows[rows].reshape(shape), data.numbering.experiments[rows].reshape(shape)


def _domain(data: Dataset, rows: np.ndarray, shape: tuple[int, ...]) -> np.ndarray | None:
    if data.domain is None:
        return None
    values: np.ndarray = data.domain.values[rows]
    if data.domain.is_continuous:
        return values.astype(np.float32).reshape(*shape, -1)
    return values.reshape(shape)
