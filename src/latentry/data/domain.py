"""The domain: which lab, segment, year or setting each row comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from latentry.data.inputs import DataFrameLike, LabelsLike
from latentry.errors import DataError, nearest

__all__ = ["Domain", "DomainLike"]

_READABLE = 20  # labels that a sentence may list


@dataclass(frozen=True, eq=False)
class Domain:
    """One auxiliary value per row: a label out of a few, or continuous columns.

    Labels are kept once and rows hold their codes, so that strings cost nothing.

    >>> Domain.of(["lab B", "lab A", "lab B"])
    Domain(3 rows, 2 labels: lab A, lab B)
    >>> Domain.of([[0.1], [0.7]])
    Domain(2 rows, 1 continuous column)
    """

    values: np.ndarray  # codes, shape (rows,), or columns, shape (rows, width)
    labels: tuple[Any, ...] | None  # None when continuous

    def __post_init__(self) -> None:
        self.values.flags.writeable = False

    @classmethod
    def of(cls, raw: Any) -> Domain:
        """Integers, strings and booleans are labels, floats are columns, one-hot rows are labels."""
        if isinstance(raw, Domain):
            return raw
        array = _plain(raw)
        if array.ndim == 2 and array.shape[1] == 1 and array.dtype.kind != "f":
            array = array[:, 0]
        if array.dtype.kind in "f":
            return cls._continuous(array)
        if array.ndim == 2 and _one_hot(array):
            return cls._continuous(array)  # which recognises one-hot rows, floats or not
        if array.ndim != 1:
            raise DataError(f"domain has shape {array.shape}: give one label per row, or float columns.")
        labels, codes = np.unique(array, return_inverse=True)
        return cls(codes.astype(np.int32), tuple(labels.tolist()))

    @classmethod
    def _continuous(cls, array: np.ndarray) -> Domain:
        columns = array.reshape(len(array), -1).astype(np.float64)
        bad = np.flatnonzero(~np.isfinite(columns).all(axis=1))
        if bad.size:
            raise DataError(f"domain is NaN or infinite at row {bad[0]}: every row needs a domain.")
        if columns.shape[1] > 1 and _one_hot(columns):
            # u is published one-hot in the iVAE literature: it means labels, not a point in space
            return cls(columns.argmax(axis=1).astype(np.int32), tuple(range(columns.shape[1])))
        return cls(columns, None)

    @property
    def is_continuous(self) -> bool:
        """Whether rows hold columns of numbers rather than labels."""
        return self.labels is None

    @property
    def size(self) -> int:
        """Number of labels, or of continuous columns."""
        return self.values.shape[1] if self.labels is None else len(self.labels)

    def take(self, rows: np.ndarray) -> Domain:
        """The same labels, fewer rows."""
        return Domain(self.values[rows], self.labels)

    def as_labels(self) -> np.ndarray:
        """One label per row, as given."""
        if self.labels is None:
            raise DataError("this domain is continuous: it has columns, not labels.")
        return np.asarray(self.labels)[self.values]

    def recode(self, labels: tuple[Any, ...] | None, size: int) -> Domain:
        """The same rows in the codes of a fitted model, which knew these labels, or ``size`` continuous columns."""
        if labels is None:
            return self._as_columns(size)
        if self.labels is None:
            raise DataError("domain is continuous here, but the model was fitted with labels.")
        if labels == self.labels:
            return self
        place = {label: code for code, label in enumerate(labels)}
        unseen = [code for code in np.unique(self.values) if self.labels[code] not in place]
        if unseen:
            label = self.labels[unseen[0]]
            raise DataError(
                f"domain {label!r} was not among the {len(labels)} domains the model was fitted with{_known(label, labels)}"
            )
        # A label that no row has, as a column of zeros in one-hot rows, needs no code.
        return Domain(np.array([place.get(label, -1) for label in self.labels], dtype=np.int32)[self.values], labels)

    def _as_columns(self, size: int) -> Domain:
        # A few rows of a continuous domain may look one-hot by chance.
        columns = self.values if self.labels is None else np.eye(self.size)[self.values]
        if self.labels is not None and self.labels != tuple(range(self.size)):
            raise DataError("domain is labels here, but the model was fitted with a continuous one.")
        if columns.shape[1] != size:
            raise DataError(f"domain has {columns.shape[1]} columns, but the model was fitted with {size}.")
        return Domain(columns, None)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        if self.labels is None:
            return f"Domain({len(self)} rows, {self.size} continuous column{'s' * (self.size > 1)})"
        shown = ", ".join(map(str, self.labels[:4])) + (", …" if self.size > 4 else "")
        return f"Domain({len(self)} rows, {self.size} label{'s' * (self.size > 1)}: {shown})"


def _plain(raw: Any) -> np.ndarray:
    array = np.asarray(raw)
    if array.dtype == object:
        entries = array.ravel().tolist()
        gap = next((i for i, value in enumerate(entries) if value is None or value != value), None)
        if gap is not None:
            raise DataError(f"domain is missing at row {gap}: every row needs a domain.")
        kinds = sorted({type(value).__name__ for value in entries})
        if len(kinds) > 1:
            raise DataError(f"domain mixes {' and '.join(kinds)}: give integers, strings or floats.")
        array = np.array(array.tolist())
    if array.dtype.kind not in "biufU" or array.ndim not in (1, 2):
        raise DataError(
            f"domain has dtype {array.dtype} and shape {array.shape}: give one integer or string per row, or float columns."
        )
    return array


def _one_hot(array: np.ndarray) -> bool:
    return bool(np.isin(array, (0, 1)).all() and (array.sum(axis=1) == 1).all())


def _known(label: Any, labels: tuple[Any, ...]) -> str:
    """What the model does know, unless it is too much to read."""
    if len(labels) > _READABLE:
        return "."
    if {type(one) for one in (label, *labels)} == {str}:
        return nearest(label, labels)
    return f": {', '.join(map(repr, labels))}."


# The auxiliary variable: labels, or columns of numbers.
DomainLike: TypeAlias = Domain | LabelsLike | DataFrameLike
