"""Which values a parameter may have, as a small table for each model, and the one sentence for a value that it may not."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from latentry.errors import DataError, nearest

__all__ = [
    "Choice",
    "Flag",
    "Group",
    "NameOrFunction",
    "Names",
    "Real",
    "Reals",
    "Rule",
    "Whole",
    "Widths",
    "check_table",
    "refuse",
    "require",
]


class Rule(ABC):
    """A set of allowed values."""

    @abstractmethod
    def problem(self, value: Any) -> str | None:
        """Return what is wrong with a value and what to do, as one or two sentences; None if it is allowed."""


def refuse(name: str, value: Any, problem: str) -> DataError:
    """Return the error of a parameter, as ``name=value: what is wrong. What to do``."""
    return DataError(f"{name}={value!r}: {problem}")


def require(name: str, value: Any, rule: Rule) -> None:
    """Refuse a value that a rule does not allow.

    >>> require("epochs", 0, Whole(1))
    Traceback (most recent call last):
    latentry.errors.DataError: epochs=0: not a whole number of at least 1. Give one.
    """
    problem = rule.problem(value)
    if problem is not None:
        raise refuse(name, value, problem)


def check_table(owner: Any, table: Mapping[str, Rule], prefix: str = "") -> None:
    """Check the parameters of a model, and those of the settings that it holds, in the order of the table."""
    for name, rule in table.items():
        value = getattr(owner, name)
        require(f"{prefix}{name}", value, rule)
        if isinstance(rule, Group):
            check_table(value, rule.kind.constraints, f"{prefix}{name}__")


def _number(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


@dataclass(frozen=True)
class Whole(Rule):
    """Whole numbers of at least ``least``; None too, if ``none``."""

    least: int
    none: bool = False

    def problem(self, value: Any) -> str | None:
        """Say what is wrong."""
        if (self.none and value is None) or (_number(value, numbers.Integral) and value >= self.least):
            return None
        return f"not a whole number of at least {self.least}. Give one{', or None' * self.none}."


@dataclass(frozen=True)
class Real(Rule):
    """Finite numbers in an interval; None too, if ``none``."""

    least: float = -inf
    above: float = -inf
    below: float = inf
    most: float = inf
    none: bool = False

    def problem(self, value: Any) -> str | None:
        """Say what is wrong."""
        if self.none and value is None:
            return None
        fine = _number(value, numbers.Real) and -inf < float(value) < inf
        if fine and self.above < float(value) < self.below and self.least <= float(value) <= self.most:
            return None
        return f"not a number{self._words()}. Give one{', or None' * self.none}."

    def _words(self) -> str:
        ends = {"of at least": self.least, "above": self.above, "below": self.below, "of at most": self.most}
        return "".join(f" {word} {end:g}" for word, end in ends.items() if abs(end) < inf)


@dataclass(frozen=True)
class Reals(Rule):
    """A tuple of so many finite numbers, each in an interval."""

    count: int
    each: Real = Real()
    example: str = ""
    none: bool = False

    def problem(self, value: Any) -> str | None:
        """Say what is wrong."""
        if self.none and value is None:
            return None
        fine = isinstance(value, (tuple, list)) and len(value) == self.count
        if fine and all(self.each.problem(part) is None for part in value):
            return None
        return f"not {self.count} numbers{self.each._words()}. Give them as {self.example}."


@dataclass(frozen=True)
class Choice(Rule):
    """One of a few names."""

    options: Iterable[str]

    def problem(self, value: Any) -> str | None:
        """Say what is wrong."""
        known = tuple(self.options)
        return None if isinstance(value, str) and value in known else f"not known{nearest(str(value), known)}"


@dataclass(frozen=True)
class Names(Rule):
    """A tuple of names, each one of a few if ``options`` are given."""

    example: str
    options: Iterable[str] | None = None

    def problem(self, value: Any) -> str | None:
        """Say what is wrong."""
        if isinstance(value, str) or not isinstance(value, (tuple, list)):
            return f"not a tuple of names. Give one such as {self.example}."
        known = None if self.options is None else tuple(self.options)
        strange = [name for name in value if known is not None and name not in known]
        return f"{strange[0]!r} is not known{nearest(str(strange[0]), known or ())}" if strange else None


@dataclass(frozen=True)
class Flag(Rule):
    """True or False; None too, if ``none``."""

    none: bool = False

    def problem(self, value: Any) -> str | None:
        """Say what is wrong."""
        fine = isinstance(value, bool) or (self.none and value is None)
        return None if fine else f"not True or False. Give one of them{', or None' * self.none}."


@dataclass(frozen=True)
class Widths(Rule):
    """A tuple of positive whole numbers: widths of layers."""

    def problem(self, value: Any) -> str | None:
        """Say what is wrong."""
        fine = isinstance(value, (tuple, list)) and all(
            _number(width, numbers.Integral) and width > 0 for width in value
        )
        return None if fine else "not a tuple of positive widths. Give one such as (64, 64)."


@dataclass(frozen=True)
class NameOrFunction(Rule):
    """A name, which is looked up later, or a function of the user's own."""

    what: str
    function: str

    def problem(self, value: Any) -> str | None:
        """Say what is wrong."""
        fine = isinstance(value, str) or callable(value)
        return None if fine else f"not {self.what}. Give a name, or {self.function}."


@dataclass(frozen=True)
class Group(Rule):
    """A settings object, whose own parameters are checked with it."""

    kind: Any  # a class of settings

    def problem(self, value: Any) -> str | None:
        """Say what is wrong."""
        if isinstance(value, self.kind):
            return None
        return f"not settings of this kind. Give latentry.models.{self.kind.__name__}(...)."
