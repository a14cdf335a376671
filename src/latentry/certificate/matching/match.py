"""From models and rows to matched latents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from latentry.certificate.audits.explained_variance import jackknife_blocks
from latentry.certificate.given import Columns, as_dataset, check_given, rows_new_to_all
from latentry.certificate.matching.alignment import Alignment, align
from latentry.certificate.matching.columns import LatentColumns, LatentsElsewhere, LatentsToMatch, as_given, encoded
from latentry.certificate.matching.matching import Matching, Outcome, Partner
from latentry.certificate.matching.pairing import (
    agreement_of,
    agreements,
    beside,
    chance_agreement,
    least_information,
)
from latentry.certificate.side_by_side import by_name
from latentry.certificate.splitting import FEWEST
from latentry.contracts import HasChannel, KeepsFitRecord
from latentry.data import Dataset, paired_rows
from latentry.errors import DataError
from latentry.evidence import Estimate
from latentry.identifiability import assigned
from latentry.threads import single_threaded

__all__ = ["match_latents"]

Several = Mapping[str, LatentsToMatch] | Sequence[LatentsToMatch]


def match_latents(
    models: Several,
    data: Columns | None = None,
    *,
    names: Sequence[str] | None = None,
    threshold: float = 0.9,
    seed: int = 0,
) -> Matching:
    """Say which latent of one model is which of another, and how far they agree.

    A latent is known up to order, sign, scale and often a monotone map. The first model is the reference; of each other
    model, latents are paired with its own one to one, so that the sum of agreements is largest (Hungarian method). Numbers
    agree by their absolute Spearman correlation, which no monotone map changes; categories, such as the nodes of CausalPIMA,
    by mutual information adjusted for chance (Vinh, Epps and Bailey, 2010), over the larger entropy. Rows that trained one of
    the models are left out where enough others are left. Intervals are by the jackknife over 20 blocks of rows; rows of one
    group stay together.

    Agreement does not prove that latents are the true ones: all fits may share one bias.

    Cost: one reading of the rows by each model; models² · rows · latents², and latents³ for each pairing.

    Args:
        models: Fitted models; or latents of the same rows that were made elsewhere, as channels, arrays (rows, latents) or
            columns by name. They may differ in seed, training rows, kind, and number of latents.
        data: The rows that are encoded, and their groups. Not needed if no model is among the latents.
        names: Of the models, where they come as a list.
        threshold: The correlation from which on two latents count as the same, declared beforehand. For categories it
            stands for the information of two even coins with that correlation (0.71 for 0.9).
        seed: Of blocks and shuffles.

    Returns:
        Partners, agreements with intervals, what chance would give, and what reappears in all models.

    Raises:
        DataError: If there are fewer than 2 models, one is not fitted, or their rows differ.

    >>> z = np.random.default_rng(0).normal(size=(300, 2))
    >>> found = match_latents({"first": z, "second": np.column_stack([np.exp(z[:, 1]), -z[:, 0]])})
    >>> found
    latent  model   partner  Spearman [95 %]    Pearson  chance
    z1      second  −z2      1.00 [1.00, 1.00]  1.00     0.14    same
    z2      second  z1       1.00 [1.00, 1.00]  0.78     0.14    same
    2 of 2 latents reappear in both models: z1 and z2 (agreement at least 1.00).
    300 rows, as given: it is not known which of them trained the latents.
    >>> np.allclose(found.aligned("first")["z1"], found.aligned("second")["z1"])
    True
    """
    sources = _named(models, names)
    if not 0 < threshold <= 1:
        raise DataError(f"threshold={threshold!r}: is no correlation. Give a number above 0, at most 1.")
    columns, units, about = _latents_of_rows(sources, None if data is None else as_dataset(data))
    with single_threaded():
        return _matching(sources, columns, units, about, float(threshold), seed)


# Which latents, of which rows ---------------------------------------------------------------------


def _named(models: Several, names: Sequence[str] | None) -> dict[str, LatentsToMatch]:
    if isinstance(models, HasChannel | np.ndarray) or not isinstance(models, Mapping | Sequence):
        raise DataError(
            f"models={type(models).__name__}: is a single one. Give a list of at least 2, or a mapping by name."
        )
    sources = by_name(models)
    if len(sources) < 2:
        raise DataError(f"models: has {len(sources)} entry. Give at least 2 to be matched.")
    if names is None:
        return sources
    if isinstance(names, str) or len(set(names)) != len(sources) or len(names) != len(sources):
        raise DataError(f"names={names!r}: are not {len(sources)} different names. Give one for each model.")
    return dict(zip(map(str, names), sources.values(), strict=True))


def _latents_of_rows(
    sources: Mapping[str, LatentsToMatch], data: Dataset | None
) -> tuple[dict[str, LatentColumns], np.ndarray | None, str]:
    """Return the latents of the rows that are looked at, the units of these rows, and which they are in words."""
    learned = {name: one for name, one in sources.items() if isinstance(one, HasChannel)}
    if data is None and learned:
        raise DataError(f"data: {next(iter(learned))} is a model, which encodes rows. Give them.")
    elsewhere = {name: one for name, one in sources.items() if not isinstance(one, HasChannel)}
    if data is None:
        elsewhere = paired_rows(elsewhere)
    given = {name: as_given(one if data is None else _in_order_of(data, one)) for name, one in elsewhere.items()}
    if data is None:
        _check_lengths(given)
        return given, None, _as_given(len(next(iter(given.values())).table))
    for name in sources:
        check_given(given[name].table if name in given else learned[name], data)
    rows, about = _rows(learned, data, trusted=bool(given) or not all(map(_knows_rows, learned.values())))
    fresh = data.take(rows)
    columns = {name: given[name].take(rows) if name in given else encoded(learned[name], fresh) for name in sources}
    return columns, fresh.units, about


def _in_order_of(data: Dataset, latents: LatentsElsewhere) -> LatentsElsewhere:
    if isinstance(latents, Mapping):
        return {name: data.in_order(f"latents[{name!r}]", column) for name, column in latents.items()}
    return data.in_order("latents", latents)


def _check_lengths(given: Mapping[str, LatentColumns]) -> None:
    first, *rest = given
    for name in rest:
        count, wanted = len(given[name].table), len(given[first].table)
        if count != wanted:
            raise DataError(f"{name} has {count} rows and {first} has {wanted}. Give latents of the same rows.")


def _knows_rows(model: HasChannel) -> bool:
    return isinstance(model, KeepsFitRecord) and model.fit_record() is not None


def _rows(learned: Mapping[str, HasChannel], data: Dataset, *, trusted: bool) -> tuple[np.ndarray, str]:
    """Return the rows that trained none of the models, where there are enough; else all, and say so."""
    everything = np.arange(len(data))
    try:
        rows = rows_new_to_all(learned, data) if learned else everything
    except DataError:  # too few rows are new to one of the models
        rows = everything[:0]
    if not learned:
        return everything, _as_given(len(data))
    trust = " This is taken on trust of latents made elsewhere." if trusted else ""
    if len(rows) >= FEWEST:
        return rows, f"{len(rows)} of {len(data)} rows were looked at: those that trained none of the models.{trust}"
    why = f"fewer than {FEWEST} trained none of the models"
    return everything, f"All {len(data)} rows were looked at, for {why}: on new rows latents may agree less."


def _as_given(count: int) -> str:
    return f"{count} rows, as given: it is not known which of them trained the latents."


# Pairs --------------------------------------------------------------------------------------------


def _matching(
    sources: Mapping[str, LatentsToMatch],
    columns: Mapping[str, LatentColumns],
    units: np.ndarray | None,
    about: str,
    threshold: float,
    seed: int,
) -> Matching:
    first, *rest = columns
    reference = columns[first]
    blocks = jackknife_blocks(len(reference.table), units, seed)
    least = least_information(threshold) if reference.categories else threshold
    partners: dict[tuple[str, str], Partner] = {}
    alignments = {first: align(reference, reference, {name: i for i, name in enumerate(reference.names)})}
    for model in rest:
        found, alignments[model] = _paired(model, reference, columns[model], blocks, units, least, seed)
        partners |= {(one.latent, model): one for one in found}
    used = {model: {one.name for one in partners.values() if one.model == model} for model in rest}
    return Matching(
        models=tuple(columns),
        latents=reference.names,
        partners=tuple(partners[latent, model] for latent in reference.names for model in rest),
        unmatched={model: tuple(name for name in columns[model].names if name not in used[model]) for model in rest},
        threshold=threshold,
        least=least,
        categories=reference.categories,
        rows=len(reference.table),
        about_rows=about,
        _sources=dict(sources),
        _alignments=alignments,
    )


def _paired(
    model: str,
    reference: LatentColumns,
    other: LatentColumns,
    blocks: np.ndarray,
    units: np.ndarray | None,
    least: float,
    seed: int,
) -> tuple[list[Partner], Alignment]:
    """Return the partners of the reference's latents in one model, and how its latents become those of the reference."""
    if reference.categories != other.categories:
        return [_alone(name, model) for name in reference.names], align(reference, other, {})
    table = agreements(reference, other, blocks)
    best = assigned(table)
    places = {
        name: int(place)
        for name, place, size in zip(reference.names, best.estimated, best.correlation, strict=True)
        if place >= 0 and size > 0  # a constant agrees with nothing
    }
    aligned, chance = align(reference, other, places), chance_agreement(reference, other, units, seed)
    found = []
    for i, latent in enumerate(reference.names):
        if latent not in places:
            found.append(_alone(latent, model))
            continue
        place = places[latent]
        x, y = reference.table[:, i], other.table[:, place]
        value = _estimate(x, y, blocks, categories=reference.categories)
        rivals = [j for j in np.flatnonzero(table[:, i] >= max(value.low, chance)) if j != place]
        found.append(
            Partner(
                latent,
                model,
                other.names[place],
                aligned.signs[latent],
                value,
                beside(x, y, categories=reference.categories),
                chance,
                tuple(other.names[j] for j in rivals),
                _outcome(value, chance, least),
            )
        )
    return found, aligned


def _alone(latent: str, model: str) -> Partner:
    nothing = Estimate(0.0, low=0.0, high=0.0, units="fraction", method="no partner")
    return Partner(latent, model, None, 0, nothing, 0.0, 0.0, (), "no partner")


def _estimate(x: np.ndarray, y: np.ndarray, blocks: np.ndarray, *, categories: bool) -> Estimate:
    value, low, high = agreement_of(x, y, blocks, categories=categories)
    method = "adjusted mutual information" if categories else "absolute Spearman correlation"
    return Estimate(value, low=low, high=high, method=method, n=len(x), units="fraction", confidence=0.95)


def _outcome(value: Estimate, chance: float, least: float) -> Outcome:
    if value.low >= least and value > chance:
        return "same"
    return "different" if value.high < least else "open"
