"""What the data are: modalities and their kinds, domains, groups, time, and what is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from latentry.data import Dataset, blocks

__all__ = ["LIKELIHOODS", "ModalityShape", "Shape", "Values", "shape_of"]

Values = Literal["real", "counts", "binary", "labels"]
LIKELIHOODS: dict[Values, str] = {
    "real": "gaussian",
    "counts": "negative_binomial",
    "binary": "bernoulli",
    "labels": "categorical",
}
_CHANNELS = 4  # columns of a row up to which they are channels of one curve
_FEW = 20  # different values up to which whole numbers of one column are labels
_LOOK = 5000  # rows by which the kind of the values is read


@dataclass(frozen=True)
class ModalityShape:
    """One modality.

    Args:
        name: As in the data.
        form: "table", "curve" or "image".
        shape: Of a row.
        values: "real", "counts", "binary" or "labels".
        missing: Rows without it.
    """

    name: str
    form: str
    shape: tuple[int, ...]
    values: Values
    missing: int

    @property
    def size(self) -> int:
        """Return how many numbers a row holds."""
        return int(np.prod(self.shape))

    def __str__(self) -> str:
        what = f"{self.size} columns" if self.form == "table" else "×".join(map(str, self.shape))
        gap = f", missing in {self.missing} rows" if self.missing else ""
        return (
            f"{self.name!r}, {'an' if self.form == 'image' else 'a'} {self.form} of {self.values} values ({what}{gap})"
        )


@dataclass(frozen=True)
class Shape:
    """The form of a dataset.

    Args:
        rows: How many.
        modalities: One by one.
        domains: Number of labels of the domain; 0 without one, and None for a continuous u.
        smallest: Rows of the smallest domain; 0 where there are none.
        groups: Number of groups of rows that depend on each other; 0 for none.
        timed: Whether rows have a time.
    """

    rows: int
    modalities: tuple[ModalityShape, ...]
    domains: int | None
    smallest: int
    groups: int
    timed: bool

    @property
    def columns(self) -> int:
        """Return how many numbers a row holds, over all modalities."""
        return sum(one.size for one in self.modalities)

    @property
    def all_real(self) -> bool:
        """Return whether every modality holds real values."""
        return all(one.values == "real" for one in self.modalities)

    @property
    def flat(self) -> bool:
        """Return whether all modalities are tables of real values."""
        return self.all_real and all(one.form == "table" for one in self.modalities)

    @property
    def one_table(self) -> bool:
        """Return whether there is one table of real values, without missing rows."""
        first = self.modalities[0]
        return len(self.modalities) == 1 and first.form == "table" and self.all_real and not first.missing

    @property
    def likelihood(self) -> str | dict[str, str]:
        """Return the likelihood that suits each modality, as models take it."""
        chosen = {one.name: LIKELIHOODS[one.values] for one in self.modalities}
        return "gaussian" if set(chosen.values()) == {"gaussian"} else chosen

    @property
    def sentence(self) -> str:
        """Return all of it in words."""
        held = "; ".join(map(str, self.modalities))
        return f"{self.rows} rows of {held}; {self._where}{self._depend}."

    @property
    def _where(self) -> str:
        if self.domains is None:
            return "with a continuous u"
        if not self.domains:
            return "without domains"
        return f"{self.domains} domains, the smallest of {self.smallest} rows"

    @property
    def _depend(self) -> str:
        said = [f"{self.groups} groups"] * bool(self.groups) + ["with a time"] * self.timed
        return "".join(f"; {words}" for words in said)


def shape_of(data: Dataset) -> Shape:
    """Read the form of the data; values are real unless their type says otherwise.

    Whole numbers stored as such are counts, or labels where one column has few values; zeros and ones are binary. Whole
    numbers stored as floating point are real: nothing says that they were counted.

    Cost: one pass over the data.

    Args:
        data: Rows.

    Returns:
        Their form.

    >>> import numpy as np
    >>> data = Dataset({"x": np.zeros((6, 4)) + np.arange(4)}, domain=["a", "b"] * 3)
    >>> shape_of(data).sentence
    "6 rows of 'x', a table of real values (4 columns); 2 domains, the smallest of 3 rows."
    """
    domain = data.domain
    counts = np.zeros(0) if domain is None or domain.is_continuous else np.bincount(domain.values)
    return Shape(
        rows=len(data),
        modalities=tuple(_modality(data, name) for name in data.names),
        domains=0 if domain is None else None if domain.is_continuous else int((counts > 0).sum()),
        smallest=int(counts[counts > 0].min()) if counts.any() else 0,
        groups=0 if data.groups is None else len(np.unique(data.groups)),
        timed=data.time is not None,
    )


def _modality(data: Dataset, name: str) -> ModalityShape:
    shape = tuple(map(int, data[name].shape[1:]))
    seen = data.observed[name]
    return ModalityShape(name, _form(shape), shape, _values(data, name), int((~seen).sum()))


def _form(shape: tuple[int, ...]) -> str:
    """Return what a row is; a few channels along an axis are a curve."""
    if len(shape) < 2:
        return "table"
    return "curve" if len(shape) == 2 and min(shape) <= _CHANNELS else "image"


def _values(data: Dataset, name: str) -> Values:
    some = next(piece for _, piece in blocks(data[name]))[:_LOOK]
    flat = some[data.observed[name][: len(some)]]
    if not flat.size:
        return "real"
    if flat.dtype.kind == "b" or np.isin(flat, (0, 1)).all():
        return "binary"
    if flat.dtype.kind not in "iu" or flat.min() < 0:
        return "real"
    one_column = flat.reshape(len(flat), -1).shape[1] == 1
    return "labels" if one_column and len(np.unique(flat)) <= _FEW else "counts"
