"""Which of two latents is the more natural: certified without knowing how much the observables share.

For any channel, M = TC(X) + Σ_i ε_i − (n − 1) R with R = I(X; Λ). TC(X) does not depend on the latent, so that

    M(Λ_a) − M(Λ_b) = Σ_i (ε_i^a − ε_i^b) − (n − 1)(R_a − R_b).

Students bound each ε_i^a from above, ε_i^b ≥ 0, and a student that sees nothing bounds R_b = min_q E D(K_b(·|X)‖q) from above: the
mean of one loss per row. R_a = H(Λ_a) − H(Λ_a|X), whose first term has a lower bound by the ball around the counts.
For labels that are not a function of X both sides only become more cautious.

Where all observables are labels, ε_i^b = H(Λ_b|X_i) − H(Λ_b|X) has a better bound than 0: the ball bounds its first term from
below, and a student that sees all of X the second from above. The two ways share the level, and the smaller bound is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr

from latentry.data import CategoricalChannel, Channel, Dataset, beside_rows
from latentry.errors import DataError
from latentry.evidence import Assumption, Bound, Verdict, assumptions_in_words
from latentry.natural.from_samples.audit_rows import Rows, as_rows
from latentry.natural.from_samples.least_entropy import least_conditional_entropy, least_entropy
from latentry.natural.from_samples.likelihood_ratio import joint_codes
from latentry.natural.from_samples.mean_bounds import staged_upper
from latentry.natural.from_samples.observables import Block, Codes
from latentry.natural.from_samples.redundancy_bounds import Lesson, lesson_of_labels, plan
from latentry.natural.from_samples.row_order import independence
from latentry.threads import single_threaded

__all__ = ["Comparison", "compare"]

Array = NDArray[np.float64]
_ENTROPY = 0.3  # part of the level for the entropy of a latent; the mean loss has the rest
_BLIND, _BALLS = 0.2, 0.3  # parts of the level for ε^b ≥ 0 where it can be bounded, and for its entropies there


@dataclass(frozen=True, eq=False)
class Comparison:
    """Answers about two latents a and b.

    Args:
        mediation: Whether M_b − M_a is at least the declared margin.
        total: Whether the sum of all errors, M + Σ_i ε_i, is smaller for a by at least that margin.
        margin: Declared, nats.
        level: Largest probability that a verdict is false.
        rows: Rows that were compared.
    """

    mediation: Verdict
    total: Verdict
    margin: float
    level: float
    rows: int

    def __str__(self) -> str:
        return f"{self.mediation}\n{self.total}\n{self.rows} rows; level {self.level:g}"


def compare(
    data: Dataset | Mapping[str, ArrayLike] | ArrayLike,
    a: Channel | ArrayLike,
    b: Channel | ArrayLike,
    *,
    margin: float = 0.0,
    blocks: Mapping[str, Sequence[int]] | Sequence[str] | None = None,
    labels: Sequence[str] = (),
    numbers: Sequence[str] = (),
    quantiser: int | None = None,
    level: float = 0.05,
    fit: float = 0.5,
    seed: int = 0,
) -> Comparison:
    """Compare two latents with finitely many values on rows that trained neither.

    Cost: linear in the rows, times the modalities; both latents have finitely many values.

    >>> rng = np.random.default_rng(0)
    >>> z = rng.integers(0, 2, 4000)
    >>> views = {"left": z + 2 * rng.integers(0, 2, 4000), "right": z + 2 * rng.integers(0, 2, 4000)}
    >>> print(compare(views, z, np.zeros(4000, dtype=int), margin=0.5).mediation)
    certified: the mediation error of a is at least 0.657 nats below that of b, and 0.5 was declared. ...

    Args:
        data: As in `audit`; domains are pooled.
        a: A CategoricalChannel, labels (rows,), or numbers with a `quantiser`.
        b: The other latent.
        margin: By how much a must be better, nats, ≥ 0; declare it before looking.
        blocks: As in `audit`.
        labels: Blocks of numbers that are labels.
        numbers: Blocks of numbers that are measurements.
        quantiser: Number of values to which latents of numbers are rounded.
        level: Probability of a false verdict, for each of the two.
        fit: Fraction of the rows that fit students only, where a block holds numbers.
        seed: Of the split and the students.

    Returns:
        A verdict on mediation and one on the sum of all errors.

    Raises:
        DataError: If the margin or the level is out of range, a latent is continuous, or the data do not fit.
    """
    if not 0 <= margin < np.inf:
        raise DataError(f"margin={margin}: must be zero or more. It is how much better a must be than b, in nats.")
    if not 0 < level < 0.5:
        raise DataError(f"level={level}: must lie between 0 and 0.5.")

    if isinstance(data, Dataset) and data.units is not None and len(np.unique(data.units)) < len(data):
        raise DataError(
            "data: rows come in groups, or in time, and comparisons count independent rows. Give one row of each group, or of each "
            "block of time: data.take(...).with_groups(groups=range(rows))."
        )

    data, latents = beside_rows(data, a=a, b=b)

    def gathered(latent: Channel | ArrayLike) -> Rows:
        rows = as_rows(
            data, latent, blocks=blocks, domain=None, noise=None, quantiser=_rounded(latent, quantiser), fit=fit,
            seed=seed, labels=labels, numbers=numbers,
        )  # fmt: skip
        if not rows.categorical:
            raise DataError("a, b: comparisons need latents with finitely many values. Give a quantiser=m.")
        return rows

    with single_threaded():
        one, other = gathered(latents["a"]), gathered(latents["b"])
        one_first, other_first = _Pair(one, other, seed), _Pair(other, one, seed)
    verdicts = [
        _verdict(what, -one_first.upper(twice, level), other_first.upper(twice, level), margin, level, len(one.domain))
        for what, twice in (("mediation error", False), ("sum of all errors", True))
    ]
    assumed = tuple(dict.fromkeys((*independence(one), *independence(other))))
    mediation, total = (_resting_on(verdict, assumed) for verdict in verdicts)
    return Comparison(mediation, total, margin, level, len(one.domain))


def _resting_on(verdict: Verdict, assumed: tuple[Assumption, ...]) -> Verdict:
    """Name what the answer takes for granted; where rows contradict it, the answer is open."""
    against = next((one for one in assumed if one.refuted), None)
    if against is None:
        sentence = (
            f"{verdict.sentence} {assumptions_in_words(assumed)}"
            if verdict.status != "cannot say"
            else verdict.sentence
        )
        return replace(verdict, sentence=sentence, assumptions=assumed)
    sentence = f"rows contradict an assumption: {against.name}. As if it held: {verdict.sentence}"
    return replace(verdict, status="cannot say", sentence=sentence, change=against.note, assumptions=assumed)


def _rounded(latent: Channel | ArrayLike, quantiser: int | None) -> int | None:
    """The quantiser, where the latent holds numbers."""
    if isinstance(latent, CategoricalChannel) or (not isinstance(latent, Channel) and np.asarray(latent).ndim == 1):
        return None
    return quantiser


class _Pair:
    """Losses that bound M(first) − M(second) from above."""

    def __init__(self, first: Rows, second: Rows, seed: int) -> None:
        self._seed, self._blocks = seed, first.blocks
        self._first, self._second = _table(first), _table(second)
        self._untouched = np.intersect1d(first.untouched, second.untouched)
        parts = plan(
            first if len(first.untouched) == len(self._untouched) else second,
            first.blocks,
            first.fit,
            first.audit,
            seed,
        )
        nothing = Block.of_labels("nothing", np.zeros(len(first.domain), dtype=np.int64))
        self._lessons = [lesson_of_labels(self._first, block, parts, seed) for block in first.blocks]
        self._blind = lesson_of_labels(self._second, nothing, parts, seed)
        self._whole = None
        if all(block.discrete for block in first.blocks):
            everything = Block.of_labels("everything", joint_codes([block.values for block in first.blocks]))
            self._whole = lesson_of_labels(self._second, everything, parts, seed)

    def upper(self, twice: bool, level: float) -> float:
        """Bound the difference of M, or with `twice` of M + Σ ε_i, from above."""
        weight = 2.0 if twice else 1.0
        if self._whole is None:
            return self._by_blind(weight, level)
        return min(self._by_blind(weight, level * _BLIND), self._by_counts(self._whole, weight, level * (1 - _BLIND)))

    def _by_blind(self, weight: float, level: float) -> float:
        """ε_i ≥ 0 of the second latent."""
        others = len(self._blocks) - 1
        losses, top = self._of_first(weight)
        mean = self._mean(losses + others * self._blind.losses, top + others * self._blind.top, level * (1 - _ENTROPY))
        return mean - others * self._entropy(level * _ENTROPY)

    def _by_counts(self, whole: Lesson, weight: float, level: float) -> float:
        """ε_i = H(Λ|X_i) − H(Λ|X) of the second latent, with R = H(Λ) − H(Λ|X)."""
        n = len(self._blocks)
        losses, top = self._of_first(weight)
        noise, most = self._noise(self._second)
        losses = losses + (n - 1) * (self._blind.losses + noise) + (1 + (weight - 1) * n) * (whole.losses + noise)
        top = top + (n - 1) * (self._blind.top + most) + (1 + (weight - 1) * n) * (whole.top + most)
        labels, values = self._drawn(self._second), self._second.probabilities.shape[1]
        known = [
            least_conditional_entropy(
                labels, values, block.values[self._untouched], block.levels or 1, level * _BALLS / n
            )
            for block in self._blocks
        ]
        mean = self._mean(losses, top, level * (1 - _ENTROPY - _BALLS))
        return mean - (n - 1) * self._entropy(level * _ENTROPY) - weight * sum(known)

    def _of_first(self, weight: float) -> tuple[Array, float]:
        """Losses that bound the weighted Σ ε_i + (n − 1) H(Λ|X) of the first latent, and the largest there can be."""
        noise, most = self._noise(self._first)
        others = len(self._blocks) - 1
        losses = others * noise + weight * np.sum([lesson.losses for lesson in self._lessons], axis=0)
        return losses, others * most + weight * sum(lesson.top for lesson in self._lessons)

    def _noise(self, latent: CategoricalChannel) -> tuple[Array, float]:
        """H(Λ|X = x) of each measured row, and the largest it can be."""
        noise = entr(latent.probabilities[self._blind.rows]).sum(axis=1)
        return noise, float(np.log(latent.probabilities.shape[1]) * bool(noise.any()))

    def _drawn(self, latent: CategoricalChannel) -> Codes:
        return latent.sample(self._seed)[self._untouched]

    def _entropy(self, level: float) -> float:
        return least_entropy(self._drawn(self._first), self._first.probabilities.shape[1], level)

    def _mean(self, losses: Array, top: float, level: float) -> float:
        stages = [[losses[self._blind.stage == stage]] for stage in np.unique(self._blind.stage)]
        return staged_upper(stages, top, level, seed=self._seed)


def _table(rows: Rows) -> CategoricalChannel:
    if not isinstance(rows.channel, CategoricalChannel):
        raise DataError("a, b: comparisons need latents with finitely many values. Give a quantiser=m.")
    return rows.channel


def _verdict(what: str, low: float, high: float, margin: float, level: float, rows: int) -> Verdict:
    """Judge whether b's error less a's, which lies between two bounds, is at least the margin."""
    method = "students of both latents, and the entropy of one by a ball around its counts"
    assumptions = ("independent rows that trained neither latent",)
    sides: tuple[tuple[Literal["lower", "upper"], float], ...] = (("lower", low), ("upper", high))
    bounds = {
        f"{what} of b less that of a, {side}": Bound(
            value, side, confidence=1 - level, method=method, assumptions=assumptions, n=rows
        )
        for side, value in sides
    }
    if low >= margin and low > 0:
        words = f"the {what} of a is at least {low:.3g} nats below that of b, and {margin:g} was declared."
        return Verdict("certified", words, bounds, "a larger declared margin")
    if high < margin or (high <= 0 and margin == 0):
        words = f"the {what} of a is at most {high:.3g} nats below that of b, less than the declared {margin:g}."
        return Verdict("refuted", words, bounds, "a smaller declared margin")
    words = (
        f"the {what} of b less that of a lies between {low:.3g} and {high:.3g} nats; the declared {margin:g} is inside."
    )
    return Verdict("cannot say", words, bounds, "more rows, or another declared margin")
