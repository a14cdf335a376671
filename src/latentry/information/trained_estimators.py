"""What all trained estimators use: rows to learn from, rows to choose by, rows to report on, and a compiled loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import jax
import numpy as np

from latentry.data import Dataset
from latentry.errors import DataError
from latentry.information.ranks import folds
from latentry.streams import stream_seed
from latentry.training import Feed, Phase, Task, run

__all__ = ["DIFFERENCE", "Split", "chained", "error_of", "split_rows", "train"]

Array = np.ndarray
Module = TypeVar("Module")
BATCH = 256
MOST_SELECTED = 2_048  # held-out rows compared with each other at a time
FEWEST_ROWS = 50
DIFFERENCE = (
    "a difference of two lower bounds, I(X; Y, Z) − I(X; Z): no bound itself, off by how unequally they fall short"
)


@dataclass(frozen=True)
class Split:
    """Row numbers for learning, for choosing the moment to stop, and for the answer: never the same ones."""

    train: Array
    select: Array
    report: Array

    @property
    def said(self) -> str:
        """Describe the split in words."""
        return f"{len(self.train)} rows to learn, {len(self.select)} to stop, {len(self.report)} to report"


def split_rows(n: int, seed: int) -> Split:
    """Split row numbers into three fifths to learn, a fifth to stop, and a fifth to report.

    Args:
        n: Rows.
        seed: Of the split.

    Returns:
        Row numbers.

    Raises:
        DataError: If there are too few rows.

    >>> [len(part) for part in (split_rows(100, 0).train, split_rows(100, 0).select, split_rows(100, 0).report)]
    [60, 20, 20]
    """
    if n < FEWEST_ROWS:
        raise DataError(f"x: {n} rows are too few to train on. Give at least {FEWEST_ROWS}, or use estimator='ksg'.")
    report, select, *rest = folds(n, 5, seed)
    return Split(np.concatenate(rest), select, report)


def train(
    make: Callable[[jax.Array], Module],
    loss: Callable[..., tuple[jax.Array, dict[str, jax.Array]]],
    x: Array,
    y: Array,
    split: Split,
    *,
    seed: int,
    steps: int,
    patience: int | None,
    learning_rate: float = 2e-3,
) -> Module:
    """Return the module whose loss on the selection rows was least along training on the training rows.

    Args:
        make: Builds an untrained module from a key.
        loss: Of module, batch and key.
        x: Rows.
        y: Rows.
        split: Row numbers.
        seed: Of weights, batches and noise.
        steps: Optimiser steps, about.
        patience: Epochs without a better loss before it stops; None runs all.
        learning_rate: Before the schedule.

    Returns:
        The module.
    """
    rows = Dataset({"x": x[split.train], "y": y[split.train]})
    chosen = Dataset({"x": x[split.select], "y": y[split.select]})
    training, held_out = Feed(rows, min(BATCH, len(rows))), Feed(chosen, min(MOST_SELECTED, len(chosen)))
    epochs = max(1, round(steps / training.plan.steps))
    phase = Phase("fit", loss, epochs=epochs, learning_rate=learning_rate, patience=patience)
    trained: Module = run(
        Task(make, (phase,), training, held_out, stream_seed("information/training", seed)), progress=False
    ).result
    return trained


def chained(parts: tuple[Array, ...], terms: Callable[[Array, Array], Array]) -> Array:
    """Return terms of I(X; Y), or of I(X; Y | Z) = I(X; Y, Z) − I(X; Z) row by row, so that errors cancel where they agree.

    Args:
        parts: x, y and, if any, z.
        terms: Terms of I for two blocks.

    Returns:
        Nats for each row.

    >>> x, y, z = np.zeros((3, 4, 1))
    >>> chained((x, y, z), lambda a, b: np.full(len(a), float(b.shape[1]))).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    if len(parts) == 2:
        return terms(*parts)
    x, y, z = parts
    return np.asarray(terms(x, np.hstack([y, z])) - terms(x, z))


def error_of(terms: Array) -> float:
    """Return the standard error of the mean of independent terms.

    Args:
        terms: One for each row.

    Returns:
        The standard error.
    """
    return float(np.std(terms, ddof=1) / np.sqrt(len(terms)))
