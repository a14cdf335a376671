"""How natural one latent is, by students that every latent gets: a number by which latents can be compared.

The sum of all errors M + Σ_i ε_i is TC(X) + 2 Σ_i ε_i − (n − 1) I(X; Λ). TC(X) is the same for every latent, so that the rest
compares them. A constant latent has 0 there. Where there are domains, this is the mean over domains, by their numbers of rows: the
domain itself is then no information. One student for all domains bounds the redundancy error of every mixture of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import rel_entr

from latentry.data import CategoricalChannel, Dataset
from latentry.errors import DataError
from latentry.evidence import Bound
from latentry.natural.from_samples import Rows, as_rows
from latentry.natural.from_samples.redundancy_bounds import HIGHEST_FLOOR, Lesson, lesson_of_labels, redundancy_upper
from latentry.streams import stream
from latentry.threads import single_threaded

__all__ = ["Naturalness", "beside_the_best", "naturalness"]

Codes = NDArray[np.int64]
_MOST = 3000  # rows that fit students
_FLOOR_ROWS = 8.0  # as that of all students


@dataclass(frozen=True, eq=False)
class Naturalness:
    """How natural a latent is on rows that did not train it.

    Args:
        values: Of the latent.
        errors: Redundancy error of each modality, in every mixture of domains: upper bounds by held-out students.
        information: I(X; Λ) within domains, an estimate in nats.
        score: 2 Σ ε_i − (n − 1) I(X; Λ), by the mean losses of the students: the sum of all errors up to a constant that no
            latent changes. Lower is more natural; a constant latent has 0.
        row_scores: Of each audited row; their mean is the score.
    """

    values: int
    errors: Mapping[str, Bound]
    information: Bound
    score: Bound
    row_scores: np.ndarray

    @property
    def worst(self) -> Bound:
        """Return the largest redundancy error."""
        return max(self.errors.values(), key=lambda bound: bound.value)

    def __str__(self) -> str:
        errors = ", ".join(f"{name} ≤ {bound.value:.3f}" for name, bound in self.errors.items())
        kept = self.information.value
        return f"score {self.score.value:.3f}; {self.values} values, {kept:.3f} nats kept; redundancy errors {errors}"


def naturalness(
    data: Dataset,
    latent: CategoricalChannel | ArrayLike,
    *,
    audited: ArrayLike | None = None,
    students: Mapping[str, np.ndarray] | None = None,
    labels: Sequence[str] = (),
    level: float = 0.05,
    seed: int = 0,
) -> Naturalness:
    """Measure how natural a latent with finitely many values is.

    Cost: that of an audit without its tests.

    >>> rng = np.random.default_rng(0)
    >>> z = rng.integers(0, 2, 2000)
    >>> views = Dataset({name: (z + 2 * rng.integers(0, 2, 2000))[:, None] for name in ("left", "right")})
    >>> print(round(naturalness(views, z, labels=("left", "right")).score.value, 1))
    -0.7

    Args:
        data: Rows with at least two modalities, none missing; they may have domains with labels.
        latent: A CategoricalChannel, or labels (rows,).
        audited: Numbers of the rows to judge by, which must not have trained the latent; by default half of them. The others fit
            students.
        students: For each modality, probabilities (rows, values) of the latent given that modality, from students at hand;
            their answers about audited rows must not rest on these rows.
        labels: Modalities whose numbers are labels.
        level: One minus the confidence of each bound.
        seed: Of the split and the students.

    Returns:
        Errors, information and score.

    Raises:
        DataError: If the latent has numbers, or the rows do not fit.
    """
    rows = as_rows(
        data.with_domain(None), latent, blocks=None, domain=None, noise=None, quantiser=None, fit=0.5, seed=seed,
        labels=labels,
    )  # fmt: skip
    if rows.dropped:
        raise DataError(f"data: {rows.dropped} rows lack a modality. Leave them out.")
    if audited is not None:
        judged = np.asarray(audited, dtype=np.int64)
        rows = replace(rows, fit=np.setdiff1d(np.arange(len(data)), judged), audit=judged)
    with single_threaded():
        return _measured(rows, _domains(data), students, level, seed)


def _domains(data: Dataset) -> Codes:
    """The domain of each row: all the same where there is none, or no label of it."""
    if data.domain is None or data.domain.is_continuous:
        return np.zeros(len(data), dtype=np.int64)
    return np.asarray(data.domain.values, dtype=np.int64)


def _measured(
    rows: Rows, domains: Codes, students: Mapping[str, np.ndarray] | None, level: float, seed: int
) -> Naturalness:
    channel = rows.channel
    if not isinstance(channel, CategoricalChannel):
        raise DataError(
            "latent: it has numbers, of which no information is finite. Give labels, such as clusters of it."
        )
    lessons = {}
    for block in rows.blocks:
        if students is None:
            fit = (
                rows.fit if len(rows.fit) <= _MOST else stream("natural/rows of students", seed).choice(rows.fit, _MOST)
            )
            lessons[block.name] = lesson_of_labels(channel, block, [fit, rows.audit], seed)
        else:
            lessons[block.name] = _at_hand(channel, students[block.name], rows.audit)
    groups = [rows.audit[domains[rows.audit] == j] for j in np.unique(domains[rows.audit])]
    errors = {
        name: Bound(
            max(0.0, redundancy_upper([lesson.only(group) for group in groups], level, "betting", seed)),
            "upper",
            confidence=1 - level,
            method=f"held-out student ({lesson.student}), betting mean",
            assumptions=("independent rows that did not train the latent",),
            n=len(lesson.losses),
            seed=seed,
        )
        for name, lesson in lessons.items()
    }
    table = channel.probabilities[rows.audit]
    kept = np.zeros(len(table))
    for group in groups:
        here = np.isin(rows.audit, group)
        kept[here] = rel_entr(table[here], table[here].mean(axis=0)).sum(axis=1)
    scores = 2 * np.sum([lesson.losses for lesson in lessons.values()], axis=0) - (len(rows.blocks) - 1) * kept
    information = Bound(float(kept.mean()), "estimate", method="plug-in entropies of the channel", n=len(table))
    score = Bound(float(scores.mean()), "estimate", method="held-out students", n=len(table))
    return Naturalness(table.shape[1], errors, information, score, scores)


def _at_hand(channel: CategoricalChannel, student: np.ndarray, audit: Codes) -> Lesson:
    """Losses of a student that was there before; a floor keeps them bounded."""
    truth = channel.probabilities[audit]
    values = truth.shape[1]
    floor = min(HIGHEST_FLOOR, _FLOOR_ROWS / len(audit))
    losses = rel_entr(truth, (1 - floor) * student[audit] + floor / values).sum(axis=1)
    top = float(np.log(values / floor))
    return Lesson(losses, audit, top, "trained with the latent", np.zeros(len(audit), dtype=np.int64))


def beside_the_best(found: Naturalness, yours: Naturalness) -> str:
    """Say in one line how far a latent is from the most natural one that was found on the same rows.

    Cost: constant.

    >>> from latentry.evidence import Bound
    >>> def one(error, score):
    ...     bound = {"left": Bound(error, "upper")}
    ...     return Naturalness(2, bound, Bound(0.6, "estimate"), Bound(score, "estimate"), [])
    >>> print(beside_the_best(one(0.1, -0.5), one(0.4, 0.1)))
    the most natural latent found has redundancy errors of at most 0.1 nats, yours of at most 0.4; ... lower by about 0.6 nats

    Args:
        found: The most natural latent that was found.
        yours: Another one.

    Returns:
        A sentence without its full stop.
    """
    gap = yours.score.value - found.score.value
    words = f"lower by about {gap:.2g} nats" if gap > 0 else f"no lower than yours ({-gap:.2g} nats higher)"
    return (
        f"the most natural latent found has redundancy errors of at most {found.worst.value:.2g} nats, yours of at most "
        f"{yours.worst.value:.2g}; the sum of all its errors is {words}"
    )
