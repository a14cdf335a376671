"""What an estimator is asked, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from latentry.errors import DataError
from latentry.evidence import NATS_PER_UNIT
from latentry.information.blocks import Block
from latentry.information.mixed_variables import category_columns
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
    units: str = "nats"

    def neighbours(self, default: int) -> int:
        """Return how many neighbours: the caller's number, or the estimator's own.

        Args:
            default: The estimator's own.

        Returns:
            At least 1.
        """
        return default if self.k is None else self.k

    def __post_init__(self) -> None:
        """Check that counts are counts."""
        for name in ("k", "bins", "steps"):
            value = getattr(self, name)
            if value is not None and not (
                isinstance(value, int | float | np.integer | np.floating) and value >= 1 and value % 1 == 0
            ):
                raise DataError(f"{name}={value!r}: it is no count. Give a whole number of at least 1, or None.")


@dataclass(frozen=True)
class Question:
    """The variables whose I(X; Y | Z) is asked for, and the settings of all estimators."""

    x: Block
    y: Block
    given: Block | None = None
    options: Options = field(default_factory=Options, kw_only=True)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Return the blocks that are there."""
        return (self.x, self.y) if self.given is None else (self.x, self.y, self.given)

    def take(self, rows: Array) -> Question:
        """Return the same question about some of the rows.

        Args:
            rows: Row numbers.

        Returns:
            A new question.
        """
        taken = [replace(b, values=b.values[rows]) for b in self.blocks]
        return Question(*taken, options=self.options) if len(taken) == 3 else replace(self, x=taken[0], y=taken[1])

    def normaliser(self, default: str) -> str:
        """Return the normaliser to use: the estimator's default unless the caller chose.

        Args:
            default: The estimator's own.

        Returns:
            A name.
        """
        chosen = self.options.normalize
        return default if chosen == "default" else chosen or "none"

    def say(self, nats: float) -> str:
        """Write an amount of information in the caller's units.

        Args:
            nats: The amount.

        Returns:
            Number and unit.

        >>> block = Block("x", np.zeros((1, 1)))
        >>> Question(block, block, options=Options(units="bits")).say(1.0)
        '1.443 bits'
        """
        return f"{nats / NATS_PER_UNIT[self.options.units]:.3f} {self.options.units}"

    def numbers(self, name: str) -> tuple[Array, ...]:
        """Return the blocks as normalised columns; labels become columns at distance 0 or 1, also beside numbers.

        Args:
            name: Of the normaliser.

        Returns:
            Columns of each block.
        """
        return tuple(_columns(block, name) for block in self.blocks)


def _columns(block: Block, normaliser: str) -> Array:
    if block.discrete:
        return category_columns(block.values[:, 0])
    if not block.digits:
        return normalise(block.values, normaliser)
    numbers, digits = np.split(block.values, [block.d - block.digits], axis=1)
    return np.hstack([normalise(numbers, normaliser), digits])


@dataclass(frozen=True)
class Answer:
    """A value in nats, how it was obtained, and its standard error if the estimator knows it.

    Args:
        value: In nats.
        method: Name and settings.
        normaliser: Its name, or empty.
        error: Standard error, or None.
        reason: Why this method.
        warnings: Sentences for the reader.
        shortfall: By how much the truth may lie above the value for reasons other than sampling; it raises the upper end.
        excess: By how much the truth may lie below the value for reasons other than sampling; it lowers the lower end.
        drawn: The standard error of a mean over drawn rows, where not all were looked at; an error by subsampling does not
            know it.
    """

    value: float
    method: str
    normaliser: str
    error: float | None = None
    reason: str = ""
    warnings: tuple[str, ...] = ()
    shortfall: float = 0.0
    drawn: float = 0.0
    excess: float = 0.0
