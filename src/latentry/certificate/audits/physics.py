"""The fitted parameters of experts: numbers that a scientist can look up."""

from __future__ import annotations

import math

import numpy as np

from latentry.certificate.question import Fields, Number
from latentry.contracts import HasPhysics, PhysicalParameter
from latentry.evidence import Bound

__all__ = ["physics_numbers", "physics_table"]

_METHOD = "least squares on the rows of the fit"


def physics_table(model: object) -> list[Fields]:
    """Return one row for each parameter of each expert, its values by cluster, by value of a node, or one for all rows.

    Args:
        model: Of any kind.

    Returns:
        Rows of plain data; none where a model has no physics.
    """
    if not isinstance(model, HasPhysics):
        return []
    return [
        {"modality": fitted.modality, "parameter": fitted.name, "per": fitted.per, "values": _pairs(fitted)}
        for fitted in model.physical_parameters()
    ]


def _pairs(fitted: PhysicalParameter) -> list[list[float | None]]:
    return [[float(v), _known(e)] for v, e in zip(np.ravel(fitted.values), np.ravel(fitted.errors), strict=True)]


def physics_numbers(table: list[Fields]) -> dict[str, Number]:
    """Return the same as estimates; their standard errors take rows as units, for curves scatter as wholes.

    Args:
        table: As `physics_table` gives it.

    Returns:
        A number for each value, by name.
    """
    return {
        f"{row['parameter']} of {row['modality']}{_place(row['per'], i)}": _estimate(value, error)
        for row in table
        for i, (value, error) in enumerate(row["values"])
    }


def _known(error: float) -> float | None:
    """Return a standard error, where rows determine the parameter."""
    return float(error) if math.isfinite(error) and error > 0 else None


def _place(per: str, number: int) -> str:
    return "" if per == "all" else f", {per} {number}" if per == "cluster" else f", {per} = {number}"


def _estimate(value: float, error: float | None) -> Bound:
    known = "" if error is None else f"; standard error {error:.2g}"
    return Bound(value, "estimate", method=f"{_METHOD}{known}")
