"""Data frames and series of any library: their columns, and the labels of their rows.

Frames are read through narwhals, so that none of the libraries is needed. Pandas labels rows, as xarray and AnnData do; then
labels and not places say which rows belong together.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

import narwhals as nw
import numpy as np

from latentry.data.annotated_rows import annotated_labels, rows_at
from latentry.data.cells import is_missing, raw_column
from latentry.data.columns import NUMBER_FORMS, as_category
from latentry.data.inputs import Label, kind_of
from latentry.data.raw_columns import RawColumn
from latentry.errors import DataError

__all__ = [
    "Frame",
    "Paired",
    "aligned",
    "as_frame",
    "frame_columns",
    "in_order",
    "labels_of",
    "places_in_order",
    "places_of_rows",
    "row_labels",
]

Frame: TypeAlias = "nw.DataFrame[Any] | nw.Series[Any]"


def as_frame(what: str, raw: object) -> Frame | None:
    """Return a data frame or a series, whatever library it is of; None for anything else.

    Args:
        what: A sentence is to call it.
        raw: Anything.

    Returns:
        The same behind one interface.

    Raises:
        DataError: For a lazy frame, which has no rows yet, and for two columns of one name.
    """
    if isinstance(raw, (np.ndarray, list, tuple, dict)):
        return None
    try:
        found = nw.from_native(raw, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError:
        twice = _repeated(np.asarray(getattr(raw, "columns", ()), dtype=object))
        raise DataError(f"{what}: two columns called {twice!r}. Rename one.") from None
    if isinstance(found, nw.LazyFrame):
        raise DataError(f"{what}: a lazy frame, which has no rows yet. Call its collect() first.")
    return found if isinstance(found, (nw.DataFrame, nw.Series)) else None


def frame_columns(where: str, frame: Frame) -> tuple[RawColumn, ...]:
    """Return the columns of a frame, each of one kind; a series is a table of one column.

    Args:
        where: What a sentence is to call it, such as "modality 'body'".
        frame: Its rows.

    Returns:
        The columns.

    Raises:
        DataError: By name, for a column of a kind that means nothing here.

    >>> import pandas as pd
    >>> frame_columns("", as_frame("", pd.DataFrame({"mass": [3.0, 4.0]}, index=["a", "b"])))[0].cells
    array([3., 4.])
    """
    return tuple(_column(where, column) for column in _columns(frame))


def _columns(frame: Frame) -> list[nw.Series[Any]]:
    if isinstance(frame, nw.Series):
        return [frame.alias("value" if frame.name is None else str(frame.name))]
    return [frame[:, at] for at in range(frame.shape[1])]


def _column(where: str, column: nw.Series[Any]) -> RawColumn:
    name, kind = str(column.name), column.dtype
    if kind.is_numeric() or kind == nw.Boolean:
        form = str(kind) if str(kind) in NUMBER_FORMS else None
        return RawColumn(name, "boolean" if kind == nw.Boolean else "number", _numbers(column), form=form)
    if kind in (nw.Categorical, nw.Enum):
        cells = [None if is_missing(cell) else _label(cell) for cell in column.to_list()]
        levels = tuple(map(_label, kind.categories)) if isinstance(kind, nw.Enum) else None
        raw = as_category(RawColumn(name, "category", np.array(cells, dtype=object), levels))
        return replace(raw, form="category" if levels is None else "ordered")
    if isinstance(kind, nw.Datetime) and kind.time_zone is not None:
        plain = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return replace(raw_column(where, name, _array(plain)), zone=kind.time_zone, form=kind.time_unit)
    if isinstance(kind, (nw.Datetime, nw.Duration)):
        return replace(raw_column(where, name, _array(column)), form=kind.time_unit)
    if kind in (nw.Date, nw.String, nw.Object):
        return raw_column(where, name, _array(column))
    return _of_other_kind(where, name, column)


def _of_other_kind(where: str, name: str, column: nw.Series[Any]) -> RawColumn:
    """Return a column of a kind that narwhals does not know, where its cells are numbers or nothing: sparse, or all null."""
    native = column.to_native()
    cells = np.asarray(native)
    unknown = column.dtype == nw.Unknown
    if unknown and (cells.dtype.kind in "biuf" or all(map(is_missing, cells.tolist()))):
        return raw_column(where, name, cells)
    kind = native.dtype if unknown else column.dtype
    raise DataError(
        f"{where}: column {name!r} holds {kind} values ({str(cells[0])!r} at row 0), which are no numbers. Make them numbers, "
        "dates or text, or leave the column out."
    )


def _label(value: object) -> Label:
    """Return a category as JSON can keep it."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (int, np.integer)):
        return int(value)
    return str(value)


def _array(column: nw.Series[Any]) -> np.ndarray:
    if isinstance(column.dtype, (nw.Datetime, nw.Duration)):
        array: np.ndarray = np.asarray(column.to_numpy())
        return array
    cells = np.empty(len(column), dtype=object)
    cells[:] = column.to_list()
    return cells


def _numbers(column: nw.Series[Any]) -> np.ndarray:
    if column.null_count() or column.dtype == nw.Decimal:
        column = column.cast(nw.Float64)
    numbers: np.ndarray = column.to_numpy()
    return numbers


def row_labels(what: str, raw: object) -> np.ndarray | None:
    """Return the labels of rows, where an object has them: the index of pandas, a coordinate of xarray, obs_names of AnnData.

    Args:
        what: A sentence is to call it.
        raw: Anything.

    Returns:
        One label for each row, or None.
    """
    frame = as_frame(what, raw)
    index = annotated_labels(raw) if frame is None else nw.maybe_get_index(frame)
    if index is None:
        return None
    labels = np.empty(len(index), dtype=object)
    labels[:] = [_MISSING if is_missing(label) else label for label in index]
    return labels


_MISSING = "<no label>"  # NaN and NA are not even equal to themselves


def labels_of(
    parts: Mapping[str, object], given: Mapping[str, np.ndarray | None] | None = None
) -> dict[str, np.ndarray | None]:
    """Return the labels of rows of several parts, so that they can be compared.

    AnnData keeps all names as text. Names that are whole numbers are numbers where all parts are labelled by numbers, and text
    where one has text.

    Args:
        parts: By what a sentence is to call them.
        given: Labels of rows that count instead of a part's own.

    Returns:
        Labels by part; None where a part has none.
    """
    known = {what: row_labels(what, raw) for what, raw in parts.items()} | dict(given or {})
    if any(isinstance(label, str) for labels in known.values() if labels is not None for label in labels):
        for what, labels in known.items():
            if labels is not None and kind_of(parts.get(what)) == "anndata.AnnData":
                known[what] = np.array([str(label) for label in labels], dtype=object)
    return known


def aligned(
    parts: Mapping[str, object], given: Mapping[str, np.ndarray | None] | None = None
) -> tuple[dict[str, Any], tuple[str, ...] | None]:
    """Return parts with their rows in the order of the first one that labels them, and its labels.

    What has no labels, such as an array, is taken to be in that order already.

    Args:
        parts: Modalities, domain, groups and so on, by what a sentence is to call them.
        given: Labels of rows that count instead of a part's index; None where it is in the order of the others.

    Returns:
        The same parts, and names of the rows; None where no part has labels, or they only count rows.

    Raises:
        DataError: If two parts have labels of which some are not in both, or that cannot be told apart.

    >>> import pandas as pd
    >>> a, b = pd.Series([1, 2], index=["u", "v"]), pd.Series([20, 10], index=["v", "u"])
    >>> parts, rows = aligned({"a": a, "b": b})
    >>> parts["b"].tolist(), rows
    ([10, 20], ('u', 'v'))
    """
    found = Paired.of(parts, given)
    same = {what: found.ordered(what, raw) for what, raw in parts.items()}
    return same, found.names


@dataclass(frozen=True)
class Paired:
    """Which rows of several parts belong together.

    Args:
        labels: Of rows, by part; only of those that have labels.
        first: The first such part; empty where there is none.
        order: Its labels.
    """

    labels: Mapping[str, np.ndarray]
    first: str = ""
    order: np.ndarray | None = None

    @classmethod
    def of(cls, parts: Mapping[str, object], given: Mapping[str, np.ndarray | None] | None = None) -> Paired:
        """Return the labels of parts.

        Args:
            parts: By what a sentence is to call them.
            given: Labels of rows that count instead of a part's index; None where it is in the order of the others.

        Returns:
            The labels, and which are first.
        """
        known = labels_of(parts, given)
        labelled = {what: labels for what in parts if (labels := known[what]) is not None}
        return cls(labelled, *next(iter(labelled.items()), ("", None)))

    @property
    def names(self) -> tuple[str, ...] | None:
        """Return names of the rows; None where no part has labels, or they only count rows."""
        if self.order is None or np.array_equal(self.order, np.arange(len(self.order))):
            return None
        return tuple(map(str, self.order))

    def ordered(self, what: str, raw: Any) -> Any:
        """Return a part with its rows in the order of the first.

        Args:
            what: A sentence calls it.
            raw: The part.

        Returns:
            The same, as it was where it has no labels.

        Raises:
            DataError: If it has other rows than the first, or rows that cannot be told apart.
        """
        labels = self.labels.get(what)
        if labels is None or self.order is None or np.array_equal(labels, self.order):
            return raw
        return _taken(what, raw, places_in_order(what, labels, self.first, self.order))


def in_order(what: str, raw: Any, rows: tuple[str, ...], *, named: bool = True) -> Any:
    """Return labels in the order of named rows, where they have an index that names the same rows.

    Args:
        what: A sentence is to call them.
        raw: One label for each row.
        rows: Names of the rows.
        named: Whether rows have names of their own; if not, another index than their numbers says nothing.

    Returns:
        The same labels in that order; as they were, where they have no index or one that only counts.

    Raises:
        DataError: If the index names other rows.
    """
    labels = row_labels(what, raw)
    places = None if labels is None else places_of_rows(what, labels, rows, named=named)
    return raw if places is None else _taken(what, raw, places)


def places_of_rows(what: str, labels: np.ndarray, rows: tuple[str, ...], *, named: bool) -> list[int] | None:
    """Return where named rows are among labels.

    Args:
        what: A sentence is to call what has the labels.
        labels: Of its rows.
        rows: Names of the rows.
        named: Whether rows have names of their own; if not, other labels than their numbers say nothing.

    Returns:
        Numbers of rows; None where they are in that order already, or the labels only count.

    Raises:
        DataError: If the labels name other rows.

    >>> places_of_rows("latents", np.array(["u", "v"]), ("v", "u"), named=True)
    [1, 0]
    """
    names, order = np.array([*map(str, labels)], dtype=object), np.array(rows, dtype=object)
    silent = not named or np.array_equal(labels, np.arange(len(labels)))
    if np.array_equal(names, order) or (silent and set(names) != set(order)):
        return None
    return places_in_order(what, names, "the dataset", order)


def _taken(what: str, raw: object, places: list[int]) -> object:
    frame = as_frame(what, raw)
    return rows_at(raw, places) if frame is None else frame[places].to_native()


def places_in_order(what: str, labels: np.ndarray, first: str, order: np.ndarray) -> list[int]:
    """Return where the rows of a frame are that stand in the order of labels.

    Args:
        what: A sentence is to call it.
        labels: Of its rows.
        first: What a sentence is to call that which has the order.
        order: The same labels, in the order that is wanted.

    Returns:
        Numbers of rows.

    Raises:
        DataError: If a label is on one side only, or twice.
    """
    for part, names in ((what, labels), (first, order)):
        twice = _repeated(names)
        if twice is not None:
            raise DataError(
                f"{part}: two rows are called {twice!r} in its index, so rows of {first} and {what} cannot be {_PAIR}"
            )
    place = {label: at for at, label in enumerate(labels.tolist())}
    lost = next((label for label in order.tolist() if label not in place), None)
    if lost is None and len(order) < len(labels):
        kept = set(order.tolist())
        extra = next(label for label in labels.tolist() if label not in kept)
        raise DataError(
            f"{first}: has no row {extra!r}, which is in the index of {what}{_like(extra, order)}. {_REMEDY}"
        )
    if lost is not None:
        raise DataError(
            f"{what}: has no row {lost!r}, which is in the index of {first}{_like(lost, labels)}. {_REMEDY}"
        )
    return [place[label] for label in order.tolist()]


def _like(lost: object, labels: np.ndarray) -> str:
    """Say that a label is there as another type: the text '0' is not the number 0."""
    same = next((label for label in labels.tolist() if str(label) == str(lost)), None)
    return (
        ""
        if same is None
        else f" (it has {same!r}: {type(same).__name__} and {type(lost).__name__} are different labels)"
    )


_REMEDY = (
    "Give both the same index; or none, if their rows are already in the same order: reset_index(drop=True) on both in pandas, "
    "drop_vars of the coordinate in xarray, the array X of AnnData."
)
_PAIR = f"paired. {_REMEDY}"


def _repeated(labels: np.ndarray) -> Hashable | None:
    """The first label that an earlier row has too."""
    seen: set[Hashable] = set()
    for label in labels.tolist():
        if label in seen:
            return cast(Hashable, label)
        seen.add(label)
    return None
