"""The domain: which lab, segment, year or setting each row comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from latentry.data.cells import is_missing
from latentry.data.inputs import DataFrameLike, Label, LabelsLike
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
    labels: tuple[Label, ...] | None  # None when continuous

    def __post_init__(self) -> None:
        self.values.flags.writeable = False

    @classmethod
    def of(cls, raw: DomainLike) -> Domain:
        """Return the domain that an array means.

        Integers, strings and booleans are labels, floats are columns, one-hot rows are labels.

        Args:
            raw: One label for each row, (rows,), or columns, (rows, width).

        Returns:
            The domain of each row.

        Raises:
            DataError: Where a row has none, by number, and for types and shapes that are neither.
        """
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
            raise DataError(
                f"domain of shape {array.shape}: several labels in a row. Give one label per row, or float columns."
            )
        labels, codes = np.unique(array, return_inverse=True)
        return cls(codes.astype(np.int32), tuple(labels.tolist()))

    @classmethod
    def _continuous(cls, array: np.ndarray) -> Domain:
        columns = array.reshape(len(array), -1).astype(np.float64)
        bad = np.flatnonzero(~np.isfinite(columns).all(axis=1))
        if bad.size:
            raise DataError(f"domain: NaN or infinite at row {bad[0]}. Give every row a domain.")
        if columns.shape[1] > 1 and _one_hot(columns):
            # u is published one-hot in the iVAE literature: it means labels, not a point in space
            return cls(columns.argmax(axis=1).astype(np.int32), tuple(range(columns.shape[1])))
        return cls(columns, None)

    @property
    def is_continuous(self) -> bool:
        """Return whether rows hold columns of numbers rather than labels."""
        return self.labels is None

    @property
    def size(self) -> int:
        """Return the number of labels, or of continuous columns."""
        return int(self.values.shape[1]) if self.labels is None else len(self.labels)

    def take(self, rows: np.ndarray) -> Domain:
        """Return the same labels for fewer rows.

        Args:
            rows: Numbers of rows, or a truth value for each.

        Returns:
            The domain of these rows.
        """
        return Domain(self.values[rows], self.labels)

    def same(self, other: Domain) -> bool:
        """Return whether each row has the same label, or the same numbers; 1 and "1" are one label.

        Args:
            other: Another domain.

        Returns:
            Its truth.

        >>> Domain.of(["1", "2"]).same(Domain.of([1, 2])), Domain.of(["1", "2"]).same(Domain.of(["1", "1"]))
        (True, False)
        """
        if self.labels is None or other.labels is None:
            return self.labels is other.labels and np.array_equal(self.values, other.values)
        return np.array_equal(self.as_labels().astype(str), other.as_labels().astype(str))

    def as_labels(self) -> np.ndarray:
        """Return one label for each row, as given.

        Raises:
            DataError: If the domain is continuous.
        """
        if self.labels is None:
            raise DataError("domain: continuous, with columns instead of labels. Give one label per row.")
        labels: np.ndarray = np.asarray(self.labels)[self.values]
        return labels

    def recode(self, labels: tuple[Label, ...] | None, size: int) -> Domain:
        """Return the same rows in the codes of a fitted model.

        Args:
            labels: That the model knows; None for a continuous domain.
            size: Number of labels, or of continuous columns.

        Returns:
            The domain in the model's codes.

        Raises:
            DataError: For labels that the model does not know, and for another kind of domain.
        """
        if labels is None:
            return self._as_columns(size)
        if self.labels is None:
            raise DataError(
                "domain: continuous here, but the model was fitted with labels. Give one of its labels per row."
            )
        if labels == self.labels:
            return self
        place = {label: code for code, label in enumerate(labels)}
        unseen = [code for code in np.unique(self.values) if self.labels[code] not in place]
        if unseen:
            label = self.labels[unseen[0]]
            raise DataError(
                f"domain={label!r}: not among the {len(labels)} domains the model was fitted with{_known(label, labels)}"
            )
        # A label that no row has, as a column of zeros in one-hot rows, needs no code.
        return Domain(np.array([place.get(label, -1) for label in self.labels], dtype=np.int32)[self.values], labels)

    def _as_columns(self, size: int) -> Domain:
        # A few rows of a continuous domain may look one-hot by chance.
        columns = self.values if self.labels is None else np.eye(self.size)[self.values]
        if self.labels is not None and self.labels != tuple(range(self.size)):
            raise DataError("domain: labels here, but the model was fitted with a continuous one. Give float columns.")
        if columns.shape[1] != size:
            raise DataError(
                f"domain: has {columns.shape[1]} columns, but the model was fitted with {size}. Give the same columns."
            )
        return Domain(columns, None)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        if self.labels is None:
            return f"Domain({len(self)} rows, {self.size} continuous column{'s' * (self.size > 1)})"
        shown = ", ".join(map(str, self.labels[:4])) + (", …" if self.size > 4 else "")
        return f"Domain({len(self)} rows, {self.size} label{'s' * (self.size > 1)}: {shown})"


def _plain(raw: LabelsLike | DataFrameLike) -> np.ndarray:
    array = np.asarray(raw)
    if array.dtype == object:
        entries = array.ravel().tolist()
        gap = next((i for i, value in enumerate(entries) if is_missing(value)), None)
        if gap is not None:
            raise DataError(f"domain: missing at row {gap}. Give every row a domain.")
        kinds = sorted({type(value).__name__ for value in entries})
        if len(kinds) > 1:
            raise DataError(f"domain: mixes {' and '.join(kinds)}. Give integers, strings or floats.")
        array = np.array(array.tolist())
    if array.dtype.kind not in "biufU" or array.ndim not in (1, 2):
        raise DataError(
            f"domain of dtype {array.dtype} and shape {array.shape}: neither labels nor numbers. "
            "Give one integer or string per row, or float columns."
        )
    return array


def _one_hot(array: np.ndarray) -> bool:
    return bool(np.isin(array, (0, 1)).all() and (array.sum(axis=1) == 1).all())


def _known(label: Label, labels: tuple[Label, ...]) -> str:
    """Say what the model does know, unless it is too much to read."""
    if len(labels) > _READABLE:
        return ". Give rows of those domains."
    texts = [known for known in labels if isinstance(known, str)]
    if isinstance(label, str) and len(texts) == len(labels):
        return nearest(label, texts)
    return f". Known: {', '.join(map(repr, labels))}."


# The auxiliary variable: labels, or columns of numbers.
DomainLike: TypeAlias = Domain | LabelsLike | DataFrameLike
