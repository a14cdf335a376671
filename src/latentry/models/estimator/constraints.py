"""Which values a parameter may have, as a small table for each model, and the one sentence for a value that it may not."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, TypeGuard

from latentry.errors import DataError, nearest

if TYPE_CHECKING:
    from latentry.models.estimator.settings import Settings

__all__ = [
    "Choice",
    "Flag",
    "Group",
    "NameLists",
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
    def problem(self, value: object) -> str | None:
        """Return what is wrong with a value and what to do, as one or two sentences; None if it is allowed.

        Args:
            value: Of the parameter.

        Returns:
            A sentence or two, or None.
        """


def refuse(name: str, value: object, problem: str) -> DataError:
    """Return the error of a parameter, as ``name=value: what is wrong. What to do``.

    Args:
        name: Of the parameter.
        value: That it has.
        problem: What is wrong, and what to do.

    Returns:
        The error, to be raised.
    """
    return DataError(f"{name}={value!r}: {problem}")


def require(name: str, value: object, rule: Rule) -> None:
    """Refuse a value that a rule does not allow.

    Args:
        name: Of the parameter.
        value: That it has.
        rule: Which values it may have.

    Raises:
        DataError: If the rule does not allow the value.

    >>> require("epochs", 0, Whole(1))
    Traceback (most recent call last):
    latentry.errors.DataError: epochs=0: not a whole number of at least 1. Give one.
    """
    problem = rule.problem(value)
    if problem is not None:
        raise refuse(name, value, problem)


def check_table(owner: object, table: Mapping[str, Rule], prefix: str = "") -> None:
    """Check the parameters of a model, and those of the settings that it holds, in the order of the table.

    Cost: constant.

    Args:
        owner: The model, or the settings.
        table: A rule for each parameter.
        prefix: Of the parameters' names in errors, such as ``training__``.

    Raises:
        DataError: If a value is not allowed.
    """
    for name, rule in table.items():
        value = getattr(owner, name)
        require(f"{prefix}{name}", value, rule)
        if isinstance(rule, Group):
            check_table(value, rule.kind.constraints, f"{prefix}{name}__")


def _is_whole(value: object) -> TypeGuard[numbers.Integral]:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _is_real(value: object) -> TypeGuard[numbers.Real]:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


@dataclass(frozen=True)
class Whole(Rule):
    """Whole numbers of at least ``least`` and at most ``most``; None too, if ``none``."""

    least: int
    none: bool = False
    most: float = inf

    def problem(self, value: object) -> str | None:
        """Say what is wrong.

        Args:
            value: Of the parameter.

        Returns:
            A sentence or two, or None.
        """
        if (self.none and value is None) or (_is_whole(value) and self.least <= int(value) <= self.most):
            return None
        end = f" and at most {self.most:.0f}" * (self.most < inf)
        return f"not a whole number of at least {self.least}{end}. Give one{', or None' * self.none}."


@dataclass(frozen=True)
class Real(Rule):
    """Finite numbers in an interval; None too, if ``none``."""

    least: float = -inf
    above: float = -inf
    below: float = inf
    most: float = inf
    none: bool = False

    def problem(self, value: object) -> str | None:
        """Say what is wrong.

        Args:
            value: Of the parameter.

        Returns:
            A sentence or two, or None.
        """
        if self.none and value is None:
            return None
        if _is_real(value) and -inf < float(value) < inf and self._holds(float(value)):
            return None
        return f"not a number{self._words()}. Give one{', or None' * self.none}."

    def _holds(self, number: float) -> bool:
        return self.above < number < self.below and self.least <= number <= self.most

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

    def problem(self, value: object) -> str | None:
        """Say what is wrong.

        Args:
            value: Of the parameter.

        Returns:
            A sentence or two, or None.
        """
        if self.none and value is None:
            return None
        allowed = isinstance(value, (tuple, list)) and all(self.each.problem(part) is None for part in value)
        if isinstance(value, (tuple, list)) and len(value) == self.count and allowed:
            return None
        return f"not {self.count} numbers{self.each._words()}. Give them as {self.example}."


@dataclass(frozen=True)
class Choice(Rule):
    """One of a few names."""

    options: Iterable[str]

    def problem(self, value: object) -> str | None:
        """Say what is wrong.

        Args:
            value: Of the parameter.

        Returns:
            A sentence or two, or None.
        """
        known = tuple(self.options)
        return None if isinstance(value, str) and value in known else f"not known{nearest(str(value), known)}"


@dataclass(frozen=True)
class Names(Rule):
    """A tuple of names, each one of a few if ``options`` are given."""

    example: str
    options: Iterable[str] | None = None

    def problem(self, value: object) -> str | None:
        """Say what is wrong.

        Args:
            value: Of the parameter.

        Returns:
            A sentence or two, or None.
        """
        if isinstance(value, str) or not isinstance(value, (tuple, list)):
            return f"not a tuple of names. Give one such as {self.example}."
        known = None if self.options is None else tuple(self.options)
        strange = [name for name in value if known is not None and name not in known]
        return f"{strange[0]!r} is not known{nearest(str(strange[0]), known or ())}" if strange else None


@dataclass(frozen=True)
class Flag(Rule):
    """True or False; None too, if ``none``; and a word, if there is one."""

    none: bool = False
    word: str | None = None

    def problem(self, value: object) -> str | None:
        """Say what is wrong.

        Args:
            value: Of the parameter.

        Returns:
            A sentence or two, or None.
        """
        fine = (
            isinstance(value, bool) or (self.none and value is None) or (isinstance(value, str) and value == self.word)
        )
        other = ", or None" * self.none if self.word is None else f", or {self.word!r}"
        return None if fine else f"not True or False. Give one of them{other}."


@dataclass(frozen=True)
class Widths(Rule):
    """A tuple of positive whole numbers: widths of layers."""

    def problem(self, value: object) -> str | None:
        """Say what is wrong.

        Args:
            value: Of the parameter.

        Returns:
            A sentence or two, or None.
        """
        fine = isinstance(value, (tuple, list)) and all(_is_whole(width) and int(width) > 0 for width in value)
        return None if fine else "not a tuple of positive widths. Give one such as (64, 64)."


@dataclass(frozen=True)
class NameOrFunction(Rule):
    """A name, which is looked up later, or a function of the user's own."""

    what: str
    function: str
    names: Iterable[str] | None = None  # where they are known beforehand

    def problem(self, value: object) -> str | None:
        """Say what is wrong.

        Args:
            value: Of the parameter.

        Returns:
            A sentence or two, or None.
        """
        if isinstance(value, str) and self.names is not None and value not in self.names:
            return f"not known{nearest(value, tuple(self.names))}"
        fine = isinstance(value, str) or callable(value)
        return None if fine else f"not {self.what}. Give a name, or {self.function}."


@dataclass(frozen=True)
class NameLists(Rule):
    """A dictionary of lists of names, or None."""

    example: str

    def problem(self, value: object) -> str | None:
        """Say what is wrong.

        Args:
            value: Of the parameter.

        Returns:
            A sentence or two, or None.
        """
        if value is None:
            return None
        lists = list(value.values()) if isinstance(value, Mapping) else [None]
        if all(isinstance(one, (tuple, list)) and all(isinstance(name, str) for name in one) for one in lists):
            return None
        return f"not a dictionary of lists of names. Give one such as {self.example}, or None."


@dataclass(frozen=True)
class Group(Rule):
    """A settings object, whose own parameters are checked with it."""

    kind: type[Settings]

    def problem(self, value: object) -> str | None:
        """Say what is wrong.

        Args:
            value: Of the parameter.

        Returns:
            A sentence or two, or None.
        """
        if isinstance(value, self.kind):
            return None
        return f"not settings of this kind. Give latentry.models.{self.kind.__name__}(...)."
