"""Windows of shuffled batches on the device, from memory or from disk."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from latentry.data import Batch, Dataset, Plan, assemble
from latentry.training.devices import Placement
from latentry.training.read_ahead import ReadAhead
from latentry.training.round_sizes import SMALL_BYTES, filled_rows, filled_steps

__all__ = ["Feed"]

RESIDENT_BYTES = 2 << 30  # up to here the whole data live on the device


Seed = tuple[int, ...] | None  # None keeps rows in their own order


class Feed:
    """The rows of a dataset as windows of batches, in the order of its plan.

    A program is compiled for each shape. So windows of data in memory are filled up to round numbers of steps, and batches of
    few rows to round numbers of rows: fits to nearly as many rows, as in cross-validation, use the same programs.

    Feeds that are used together have the same ``placement``: the first feed's.
    """

    def __init__(self, data: Dataset, batch: int, placement: Placement | None = None) -> None:
        batch = min(batch, filled_rows(len(data)))
        self.placement = Placement(batch) if placement is None else placement
        whole = -(-batch // self.placement.count) * self.placement.count  # filled up where devices split it
        self.data, self.plan = data, Plan.of(data, whole)
        size = 4 * len(data) * data.layout.size
        # A program that puts windows together on the device would take longer to compile than small ones take on the host.
        self._small = not data.is_lazy and size <= SMALL_BYTES
        fits = not data.is_lazy and SMALL_BYTES < size <= RESIDENT_BYTES and self.placement.count == 1
        self.resident = jax.device_put(assemble(data, np.arange(len(data)))) if fits else None
        self._held: tuple[tuple[Seed, int], Batch] | None = None
        self._order: tuple[Seed, list[np.ndarray]] | None = None
        self._ahead: ReadAhead[Batch] = ReadAhead()

    def window(self, seed: Seed, number: int) -> Batch:
        """Return window ``number`` of the epoch with this seed; without a seed, rows come in their own order.

        Where rows stay on disk, the next window of the epoch is read while this one is used.

        Args:
            seed: Of the epoch's order, or None.
            number: From 0.

        Returns:
            Batches on the device, with a leading step axis.
        """
        if self._held is None or self._held[0] != (seed, number):
            self._held = None  # drop the old window before reading the new one
            self._held = ((seed, number), self._read(seed, number))
        return self._held[1]

    def release(self) -> None:
        """Drop windows that came from disk: over all feeds, one is held at a time, and one is read ahead."""
        if self.resident is None and not self._small:
            self._held = None
            self._ahead.drop()

    @property
    def count(self) -> int:
        """Count the windows of an epoch."""
        return -(-self.plan.steps // self.plan.steps_per_window)

    def _windows(self, seed: Seed) -> list[np.ndarray]:
        if self._order is None or self._order[0] != seed:
            order = np.arange(self.plan.rows) if seed is None else self.plan.order(seed)
            self._order = (seed, self.plan.windows(order))
        return self._order[1]

    def _read(self, seed: Seed, number: int) -> Batch:
        windows = self._windows(seed)
        index = windows[number]
        if self.data.is_lazy:
            rows = self._ahead.take((seed, number), partial(assemble, self.data, index))
            if number + 1 < len(windows):
                self._ahead.begin((seed, number + 1), partial(assemble, self.data, windows[number + 1]))
            return self.placement.window(rows)
        if self.count == 1:
            full = filled_steps(len(index), 4 * index.shape[1] * self.data.layout.size)
            index = np.pad(index, ((0, full - len(index)), (0, 0)), constant_values=-1)
        if self.resident is None:
            return self.placement.window(assemble(self.data, index))
        picked: Batch = _pick(self.resident, jax.device_put(np.where(index < 0, 0, index)), jax.device_put(index >= 0))
        return picked


@jax.jit
def _pick(resident: Batch, index: jax.Array, real: jax.Array) -> Batch:
    # What assemble does, on the device: values are moved, never computed with, so the bits are the same.
    chosen: Batch = jax.tree.map(lambda array: array[index], resident)

    def blank(array: jax.Array) -> jax.Array:
        return jnp.where(real.reshape(real.shape + (1,) * (array.ndim - real.ndim)), array, 0)

    values = {name: blank(array) for name, array in chosen.values.items()}
    observed = {name: blank(array) for name, array in chosen.observed.items()}
    cells = {name: blank(array) for name, array in chosen.cells.items()}
    return chosen._replace(values=values, observed=observed, weight=real.astype(jnp.float32), cells=cells)
