"""Rows to audit: blocks of observables, a channel for each row, a domain for each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latentry.data import (
    CategoricalChannel,
    Channel,
    Dataset,
    GaussianChannel,
    channel_from_array,
    has_few_values,
    missing_entries,
    nearest_centres,
    split_rows,
    varying_columns,
)
from latentry.errors import DataError
from latentry.natural.from_samples.copied_columns import copied_columns
from latentry.natural.from_samples.missing_rows import Gaps, gaps_of
from latentry.natural.from_samples.observables import (
    Block,
    Codes,
    block_of,
    check_kinds,
    is_label,
    named_columns,
    one_of_each,
)
from latentry.streams import stream, stream_seed

__all__ = ["Rows", "as_rows", "fewer_rows"]

_FEWEST = 40
_FEWEST_LABELLED = 2  # on each side of the split, where bounds hold at every sample size
_MOST = 40_000  # rows that fit and audit together, where there are numbers
_FAIR = 0.8  # of its due that a domain must get of each part of a split


@dataclass(frozen=True, eq=False)
class Rows:
    """Everything an audit looks at, with the rows split into those that fit students and those that audit.

    `untouched` are the rows that played no part in defining the latent: all of them, unless a quantiser was fitted.
    """

    blocks: tuple[Block, ...]
    channel: Channel
    domain: Codes
    domains: tuple[str, ...]
    strata: Codes  # the domain in which each row was measured, also where rows are pooled
    fit: Codes
    audit: Codes
    untouched: Codes
    dropped: int
    kept: Codes  # the complete ones among the rows that were given
    given: Channel  # the latent of all rows that were given
    gaps: Gaps | None = None  # what is known of rows with a missing block, where there are any
    copied: tuple[str, ...] = ()  # which blocks hold copies of each other's columns
    units: Codes | None = None  # of each row, where rows are known to come in groups or in the order of time
    plain: bool = (
        True  # whether the split ignores the domains, so that the audit rows are a sample of the pooled rows too
    )
    taken_as_labels: tuple[str, ...] = ()  # blocks of numbers with so few values that they must be labels
    latent_taken_as_labels: bool = False
    drawn: bool = False  # whether there were so many rows that only some fit and audit

    @property
    def categorical(self) -> bool:
        """Return whether the latent has finitely many values."""
        return isinstance(self.channel, CategoricalChannel)

    @property
    def discrete(self) -> bool:
        """Return whether observables and latent all have finitely many values."""
        return self.categorical and all(b.discrete for b in self.blocks)

    def of(self, channel: Channel) -> Rows:
        """Return the same rows and blocks with another latent.

        Args:
            channel: One row for each row that was given, incomplete ones included.

        Returns:
            Rows with the same split.

        Raises:
            DataError: If the latent needs noise, or a domain has too few rows for it.
        """
        given = _as_channel(channel, len(channel), None, None, self.fit, 0)
        rows = replace(self, channel=given.take(self.kept), given=given)
        _check_domains(rows)
        return rows

    def with_block(self, place: int, block: Block) -> Rows:
        """Return the same rows with another block in one place.

        Args:
            place: Position of the block.
            block: The new one.

        Returns:
            Rows with the same split.
        """
        return replace(self, blocks=(*self.blocks[:place], block, *self.blocks[place + 1 :]))

    def up_to(self, place: int) -> tuple[tuple[Block, ...], tuple[Block, ...]]:
        """Return one block, and those before it: the chain rule takes them so.

        Args:
            place: Position of the block.

        Returns:
            The block alone, and the earlier ones.
        """
        return self.blocks[place : place + 1], self.blocks[:place]

    def as_one(self) -> Rows:
        """Return the same rows as if from one domain; only a split that ignores the domains allows it."""
        if not self.plain:
            raise DataError("domain: these rows were split domain by domain. Gather them again without their domains.")
        return replace(self, domain=np.zeros_like(self.domain), domains=("all rows",))

    def latent_sample(self, seed: int) -> NDArray[Any]:
        """Draw the latent once per row.

        Args:
            seed: Of the draw.

        Returns:
            Labels (rows,) or numbers (rows, columns).
        """
        return self.channel.sample(seed)

    def inside(self, part: Codes, domain: int | None) -> Codes:
        """Select the rows of a part that lie in a domain.

        Args:
            part: Row numbers.
            domain: Position of the domain; None for all.

        Returns:
            Row numbers.
        """
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
    units: Codes | None = None,
) -> Rows:
    """Check and align data, latent and domains, and split the rows; see `audit` for the meaning of each argument.

    Cost: linear in the numbers of the data.

    Args:
        data: A Dataset, a mapping from name to column(s), or an array with `blocks`.
        channel: A channel, labels (rows,), or an embedding (rows, columns).
        blocks: Modalities, or columns of an array, that form each observable.
        domain: One label per row.
        noise: σ of Gaussian noise added to a continuous latent.
        quantiser: Number of values to which a continuous latent is rounded.
        fit: Fraction of the rows that fit students.
        seed: Of the split and of the quantiser.
        labels: Blocks of numbers that are labels.
        numbers: Blocks of numbers that are measurements.
        units: A number for each row, the same for rows that depend on each other; None where every row is by itself.

    Returns:
        The complete rows, split into those that fit and those that audit.

    Raises:
        DataError: If blocks, labels, channel or domain do not fit, or there are too few complete rows.
    """
    named, there, place = named_columns(data, blocks, domain)
    check_kinds(named, labels, numbers)
    if len(named) < 2:
        raise DataError(
            f"blocks={list(named)}: a natural latent needs at least two observables. Pass two modalities or more, "
            "or an array with blocks={'name': [columns], ...}."
        )
    count = len(there)
    codes, names = _domains(place, count)
    kept = np.flatnonzero(there.all(axis=1))
    if len(kept) < _FEWEST:
        raise DataError(f"data: {len(kept)} complete rows are too few to audit. Bring at least {_FEWEST}.")
    whose = None if units is None else np.unique(units[kept], return_inverse=True)[1].astype(np.int64)
    parts, plain = _split(codes[kept], fit, whose, seed)
    declared = (*labels, *numbers)
    alike = tuple(name for name, column in named.items() if name not in declared and has_few_values(column, kept))
    whole = _as_channel(channel, count, noise, quantiser, kept[parts[0]], seed)
    kinds = {name: is_label(name, column, (*labels, *alike), numbers) for name, column in named.items()}
    untouched = np.arange(len(kept)) if quantiser is None else parts[1]
    rows = Rows(
        blocks=tuple(
            block_of(name, column, kept, label=kinds[name], fit=parts[0], seed=seed) for name, column in named.items()
        ),
        channel=whole.take(kept),
        domain=codes[kept],
        domains=names,
        strata=codes[kept],
        fit=parts[0],
        audit=parts[1],
        untouched=untouched if whose is None else one_of_each(untouched, whose, seed),
        dropped=count - len(kept),
        kept=kept,
        given=whole,
        gaps=gaps_of(named, there, kinds, codes, units),
        copied=copied_columns(named, kept, kinds),
        units=whose,
        plain=plain,
        taken_as_labels=alike,
        latent_taken_as_labels=isinstance(whole, CategoricalChannel) and quantiser is None and _is_float(channel),
    )
    _check_domains(rows)
    return rows


def fewer_rows(rows: Rows, seed: int) -> Rows:
    """Return rows of which only some fit and audit, where there are numbers and very many rows.

    Students of numbers and tests grow with the rows, and bounds hardly improve by then; counts of labels take all rows. A domain
    that would be left with too few keeps more.

    Args:
        rows: Split.
        seed: Of the draw.

    Returns:
        Rows with smaller parts, or the same.
    """
    if rows.discrete or len(rows.kept) <= _MOST:
        return rows
    order, most = stream("natural/drawn rows", seed).random(len(rows.kept)), _MOST
    while most < len(rows.kept):
        chosen = order < most / len(rows.kept)
        parts = {name: part[chosen[part]] for name, part in vars(rows).items() if name in ("fit", "audit", "untouched")}
        fewer = replace(rows, **parts, drawn=True)
        least = min(len(fewer.inside(part, j)) for part in (fewer.fit, fewer.audit) for j in range(len(rows.domains)))
        if least >= _FEWEST:
            return fewer
        most *= 4
    return rows


def _split(domain: Codes, fit: float, units: Codes | None, seed: int) -> tuple[tuple[Codes, ...], bool]:
    """Rows that fit and rows that audit, units whole, and whether they were drawn without regard to the domain.

    Drawn so, the audit rows are independent rows of each domain and of the pool as well, and one student serves both.
    Where chance gives a domain much less than its part, every domain is split by itself.
    """
    drawn = stream_seed("natural/split", seed)
    try:
        plain = split_rows(len(domain), (fit, 1 - fit), None, units, drawn)
        if len(np.unique(domain)) == 1 or _fair(domain, plain, (fit, 1 - fit)):
            return plain, True
        return split_rows(len(domain), (fit, 1 - fit), domain, units, drawn), False
    except DataError as problem:
        raise DataError(f"fit={fit}: {problem}") from None


def _fair(domain: Codes, parts: Sequence[Codes], fractions: Sequence[float]) -> bool:
    """Whether every part of every domain has at least four fifths of its due, and rows enough for any bound."""
    due = np.bincount(domain)
    counts = [np.bincount(domain[part], minlength=len(due)) for part in parts]
    return all(
        (count >= np.maximum(_FAIR * fraction * due, _FEWEST // 2)).all()
        for count, fraction in zip(counts, fractions, strict=True)
    )


def _check_domains(rows: Rows) -> None:
    """Every domain needs rows on both sides of the split, more of them where bounds are for many rows."""
    least = _FEWEST_LABELLED if rows.discrete else _FEWEST // 2
    for j, name in enumerate(rows.domains):
        fitted, audited = (len(rows.inside(part, j)) for part in (rows.fit, rows.audit))
        if min(fitted, audited) < least:
            where = f"domain {name!r} has too few complete rows" if len(rows.domains) > 1 else "there are too few rows"
            raise DataError(
                f"{where}: {fitted} to fit students and {audited} to audit, where at least {least} of each are needed. "
                f"{_whole_units(rows, j)}Bring more rows, or leave a small domain out or merge it with another."
            )


def _whole_units(rows: Rows, place: int) -> str:
    """Say that groups stay on one side of the split, where a domain has few of them."""
    if rows.units is None:
        return ""
    count = len(np.unique(rows.units[np.concatenate([rows.inside(part, place) for part in (rows.fit, rows.audit)])]))
    single = " Each domain is a single group, so that domains and groups cannot be told apart." if count == 1 else ""
    return f"groups= and time= keep whole what depends on each other, and it has {count} group{'s' * (count > 1)}.{single} "


def _is_float(channel: Channel | ArrayLike) -> bool:
    return not isinstance(channel, Channel) and np.asarray(channel).dtype.kind == "f"


def _domains(labels: ArrayLike | None, rows: int) -> tuple[Codes, tuple[str, ...]]:
    if labels is None:
        return np.zeros(rows, dtype=np.int64), ("all rows",)
    values = np.asarray(labels)
    if values.shape != (rows,):
        raise DataError(f"domain: has shape {values.shape}; there are {rows} rows. Give one label per row.")
    if missing_entries(values).any():
        raise DataError(
            f"domain: is missing in row {int(np.flatnonzero(missing_entries(values))[0])}. Give every row a label."
        )
    names, codes = np.unique(values.astype(str) if values.dtype.kind == "O" else values, return_inverse=True)
    return codes.astype(np.int64), tuple(str(n) for n in names)


def _as_channel(
    channel: Channel | ArrayLike, rows: int, noise: float | None, quantiser: int | None, fit: Codes, seed: int
) -> Channel:
    declared = noise is not None or quantiser is not None
    given = channel if isinstance(channel, Channel) else channel_from_array(channel, few_values_are_labels=not declared)
    if len(given) != rows:
        raise DataError(
            f"channel: has {len(given)} rows; the data have {rows}. Give one row of the latent for each row of the data."
        )
    if isinstance(given, CategoricalChannel):
        if declared:
            raise DataError(
                f"noise={noise}, quantiser={quantiser}: are for a latent of numbers; this one has labels. Leave them out."
            )
        return given
    if quantiser is not None:
        if quantiser < 2:
            raise DataError(f"quantiser={quantiser}: must be at least 2 values.")
        return CategoricalChannel(
            np.eye(quantiser)[
                nearest_centres(given.mean, quantiser, fit=fit, seed=stream_seed("natural/centres", seed))
            ]
        )
    given = GaussianChannel(np.where(varying_columns(given.mean), given.mean, 0.0), given.scale)
    scale = given.scale if noise is None else np.sqrt(given.scale**2 + noise**2)
    if (scale == 0).any():
        raise DataError(
            "channel: is a deterministic function with continuous values. Unless it is a function of every "
            "block alone, its redundancy error is infinite. Declare noise=σ (Λ = f(X) + σ·N(0, 1)) or quantiser=m."
        )
    return GaussianChannel(given.mean, scale)
