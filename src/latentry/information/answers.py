"""What an estimator is asked, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from latentry.information.blocks import Block
from latentry.information.mixed import category_columns
from latentry.information.normalisers import normalise

__all__ = ["Answer", "Options", "Question"]

Array = np.ndarray


@dataclass(frozen=True)
class Options:
    """The knobs of all estimators; None means the estimator's own choice."""

    normalize: str | None = "default"
    k: int | None = None
    bins: int | None = None
    correction: str = "miller_madow"
    scan_scale: bool = False
    seed: int = 0
    steps: int | None = None


@dataclass(frozen=True)
class Question:
    """I(X; Y | Z) of these rows, please."""

    x: Block
    y: Block
    given: Block | None = None
    options: Options = field(default_factory=Options, kw_only=True)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks that are there."""
        return (self.x, self.y) if self.given is None else (self.x, self.y, self.given)

    def take(self, rows: Array) -> Question:
        """The same question about some of the rows."""
        taken = [replace(b, values=b.values[rows]) for b in self.blocks]
        return Question(*taken, options=self.options) if len(taken) == 3 else replace(self, x=taken[0], y=taken[1])

    def normaliser(self, default: str) -> str:
        """The normaliser to use: the estimator's default unless the caller chose."""
        chosen = self.options.normalize
        return default if chosen == "default" else chosen or "none"

    def numbers(self, name: str) -> tuple[Array, ...]:
        """The blocks as normalised columns; labels become indicator columns."""
        return tuple(category_columns(b.values[:, 0]) if b.discrete else normalise(b.values, name) for b in self.blocks)


@dataclass(frozen=True)
class Answer:
    """A value in nats, how it was obtained, and its standard error if the estimator knows it."""

    value: float
    method: str
    normaliser: str
    error: float | None = None
    reason: str = ""
    warnings: tuple[str, ...] = ()
