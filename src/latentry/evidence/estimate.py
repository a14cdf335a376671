"""A number read off a sample, with its interval and the way it was obtained."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from typing import Any

from latentry.errors import DataError, nearest

__all__ = ["NATS_PER_UNIT", "Estimate", "check_units"]

NATS_PER_UNIT = {"nats": 1.0, "bits": math.log(2.0)}


def check_units(units: str) -> None:
    """Nats or bits."""
    if units not in NATS_PER_UNIT:
        raise DataError(f"units={units!r} is not known{nearest(units, NATS_PER_UNIT)}")


@dataclass(frozen=True, repr=False, eq=False)
class _Reading:
    """What an estimate carries beside its value; declared once, so that every field is in one place."""

    low: float = math.nan
    high: float = math.nan
    method: str = ""
    normaliser: str = ""
    n: int = 0
    units: str = "nats"
    confidence: float = math.nan
    reason: str = ""
    warnings: tuple[str, ...] = field(default=())


class Estimate(float):
    """An estimated number that can be used wherever a float can, and that knows where it came from.

    The interval [low, high] claims the stated confidence for sampling error, under the assumptions of
    the method; NaN limits mean that no interval was asked for. `warnings` are sentences. Arithmetic
    gives plain floats: a sum of estimates has no interval of its own.

    >>> e = Estimate(0.41, low=0.38, high=0.44, method="ksg1", normaliser="linf", n=1000, confidence=0.95)
    >>> e
    0.41 nats [0.38, 0.44] (95 %, ksg1, linf, n=1000)
    >>> e > 0.3, round(e.to("bits"), 3), e + 1
    (True, 0.592, 1.41)
    """

    direction = "estimate"
    _reading: _Reading
    low: float
    high: float
    method: str
    normaliser: str
    n: int
    units: str
    confidence: float
    reason: str
    warnings: tuple[str, ...]

    def __new__(cls, value: float, **reading: Any) -> Estimate:  # noqa: D102
        check_units(reading.get("units", "nats"))
        self = super().__new__(cls, value)
        object.__setattr__(self, "_reading", _Reading(**reading))
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._reading, name)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an Estimate cannot be changed; build a new one instead of setting {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (float(self), self.as_dict())

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(f.name for f in fields(_Reading))})

    def as_dict(self) -> dict[str, Any]:
        """Every field but the value, ready for JSON."""
        return {f.name: getattr(self._reading, f.name) for f in fields(_Reading)}

    def to_json(self) -> dict[str, Any]:
        """Plain data for a JSON file; NaN becomes None, infinities the strings 'inf' and '-inf'.

        >>> e = Estimate(0.4, low=0.3, high=math.inf, method="ksg1", n=50, confidence=0.95)
        >>> e.to_json()["high"], Estimate.from_json(e.to_json()).to_json() == e.to_json()
        ('inf', True)
        """
        return {name: _plain(value) for name, value in {"value": float(self), **self.as_dict()}.items()}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Estimate:
        """The estimate that `to_json` wrote."""
        numbers = {name: _number(fields[name]) for name in ("value", "low", "high", "confidence")}
        rest = {name: value for name, value in fields.items() if name not in numbers}
        value = numbers.pop("value")
        return cls(value, **numbers, **{**rest, "warnings": tuple(rest["warnings"])})

    def with_(self, **changes: Any) -> Estimate:
        """The same estimate with some fields changed."""
        return Estimate(float(self), **{**self.as_dict(), **changes})

    def to(self, units: str) -> Estimate:
        """The same estimate in "nats" or "bits"."""
        check_units(units)
        factor = NATS_PER_UNIT[self.units] / NATS_PER_UNIT[units]
        reading = replace(self._reading, low=self.low * factor, high=self.high * factor, units=units)
        return _rebuild(float(self) * factor, {f.name: getattr(reading, f.name) for f in fields(reading)})

    def __repr__(self) -> str:
        how = [f"n={self.n}"]
        if self.normaliser:
            how.insert(0, self.normaliser)
        if self.method:
            how.insert(0, self.method)
        interval = ""
        if not math.isnan(self.low):
            interval = f" [{self.low:.4g}, {self.high:.4g}]"
            how.insert(0, f"{100 * self.confidence:g} %")
        count = len(self.warnings)
        alarm = f"; {count} warning{'s' * (count > 1)}" if count else ""
        return f"{float(self):.4g} {self.units}{interval} ({', '.join(how)}{alarm})"

    __str__ = __repr__


def _rebuild(value: float, reading: dict[str, Any]) -> Estimate:
    return Estimate(value, **reading)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return None if math.isnan(value) else str(value)


def _number(value: float | str | None) -> float:
    return math.nan if value is None else float(value)
