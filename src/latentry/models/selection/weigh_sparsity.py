"""Whether a penalty on the mixing is borne by the data: numbers of its fits against those of fits without one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import rankdata

from latentry.contracts import MixingSupport
from latentry.errors import DataError

__all__ = ["FitFacts", "Weighed", "alike", "behind", "choose_weight", "free_agreement", "latents_agree", "weigh"]

_SURE = 2.0  # standard errors by which a likelihood is lower for sure
_SLIGHT = 0.005  # nats for each observed number: two runs of one fit differ by that
_CHANCE = 0.5  # Cohen's κ that unrelated sparse patterns reach in their best order


@dataclass(frozen=True, eq=False)
class FitFacts:
    """What one fit shows.

    Args:
        scores: Log evidence of each row, those that trained it and those set aside.
        penalised: Mean of minus that, plus the penalty, of rows set aside.
        support: Edges of its mixing there.
        latents: Of the rows set aside, (rows, latents).
    """

    scores: np.ndarray
    penalised: float
    support: MixingSupport
    latents: np.ndarray


@dataclass(frozen=True, eq=False)
class Weighed:
    """What decides about one weight.

    Args:
        best: Number of its best start, by the penalised loss.
        behind: Nats a row by which that start is less likely than the best fit without a penalty.
        error: Standard error of that, over rows.
        slack: The same of those fits without a penalty that count as equally likely: what where a fit begins makes out.
        reached: Starts that are as likely as it and have as few edges, itself among them.
        stability: Mean Cohen's κ between the edges of these; NaN for one.
        agreement: Mean correlation of their latents in the best pairing; NaN for one.
        nearest: Correlation of the best start's latents with those of the nearest of the fits without a penalty.
        support: Edges of the best start.
    """

    best: int
    behind: float
    error: float
    slack: float
    reached: int
    stability: float
    agreement: float
    nearest: float
    support: MixingSupport

    def refusal(self, free: float) -> str:
        """Say why this weight is not taken: "" if nothing speaks against it.

        Args:
            free: Agreement of the latents of fits without a penalty.

        Returns:
            A few words.
        """
        same = [str(latent + 1) for latent in np.flatnonzero(~self.support.diverse)]
        if not self.behind <= max(_SURE * self.error, self.slack):
            return "it costs likelihood"
        if self.support.edges >= self.support.free_edges:
            return f"{self.support.edges} edges explain any data"
        if same:
            return f"latents {', '.join(same[:-1])} and {same[-1]} act on the same variables"
        if self.stability <= _CHANCE:
            return "its starts find different mixings"
        if self.agreement < free:
            return "its latents are less steady than without it"
        if self.nearest < free:
            return "its latents are none of those that are as likely without it"
        return ""


def behind(scores: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """Return by how many nats a row the other is less likely, and the standard error of that mean over rows.

    Args:
        scores: Log evidence of each row.
        other: Of the same rows.

    Returns:
        The mean difference and its error.

    >>> behind(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 1.0, 3.0, 3.0]))
    (0.5, 0.25)
    """
    apart = scores - other
    return float(apart.mean()), float(apart.std() / np.sqrt(len(apart)))


def latents_agree(first: np.ndarray, other: np.ndarray) -> float:
    """Return the mean absolute Spearman correlation of two fits' latents in the best one-to-one pairing.

    Args:
        first: (rows, latents).
        other: Of the same rows.

    Returns:
        From 0 to 1.

    >>> z = np.random.default_rng(0).normal(size=(50, 2))
    >>> round(latents_agree(z, np.exp(-z[:, ::-1])), 6)
    1.0
    """
    size = first.shape[1]
    ranks = rankdata(np.hstack([first, other]), axis=0)
    table = np.abs(np.corrcoef(ranks, rowvar=False)[:size, size:])
    return float(table[linear_sum_assignment(table, maximize=True)].mean())


def weigh(starts: Sequence[FitFacts], free: Sequence[FitFacts]) -> Weighed:
    """Compare the starts of one weight with each other, and the best of them with fits without a penalty.

    Args:
        starts: Fits with that weight.
        free: Fits without a penalty, as likely as the best of them, which is the first; see :func:`alike`.

    Returns:
        What decides.
    """
    best = int(np.argmin([start.penalised for start in starts]))
    top = starts[best]
    same = [start for start in starts if start is top or reaches(start, top)]
    pairs = list(combinations(same, 2))
    loss, error = behind(free[0].scores, top.scores)
    return Weighed(
        best=best,
        behind=loss,
        error=error,
        slack=max(behind(free[0].scores, other.scores)[0] for other in free),
        reached=len(same),
        stability=_mean([one.support.beyond_chance(two.support) for one, two in pairs]),
        agreement=_mean([latents_agree(one.latents, two.latents) for one, two in pairs]),
        nearest=max(latents_agree(top.latents, other.latents) for other in free),
        support=top.support,
    )


def reaches(start: FitFacts, top: FitFacts) -> bool:
    """Return whether a start is as likely as the best and has no more edges: one that is neither was stuck."""
    return as_likely(start, top) and start.support.edges <= top.support.edges


def as_likely(start: FitFacts, top: FitFacts) -> bool:
    """Return whether a start is less likely than the best by no more than two standard errors, or than two runs differ."""
    loss, error = behind(top.scores, start.scores)
    return loss <= max(2 * error, _SLIGHT * start.support.observed)


def alike(starts: Sequence[FitFacts]) -> list[FitFacts]:
    """Return the best of fits without a penalty, and those that are as likely.

    Args:
        starts: Fits without a penalty.

    Returns:
        The best first.
    """
    top = starts[int(np.argmin([start.penalised for start in starts]))]
    return [top, *(start for start in starts if start is not top and as_likely(start, top))]


def free_agreement(free: Sequence[FitFacts]) -> float:
    """Return the mean correlation between latents of fits without a penalty.

    Args:
        free: Those that are as likely as the best of them.

    Returns:
        From 0 to 1; NaN if there is one only.
    """
    return _mean([latents_agree(one.latents, two.latents) for one, two in combinations(free, 2)])


def choose_weight(weighed: Sequence[Weighed], free: float) -> int:
    """Choose the steadiest weight that nothing speaks against, and of equally steady ones the largest; else the first, no penalty.

    Args:
        weighed: What decides about each weight, the first being 0.
        free: Agreement of the latents of fits without a penalty.

    Returns:
        The place of the weight.

    Raises:
        DataError: If fits without a penalty have no finite score.
    """
    if not np.isfinite(weighed[0].behind):
        raise DataError("no fit has a finite score on the rows set aside: look at the data, or lower learning_rate.")
    running = [at for at, one in enumerate(weighed) if at and not one.refusal(free)]
    return max(running, key=lambda at: (round(float(np.nan_to_num(weighed[at].stability)), 2), at), default=0)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")
