"""Rows to audit: blocks of observables, a channel for each row, a domain for each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from latentry.data import CategoricalChannel, Channel, Dataset, GaussianChannel, split_rows
from latentry.errors import DataError, nearest

__all__ = ["Block", "Rows", "as_rows"]

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
_FEWEST = 40
_FEWEST_LABELLED = 2  # on each side of the split, where bounds hold at every sample size
_FAIR = 0.8  # of its due that a domain must get of each part of a split
_FEW = 20  # different numbers, up to which a column is taken as labels
# Columns that learners see, columns that tests see, and label values that tests tell apart.
_WIDE, _GIST, _COMMON = 30, 5, 12


@dataclass(frozen=True, eq=False)
class Block:
    """One observable: codes (rows,) with a number of levels, or numbers (rows, columns).

    Learners see `features`; tests see `gist`. Both are functions of the block, so that a student of the features
    is a student of the block, and dependence of the gist is dependence of the block (data processing).
    """

    name: str
    values: NDArray[Any]
    levels: int | None
    features: Array
    gist: Array

    @property
    def discrete(self) -> bool:
        """Whether the block is a label."""
        return self.levels is not None

    @property
    def shortened(self) -> bool:
        """Whether tests see less than the whole block."""
        return self.gist.shape[1] < self.features.shape[1]

    @classmethod
    def of_labels(cls, name: str, codes: Codes) -> Block:
        """A block of codes 0, 1, ...; rare ones share a column of the gist."""
        levels = int(codes.max()) + 1
        order = np.argsort(-np.bincount(codes, minlength=levels), kind="stable")
        rank = np.empty(levels, dtype=np.int64)
        rank[order] = np.arange(levels)
        return cls(
            name,
            codes,
            levels,
            np.eye(levels)[codes],
            np.eye(min(levels, _COMMON))[np.minimum(rank[codes], _COMMON - 1)],
        )

    @classmethod
    def of_numbers(cls, name: str, values: Array, fit: Codes, seed: int) -> Block:
        """A block of numbers; many columns become the leading components of the fit rows."""
        if values.shape[1] <= _GIST:
            return cls(name, values, None, values, values)
        scale = StandardScaler().fit(values[fit])
        kept = min(_WIDE, values.shape[1], len(fit) - 1)
        turned = PCA(kept, random_state=seed).fit(scale.transform(values[fit])).transform(scale.transform(values))
        return cls(name, values, None, turned if values.shape[1] > _WIDE else values, turned[:, :_GIST])


    def reordered(self, order: Codes, fit: Codes, seed: int) -> Block:
        """The same block with its rows in another order; components are those of the rows that fit then."""
        if self.levels is not None:
            return Block.of_labels(self.name, self.values[order])
        return Block.of_numbers(self.name, self.values[order], fit, seed)


@dataclass(frozen=True, eq=False)
class Rows:
    """Everything an audit looks at, with the rows split into those that fit students and those that audit.

    `untouched` are the rows that played no part in defining the latent: all of them, unless a quantiser was fitted.
    """

    blocks: tuple[Block, ...]
    channel: Channel
    domain: Codes
    domains: tuple[str, ...]
    fit: Codes
    audit: Codes
    untouched: Codes
    dropped: int
    kept: Codes  # the complete ones among the rows that were given
    plain: bool = True  # whether the split ignores the domains, so that the audit rows are a sample of the pooled rows too
    taken_as_labels: tuple[str, ...] = ()  # blocks of numbers with so few values that they must be labels
    latent_taken_as_labels: bool = False

    @property
    def categorical(self) -> bool:
        """Whether the latent has finitely many values."""
        return isinstance(self.channel, CategoricalChannel)

    @property
    def discrete(self) -> bool:
        """Whether observables and latent all have finitely many values."""
        return self.categorical and all(b.discrete for b in self.blocks)

    def of(self, channel: Channel) -> Rows:
        """The same rows and blocks with another latent, one row of it for each row that was given."""
        rows = replace(self, channel=_take(_as_channel(channel, len(channel), None, None, self.fit, 0), self.kept))
        _check_domains(rows)
        return rows

    def with_block(self, place: int, block: Block) -> Rows:
        """The same rows with another block in one place."""
        return replace(self, blocks=(*self.blocks[:place], block, *self.blocks[place + 1 :]))

    def as_one(self) -> Rows:
        """The same rows as if from one domain; only a split that ignores the domains allows it."""
        if not self.plain:
            raise DataError("these rows were split domain by domain: gather them again without their domains")
        return replace(self, domain=np.zeros_like(self.domain), domains=("all rows",))

    def latent_sample(self, seed: int) -> NDArray[Any]:
        """One draw of the latent per row."""
        return self.channel.sample(seed)

    def inside(self, part: Codes, domain: int | None) -> Codes:
        """Row numbers of a part that lie in a domain (all of them for None)."""
        return part if domain is None else part[self.domain[part] == domain]


def as_rows(
    data: Dataset | Mapping[str, ArrayLike] | ArrayLike,
    channel: Channel | ArrayLike,
    *,
    blocks: Mapping[str, Sequence[int]] | Sequence[str] | None,
    domain: ArrayLike | None,
    noise: float | None,
    quantiser: int | None,
    fit: float,
    seed: int,
    labels: Sequence[str] = (),
    numbers: Sequence[str] = (),
) -> Rows:
    """Check and align what was given; see `audit` for the meaning of each argument."""
    named, present, place = _columns(data, blocks, domain)
    _check_kinds(named, labels, numbers)
    if len(named) < 2:
        raise DataError(
            f"a natural latent needs at least two observables; there is {len(named)} block. Pass two modalities or more, "
            "or an array with blocks={'name': [columns], ...}"
        )
    count = len(present)
    codes, names = _domains(place, count)
    kept = np.flatnonzero(present)
    if len(kept) < _FEWEST:
        raise DataError(f"{len(kept)} complete rows are too few to audit: at least {_FEWEST} are needed")
    parts, plain = _split(codes[kept], fit, seed)
    told = (*labels, *numbers)
    alike = tuple(name for name, column in named.items() if name not in told and _few_values(column, kept))
    whole = _as_channel(channel, count, noise, quantiser, kept[parts[0]], seed)
    rows = Rows(
        blocks=tuple(
            _block(
                name, column, kept, label=_is_label(name, column, (*labels, *alike), numbers), fit=parts[0], seed=seed
            )
            for name, column in named.items()
        ),
        channel=_take(whole, kept),
        domain=codes[kept],
        domains=names,
        fit=parts[0],
        audit=parts[1],
        untouched=np.arange(len(kept)) if quantiser is None else parts[1],
        dropped=count - len(kept),
        kept=kept,
        plain=plain,
        taken_as_labels=alike,
        latent_taken_as_labels=isinstance(whole, CategoricalChannel) and quantiser is None and _is_float(channel),
    )
    _check_domains(rows)
    return rows


def _split(domain: Codes, fit: float, seed: int) -> tuple[tuple[Codes, ...], bool]:
    """Rows that fit and rows that audit, and whether they were drawn without regard to the domain.

    Drawn so, the audit rows are independent rows of each domain and of the pool as well, and one student serves both.
    Where chance gives a domain much less than its part, every domain is split by itself.
    """
    try:
        plain = split_rows(len(domain), (fit, 1 - fit), None, None, seed)
        if len(np.unique(domain)) == 1 or _fair(domain, plain, (fit, 1 - fit)):
            return plain, True
        return split_rows(len(domain), (fit, 1 - fit), domain, None, seed), False
    except DataError as problem:
        raise DataError(f"fit={fit}: {problem}") from None


def _fair(domain: Codes, parts: Sequence[Codes], shares: Sequence[float]) -> bool:
    """Whether every part of every domain has at least four fifths of its due, and rows enough for any bound."""
    due = np.bincount(domain)
    counts = [np.bincount(domain[part], minlength=len(due)) for part in parts]
    return all(
        (count >= np.maximum(_FAIR * share * due, _FEWEST // 2)).all() for count, share in zip(counts, shares, strict=True)
    )


def _check_kinds(named: Mapping[str, Any], labels: Sequence[str], numbers: Sequence[str]) -> None:
    for argument, names in (("labels", labels), ("numbers", numbers)):
        unknown = [name for name in names if name not in named]
        if unknown:
            raise DataError(f"{argument}: no block is called {unknown[0]!r}{nearest(str(unknown[0]), named)}")
    both = [name for name in labels if name in numbers]
    if both:
        raise DataError(f"block {both[0]!r} is named in labels and in numbers; it is one or the other")
    wordy = [name for name in numbers if np.asarray(named[name]).dtype.kind not in "fiub"]
    if wordy:
        raise DataError(f"numbers: block {wordy[0]!r} holds text")


def _check_domains(rows: Rows) -> None:
    """Every domain needs rows on both sides of the split, more of them where bounds are for many rows."""
    least = _FEWEST_LABELLED if rows.discrete else _FEWEST // 2
    for j, name in enumerate(rows.domains):
        fitted, audited = (len(rows.inside(part, j)) for part in (rows.fit, rows.audit))
        if min(fitted, audited) < least:
            where = f"domain {name!r} has too few complete rows" if len(rows.domains) > 1 else "there are too few rows"
            raise DataError(
                f"{where}: {fitted} to fit students and {audited} to audit, where at least {least} of each are needed. "
                "Bring more rows, or leave a small domain out or merge it with another"
            )


def _is_float(channel: Channel | ArrayLike) -> bool:
    given = isinstance(channel, CategoricalChannel | GaussianChannel)
    return not given and np.asarray(channel).dtype.kind == "f"


def _columns(
    data: Any, blocks: Any, domain: ArrayLike | None
) -> tuple[dict[str, Any], NDArray[np.bool_], ArrayLike | None]:
    """Named blocks, which rows are complete, and the domain labels."""
    if isinstance(data, Dataset):
        chosen = list(data.names if blocks is None else blocks)
        unknown = [b for b in chosen if b not in data.names]
        if unknown:
            raise DataError(f"blocks: no modality is called {unknown[0]!r}{nearest(str(unknown[0]), data.names)}")
        present = np.all([data.observed[name] for name in chosen], axis=0)
        labels = data.domain.as_labels() if domain is None and data.domain is not None else domain
        return {name: data.values[name] for name in chosen}, present, labels
    if isinstance(data, Mapping):
        unknown = [b for b in blocks or () if b not in data]
        if unknown:
            raise DataError(f"blocks: no column is called {unknown[0]!r}{nearest(str(unknown[0]), map(str, data))}")
        named = {str(k): np.asarray(v) for k, v in data.items() if blocks is None or k in blocks}
    else:
        table = np.asarray(data)
        if table.ndim != 2 or not isinstance(blocks, Mapping):
            raise DataError("an array needs blocks={'name': [columns], ...} and the shape (rows, columns)")
        named = {str(name): table[:, list(columns)] for name, columns in blocks.items()}
    lengths = {name: len(column) for name, column in named.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(f"the blocks have different numbers of rows: {lengths}")
    rows = next(iter(lengths.values()), 0)
    present = np.ones(rows, dtype=bool)
    for column in named.values():
        present &= ~_missing(column).reshape(rows, -1).any(axis=1)
    return named, present, domain


def _missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """NaN among numbers, None or NaN among objects."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind != "O":
        return np.zeros(values.shape, dtype=bool)
    return np.array([value is None or value != value for value in values.ravel()], dtype=bool).reshape(values.shape)


def _domains(labels: ArrayLike | None, rows: int) -> tuple[Codes, tuple[str, ...]]:
    if labels is None:
        return np.zeros(rows, dtype=np.int64), ("all rows",)
    values = np.asarray(labels)
    if values.shape != (rows,):
        raise DataError(f"domain has shape {values.shape}; there are {rows} rows")
    if _missing(values).any():
        raise DataError(f"domain is missing in row {int(np.flatnonzero(_missing(values))[0])}: every row needs one")
    names, codes = np.unique(values.astype(str) if values.dtype.kind == "O" else values, return_inverse=True)
    return codes.astype(np.int64), tuple(str(n) for n in names)


def _few_values(column: Any, kept: Codes | None = None) -> bool:
    """Numbers that repeat so much that they are labels: one empty cell turns a column of 0 and 1 into floats."""
    values = np.asarray(column)
    if values.dtype.kind != "f" or (values.ndim > 1 and values.shape[1:] != (1,)):
        return False
    flat = (values if kept is None else values[kept]).ravel()
    if not np.isfinite(flat).all():
        return False
    return len(np.unique(flat)) <= min(_FEW, len(flat) // 10)


def _is_label(name: str, column: Any, labels: Sequence[str], numbers: Sequence[str]) -> bool:
    """Text and whole numbers are labels unless said otherwise, other numbers are not."""
    return name in labels or (name not in numbers and np.asarray(column).dtype.kind != "f")


def _block(name: str, column: Any, kept: Codes, *, label: bool, fit: Codes, seed: int) -> Block:
    values = np.asarray(column)[kept].reshape(len(kept), -1)
    values = values.astype(str) if values.dtype.kind == "O" else values
    if not label:
        if not np.isfinite(values).all():
            raise DataError(f"block {name!r} has an infinite value")
        return Block.of_numbers(name, values.astype(np.float64), fit, seed)
    codes = np.unique(values, axis=0, return_inverse=True)[1]
    return Block.of_labels(name, codes.ravel().astype(np.int64))


def _as_channel(
    channel: Channel | ArrayLike, rows: int, noise: float | None, quantiser: int | None, fit: Codes, seed: int
) -> Channel:
    declared = noise is not None or quantiser is not None
    found = channel if isinstance(channel, CategoricalChannel | GaussianChannel) else _from_array(channel, declared)
    if len(found) != rows:
        raise DataError(f"the channel has {len(found)} rows; the data have {rows}")
    if isinstance(found, CategoricalChannel):
        if declared:
            raise DataError("noise and quantiser are for a latent of numbers; this one has labels")
        return found
    if quantiser is not None:
        return _quantised(found.mean, quantiser, fit, seed)
    scale = found.scale if noise is None else np.sqrt(found.scale**2 + noise**2)
    if (scale == 0).any():
        raise DataError(
            "the latent is a deterministic function with continuous values: unless it is a function of every "
            "block alone, its redundancy error is infinite. Declare noise=σ (Λ = f(X) + σ·N(0, 1)) or quantiser=m"
        )
    return GaussianChannel(found.mean, scale)


def _from_array(channel: ArrayLike, declared: bool) -> Channel:
    values = np.asarray(channel)
    if _missing(values).any():
        raise DataError(
            f"the latent is not finite in row {int(np.argwhere(_missing(values))[0, 0])}: every row needs one"
        )
    values = values.astype(str) if values.dtype.kind == "O" else values
    if values.ndim == 1 and (values.dtype.kind != "f" or (not declared and _few_values(values))):
        levels, codes = np.unique(values, return_inverse=True)
        return CategoricalChannel(np.eye(len(levels))[codes])
    numbers = values.astype(np.float64).reshape(len(values), -1)
    if not np.isfinite(numbers).all():
        raise DataError(f"the latent is not finite in row {int(np.flatnonzero(~np.isfinite(numbers).all(axis=1))[0])}")
    return GaussianChannel(numbers, np.zeros_like(numbers))


def _quantised(mean: Array, values: int, fit: Codes, seed: int) -> CategoricalChannel:
    """Λ as the nearest of a few centres that were fitted on the fit rows."""
    if values < 2:
        raise DataError(f"quantiser={values} must be at least 2 values")
    centres = KMeans(values, n_init=4, random_state=seed).fit(mean[fit])
    return CategoricalChannel(np.eye(values)[centres.predict(mean)])


def _take(channel: Channel, rows: Codes) -> Channel:
    if isinstance(channel, CategoricalChannel):
        return CategoricalChannel(channel.probabilities[rows])
    return GaussianChannel(channel.mean[rows], channel.scale[rows])
