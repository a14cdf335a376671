"""Columns of every kind as numbers, by a rule that is kept and can be undone.

==============================  =================================================
column                          numbers
==============================  =================================================
numbers                         as they are
true and false                  1 and 0
categories, short text          1 in the column of the row's value, 0 in the others
dates and times                 days since the first one
durations                       days
==============================  =================================================

Names, free text and columns that count the rows are no measurements, and are refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latentry.data.cells import reads_as_number
from latentry.data.inputs import Label
from latentry.data.raw_columns import Kind, RawColumn
from latentry.errors import DataError, nearest

if TYPE_CHECKING:
    from latentry.data.dataset import Dataset

__all__ = [
    "NUMBER_FORMS",
    "Coding",
    "UnsaidColumn",
    "as_category",
    "decoded",
    "encoded",
    "recoded",
    "source_columns",
]

Columns: TypeAlias = NDArray[np.float64]

_DAY = np.timedelta64(1, "D") / np.timedelta64(1, "us")  # in microseconds
_MOST_TEXTS = 20  # different ones, in a column that nobody declared to be categories
_MOST_CATEGORIES = 200  # where somebody did
_COUNTED = 10  # rows from which on a column of names such as 1, 2, 3, ... is recognised
_PLURAL = {"number": "numbers", "boolean": "true and false", "category": "categories", "date": "dates"}


NUMBER_FORMS = (*(f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)), "Float32")
FORMS = (*NUMBER_FORMS, "category", "ordered", "s", "ms", "us", "ns")


class UnsaidColumn(DataError):
    """A column that is no measurement as it stands.

    Args:
        what: Is wrong with it, as a sentence.
        remedy: What to do where all parts can be named: in `read`, and in the options of the commands.
        in_frame: What to do with a frame, which becomes a Dataset.
    """

    def __init__(self, what: str, remedy: str, in_frame: str) -> None:
        super().__init__(f"{what} {remedy}")
        self.of_frame = DataError(f"{what} {in_frame}")


@dataclass(frozen=True)
class Coding:
    """How one column became numbers.

    Args:
        column: Its name.
        kind: What it holds.
        levels: Of categories: the values, one column of numbers for each.
        origin: Of dates: the moment that is day 0, as text.
        zone: Of dates: their time zone.
        form: The type of the column in its frame, which `frame` gives it again; rules are equal whatever it is.

    >>> species = Coding("species", "category", levels=("Adelie", "Gentoo"))
    >>> species.features
    ('species=Adelie', 'species=Gentoo')
    >>> species.decode(np.array([[0.2, 0.7]])).cells
    array(['Gentoo'], dtype=object)
    """

    column: str
    kind: Kind
    levels: tuple[Label, ...] = ()
    origin: str | None = None
    zone: str | None = None
    form: str | None = field(default=None, compare=False)

    @classmethod
    def of(cls, where: str, raw: RawColumn) -> Coding:
        """Return the rule for a column that no fit has seen.

        Args:
            where: Its modality, for sentences.
            raw: The column.

        Returns:
            The rule.

        Raises:
            DataError: By name, for names, free text and columns that count the rows.
        """
        if raw.kind == "category":
            return cls(raw.name, raw.kind, levels=_levels(where, raw), form=raw.form)
        if raw.kind == "date":
            known = raw.cells[~np.isnat(raw.cells)]
            first = known.min() if len(known) else np.datetime64(0, "us")
            return cls(raw.name, raw.kind, origin=str(first), zone=raw.zone, form=raw.form)
        if raw.kind == "number":
            _refuse_counter(where, raw)
        return cls(raw.name, raw.kind, form=raw.form)

    @property
    def features(self) -> tuple[str, ...]:
        """Return the names of its columns of numbers."""
        if self.kind == "category":
            return tuple(f"{self.column}={level}" for level in self.levels)
        return (self.column,)

    def encode(self, where: str, raw: RawColumn) -> np.ndarray:
        """Return a column as numbers.

        Args:
            where: Its modality, for sentences.
            raw: The column, of the same name.

        Returns:
            (rows, columns); NaN where a cell is missing.

        Raises:
            DataError: For a column of another kind, and for a category that the rule does not know.
        """
        if self.kind == "category":
            return self._indicators(where, raw)
        if raw.kind != self.kind and {raw.kind, self.kind} != {"number", "boolean"}:
            held = _PLURAL.get(self.kind, f"{self.kind}s")
            raise DataError(
                f"modality {where!r}: column {self.column!r} holds {_PLURAL.get(raw.kind, f'{raw.kind}s')} here and held {held} "
                f"in the fit. Give {held}."
            )
        if self.kind == "date":
            assert self.origin is not None
            return _days(raw.cells - np.datetime64(self.origin, "us"))[:, None]
        return (_days(raw.cells) if self.kind == "duration" else raw.cells)[:, None]

    def _indicators(self, where: str, raw: RawColumn) -> np.ndarray:
        place: dict[object, int] = {str(level): code for code, level in enumerate(self.levels)}
        numbers = np.zeros((len(raw.cells), len(self.levels)))
        for row, cell in enumerate(raw.cells.tolist()):
            if cell is None or cell != cell:
                numbers[row] = np.nan
            elif (code := place.get(_as_text(cell, place))) is None:
                raise DataError(
                    f"modality {where!r}: column {self.column!r} is {cell!r} at row {row}, which is none of its "
                    f"{len(self.levels)} categories{nearest(cell, map(str, self.levels))}"
                )
            else:
                numbers[row, code] = 1.0
        return numbers

    def decode(self, numbers: np.ndarray) -> RawColumn:
        """Return numbers as the column that they stand for: the largest of categories, the nearer of true and false.

        Args:
            numbers: (rows, columns).

        Returns:
            The column.
        """
        gone = np.asarray(np.isnan(numbers.astype(np.float64)).any(axis=1))
        if self.kind == "category":
            best = np.where(gone[:, None], 0.0, numbers).argmax(axis=1)
            cells = np.array([None, *self.levels], dtype=object)[np.where(gone, 0, best + 1)]
            return RawColumn(self.column, self.kind, cells, self.levels, form=self.form)
        flat = numbers[:, 0]
        if self.kind == "boolean":
            flat = np.where(gone, np.nan, (flat >= 0.5).astype(np.float64))
        if self.kind in ("date", "duration"):
            flat = np.where(gone, 0, np.round(np.where(gone, 0, flat) * _DAY)).astype("timedelta64[us]")
            flat[gone] = np.timedelta64("NaT")
        if self.kind == "date":
            assert self.origin is not None
            flat = flat + np.datetime64(self.origin, "us")
        return RawColumn(self.column, self.kind, flat, zone=self.zone, form=self.form)

    def __str__(self) -> str:
        """Say what becomes of the column."""
        if self.kind == "category":
            shown = ", ".join(map(str, self.levels[:5])) + (", …" if len(self.levels) > 5 else "")
            return f"{self.column}: {len(self.levels)} categories ({shown}), a column of 0 and 1 for each"
        if self.kind == "boolean":
            return f"{self.column}: true is 1, false is 0"
        if self.kind == "date":
            zone = "" if self.zone is None else " in UTC"
            first = str(self.origin).removesuffix(".000000").removesuffix("T00:00:00")
            return f"{self.column}: dates, as days since {first}{zone}"
        return f"{self.column}: durations, in days" if self.kind == "duration" else f"{self.column}: numbers"

    def to_json(self) -> dict[str, object]:
        """Return plain JSON."""
        return {
            "column": self.column,
            "kind": self.kind,
            "levels": list(self.levels),
            "origin": self.origin,
            "zone": self.zone,
            **({} if self.form is None else {"form": self.form}),
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Coding:
        """Return the rule that :meth:`to_json` wrote.

        Args:
            record: Plain JSON.

        Returns:
            The same rule.
        """
        return cls(**{**record, "levels": tuple(record["levels"])})


def encoded(
    where: str, raws: Sequence[RawColumn], rules: Sequence[Coding] = ()
) -> tuple[tuple[str, ...], np.ndarray, tuple[Coding, ...]]:
    """Return columns as a table of numbers.

    Args:
        where: Their modality, for sentences.
        raws: The columns.
        rules: Of a fit, for columns that it knows.

    Returns:
        Names of the columns of numbers, the numbers, and the rules; none where every column holds numbers.
    """
    known = {rule.column: rule for rule in rules}
    used = tuple(known[raw.name] if raw.name in known else Coding.of(where, raw) for raw in raws)
    names = tuple(feature for rule in used for feature in rule.features)
    parts = [rule.encode(where, raw) for rule, raw in zip(used, raws, strict=True)]
    table = np.hstack(parts) if parts else np.empty((0, 0))
    return names, table, () if all(rule.kind == "number" for rule in used) else used


def decoded(table: np.ndarray, rules: Sequence[Coding]) -> tuple[RawColumn, ...]:
    """Return a table of numbers as the columns that it came from.

    Args:
        table: (rows, columns).
        rules: By which it was made.

    Returns:
        The columns.
    """
    ends = np.cumsum([len(rule.features) for rule in rules])
    return tuple(rule.decode(part) for rule, part in zip(rules, np.split(table, ends[:-1], axis=1), strict=True))


def recoded(data: Dataset, coding: Mapping[str, Sequence[Coding]]) -> dict[str, tuple[np.ndarray, tuple[Coding, ...]]]:
    """Return tables whose columns are the same as those of a fit but became numbers by another rule, by the rule of the fit.

    Args:
        data: The rows.
        coding: Of the fit, by modality.

    Returns:
        Numbers and rules, by modality; none for modalities that need not change.
    """
    changed = {}
    for name, rules in coding.items():
        named, own = data.columns.get(name), data.coding.get(name)
        same = own in (None, tuple(rules)) and named == tuple(f for rule in rules for f in rule.features)
        if name not in data.names or named is None or same:
            continue
        mine = own or tuple(Coding(column, "number") for column in named)
        if {rule.column for rule in mine} == {rule.column for rule in rules}:
            raws = decoded(np.asarray(data[name]), mine)
            _, table, _ = encoded(name, raws, rules)
            changed[name] = table, tuple({rule.column: rule for rule in rules}[raw.name] for raw in raws)
    return changed


def as_category(raw: RawColumn) -> RawColumn:
    """Return a column as labels, also where it holds numbers, truth values or dates.

    Args:
        raw: The column.

    Returns:
        The same as declared categories.
    """
    if raw.kind == "category" and raw.levels is not None:
        return raw
    cells: list[Label | None] = [
        None if cell is None or cell != cell else _category(cell) for cell in raw.cells.tolist()
    ]
    present = {cell for cell in cells if cell is not None}
    numbers = all(isinstance(cell, int) for cell in present)
    levels = tuple(sorted(present) if numbers else sorted(present, key=str))
    return RawColumn(raw.name, "category", np.array(cells, dtype=object), levels)


def _category(cell: object) -> Label:
    if isinstance(cell, int) or (isinstance(cell, float) and cell.is_integer()):
        return int(cell)
    return str(cell)


def source_columns(names: Sequence[str], rules: Sequence[Coding]) -> tuple[str, ...]:
    """Return the columns that columns of numbers came from.

    Args:
        names: Of the columns of numbers.
        rules: By which they were made; none where they are the columns themselves.

    Returns:
        Names of columns.
    """
    return tuple(rule.column for rule in rules) if rules else tuple(names)


def _days(spans: np.ndarray) -> Columns:
    days: Columns = spans.astype("timedelta64[us]").astype(np.float64) / _DAY
    return np.where(np.isnat(spans), np.nan, days)


def _as_text(cell: object, known: Mapping[object, int]) -> str:
    """Return a label as text; 1.0 is 1, as one empty cell elsewhere makes it."""
    text = str(cell)
    return str(int(cell)) if text not in known and isinstance(cell, float) and cell.is_integer() else text


def _levels(where: str, raw: RawColumn) -> tuple[Label, ...]:
    """Return the values of a column of labels that occur: in their order if they were declared, else sorted."""
    present = [cell for cell in raw.cells.tolist() if cell is not None and cell == cell]
    values = set(present)
    if raw.levels is None:
        _refuse_numbers(where, raw, present)
        _refuse_names(where, raw, present)
    elif len(values) > _MOST_CATEGORIES:
        raise DataError(
            f"modality {where!r}: column {raw.name!r} has {len(values)} categories, and at most {_MOST_CATEGORIES} become "
            "columns of 0 and 1. Join rare ones, or leave the column out."
        )
    order = sorted(values, key=str) if raw.levels is None else [level for level in raw.levels if level in values]
    return tuple(level if isinstance(level, (str, int)) else str(level) for level in order)


def _refuse_numbers(where: str, raw: RawColumn, present: Sequence[object]) -> None:
    """Refuse text of which most is numbers: a column of numbers, and something that is none of them."""
    numbers = sum(reads_as_number(cell) for cell in present)
    if 2 * numbers <= len(present):
        return
    name, cells = repr(raw.name), raw.cells.tolist()
    odd = next((row for row, cell in enumerate(cells) if cell is not None and not reads_as_number(cell)), None)
    if odd is None:
        row = next(row for row, cell in enumerate(cells) if cell is not None)
        raise UnsaidColumn(
            f"modality {where!r}: column {name} holds numbers as text ({cells[row]!r} at row {row}).",
            f"Make them numbers (in a frame: astype(float)); or say categories={name} if each text is a label.",
            "Make them numbers with astype(float); or astype('category') if each text is a label.",
        )
    raise UnsaidColumn(
        f"modality {where!r}: column {name} is {cells[odd]!r} at row {odd}, and {numbers} of its {len(present)} cells are numbers.",
        f"Correct it, or leave the cell empty; or say categories={name} if each text is a label, or drop={name}.",
        "Correct it, or leave the cell empty; or astype('category') if each text is a label; or leave the column out of the frame.",
    )


def _refuse_names(where: str, raw: RawColumn, present: Sequence[object]) -> None:
    """Refuse text that is a name of each row, or free."""
    count, rows = len(set(present)), len(present)
    if count <= _MOST_TEXTS and 2 * count <= rows:
        return
    row = next((row for row, cell in enumerate(raw.cells.tolist()) if cell is not None), 0)
    shown = (
        f"{count} different texts in {rows} row{'s' * (rows != 1)} ({raw.cells[row]!r} at row {row})"
        if rows
        else "nothing"
    )
    name = repr(raw.name)
    raise UnsaidColumn(
        f"modality {where!r}: column {name} holds {shown}, too many for categories (at most {_MOST_TEXTS}, of two rows each).",
        f"Say what it is: ids={name}, domain={name}, groups={name} or factors={name}; categories={name} if each text is one (in a "
        f"frame: astype('category')); or leave it out: drop={name}.",
        f"Say what it is, in a Dataset: lt.Dataset(frame, ids={name}), or domain={name}, groups={name}, factors=[{name}]; make "
        "it categories, if each text is one, with astype('category'); or leave it out of the frame.",
    )


def _refuse_counter(where: str, raw: RawColumn) -> None:
    """Refuse whole numbers that name the rows: called id, or so, and different in each row."""
    word = raw.name.strip().lower()
    named = word in ("", "id", "ids", "index", "row", "rownames", "unnamed: 0") or word.endswith(("_id", " id", ".id"))
    if named and raw.cells.dtype.kind in "iu" and _COUNTED <= len(raw.cells) == len(np.unique(raw.cells)):
        raise UnsaidColumn(
            f"modality {where!r}: column {raw.name!r} holds a number of its own for each row: a name, and no measurement.",
            f"Say ids={raw.name!r}, or leave it out: drop={raw.name!r}.",
            f"Say so in a Dataset: lt.Dataset(frame, ids={raw.name!r}); or leave it out of the frame.",
        )
