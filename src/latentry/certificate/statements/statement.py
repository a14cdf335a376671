"""One sentence that may be quoted, with the numbers it is made from."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from latentry.certificate.question import Fields, Number
from latentry.evidence import Estimate, Status

__all__ = ["Grade", "Statement", "Topic", "are", "at_least", "at_most", "capital", "joined", "nats", "percent"]

Topic = Literal[
    "rows",
    "worth",
    "variable",
    "dependence",
    "factor",
    "information",
    "natural",
    "domain",
    "identifiable",
    "graph",
    "fit",
]
Grade = Status | Literal["measured"]


@dataclass(frozen=True)
class Statement:
    """A sentence made from numbers.

    >>> print(Statement("natural", "node N2", "The naturality error of node N2 is at most 0.13 nats.", "certified", 0.0, 0.13))
    certified: The naturality error of node N2 is at most 0.13 nats.

    Args:
        topic: What kind of thing it says.
        about: The hidden variable, or variables.
        sentence: In words, whole.
        grade: `certified` where both ends are bounds, `supported`, `not refuted`, `refuted`, or `measured` for estimates.
        low: Lower end of the quantity; None where nothing bounds it.
        high: Upper end; None where nothing bounds it.
        unit: Of both ends.
        of: What the quantity is a part of, such as the entropy of the variable, in the same unit.
        confidence: Of each end.
    """

    topic: Topic
    about: str
    sentence: str
    grade: Grade
    low: float | None = None
    high: float | None = None
    unit: str = "nats"
    of: float | None = None
    confidence: float | None = None

    def __str__(self) -> str:
        return f"{self.grade}: {self.sentence}"

    def to_json(self) -> Fields:
        """Return plain data for a JSON file."""
        fields = dict(vars(self))
        return {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in fields.items()
        }


def are(name: str) -> str:
    """Return the verb that goes with a name.

    Args:
        name: Of a latent, in a sentence.

    Returns:
        "are" or "is".
    """
    return "are" if name == "the latents" else "is"


def at_most(value: float) -> str:
    """Return an upper bound with two digits after the point, rounded up.

    >>> at_most(0.0751), at_least(0.2961)
    ('0.08', '0.29')

    Args:
        value: The bound.

    Returns:
        Digits.
    """
    return f"{math.ceil(100 * value - 1e-9) / 100:.2f}"


def at_least(value: float) -> str:
    """Return a lower bound with two digits after the point, rounded down.

    Args:
        value: The bound.

    Returns:
        Digits.
    """
    return f"{max(math.floor(100 * value + 1e-9) / 100, 0.0):.2f}"


def capital(words: str) -> str:
    """Return words with a capital first letter.

    Args:
        words: Of a sentence.

    Returns:
        The same, as its beginning.
    """
    return words[:1].upper() + words[1:]


def joined(words: Iterable[str]) -> str:
    """Return a list in words.

    >>> joined(["image", "curve", "table"])
    'image, curve and table'

    Args:
        words: At least one.

    Returns:
        A phrase.
    """
    *some, last = words
    return f"{', '.join(some)} and {last}" if some else last


def percent(fraction: tuple[float, float, float] | list[float]) -> str:
    """Return a fraction with its interval, in percent.

    >>> percent([0.62, 0.58, 0.66])
    '62 % [58, 66]'

    Args:
        fraction: Value, lower and upper end.

    Returns:
        A phrase.
    """
    value, low, high = (100 * part for part in fraction)
    return f"{value:.0f} % [{low:.0f}, {high:.0f}]"


def nats(number: Number) -> str:
    """Return an estimate with its interval, never below zero.

    Args:
        number: An estimate, or a bound where no interval is known.

    Returns:
        A phrase without the unit.
    """
    value = max(float(number) if isinstance(number, Estimate) else number.value, 0.0)
    if not isinstance(number, Estimate) or number.low != number.low:
        return f"{value:.2f}"
    return f"{value:.2f} [{max(number.low, 0.0):.2f}, {max(number.high, 0.0):.2f}]"
