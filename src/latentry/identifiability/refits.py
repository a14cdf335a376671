"""What only further fits can test: the number of latents, and whether one mixing serves all domains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol, cast

import numpy as np

from latentry.contracts import (
    HasChannel,
    HasLatentDistributions,
    HasLikelihood,
    KeepsFitRecord,
    LatentDistributions,
    Variant,
    Where,
    fit_variants,
)
from latentry.data import Channel, Dataset, GaussianChannel
from latentry.errors import DataError
from latentry.evidence import Assumption
from latentry.identifiability.assumptions import (
    NUMBER_OF_LATENTS,
    ONE_MIXING,
    Gain,
    ScoresDomains,
    mean_gain,
    number_of_latents,
    one_mixing,
    worse_without,
)
from latentry.streams import stream

__all__ = ["refit_assumptions"]

MOST_DOMAINS = 3  # that are left out, one at a time
_FEWEST = 40  # rows of a domain on each side, with which it can be left out
_PART_OF_LEVEL = 0.125  # of each of the two tests
_HERE = Where()


class Scored(Protocol):
    """A model that gives latents and scores."""

    @property
    def score_name(self) -> str:
        """Return what the score is."""

    def channel(self, X: Dataset) -> Channel:
        """Return the latents of rows."""

    def score_rows(self, X: Dataset) -> np.ndarray:
        """Return the log evidence of each row."""


def refit_assumptions(
    model: object, training: Dataset, fresh: Dataset, *, level: float = 0.05, seed: int = 0, where: Where = _HERE
) -> tuple[Assumption, ...]:
    """Fit a model again, with one latent fewer and more and without a domain at a time, and judge the fits on new rows.

    Cost: two fits of the model, and one for each domain that is left out.

    Args:
        model: That was fitted.
        training: The rows that trained it.
        fresh: Rows that trained nothing.
        level: Of the certificate; each of the two tests has an eighth of it.
        seed: Of the choice of domains.
        where: The engine of the fits.

    Returns:
        Two assumptions, tested or with the reason why they were not.

    Raises:
        KeyboardInterrupt: If a fit was interrupted.
    """
    part = _PART_OF_LEVEL * level
    if not (isinstance(model, HasChannel) and isinstance(model, HasLikelihood)):
        why = "the model has no score by which fits could be compared"
        return _untested(NUMBER_OF_LATENTS, why), _untested(ONE_MIXING, why)
    return (
        _other_numbers(cast(Scored, model), training, fresh, part, where),
        _without_domains(model, training, fresh, part, seed, where),
    )


def _untested(one: Assumption, why: str) -> Assumption:
    return replace(one, note=why)


def _again(model: object, training: Dataset, what: str, **changes: int) -> Variant:
    """Describe a fit of the model as it was fitted, from its own seed, but for the changes."""
    chosen = model.chosen_params() if isinstance(model, KeepsFitRecord) else {}
    return Variant({"progress": False, **chosen, **changes}, training, f"refit {what}")


# The number of latents ------------------------------------------------------------------------


def _other_numbers(model: Scored, training: Dataset, fresh: Dataset, level: float, where: Where) -> Assumption:
    channel = model.channel(fresh)
    latents = channel.mean.shape[1] if isinstance(channel, GaussianChannel) else 0
    if latents >= training.layout.size or not latents:
        why = "an invertible map has as many latents as columns, and no other number to compare with"
        return _untested(NUMBER_OF_LATENTS, why)
    own, counts = model.score_rows(fresh), [count for count in (latents - 1, latents + 1) if count]
    named = [(count, f"with {count} latent{'s' * (count > 1)}") for count in counts]
    variants = [_again(model, training, what, latent_dim=count) for count, what in named]
    gains: dict[int, Gain] = {}
    for count, again in zip(counts, fit_variants(model, variants, where), strict=True):
        scores = None if isinstance(again, DataError) else _scores_alike(model, again, fresh)
        if scores is not None:  # an error says that the model cannot have so many
            gains[count] = mean_gain(scores - own, fresh.units)
    if not gains:
        return _untested(NUMBER_OF_LATENTS, "no other number of latents could be fitted and scored in the same way")
    return number_of_latents(latents, gains, level)


def _scores_alike(model: Scored, again: Scored, fresh: Dataset) -> np.ndarray | None:
    """Return the scores of another fit; None where they are of another kind."""
    scores: np.ndarray = again.score_rows(fresh)
    return scores if again.score_name == model.score_name else None


# One domain at a time -------------------------------------------------------------------------


def _without_domains(
    model: object, training: Dataset, fresh: Dataset, level: float, seed: int, where: Where
) -> Assumption:
    why = _cannot_leave_out(model, training)
    if why:
        return _untested(ONE_MIXING, why)
    trained, new = (_labels(part) for part in (training, fresh))
    enough = [d for d in np.unique(trained) if min((trained == d).sum(), (new == d).sum()) >= _FEWEST]
    if not enough:
        return _untested(ONE_MIXING, f"no domain has {_FEWEST} rows that trained the model and {_FEWEST} new ones")
    places = stream("certificate/domains left out", seed).permutation(len(enough))[:MOST_DOMAINS]
    losses = _losses_without(cast(ScoresDomains, model), training, fresh, [enough[place] for place in places], where)
    if not losses:
        return _untested(ONE_MIXING, "the latents of each domain that was left out lie beyond those of the others")
    return one_mixing(losses, level)


def _losses_without(
    model: ScoresDomains, training: Dataset, fresh: Dataset, labels: Sequence[np.generic], where: Where
) -> Mapping[object, Gain]:
    """Return how much worse the rows of each domain are described by a fit without it, where that can be said."""
    trained, new = _labels(training), _labels(fresh)
    others = [training.take(trained != label) for label in labels]
    others = [rows.with_domain(_labels(rows)) for rows in others]  # the label is no longer known
    variants = [_again(model, rows, f"without domain {label}") for label, rows in zip(labels, others, strict=True)]
    losses: dict[object, Gain] = {}
    for label, rows, without in zip(labels, others, fit_variants(model, variants, where), strict=True):
        if isinstance(without, DataError):
            raise without
        inside = training.take(trained == label)
        loss = worse_without(model, without, fresh.take(new == label), inside, rows)
        if loss is not None:
            losses[label.item()] = loss
    return losses


def _cannot_leave_out(model: object, training: Dataset) -> str:
    """Say why a domain cannot be left out; empty where it can."""
    place = training.domain
    if not isinstance(model, HasLatentDistributions) or place is None:
        return "the latents have no distribution in each domain"
    if place.labels is None:
        return "the domain is continuous: there is no single one to leave out"
    table = model.latent_distributions()
    if _reads_domain(cast(ScoresDomains, model), table, training):
        return "latents are read with the help of the domain: rows of a domain that was left out have none"
    if table.family == "natural" or table.promise is not True:
        return "the family of the latents' distributions has no closed form that could be fitted anew"
    size = table.location.shape[1]
    needed = size + 1 if table.family == "variance" else 2 * size + 1
    present = len(np.unique(place.values))
    if present - 1 < needed:
        return f"{present} domains: without one there are fewer than the {needed} that determine the latents"
    return ""


def _reads_domain(model: ScoresDomains, table: LatentDistributions, training: Dataset) -> bool:
    """Say whether the same rows have other latents under another domain."""
    some = training.take(np.arange(min(_FEWEST, len(training))))
    one, other = (model.channel(some.with_domain(np.full(len(some), label))) for label in table.labels[:2])
    assert isinstance(one, GaussianChannel)
    assert isinstance(other, GaussianChannel)
    return not np.array_equal(one.mean, other.mean)


def _labels(data: Dataset) -> np.ndarray:
    assert data.domain is not None
    return data.domain.as_labels()
