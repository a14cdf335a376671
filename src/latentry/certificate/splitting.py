"""Which rows a certificate may look at: never those that trained what is certified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from latentry.data import Dataset, row_marks, split_rows
from latentry.errors import DataError

__all__ = ["FEWEST", "Split", "rows_to_audit", "unseen_rows"]

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

    def to_json(self) -> dict[str, Any]:
        """Plain data for a JSON file."""
        return {"origin": self.origin, "rows": len(self.rows), "of": self.of, "sentence": self.sentence}


def rows_to_audit(model: Any, data: Dataset) -> Split:
    """Rows of the data that did not train the model, as far as its fingerprint tells."""
    mark = getattr(model, "fingerprint_", None)
    if mark is None:
        return _trusted(data, "The model keeps no fingerprint of its training rows")
    if mark == data.fingerprint:
        return _validation(model, data)
    for seed in dict.fromkeys((getattr(model, "seed", 0), 0)):
        parts = _parted(data, model.rows_, seed)
        if parts is not None and data.take(parts[0]).fingerprint == mark:
            sentence = f"{len(parts[1])} of {len(data)} rows were set aside; the others are exactly those of the fit."
            return _enough(Split(parts[1], "set aside", sentence, len(data), parts[0]))
    marks = getattr(model, "marks_", None)
    if not marks:
        return _trusted(data, "Their fingerprint is not that of the training rows")
    return _by_marks(model, data, marks)


def _by_marks(model: Any, data: Dataset, marks: Any) -> Split:
    """Row by row: one that trained the model is known wherever it stands, and whatever domain it is given now."""
    own = row_marks(data, model.layout_.modalities)
    trained, chose = np.isin(own, marks["trained"]), np.isin(own, marks.get("held out", own[:0]))
    if not trained.any() and not chose.any():
        sentence = f"None of the {len(data)} rows is one of those that the model was fitted to."
        return _enough(Split(np.arange(len(data)), "new", sentence, len(data)))
    if len(np.unique(marks["trained"])) < _DISTINCT * len(marks["trained"]):
        return _trusted(data, "Rows of the fit repeat each other, so that equal rows may yet be new")
    rows = np.flatnonzero(~trained)
    if not len(rows):
        raise DataError(f"every row of these data trained the model: nothing is left to audit. {_ASIDE}")
    sentence = f"{trained.sum()} of {len(data)} rows trained the model and are left out; the other {len(rows)} are audited."
    if chose.any():
        sentence += f" {(chose & ~trained).sum()} of them took no part in its gradients, but chose its epoch."
    origin = "validation" if chose[rows].all() else "set aside"
    return _enough(Split(rows, origin, sentence, len(data), np.flatnonzero(trained)))


def unseen_rows(data: Dataset, seen: Any) -> Split:
    """Rows to audit of latents made elsewhere."""
    if seen is None:
        return _trusted(data, "Nothing is known about which rows trained the latents")
    trained = np.zeros(len(data), dtype=bool)
    given = np.asarray(seen)
    if given.dtype.kind in "iu" and (len(np.unique(given)) < given.size or (given < 0).any()):
        raise DataError("seen: row numbers count from 0 and are given once each; a mask of rows must be booleans.")
    try:
        trained[np.asarray(seen)] = True
    except (IndexError, ValueError, TypeError):
        raise DataError(f"seen: give row numbers below {len(data)}, or {len(data)} booleans.") from None
    rows = np.flatnonzero(~trained)
    sentence = f"{len(rows)} of {len(data)} rows were named as not having trained the latents."
    return _enough(Split(rows, "named", sentence, len(data)))


def _validation(model: Any, data: Dataset) -> Split:
    share = getattr(model, "validation", 0.0)
    if not share or round(share * len(data)) < 1:
        raise DataError(f"every row of these data trained the model: nothing is left to audit. {_ASIDE}")
    parts = split_rows(len(data), (1 - share, share), _strata(data), None, model.seed)
    sentence = (
        f"The data are those of the fit. Audited are the {len(parts[1])} of {len(data)} rows that it held out; they took no "
        "part in its gradients, but chose its epoch."
    )
    return _enough(Split(parts[1], "validation", sentence, len(data), parts[0]))


def _parted(data: Dataset, training: int, seed: int) -> tuple[np.ndarray, ...] | None:
    """The two parts that `data.split` would give with as many training rows."""
    if not 0 < training < len(data):
        return None
    share = round(training / len(data), 3)  # fractions are round numbers, and each stratum is rounded on its own
    try:
        parts = split_rows(len(data), (share, 1 - share), _strata(data), None, seed)
    except DataError:
        return None
    return parts if len(parts[0]) == training else None


def _strata(data: Dataset) -> np.ndarray | None:
    return None if data.domain is None or data.domain.is_continuous else data.domain.values


def _trusted(data: Dataset, why: str) -> Split:
    sentence = f"{why}: all {len(data)} rows are taken on trust as new to what is certified."
    return _enough(Split(np.arange(len(data)), "trust", sentence, len(data)))


def _enough(split: Split) -> Split:
    if len(split.rows) < FEWEST:
        raise DataError(
            f"{len(split.rows)} rows are left to audit, and at least {FEWEST} are needed: half of them fit students, half are "
            "judged. Give more rows that the model has not seen, or fit again with a larger validation fraction."
        )
    return split
