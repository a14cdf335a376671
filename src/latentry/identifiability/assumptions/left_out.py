"""Whether one mixing serves all domains: a mixing learnt without a domain must describe that domain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from latentry.contracts import LatentDistributions
from latentry.data import Channel, Dataset, GaussianChannel
from latentry.evidence import Assumption
from latentry.identifiability.assumptions.paired_scores import Gain, mean_gain

__all__ = ["ONE_MIXING", "ScoresDomains", "one_mixing", "scored_anew", "worse_without"]

Array = NDArray[np.float64]
ONE_MIXING = Assumption(
    "one mixing serves all domains",
    "untested",
    note="refits=True fits without a domain at a time, and asks whether what it learnt describes that domain",
)
_TOLERANCE = (
    0.03  # nats per row by which a refit describes a domain worse that it has not seen, where one mixing serves all
)
_PLANTED = 0.1  # nats per row whose power is stated
_REACH = (0.005, 0.995)  # quantiles of each latent between which the refit has seen rows


def one_mixing(losses: Mapping[object, Gain], level: float) -> Assumption:
    """Test whether the mixing learnt without a domain describes it clearly worse than the one learnt with it.

    Args:
        losses: By the domain that was left out, from :func:`worse_without`.
        level: Of the test.

    Returns:
        The assumption, refuted where a domain loses more than one mixing for all would cost.

    >>> print(one_mixing({"a": Gain(0.2, 0.01, 400), "b": Gain(0.01, 0.01, 400)}, 0.05))
    one mixing serves all domains: refuted (fits without 2 domains, ...; worse without 'a' by 0.200 ± 0.010 nats a row; ...)
    """
    if not losses:
        return ONE_MIXING
    count = len(losses)
    test = f"fits without {count} domain{'s' * (count > 1)}, one at a time, against {_TOLERANCE:g} nats a row of that domain"
    p_value = min(1.0, count * min(loss.exceeds(_TOLERANCE) for loss in losses.values()))
    power = min(loss.power(_PLANTED, _TOLERANCE, level / count) for loss in losses.values())
    worst = max(losses, key=lambda domain: losses[domain].mean)
    size = f"{losses[worst].mean:.3f} ± {losses[worst].error:.3f}"
    note = f"worse without {worst!r} by {size} nats a row; power for {_PLANTED:g}"
    return Assumption(ONE_MIXING.name, "refuted" if p_value <= level else "not refuted", test, p_value, power, note)


def worse_without(
    whole: ScoresDomains, without: ScoresDomains, rows: Dataset, same: Dataset, others: Dataset
) -> Gain | None:
    """Measure how much worse a fit without a domain describes it than a fit with it, the domain's distribution fitted anew in both.

    Rows beyond the reach of what the refit has seen do not count: no fit knows a map where it saw no rows.

    Args:
        whole: Fitted with the domain.
        without: Fitted without it.
        rows: Of the domain, which trained neither.
        same: Other rows of the domain, from which its distribution is fitted.
        others: Rows that the refit was fitted to.

    Returns:
        The mean loss and its error, over units; None where fewer than half of the rows are within reach.
    """
    label = without.latent_distributions().labels[0]
    low, high = np.quantile(_latents(without, others).mean, _REACH, axis=0)
    z = _latents(without, rows.with_domain(np.full(len(rows), label))).mean
    inside = ((z >= low) & (z <= high)).all(axis=1)
    if inside.mean() < 0.5:
        return None
    differences = scored_anew(whole, rows, same) - scored_anew(without, rows, same)
    return mean_gain(differences[inside], None if rows.units is None else rows.units[inside])


class ScoresDomains(Protocol):
    """A model that scores rows by latents whose distribution changes with the domain."""

    def latent_distributions(self) -> LatentDistributions:
        """Return the distribution of each latent in each domain."""

    def channel(self, X: Dataset) -> Channel:
        """Return the latents of rows."""

    def score_rows(self, X: Dataset) -> np.ndarray:
        """Return the log evidence of each row."""


def scored_anew(model: ScoresDomains, rows: Dataset, same: Dataset) -> Array:
    r"""Score rows of a domain that a model need not know, with that domain's distribution of the latents fitted anew.

    The score of a row x in a domain u is :math:`\log p(z \mid u)` plus terms that do not depend on u. So with any domain u of
    the model it is :math:`s(x, u) - \log p(z \mid u) + \log \hat p(z)`, where :math:`\hat p` has the family of the model and
    the moments of other rows of the domain. Latents with a posterior bring its mean of log p.

    Args:
        model: Fitted, with latents of a Gaussian or Laplace family.
        rows: Of one domain.
        same: Other rows of the same domain, from which its distribution is fitted.

    Returns:
        One number for each row, (rows,).
    """
    table = model.latent_distributions()
    widest = int(np.log(table.scale).sum(axis=1).argmax())  # its density is nowhere tiny
    beside, others = (one.with_domain(np.full(len(one), table.labels[widest])) for one in (rows, same))
    z, seen = _latents(model, beside), _latents(model, others)
    known = _Distribution(table.location[widest], table.scale[widest], table.family == "laplace")
    scores: Array = model.score_rows(beside) + _fitted(seen, table, widest).log_density(z) - known.log_density(z)
    return scores


@dataclass(frozen=True, eq=False)
class _Distribution:
    """Location and standard deviation of each latent in one domain."""

    location: Array
    scale: Array
    laplace: bool

    def log_density(self, z: GaussianChannel) -> Array:
        """Return the mean of log p over the posterior of each row; of Laplace latents, log p at its mean."""
        away = (z.mean - self.location) / self.scale
        if self.laplace:
            terms = -np.sqrt(2.0) * np.abs(away) - 0.5 * np.log(2.0)
        else:
            terms = -0.5 * (away**2 + (z.scale / self.scale) ** 2) - 0.5 * np.log(2 * np.pi)
        total: Array = (terms - np.log(self.scale)).sum(axis=1)
        return total


def _fitted(z: GaussianChannel, table: LatentDistributions, at: int) -> _Distribution:
    """Fit what changes with the domain in this family; the rest is as the model has it."""
    laplace = table.family == "laplace"
    middle = np.median(z.mean, axis=0) if laplace else z.mean.mean(axis=0)
    location = table.location[at] if table.family == "variance" else middle
    if laplace:
        scale = np.sqrt(2.0) * np.abs(z.mean - location).mean(axis=0)
    else:
        scale = np.sqrt(((z.mean - location) ** 2 + z.scale**2).mean(axis=0))
    return _Distribution(location, table.scale[at] if table.family == "mean" else scale, laplace)


def _latents(model: ScoresDomains, data: Dataset) -> GaussianChannel:
    channel = model.channel(data)
    assert isinstance(channel, GaussianChannel)
    return channel
