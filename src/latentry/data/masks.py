"""Masks of what was observed, in the order of their modalities: by index and names of columns, where both have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np

from latentry.data.annotated_rows import annotated_columns
from latentry.data.frames import Paired, as_frame, in_order, labels_of, places_in_order
from latentry.data.named_columns import Taken
from latentry.errors import DataError, nearest

__all__ = ["masks_in_order"]


def masks_in_order(
    masks: Mapping[str, Any],
    given: Mapping[str, object],
    taken: Taken,
    paired: Paired,
    rows: Sequence[str] | None = None,
    columns: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Any]:
    """Return masks in the order of the dataset.

    A mask with an index belongs to the rows that its index names: those of its modality, or of the dataset. One without is in the
    order of its modality, as that was given.

    Args:
        masks: Truth values for each row or cell, by modality.
        given: Modalities as they were given.
        taken: The same, without columns that are no features.
        paired: Labels of rows, by what a sentence calls the part, and those of the dataset.
        rows: Names of the rows of the dataset, where the call says them.
        columns: Names of the columns of a modality, where the call says them.

    Returns:
        The same masks; a mask of an unknown modality stays as it is.

    Raises:
        DataError: If a mask names other rows, or other columns.
    """
    ordered = dict(masks)
    for name in masks.keys() & given.keys():
        cells = _columns_of(name, masks[name], taken.modalities[name], (columns or {}).get(name))
        ordered[name] = _rows_of(name, cells, given[name], taken, paired, rows)
    return ordered


def _rows_of(
    name: str, mask: Any, given: object, taken: Taken, paired: Paired, rows: Sequence[str] | None
) -> np.ndarray:
    """Return a mask in the order of the dataset: by its index, where that names rows of the modality or of the dataset."""
    what, whose = f"observed[{name!r}]", f"modality {name!r}"
    found = labels_of({what: mask, whose: given})
    mine, own = found[what], found[whose]
    if mine is None:
        return _as_dataset(name, np.asarray(mask), taken, paired)
    named = _names_like(mine, paired.order, rows)
    if own is not None and (named is None or _same(mine, own)):
        places = list(range(len(mine))) if np.array_equal(mine, own) else places_in_order(what, mine, whose, own)
        return _as_dataset(name, _taken(mask, places), taken, paired)
    if named is not None:
        return np.asarray(in_order(what, mask, named))
    counted = tuple(map(str, range(len(mine))))
    if _same(mine, counted) and (paired.order is None or name in taken.places):
        return _as_dataset(name, np.asarray(in_order(what, mask, counted)), taken, paired)
    others = next(names for names in (paired.order, rows, counted) if names is not None)
    return np.asarray(in_order(what, mask, tuple(map(str, others))))


def _names_like(mine: np.ndarray, order: np.ndarray | None, rows: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the names of the rows of the dataset that an index has; one that only counts has none that were said by name."""
    if order is not None and _same(mine, order):
        return tuple(map(str, order))
    counts = np.array_equal(mine, np.arange(len(mine)))
    return tuple(rows) if rows is not None and not counts and _same(mine, rows) else None


def _same(mine: Sequence[object] | np.ndarray, names: Sequence[object] | np.ndarray) -> bool:
    """Return whether two lists have the same labels, in whatever order."""
    return set(map(str, mine)) == set(map(str, names))


def _as_dataset(name: str, values: np.ndarray, taken: Taken, paired: Paired) -> np.ndarray:
    """Return a mask in the order of the dataset that is in the order in which its modality was given."""
    if name in taken.places:
        values = _taken(values, taken.places[name])
    labels = paired.labels.get(f"modality {name!r}")
    if labels is None or paired.order is None or np.array_equal(labels, paired.order):
        return values
    return _taken(values, places_in_order(f"modality {name!r}", labels, paired.first, paired.order))


def _taken(mask: Any, places: list[int]) -> np.ndarray:
    """Return rows of a mask; one of another length stays as it is, and is refused later."""
    values = np.asarray(mask)
    return values[places] if values.shape[:1] == (len(places),) else values


def _columns_of(name: str, mask: Any, raw: object, said: Sequence[str] | None) -> Any:
    """Return a mask of cells with the columns of its modality, by their names where both have some."""
    named, own = _column_names(f"observed[{name!r}]", mask), _column_names(f"modality {name!r}", raw)
    options = [list(map(str, one)) for one in (own, said) if one is not None]
    if named is None or not options:
        return mask
    wanted = next((one for one in options if set(one) <= set(named)), options[0])
    counts = named == list(map(str, range(len(named))))
    if named == wanted or (counts and set(named) != set(wanted)):
        return mask
    lost = next((column for column in wanted if column not in named), None)
    if lost is not None:
        raise DataError(
            f"observed[{name!r}]: has no column {lost!r}, which modality {name!r} has{nearest(lost, named)} Give a truth value "
            "for each cell, with the names of its columns, or an array."
        )
    places, frame = [named.index(column) for column in wanted], as_frame(name, mask)
    return frame[:, places].to_native() if isinstance(frame, nw.DataFrame) else mask[:, places]


def _column_names(what: str, table: Any) -> list[str] | None:
    """Return the names of the columns of a table of any library; None where it has none."""
    frame = as_frame(what, table)
    names = list(frame.columns) if isinstance(frame, nw.DataFrame) else annotated_columns(table)
    return None if names is None else list(map(str, names))
