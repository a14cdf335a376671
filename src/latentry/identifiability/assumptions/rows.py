"""Whether rows are independent of each other, as far as their order and their values tell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latentry.data import order_dependence, repeated_rows
from latentry.evidence import Assumption

__all__ = ["independent_rows"]

_NAME = "rows are independent of each other"


def independent_rows(
    z: NDArray[np.float64], codes: NDArray[np.int64], units: NDArray[np.int64] | None, level: float
) -> Assumption:
    """Look for copies of rows and for neighbours that are alike.

    Args:
        z: Latents, (rows, latents).
        codes: The number of each row's domain.
        units: The number of each row's group or block of time; None where rows stand alone.
        level: Of the test.

    Returns:
        The assumption. With units given, rows of one unit may depend on each other, and units are taken as independent.
    """
    if units is not None:
        count = len(np.unique(units))
        return Assumption(
            "rows of different groups are independent", "untested", note=f"{count} groups or blocks of time"
        )
    copies = repeated_rows(z)
    if copies.telling:
        note = f"{copies.fraction:.0%} of the rows are copies of others: drop them, or pass groups="
        return Assumption(_NAME, "refuted", "nearest neighbours", 0.0, None, note)
    found = order_dependence([z], codes)
    test = "neighbours in the order of the rows, within domains"
    if found.p_value > level:
        return Assumption(_NAME, "not refuted", test, found.p_value, None, "rows that were shuffled show nothing")
    note = (
        f"neighbours correlate by {found.correlation:.2f}: about {found.effective_rows:.0f} independent rows of {len(z)}; pass "
        "groups= or time="
    )
    return Assumption(_NAME, "refuted", test, found.p_value, None, note)
