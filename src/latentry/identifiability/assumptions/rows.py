"""Whether rows are independent of each other, as far as their order and their values tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentry.data import Repeats, order_dependence, repeated_rows
from latentry.evidence import Assumption

__all__ = ["independent_rows"]

_NAME = "rows in their order do not depend on each other, and none is a copy"
_HIDDEN = Assumption(
    "rows are independent",
    "untested",
    note="rows of one subject in random order look like independent ones; name subjects in groups=, moments in time=",
)


def independent_rows(
    columns: Sequence[NDArray[Any]],
    strata: NDArray[np.int64] | None,
    units: NDArray[np.int64] | None,
    level: float,
    table: NDArray[np.float64] | None = None,
) -> tuple[Assumption, ...]:
    """Look for copies of rows, for neighbours that are alike, and for rows a fixed distance apart that are.

    Rows of one subject that were shuffled show nothing, so that independence beyond the order stays untested without units.

    Cost: rows · log rows in few columns.

    Args:
        columns: Numbers or labels, each (rows,) or (rows, width).
        strata: The number of each row's domain; None for a single one.
        units: The number of each row's group or block of time; None where rows stand alone.
        level: Of the test.
        table: Numbers in which copies are looked for, (rows, width): the rows themselves, where columns are made from them, since
            what was rounded shows only there. By default the numbers among the columns.

    Returns:
        The assumptions. With units given, rows of one unit may depend on each other, and units are taken as independent.
    """
    if units is not None:
        count = len(np.unique(units))
        note = f"{count} groups or blocks of time"
        return (Assumption("rows of different groups are independent", "untested", note=note),)
    rows, numbers = len(columns[0]), [column for column in columns if column.dtype.kind == "f"]
    if table is None and numbers:
        table = np.column_stack(numbers)
    copies = Repeats(0, rows) if table is None else repeated_rows(table)
    if copies.telling:
        note = f"{copies.fraction:.0%} of the rows are copies of others: drop them, or pass groups="
        return (Assumption(_NAME, "refuted", "nearest neighbours", 0.0, None, note),)
    found = order_dependence(columns, strata)
    test = "rows at each distance in the order of the rows, within domains"
    if found.p_value > level:
        return Assumption(_NAME, "not refuted", test, found.p_value), _HIDDEN
    which = "neighbours" if found.lag == 1 else f"rows {found.lag} apart"
    note = (
        f"{which} correlate by {found.correlation:.2f}: about {found.effective_rows:.0f} independent rows of {rows}; pass "
        "groups= or time=, or groups=range(rows) if the file is only sorted"
    )
    return (Assumption(_NAME, "refuted", test, found.p_value, None, note),)
