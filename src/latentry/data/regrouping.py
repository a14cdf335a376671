"""Other modalities of the same columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from latentry.data.columns import Coding, source_columns
from latentry.errors import DataError, nearest

if TYPE_CHECKING:
    from latentry.data.dataset import Dataset

__all__ = ["Piece", "pieces"]


class Piece(NamedTuple):
    """Chosen columns of a dataset as one modality."""

    values: np.ndarray
    columns: tuple[str, ...]
    coding: tuple[Coding, ...]


def pieces(data: Dataset, chosen: Mapping[str, Sequence[str]]) -> dict[str, Piece | None]:
    """Return modalities made of chosen columns, whichever modality has them.

    Args:
        data: The rows.
        chosen: Columns by the name of the new modality; none for a modality as it stands.

    Returns:
        The new modalities; None for one that stays as it is.

    Raises:
        DataError: By modality and column, for what is not there.
    """
    return {
        name: None if _stays(data, name, columns) else _made_of(data, name, columns) for name, columns in chosen.items()
    }


def _stays(data: Dataset, name: str, columns: Sequence[str]) -> bool:
    if name not in data.names:
        if not columns:
            raise DataError(f"modalities={name!r}: there is no such modality{nearest(name, data.names)}")
        return False
    named = data.columns.get(name)
    return not columns or named is None or tuple(columns) in (named, data.layout.sources[name])


def _made_of(data: Dataset, name: str, columns: Sequence[str]) -> Piece:
    parts = [_column(data, name, column) for column in columns]
    coding = tuple(rule for part in parts for rule in part.coding)
    plain = all(rule.kind == "number" for rule in coding)
    return Piece(
        np.hstack([part.values for part in parts]),
        tuple(feature for part in parts for feature in part.columns),
        () if plain else coding,
    )


def _column(data: Dataset, name: str, column: str) -> Piece:
    """Return one column as it came, all its numbers; NaN in rows in which its modality is missing."""
    places: dict[str, tuple[str, Coding, int]] = {}
    for modality, named in data.columns.items():
        rules = data.coding.get(modality) or tuple(Coding(feature, "number") for feature in named)
        ends = np.cumsum([len(rule.features) for rule in rules])
        for source, rule, end in zip(source_columns(named, rules), rules, ends, strict=True):
            for known in (source, f"{modality}:{source}"):
                places.setdefault(known, (modality, rule, int(end)))
    if column not in places:
        raise DataError(f"modalities[{name!r}]: there is no column {column!r}{nearest(column, places)}")
    modality, rule, end = places[column]
    values = np.asarray(data[modality])[:, end - len(rule.features) : end]
    if not data.observed[modality].all():
        values = np.where(data.observed[modality][:, None], values, np.nan)
    return Piece(values, rule.features, (rule,))
