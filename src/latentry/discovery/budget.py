"""How much may be spent: a time, or a number of fits."""

from __future__ import annotations

import re
from dataclasses import dataclass

from latentry.errors import DataError

__all__ = ["Budget", "budget_of"]

_UNITS = {"s": 1.0, "sec": 1.0, "second": 1.0, "min": 60.0, "minute": 60.0, "h": 3600.0, "hour": 3600.0}
_LEAST_FITS = 3  # one that is compared, one that is kept, and one that it is matched with


@dataclass(frozen=True)
class Budget:
    """What a discovery may spend; one of the two is None.

    Args:
        fits: Number of fits: the result then depends on the seed alone.
        seconds: Time by the clock: what no longer fits in is left out.
    """

    fits: int | None
    seconds: float | None

    def __str__(self) -> str:
        return f"{self.fits} fits" if self.seconds is None else f"{self.seconds:g} s"


def budget_of(given: str | int) -> Budget:
    """Read a budget: text with a unit of time, or a whole number of fits.

    Cost: constant.

    Args:
        given: Such as "10 min", "90 s", "1 h", or 12.

    Returns:
        The budget.

    Raises:
        DataError: If it is neither, or too small.

    >>> budget_of("10 min").seconds, budget_of(12).fits, budget_of("12 fits").fits
    (600.0, 12, 12)
    """
    words = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*?)s?\s*", f"{given}".lower())
    if isinstance(given, bool) or words is None:
        raise _refused(given)
    number, unit = float(words[1]), words[2] or ("s" if f"{given}".strip().endswith("s") else "")
    if unit in ("", "fit") and number.is_integer():
        if number < _LEAST_FITS:
            raise DataError(
                f"budget={given!r}: too few fits to compare, keep and repeat a model. Give at least {_LEAST_FITS}."
            )
        return Budget(int(number), None)
    if unit not in _UNITS or number <= 0:
        raise _refused(given)
    return Budget(None, number * _UNITS[unit])


def _refused(given: object) -> DataError:
    return DataError(
        f"budget={given!r}: neither a time nor a whole number of fits. Give such as '10 min', '90 s' or 12."
    )
