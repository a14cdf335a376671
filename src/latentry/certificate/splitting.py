"""Which rows a certificate may look at: never those that trained what is certified."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from latentry.contracts import FitRecord, KeepsFitRecord
from latentry.data import Dataset, near_rows, row_marks, sketches
from latentry.errors import DataError
from latentry.streams import stream

__all__ = ["FEWEST", "Split", "rows_to_audit", "unseen_rows", "without_trained_units"]

_ASIDE = "Certify on new rows, or fit on a part: training, fresh = data.split(0.8, 0.2)."
_DISTINCT = 0.9  # fraction of distinct rows above which an equal row is the same row
FEWEST = 40  # rows that can be audited at all: half of them fit students, half are judged


@dataclass(frozen=True, eq=False)
class Split:
    """The rows that are audited, and how it is known that they are new.

    `origin` is "set aside" (the rows of the fit among these data are known and left out), "new" (there are none),
    "validation" (the data are those of the fit; what the fit held out is taken), "named" (the caller said which rows
    trained the latents), or "trust".
    """

    rows: np.ndarray
    origin: str
    sentence: str
    of: int
    trained: np.ndarray | None = None  # the rows that are known to have trained it

    def to_json(self) -> dict[str, str | int]:
        """Return plain data for a JSON file."""
        return {"origin": self.origin, "rows": len(self.rows), "of": self.of, "sentence": self.sentence}


def rows_to_audit(model: object, data: Dataset) -> Split:
    """Return the rows of the data that did not train the model, by what its fit recorded of them.

    A fit records the numbers of the rows that it held out, for the very data that it was given, and a mark of every row,
    by which rows are known in other data too: in another order, with another domain, or among more rows.

    Args:
        model: That was fitted.
        data: All rows.

    Returns:
        The rows, and how it is known that they are new.

    Raises:
        DataError: If fewer than :data:`FEWEST` rows are left.
    """
    record = model.fit_record() if isinstance(model, KeepsFitRecord) else None
    if record is None:
        return _trusted(data, "The model keeps no record of its training rows")
    data = data.recoded(dict(record.layout.coding))  # dates of other rows begin on another day
    if record.fingerprint == data.fingerprint:
        return _validation(record, data)
    return _by_marks(record, data)


def _validation(record: FitRecord, data: Dataset) -> Split:
    """Return the rows that the fit held out, but for those that are a trained row once more."""
    held = record.held_out
    equal = np.isin(row_marks(data, record.layout.modalities)[held], record.marks["trained"])
    rows = held if _repeats(record) else held[~equal]
    if not len(rows):
        raise DataError(f"data: every row of these data trained the model: nothing is left to audit. {_ASIDE}")
    sentence = (
        f"The data are those of the fit. Audited are the {len(rows)} of {len(data)} rows that it held out; they took no "
        "part in its gradients, but chose its epoch."
    )
    if len(rows) < len(held):
        sentence = sentence.replace("held out;", f"held out and that equal no row that trained it ({equal.sum()} do);")
    elif equal.any():
        sentence += f" {equal.sum()} of them equal rows that trained it: rows of the fit repeat each other."
    trained = np.setdiff1d(np.arange(len(data)), held)
    return _enough(Split(rows, "validation", sentence, len(data), trained))


def _repeats(record: FitRecord) -> bool:
    """Say whether rows of the fit repeat each other so often that an equal row may be another one."""
    trained = record.marks["trained"]
    return len(np.unique(trained)) < _DISTINCT * len(trained)


def _by_marks(record: FitRecord, data: Dataset) -> Split:
    """Tell rows apart by their marks: one that trained the model is known wherever it stands, whatever its domain now."""
    own, marks = row_marks(data, record.layout.modalities), record.marks
    held = marks.get("held out", own[:0])
    copied = _copies(record, data)
    if not np.isin(own, np.append(marks["trained"], held)).any() and (copied < 0).all():
        sentence = (
            f"None of the {len(data)} rows equals one of those that the model was fitted to, and they are no nearer to them "
            "than new rows would be."
        )
        return _enough(Split(np.arange(len(data)), "new", sentence, len(data)))
    if _repeats(record):
        return _repeating(record, data, own)
    chose = np.isin(own, held) | np.isin(copied, record.held_out)
    trained = np.isin(own, marks["trained"]) | ((copied >= 0) & ~np.isin(copied, record.held_out))
    chose &= ~trained
    rounded = int((trained | chose).sum() - np.isin(own, np.append(marks["trained"], held)).sum())
    whole = trained.sum() + chose.sum() == len(marks["trained"]) + len(held)
    which = (
        f"{rounded} so much nearer to rows of the fit than new rows are that they may be copies of them, and rows"
        if rounded
        else "exactly those"
        if whole
        else "among those"
    )
    return _apart_from(data, trained, chose, which)


def _repeating(record: FitRecord, data: Dataset, own: np.ndarray) -> Split:
    """Leave out as many equal rows as the fit had, where its rows repeat each other and an equal row may be another one."""
    marks, held = record.marks, record.marks.get("held out", own[:0])
    trained = _occurrences(own, marks["trained"])
    chose = _occurrences(own, held, ~trained)
    if trained.sum() + chose.sum() == len(marks["trained"]) + len(held):
        return _apart_from(data, trained, chose, "equal to those")
    why = (
        f"{np.isin(own, marks['trained']).sum()} of {len(data)} rows equal rows that trained the model. Its rows repeat each "
        "other, so that equal ones may yet be new"
    )
    return _trusted(data, why)


def _copies(record: FitRecord, data: Dataset) -> np.ndarray:
    """Return, for each row, the number of the row of the fit that it is a copy of, rounded or read again; -1 for none."""
    fitted = dict(record.layout.shapes)
    alike = [name for name in data.names if fitted.get(name) == tuple(data[name].shape[1:])]
    if not alike:  # other features are refused where the model encodes them
        return np.full(len(data), -1)
    return near_rows(sketches(data.select(*alike), record.statistics), record.sketches)


def _occurrences(own: np.ndarray, marks: np.ndarray, among: np.ndarray | None = None) -> np.ndarray:
    """Say for each row whether it is one of as many equal rows as have its mark: rows that repeat are counted.

    Which of them is drawn at random: the first ones would be those of the first domains, where rows are sorted by domain.
    """
    left = np.ones(len(own), dtype=bool) if among is None else among
    known, counts = np.unique(marks, return_counts=True)
    inside = np.zeros(len(own), dtype=bool)
    drawn = stream("certificate/equal rows", 0).permutation(np.flatnonzero(left))
    order = drawn[np.argsort(own[drawn], kind="stable")]
    _, starts = np.unique(own[order], return_index=True)
    place = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    at = np.minimum(np.searchsorted(known, own[order]), max(len(known) - 1, 0))
    if len(known):
        inside[order] = (known[at] == own[order]) & (place < counts[at])
    return inside


def _apart_from(data: Dataset, trained: np.ndarray, chose: np.ndarray, which: str) -> Split:
    """Return the rows that the fit never had, where they are enough; otherwise those too that it held out."""
    fresh, fitted = ~(trained | chose), np.flatnonzero(trained | chose)
    if fresh.sum() >= FEWEST:
        rows = np.flatnonzero(fresh)
        sentence = f"{len(rows)} of {len(data)} rows were set aside; the others are {which} of the fit."
        return Split(rows, "set aside", sentence, len(data), fitted)
    rows = np.flatnonzero(~trained)
    if not len(rows):
        raise DataError(f"data: every row of these data trained the model: nothing is left to audit. {_ASIDE}")
    sentence = (
        f"{trained.sum()} of {len(data)} rows trained the model and are left out; the other {len(rows)} are audited."
    )
    if chose.any():
        sentence += f" {chose.sum()} of them took no part in its gradients, but chose its epoch."
    origin = "validation" if chose[rows].all() else "set aside"
    return _enough(Split(rows, origin, sentence, len(data), np.flatnonzero(trained)))


def without_trained_units(split: Split, data: Dataset) -> Split:
    """Leave out rows of groups, or blocks of time, that also trained what is certified; say so where too few would be left.

    Args:
        split: The rows to audit.
        data: All rows.

    Returns:
        The split, with fewer rows or a longer sentence where groups were cut by the fit.
    """
    if data.units is None or split.trained is None:
        return split
    known = np.isin(data.units[split.rows], data.units[split.trained])
    if not known.any():
        return split
    count = f"{known.sum()} of these rows are of groups, or blocks of time, that also trained the model"
    if (~known).sum() < FEWEST:
        return replace(split, sentence=f"{split.sentence} {count}: what is said of them is not said of new groups.")
    return replace(split, rows=split.rows[~known], sentence=f"{split.sentence} {count}, and are left out.")


def unseen_rows(data: Dataset, seen: ArrayLike | None) -> Split:
    """Return the rows to audit of latents made elsewhere.

    Args:
        data: All rows.
        seen: Those that trained the latents: numbers, or a boolean for each row; None if that is not known.

    Returns:
        The rows, and how it is known that they are new.

    Raises:
        DataError: If `seen` names no rows of these data, or too few are left.
    """
    if seen is None:
        return _trusted(data, "Nothing is known about which rows trained the latents")
    trained = np.zeros(len(data), dtype=bool)
    given = np.asarray(data.in_order("seen", seen) if np.asarray(seen).dtype == bool else seen)
    given = given.astype(np.int64) if given.size == 0 else given
    if given.dtype.kind in "iu" and (len(np.unique(given)) < given.size or (given < 0).any()):
        raise DataError(
            "seen: has numbers that repeat or are negative. Give each row number once, from 0; a mask of rows must be booleans."
        )
    try:
        trained[given] = True
    except (IndexError, ValueError, TypeError):
        raise DataError(
            f"seen: does not name rows of these data. Give row numbers below {len(data)}, or {len(data)} booleans."
        ) from None
    rows = np.flatnonzero(~trained)
    sentence = f"{len(rows)} of {len(data)} rows were named as not having trained the latents."
    return _enough(Split(rows, "named", sentence, len(data)))


def _trusted(data: Dataset, why: str) -> Split:
    sentence = f"{why}: all {len(data)} rows are taken on trust as new to what is certified."
    return _enough(Split(np.arange(len(data)), "trust", sentence, len(data)))


def _enough(split: Split) -> Split:
    if len(split.rows) < FEWEST:
        raise DataError(
            f"data: {len(split.rows)} rows are left to audit, and at least {FEWEST} are needed: half of them fit students, half "
            "are judged. Give more rows that the model has not seen, or fit again with more rows held out, such as validation=0.3."
        )
    return split
