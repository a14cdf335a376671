"""What a verdict takes for granted, and what was done to find out whether it holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from latentry.errors import DataError, nearest
from latentry.evidence.bound import Fields

__all__ = ["Assumption", "Outcome", "assumptions_in_words"]

Outcome = Literal["not refuted", "refuted", "untested"]


@dataclass(frozen=True)
class Assumption:
    """One thing that must hold for a verdict to be true.

    >>> print(Assumption("latents are independent in each domain", "not refuted", "correlation, 12 domains", 0.31, 0.99))
    latents are independent in each domain: not refuted (correlation, 12 domains; p = 0.31, power 0.99)
    >>> print(Assumption("the sensors are the same in all domains", "untested", note="a gain can hide in the latents"))
    the sensors are the same in all domains: untested (a gain can hide in the latents)

    Args:
        name: What must hold, as a short sentence.
        outcome: `not refuted`, `refuted` or `untested`.
        test: How it was tested; empty where it was not.
        p_value: Of the test, corrected for the number of places it looked at.
        power: Probability that a violation of the size in the note would have been found, where it is known.
        note: What was seen, or why it cannot be tested.
    """

    name: str
    outcome: Outcome
    test: str = ""
    p_value: float | None = None
    power: float | None = None
    note: str = ""

    def __post_init__(self) -> None:
        if self.outcome not in get_args(Outcome):
            raise DataError(f"outcome={self.outcome!r}: is not known{nearest(str(self.outcome), get_args(Outcome))}")
        if self.outcome != "untested" and not self.test:
            raise DataError(f"outcome={self.outcome!r}: needs a test. Say how {self.name!r} was tested.")
        for name in ("p_value", "power"):
            value = getattr(self, name)
            if value is not None and not 0.0 <= value <= 1.0:
                raise DataError(f"{name}={value}: is not a probability. Give a number between 0 and 1.")

    @property
    def refuted(self) -> bool:
        """Return whether a test speaks against it."""
        return self.outcome == "refuted"

    def __str__(self) -> str:
        known = [f"p = {self.p_value:.2g}"] if self.p_value is not None else []
        known += [f"power {self.power:.2f}"] if self.power is not None else []
        inside = "; ".join(filter(None, (self.test, ", ".join(known), self.note)))
        return f"{self.name}: {self.outcome}" + (f" ({inside})" if inside else "")

    def to_json(self) -> Fields:
        """Return plain data for a JSON file."""
        return dict(self.__dict__)

    @classmethod
    def from_json(cls, fields: Fields) -> Assumption:
        """Read the assumption that `to_json` wrote.

        Args:
            fields: Every field, by name.

        Returns:
            The assumption.
        """
        return cls(**fields)


def assumptions_in_words(assumptions: Iterable[Assumption]) -> str:
    """Return one sentence that names what was tested and what was not.

    >>> parts = [Assumption("rows are independent", "not refuted", "lag one", 0.4), Assumption("no sensor drifts", "untested")]
    >>> assumptions_in_words(parts)
    'Tested and not refuted: rows are independent. Untested: no sensor drifts.'

    Args:
        assumptions: In the order in which they are to be named.

    Returns:
        Up to three sentences; empty where there is nothing to name.
    """
    words = {"refuted": "Refuted", "not refuted": "Tested and not refuted", "untested": "Untested"}
    given = tuple(assumptions)
    named = {word: [one.name for one in given if one.outcome == outcome] for outcome, word in words.items()}
    return " ".join(f"{word}: {'; '.join(names)}." for word, names in named.items() if names)
