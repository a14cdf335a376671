"""What is in a file, and how each part of it would be read: for looking before fitting."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from latentry.data.cells import is_missing, raw_column
from latentry.data.columns import Coding, as_category
from latentry.data.files.roles import Roles
from latentry.data.files.table import counts_rows, names_of_rows
from latentry.data.inputs import StoredRows
from latentry.errors import DataError

__all__ = ["Seen", "holds", "options", "survey_arrays", "survey_columns"]


@dataclass(frozen=True)
class Seen:
    """A column or array of a file.

    Args:
        name: In the file.
        holds: What is in it.
        reads: How it would be read; or why it cannot be.
        change: What to type for another reading.
    """

    name: str
    holds: str
    reads: str
    change: str


def survey_columns(columns: Mapping[str, np.ndarray], roles: Roles) -> list[Seen]:
    """Say how the columns of a table would be read.

    Args:
        columns: By their headers.
        roles: What the call said of them.

    Returns:
        A line for each.
    """
    index = None if roles.ids is not None else names_of_rows(columns)
    return [
        Seen(name, holds(values), *(_as_index(values) if name == index else _reads(name, values, roles)))
        for name, values in columns.items()
    ]


def _as_index(values: np.ndarray) -> tuple[str, str]:
    """Say how an index is read that pandas wrote, or we did."""
    return "counts the rows, and is not read" if counts_rows(values) else "names the rows", ""


def survey_arrays(arrays: Mapping[str, StoredRows], roles: Roles) -> list[Seen]:
    """Say how named arrays would be read.

    Args:
        arrays: By name.
        roles: What the call said of them.

    Returns:
        A line for each; what a file says of itself is left out.
    """
    seen = []
    for name, values in arrays.items():
        if name.startswith("@"):
            continue
        part = roles.part(name)
        if values.ndim == 1:
            reads = part or "a value for each row, and no modality: say what it is"
            seen.append(Seen(name, holds(np.asarray(values)), reads, options(name)))
        else:
            shape = "×".join(map(str, values.shape[1:]))
            seen.append(
                Seen(name, f"{len(values)} rows of {shape} {values.dtype}", part or "modality", f"--drop {name}")
            )
    return seen


def _reads(name: str, values: np.ndarray, roles: Roles) -> tuple[str, str]:
    part = roles.part(name)
    if part is not None:
        return part, ""
    if name.startswith("@"):
        return "as the header says", ""
    modality = name.split(":", 1)[0] if ":" in name else "x"
    try:
        raw = raw_column(f"modality {modality!r}", name, values)
        rule = Coding.of(modality, as_category(raw) if name in roles.categories else raw)
    except DataError as problem:
        return f"cannot be read: {problem}", options(name, names=True)
    if rule.kind == "number":
        return f"numbers in {modality}", options(name, numbers="whole" if values.dtype.kind in "iu" else "measured")
    return f"{str(rule).removeprefix(f'{rule.column}: ')}, in {modality}", options(name, moments=rule.kind == "date")


def options(name: str, *, names: bool = False, moments: bool = False, numbers: str = "") -> str:
    """Return what to type for another reading of a column.

    Args:
        name: Of the column.
        names: Whether it holds names of rows.
        moments: Whether it holds dates.
        numbers: "whole" or "measured", where it holds numbers.

    Returns:
        Options, separated by commas.
    """
    named = shlex.quote(name)
    others = ["--time"] if moments else ["--ids", "--groups"] if names else ["--domain", "--groups", "--factor"]
    if numbers:
        others = (
            ["--domain", "--time", "--factor"] if numbers == "measured" else ["--category", "--ids", *others, "--time"]
        )
    return ", ".join(f"{option} {named}" for option in [*others, "--drop"])


def holds(values: np.ndarray) -> str:
    """Say the kind, range and missing cells of a column, whatever it holds.

    Args:
        values: Of the column.

    Returns:
        Words.
    """
    if values.dtype.kind in "biuf":
        return _numbers_held(values)
    empty = sum(map(is_missing, values.tolist()))
    missing = f", {empty} empty" if empty else ""
    kinds = sorted({str(value) for value in values.tolist() if not is_missing(value)})
    shown = ", ".join(kinds[:5]) + (", …" if len(kinds) > 5 else "")
    what = "dates" if values.dtype.kind in "M" else "texts"
    return f"{len(values)} {what}, {len(kinds)} different: {shown}{missing}"


def _numbers_held(values: np.ndarray) -> str:
    seen = values[~np.isnan(values)] if values.dtype.kind == "f" else values
    if not len(seen):
        return "empty"
    kind = "whole numbers" if values.dtype.kind in "iu" else "numbers"
    missing = f", {len(values) - len(seen)} empty" if len(seen) < len(values) else ""
    return f"{len(values)} {kind}, {seen.min():.4g} to {seen.max():.4g}{missing}"
