"""Masks of what was observed, in the order of their modalities: by index and names of columns, where both have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np

from latentry.data.frames import Paired, as_frame, in_order, places_in_order, row_labels
from latentry.data.named_columns import Taken
from latentry.errors import DataError, nearest

__all__ = ["masks_in_order"]


def masks_in_order(
    masks: Mapping[str, Any], given: Mapping[str, object], taken: Taken, paired: Paired
) -> dict[str, Any]:
    """Return masks in the order of the dataset.

    A mask with an index belongs to the rows that its index names; one without is in the order of its modality, as that was given.

    Args:
        masks: Truth values for each row or cell, by modality.
        given: Modalities as they were given.
        taken: The same, without columns that are no features.
        paired: Labels of rows, by what a sentence calls the part, and those of the dataset.

    Returns:
        The same masks; a mask of an unknown modality stays as it is.

    Raises:
        DataError: If a mask names other rows, or other columns.
    """
    ordered = dict(masks)
    for name in masks.keys() & given.keys():
        cells = _columns_of(name, masks[name], taken.modalities[name])
        values = _as_given(name, cells, given[name], None if name in taken.places else paired.order)
        if name in taken.places:
            values = _taken(values, taken.places[name])
        labels = paired.labels.get(f"modality {name!r}")
        if labels is not None and paired.order is not None and not np.array_equal(labels, paired.order):
            values = _taken(values, places_in_order(f"modality {name!r}", labels, paired.first, paired.order))
        ordered[name] = values
    return ordered


def _as_given(name: str, mask: Any, given: object, order: np.ndarray | None) -> np.ndarray:
    """Return a mask in the order that its modality was given in: by index, if both have one."""
    what, whose = f"observed[{name!r}]", f"modality {name!r}"
    mine, own = row_labels(what, mask), row_labels(whose, given)
    if mine is None:
        return np.asarray(mask)
    if own is None:  # an array, which is in the order of the dataset
        rows = tuple(map(str, range(len(mine)) if order is None else order))
        return np.asarray(in_order(what, mask, rows, named=order is not None))
    return np.asarray(mask) if np.array_equal(mine, own) else _taken(mask, places_in_order(what, mine, whose, own))


def _taken(mask: Any, places: list[int]) -> np.ndarray:
    """Return rows of a mask; one of another length stays as it is, and is refused later."""
    values = np.asarray(mask)
    return values[places] if values.shape[:1] == (len(places),) else values


def _columns_of(name: str, mask: Any, raw: object) -> Any:
    """Return a mask of cells with the columns of its modality, by their names where both have some."""
    cells, frame = as_frame(f"observed[{name!r}]", mask), as_frame(f"modality {name!r}", raw)
    if not isinstance(cells, nw.DataFrame) or not isinstance(frame, nw.DataFrame):
        return mask
    named, wanted = list(map(str, cells.columns)), list(map(str, frame.columns))
    if named == wanted or np.array_equal(np.array(cells.columns, dtype=object), np.arange(len(named))):
        return mask
    lost = next((column for column in wanted if column not in named), None)
    if lost is not None:
        raise DataError(
            f"observed[{name!r}]: has no column {lost!r}, which modality {name!r} has{nearest(lost, named)} Give a truth value "
            "for each cell, with the names of its columns, or an array."
        )
    return cells[:, [named.index(column) for column in wanted]].to_native()
