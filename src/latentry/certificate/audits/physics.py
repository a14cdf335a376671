"""The fitted parameters of experts: numbers that a scientist can look up."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from latentry.certificate.question import Number
from latentry.contracts import HasPhysics, PhysicalParameter
from latentry.evidence import Bound

__all__ = ["physics_numbers", "physics_table"]

_METHOD = "least squares on the rows of the fit"


def physics_table(model: Any) -> list[dict[str, Any]]:
    """One row for each parameter of each expert, its values by cluster, by value of a node, or one for all rows."""
    if not isinstance(model, HasPhysics):
        return []
    return [
        {"modality": found.modality, "parameter": found.name, "per": found.per, "values": _pairs(found)}
        for found in model.physical_parameters()
    ]


def _pairs(found: PhysicalParameter) -> list[list[float | None]]:
    return [[float(v), _known(e)] for v, e in zip(np.ravel(found.values), np.ravel(found.errors), strict=True)]


def physics_numbers(table: list[dict[str, Any]]) -> dict[str, Number]:
    """The same as estimates; their standard errors take rows as units, for curves scatter as wholes."""
    return {
        f"{row['parameter']} of {row['modality']}{_place(row['per'], i)}": _estimate(value, error)
        for row in table
        for i, (value, error) in enumerate(row["values"])
    }


def _known(error: float) -> float | None:
    """A standard error, where rows determine the parameter."""
    return float(error) if math.isfinite(error) and error > 0 else None


def _place(per: str, number: int) -> str:
    return "" if per == "all" else f", {per} {number}" if per == "cluster" else f", {per} = {number}"


def _estimate(value: float, error: float | None) -> Bound:
    known = "" if error is None else f"; standard error {error:.2g}"
    return Bound(value, "estimate", method=f"{_METHOD}{known}")
