"""A number that knows in which direction it may be wrong, and arithmetic that keeps it honest."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from latentry.errors import DataError, LatentryError, nearest

__all__ = ["Bound", "Direction", "DirectionError", "Interval", "maximum", "minimum", "total"]

Direction = Literal["exact", "upper", "lower", "estimate"]
Fields = dict[str, Any]  # of a JSON object
_OPPOSITE: dict[Direction, Direction] = {
    "exact": "exact",
    "upper": "lower",
    "lower": "upper",
    "estimate": "estimate",
}
_SIGN: dict[Direction, str] = {"exact": "=", "upper": "≤", "lower": "≥", "estimate": "≈"}


class DirectionError(LatentryError, TypeError):
    """A bound was read, added or compared as its direction does not allow."""


@dataclass(frozen=True, eq=False)
class Bound:
    """What is known of one real quantity: a value, and on which side of it the truth lies.

    `exact` means that the truth is within `tolerance` of the value; `upper` and `lower` that it is on that
    side of the value with probability `confidence` (1 = always, under the assumptions); `estimate` that
    nothing is promised. Sums, differences, scalings, maxima and comparisons keep the direction, combine
    confidences by the union bound, and refuse what has no meaning:

    >>> error = Bound(0.02, "upper", confidence=0.95, method="held-out student", n=500)
    >>> print(2 * error)
    ≤ 0.04 (95 %, held-out student, n = 500)
    >>> error < 0.05, (error + error).confidence
    (True, 0.9)
    >>> float(error)
    Traceback (most recent call last):
    latentry.evidence.bound.DirectionError: an upper bound is not an estimate. Read .value and say 'at most'.
    >>> error - error
    Traceback (most recent call last):
    latentry.evidence.bound.DirectionError: an upper bound plus a lower bound bounds nothing

    Args:
        value: The number, in the units of the quantity (nats for information).
        direction: `exact`, `upper`, `lower` or `estimate`.
        confidence: Probability that the direction holds; for an estimate it has no meaning and stays 1.
        method: How it was computed, in words.
        assumptions: What must hold for the direction to be true.
        tolerance: Numerical error of an exact value.
        n: Rows behind a statistical bound.
        seed: What makes it reproducible.
    """

    value: float
    direction: Direction = "exact"
    confidence: float = 1.0
    method: str = ""
    assumptions: tuple[str, ...] = ()
    tolerance: float = 0.0
    n: int | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.direction not in get_args(Direction):
            raise DataError(
                f"direction={self.direction!r}: is not known{nearest(str(self.direction), get_args(Direction))}"
            )
        if math.isnan(self.value):
            raise DataError("value=nan: is not a number. A bound that says nothing is ±infinity.")
        if not 0.0 <= self.confidence <= 1.0:
            raise DataError(f"confidence={self.confidence}: is not a probability. Give a number between 0 and 1.")
        if not self.tolerance >= 0.0:
            raise DataError(f"tolerance={self.tolerance}: must be zero or more.")
        if self.direction == "exact" and self.confidence < 1.0:
            raise DataError(
                f"confidence={self.confidence}: an exact value has confidence 1. Use direction='estimate' or a bound."
            )
        object.__setattr__(self, "value", float(self.value))
        object.__setattr__(self, "assumptions", tuple(self.assumptions))

    @property
    def high(self) -> float:
        """Return the largest value the truth can have; infinite when the bound does not say."""
        return self.value + self.tolerance if self.direction in ("exact", "upper") else math.inf

    @property
    def low(self) -> float:
        """Return the smallest value the truth can have; minus infinity when the bound does not say."""
        return self.value - self.tolerance if self.direction in ("exact", "lower") else -math.inf

    def as_upper(self) -> Bound:
        """Read the same knowledge as an upper bound; refused for lower bounds and estimates.

        >>> Bound(1.0, tolerance=0.1).as_upper().value
        1.1
        """
        return self._one_sided("upper", self.high)

    def as_lower(self) -> Bound:
        """Read the same knowledge as a lower bound; refused for upper bounds and estimates."""
        return self._one_sided("lower", self.low)

    def _one_sided(self, side: Direction, value: float) -> Bound:
        if self.direction not in (side, "exact"):
            raise DirectionError(f"{_an(self.direction)} is not {_an(side)}. Only an exact value is both.")
        return replace(self, value=value, direction=side, tolerance=0.0)

    def __float__(self) -> float:
        if self.direction in ("upper", "lower"):
            words = "at most" if self.direction == "upper" else "at least"
            raise DirectionError(f"{_an(self.direction)} is not an estimate. Read .value and say {words!r}.")
        return self.value

    def __neg__(self) -> Bound:
        return replace(self, value=-self.value, direction=_OPPOSITE[self.direction])

    def __add__(self, other: Bound | float) -> Bound:
        return total([self, other]) if isinstance(other, Bound | int | float) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Bound | float) -> Bound:
        return total([self, -other]) if isinstance(other, Bound | int | float) else NotImplemented

    def __rsub__(self, other: float) -> Bound:
        return -self + other

    def __mul__(self, factor: float) -> Bound:
        if isinstance(factor, Bound):
            raise DirectionError("a product of bounds has no direction. Multiply by plain numbers only.")
        if not math.isfinite(factor):
            raise DataError(f"factor={factor}: a bound cannot be multiplied by {factor}. Use a finite number.")
        flipped = self if factor >= 0 else -self
        scale = abs(float(factor))
        value = 0.0 if scale == 0 else flipped.value * scale
        return replace(flipped, value=value, tolerance=flipped.tolerance * scale)

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> Bound:
        if isinstance(divisor, Bound):
            raise DirectionError("a ratio of bounds has no direction. Divide by plain numbers only.")
        return self * (1.0 / divisor)

    def below(self, threshold: float) -> bool:
        """Decide whether it is established that the truth is below the threshold.

        Args:
            threshold: In the units of the quantity.

        Returns:
            True when it is; False says only that it is not established.
        """
        return self.high < threshold

    def above(self, threshold: float) -> bool:
        """Decide whether it is established that the truth is above the threshold.

        Args:
            threshold: In the units of the quantity.

        Returns:
            True when it is; False says only that it is not established.
        """
        return self.low > threshold

    def __lt__(self, other: Bound | float) -> bool:
        return _decide(self, other, strict=True)

    def __le__(self, other: Bound | float) -> bool:
        return _decide(self, other, strict=False)

    def __gt__(self, other: Bound | float) -> bool:
        return _decide(-self, -other, strict=True)

    def __ge__(self, other: Bound | float) -> bool:
        return _decide(-self, -other, strict=False)

    def __str__(self) -> str:
        notes = [f"{100 * self.confidence:.4g} %"] if self.confidence < 1 else []
        notes += [self.method] if self.method else []
        notes += [f"± {self.tolerance:.1g}"] if self.tolerance else []
        notes += [f"n = {self.n}"] if self.n is not None else []
        return f"{_SIGN[self.direction]} {self.value:.4g}" + (f" ({', '.join(notes)})" if notes else "")

    def to_json(self) -> Fields:
        """Return plain data for a JSON file; infinities become the strings 'inf' and '-inf'.

        >>> Bound(float("inf"), "upper").to_json()["value"]
        'inf'
        """
        value = self.value if math.isfinite(self.value) else str(self.value)
        return {**self.__dict__, "value": value, "assumptions": list(self.assumptions)}

    @classmethod
    def from_json(cls, fields: Fields) -> Bound:
        """Read the bound that `to_json` wrote.

        >>> b = Bound(0.5, "lower", confidence=0.9, assumptions=("independent rows",))
        >>> Bound.from_json(b.to_json()).to_json() == b.to_json()
        True

        Args:
            fields: Every field of a bound, by name.

        Returns:
            The bound.

        Raises:
            DataError: If a field holds what no bound may have.
        """
        return cls(**{**fields, "value": float(fields["value"]), "assumptions": tuple(fields["assumptions"])})


@dataclass(frozen=True)
class Interval:
    """A lower and an upper bound of one quantity.

    >>> print(Interval(Bound(0.1, "lower"), Bound(0.2, "upper")))
    [0.1, 0.2]
    """

    lower: Bound
    upper: Bound

    def __post_init__(self) -> None:
        object.__setattr__(self, "lower", self.lower.as_lower())
        object.__setattr__(self, "upper", self.upper.as_upper())

    @property
    def gap(self) -> float:
        """Return the width of the interval."""
        return self.upper.value - self.lower.value

    def __str__(self) -> str:
        return f"[{self.lower.value:.4g}, {self.upper.value:.4g}]"

    def to_json(self) -> Fields:
        """Return plain data for a JSON file."""
        return {"lower": self.lower.to_json(), "upper": self.upper.to_json()}


def total(bounds: Iterable[Bound | float]) -> Bound:
    """Add quantities; the confidences combine by the union bound.

    >>> print(total([Bound(0.1, "upper", confidence=0.99), Bound(0.2, "upper", confidence=0.98), 1.0]))
    ≤ 1.3 (97 %)

    Args:
        bounds: Bounds and plain numbers, at least one.

    Returns:
        The sum, with the direction that the terms have in common.

    Raises:
        DataError: If there is nothing to add.
        DirectionError: If the directions do not agree.
    """
    return _combine(bounds, sum, "plus")


def maximum(bounds: Iterable[Bound | float]) -> Bound:
    """Return the largest of several quantities.

    >>> print(maximum([Bound(0.1, "upper"), Bound(0.0)]))
    ≤ 0.1

    Args:
        bounds: Bounds and plain numbers, at least one.

    Returns:
        The maximum, with the direction that the terms have in common.

    Raises:
        DataError: If there is nothing to compare.
        DirectionError: If the directions do not agree.
    """
    return _combine(bounds, max, "and")


def minimum(bounds: Iterable[Bound | float]) -> Bound:
    """Return the smallest of several quantities.

    Args:
        bounds: Bounds and plain numbers, at least one.

    Returns:
        The minimum, with the direction that the terms have in common.

    Raises:
        DataError: If there is nothing to compare.
        DirectionError: If the directions do not agree.
    """
    return _combine(bounds, min, "and")


def _combine(bounds: Iterable[Bound | float], operation: Callable[..., float], word: str) -> Bound:
    """Apply an operation that is increasing in every argument, so that directions survive it."""
    terms = [b if isinstance(b, Bound) else Bound(float(b)) for b in bounds]
    if not terms:
        raise DataError("bounds: no bounds to combine. Give at least one.")
    direction = _common_direction(terms, word)
    one_sided = direction in ("upper", "lower")
    slack = [t.tolerance for t in terms]
    side = {"upper": "high", "lower": "low"}.get(direction, "value")
    return Bound(
        value=operation(getattr(t, side) for t in terms),
        direction=direction,
        confidence=max(0.0, 1.0 - sum(_doubts(terms))),
        method=" + ".join(dict.fromkeys(t.method for t in terms if t.method)),
        assumptions=tuple(dict.fromkeys(a for t in terms for a in t.assumptions)),
        tolerance=0.0 if one_sided else (sum(slack) if operation is sum else max(slack)),
        n=min((t.n for t in terms if t.n is not None), default=None),
        seed=next((t.seed for t in terms if t.seed is not None), None),
    )


def _doubts(terms: list[Bound]) -> list[float]:
    # Decimal-looking confidences (0.95) should give decimal-looking sums: 1 - 0.95 is 0.05 plus a rounding.
    return [round(1.0 - t.confidence, 15) for t in terms]


def _common_direction(terms: list[Bound], word: str) -> Direction:
    directions = list(dict.fromkeys(t.direction for t in terms if t.direction != "exact"))
    if len(directions) > 1:
        what = "bounds nothing" if "estimate" not in directions else "is neither a bound nor an estimate"
        raise DirectionError(f"{_an(directions[0])} {word} {_an(directions[1])} {what}")
    return directions[0] if directions else "exact"


def _decide(left: Bound | float, right: Bound | float, *, strict: bool) -> bool:
    """Whether left < right (or ≤); raises when the two bounds leave it open."""
    a, b = (x if isinstance(x, Bound) else Bound(float(x)) for x in (left, right))
    if a.high < b.low or (not strict and a.high <= b.low):
        return True
    if a.low > b.high or (strict and a.low >= b.high):
        return False
    raise DirectionError(f"({a}) and ({b}) do not decide which is larger. Use .below() or .above().")


def _an(direction: Direction) -> str:
    words = {"exact": "an exact value", "upper": "an upper bound", "lower": "a lower bound"}
    return words.get(direction, "an estimate")
