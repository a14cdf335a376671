"""What only further fits can test: the number of latents, and whether one mixing serves all domains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol, TypeVar, cast

import numpy as np
from sklearn.base import clone

from latentry.contracts import HasChannel, HasLatentDistributions, HasLikelihood, KeepsFitRecord, LatentDistributions
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
Progress = Callable[[str], None] | None


class Scored(Protocol):
    """A model that gives latents and scores."""

    @property
    def score_name(self) -> str:
        """Return what the score is."""

    def channel(self, X: Dataset) -> Channel:
        """Return the latents of rows."""

    def score_rows(self, X: Dataset) -> np.ndarray:
        """Return the log evidence of each row."""


ModelT = TypeVar("ModelT", Scored, ScoresDomains)


def refit_assumptions(
    model: object, training: Dataset, fresh: Dataset, *, level: float = 0.05, seed: int = 0, progress: Progress = None
) -> tuple[Assumption, ...]:
    """Fit a model again, with one latent fewer and more and without a domain at a time, and judge the fits on new rows.

    Cost: two fits of the model, and one for each domain that is left out.

    Args:
        model: That was fitted.
        training: The rows that trained it.
        fresh: Rows that trained nothing.
        level: Of the certificate; each of the two tests has an eighth of it.
        seed: Of the choice of domains.
        progress: Called with a phrase before each fit.

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
        _other_numbers(cast(Scored, model), training, fresh, part, progress),
        _without_domains(model, training, fresh, part, seed, progress),
    )


def _untested(one: Assumption, why: str) -> Assumption:
    return replace(one, note=why)


def _fitted_again(model: ModelT, training: Dataset, what: str, progress: Progress, **changes: int) -> ModelT:
    """Fit the model as it was fitted, from its own seed, but for the changes."""
    if progress is not None:
        progress(f"refit {what}")
    chosen = model.chosen_params() if isinstance(model, KeepsFitRecord) else {}
    again = clone(model).set_params(progress=False, **chosen, **changes).fit(training)
    if again.state_.stopped == "interrupted":
        raise KeyboardInterrupt
    fitted: ModelT = again
    return fitted


# The number of latents ------------------------------------------------------------------------


def _other_numbers(model: Scored, training: Dataset, fresh: Dataset, level: float, progress: Progress) -> Assumption:
    channel = model.channel(fresh)
    latents = channel.mean.shape[1] if isinstance(channel, GaussianChannel) else 0
    if latents >= training.layout.size or not latents:
        why = "an invertible map has as many latents as columns, and no other number to compare with"
        return _untested(NUMBER_OF_LATENTS, why)
    own = model.score_rows(fresh)
    gains: dict[int, Gain] = {}
    for count in (latents - 1, latents + 1):
        scores = _scores_with(model, training, fresh, count, progress)
        if scores is not None:
            gains[count] = mean_gain(scores - own, fresh.units)
    if not gains:
        return _untested(NUMBER_OF_LATENTS, "no other number of latents could be fitted and scored in the same way")
    return number_of_latents(latents, gains, level)


def _scores_with(model: Scored, training: Dataset, fresh: Dataset, count: int, progress: Progress) -> np.ndarray | None:
    """Return the scores of a fit with so many latents; None where there is none of the same kind."""
    if count < 1:
        return None
    try:
        again = _fitted_again(model, training, f"with {count} latent{'s' * (count > 1)}", progress, latent_dim=count)
    except DataError:  # the model cannot have so many
        return None
    scores: np.ndarray = again.score_rows(fresh)
    return scores if again.score_name == model.score_name else None


# One domain at a time -------------------------------------------------------------------------


def _without_domains(
    model: object, training: Dataset, fresh: Dataset, level: float, seed: int, progress: Progress
) -> Assumption:
    why = _cannot_leave_out(model, training)
    if why:
        return _untested(ONE_MIXING, why)
    trained, new = (_labels(part) for part in (training, fresh))
    enough = [d for d in np.unique(trained) if min((trained == d).sum(), (new == d).sum()) >= _FEWEST]
    if not enough:
        return _untested(ONE_MIXING, f"no domain has {_FEWEST} rows that trained the model and {_FEWEST} new ones")
    losses: dict[object, Gain] = {}
    for place in stream("certificate/domains left out", seed).permutation(len(enough))[:MOST_DOMAINS]:
        label = enough[place]
        loss = _loss_without(cast(ScoresDomains, model), training, fresh, label, progress)
        if loss is not None:
            losses[label.item()] = loss
    if not losses:
        return _untested(ONE_MIXING, "the latents of each domain that was left out lie beyond those of the others")
    return one_mixing(losses, level)


def _loss_without(
    model: ScoresDomains, training: Dataset, fresh: Dataset, label: np.generic, progress: Progress
) -> Gain | None:
    inside = _labels(training) == label
    others = training.take(~inside)
    others = others.with_domain(_labels(others))  # the label is no longer known
    without = _fitted_again(model, others, f"without domain {label}", progress)
    rows = fresh.take(_labels(fresh) == label)
    return worse_without(model, without, rows, training.take(inside), others)


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
