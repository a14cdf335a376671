"""A number read off a sample, with its interval and how it was obtained."""

from __future__ import annotations

import math
from typing import Any

from latentry.errors import DataError, nearest
from latentry.evidence.bound import Fields

__all__ = ["NATS_PER_UNIT", "Estimate", "check_units"]

NATS_PER_UNIT = {"nats": 1.0, "bits": math.log(2.0)}


def check_units(units: str) -> None:
    """Refuse units other than nats and bits.

    Args:
        units: Their name.

    Raises:
        DataError: If they are neither.
    """
    if units not in NATS_PER_UNIT:
        raise DataError(f"units={units!r}: is not known{nearest(units, NATS_PER_UNIT)}")


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
    low: float
    high: float
    method: str
    normaliser: str
    n: int
    units: str
    confidence: float
    reason: str
    warnings: tuple[str, ...]

    def __new__(
        cls,
        value: float,
        *,
        low: float = math.nan,
        high: float = math.nan,
        method: str = "",
        normaliser: str = "",
        n: int = 0,
        units: str = "nats",
        confidence: float = math.nan,
        reason: str = "",
        warnings: tuple[str, ...] = (),
    ) -> Estimate:
        if units != "fraction":
            check_units(units)
        self = super().__new__(cls, value)
        # Written past __setattr__, which refuses every change.
        self.__dict__.update(low=low, high=high, method=method, normaliser=normaliser, n=n, units=units)
        self.__dict__.update(confidence=confidence, reason=reason, warnings=warnings)
        return self

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name}={value!r}: an Estimate cannot be changed. Build a new one, or use with_.")

    def as_dict(self) -> Fields:
        """Return every field but the value, ready for JSON."""
        return dict(self.__dict__)

    def to_json(self) -> Fields:
        """Return plain data for a JSON file; NaN becomes None, infinities the strings 'inf' and '-inf'.

        >>> e = Estimate(0.4, low=0.3, high=math.inf, method="ksg1", n=50, confidence=0.95)
        >>> e.to_json()["high"], Estimate.from_json(e.to_json()).to_json() == e.to_json()
        ('inf', True)
        """
        return {name: _plain(value) for name, value in {"value": float(self), **self.as_dict()}.items()}

    @classmethod
    def from_json(cls, fields: Fields) -> Estimate:
        """Read the estimate that `to_json` wrote.

        Args:
            fields: The value and every field of an estimate, by name.

        Returns:
            The estimate.
        """
        numbers = {name: _number(fields[name]) for name in ("value", "low", "high", "confidence")}
        return cls(**{**fields, **numbers, "warnings": tuple(fields["warnings"])})

    def with_(self, **changes: Any) -> Estimate:
        """Return the same estimate with some fields changed.

        Args:
            **changes: New values by the name of the field; `value` for the number itself.

        Returns:
            A new estimate.
        """
        return Estimate(**{"value": float(self), **self.as_dict(), **changes})

    def to(self, units: str) -> Estimate:
        """Convert the estimate to other units.

        Args:
            units: "nats" or "bits".

        Returns:
            A new estimate.

        Raises:
            DataError: If the units are neither.
        """
        check_units(units)
        factor = NATS_PER_UNIT[self.units] / NATS_PER_UNIT[units]
        changed = {"low": self.low * factor, "high": self.high * factor, "units": units}
        return Estimate(float(self) * factor, **{**self.as_dict(), **changed})

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


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return list(value)
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return None if math.isnan(value) else str(value)


def _number(value: float | str | None) -> float:
    return math.nan if value is None else float(value)
