"""Columns of data frames that are no features: they are called by name, and taken out of their frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from latentry.data.frames import as_frame, places_in_order, row_labels
from latentry.errors import DataError, nearest

__all__ = ["Taken", "names_of", "taken_out", "without_columns"]


class Taken(NamedTuple):
    """Frames without the columns that were called by name, and those columns."""

    modalities: dict[str, Any]
    beside: dict[str, Any]  # what an argument named, by argument: a series, or a frame of several columns
    labels: dict[str, np.ndarray | None]  # of rows, where they are others than the index says
    places: dict[str, list[int]]  # where the rows of a modality stood, if its frame was put in the order of another


def names_of(**given: object) -> dict[str, tuple[str, ...]]:
    """Return the arguments that name columns, and which ones.

    Args:
        given: By argument; what is no text and no list of factors holds values, and names nothing.

    Returns:
        Names of columns by argument; factors, each under its own name.
    """
    named: dict[str, tuple[str, ...]] = {
        argument: (value,) for argument, value in given.items() if isinstance(value, str)
    }
    factors = given.get("factors")
    if isinstance(factors, (list, tuple)) and all(isinstance(name, str) for name in factors):
        named |= {f"factor {name!r}": (name,) for name in factors}
    if "factors" in named:
        named |= {f"factor {name!r}": (name,) for name in named.pop("factors")}
    return named


def taken_out(modalities: Mapping[str, object], wanted: Mapping[str, Sequence[str]]) -> Taken:
    """Take columns out of the frames that have them.

    Args:
        modalities: Frames, and other rows, by name.
        wanted: Names of columns, by argument. Frames that have the column of "ids" are paired by it.

    Returns:
        What is left, and what was taken.

    Raises:
        DataError: For a column that no frame has, or that several have.
    """
    frames = {name: frame for name, raw in modalities.items() if isinstance(frame := as_frame(name, raw), nw.DataFrame)}
    beside: dict[str, Any] = {}
    labels: dict[str, np.ndarray | None] = {}
    places: dict[str, list[int]] = {}
    if "ids" in wanted:
        frames, labels, places = _paired(frames, wanted["ids"][0])
    for argument, columns in wanted.items():
        holder = _holder(frames, argument, columns)
        found = [place for column in columns if (place := _place(frames[holder], column)) is not None]
        chosen = frames[holder][:, found[0]] if len(found) == 1 else frames[holder][:, found]
        beside[argument] = chosen.to_native()
        if f"modality {holder!r}" in labels:
            labels[argument] = labels[f"modality {holder!r}"]
    used = {column for columns in wanted.values() for column in columns}
    left = {name: _without(frame, used).to_native() for name, frame in frames.items()}
    return Taken({name: left.get(name, raw) for name, raw in modalities.items()}, beside, labels, places)


def without_columns(raw: Any, names: Sequence[str]) -> Any:
    """Return a frame without some columns; what is no frame stays as it is.

    Args:
        raw: Rows of any kind.
        names: Of columns, which need not be there.

    Returns:
        A frame of the same library.
    """
    frame = as_frame("x", raw) if names else None
    return _without(frame, set(names)).to_native() if isinstance(frame, nw.DataFrame) else raw


def _paired(
    frames: dict[str, nw.DataFrame[Any]], ids: str
) -> tuple[dict[str, nw.DataFrame[Any]], dict[str, np.ndarray | None], dict[str, list[int]]]:
    """Return frames in the order of the first one that has the ids, the labels of their rows from then on, and their places."""
    holders = [name for name, frame in frames.items() if _place(frame, ids) is not None]
    if len(holders) < 2:
        return frames, {}, {}
    first = frames[holders[0]]
    order, index = _cells(first, ids), row_labels(holders[0], first.to_native())
    ordered, labels, places = dict(frames), {}, {}
    for name in holders[1:]:
        what = f"modality {name!r}"
        places[name] = places_in_order(what, _cells(frames[name], ids), f"modality {holders[0]!r}", order)
        ordered[name] = frames[name][places[name]]
        labels[what] = index
    return ordered, labels, places


def _cells(frame: nw.DataFrame[Any], column: str) -> np.ndarray:
    place = _place(frame, column)
    assert place is not None
    cells = np.empty(len(frame), dtype=object)
    cells[:] = frame[:, place].to_list()
    return cells


def _holder(frames: Mapping[str, nw.DataFrame[Any]], argument: str, columns: Sequence[str]) -> str:
    """Return the name of the frame that has the columns."""
    holders = [name for name, frame in frames.items() if all(_place(frame, column) is not None for column in columns)]
    called = (
        argument
        if argument.startswith("factor ")
        else f"{argument}={columns[0] if len(columns) == 1 else list(columns)!r}"
    )
    if not frames:
        raise DataError(
            f"{called}: names a column, but the data are arrays, whose columns have no names. Give one value per row."
        )
    if not holders:
        known = [str(column) for frame in frames.values() for column in frame.columns]
        lost = next((c for c in columns if c not in known), columns[0])
        raise DataError(f"{called}: there is no such column{nearest(lost, known)}")
    if len(holders) > 1 and argument != "ids":
        raise DataError(f"{called}: in the frames of {holders[0]!r} and {holders[1]!r}. Drop it from one of them.")
    return holders[0]


def _place(frame: nw.DataFrame[Any], column: str) -> int | None:
    names = list(map(str, frame.columns))
    return names.index(column) if column in names else None


def _without(frame: nw.DataFrame[Any], used: set[str]) -> nw.DataFrame[Any]:
    kept = [place for place, name in enumerate(frame.columns) if str(name) not in used]
    return frame if len(kept) == len(frame.columns) else frame[:, kept]
