"""Students that guess the latent from one block: their held-out loss bounds the redundancy error from above.

For any q(λ|x_i) fitted on earlier rows, E D(K(·|X)‖q(·|X_i)) = I(Λ; X_{−i}|X_i) + E D(P(Λ|X_i)‖q) ≥ ε_i. One student
for all domains bounds the error of every mixture, because its loss is linear in the mixture and ε_i(α) is below it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import rel_entr
from sklearn.linear_model import RidgeCV

from latentry.data import CategoricalChannel, GaussianChannel, column_scales
from latentry.natural.from_samples.audit_rows import Rows
from latentry.natural.from_samples.boosted_trees import tree_labels, tree_numbers
from latentry.natural.from_samples.kernel_regression import kernel_features, kernel_regression
from latentry.natural.from_samples.mean_bounds import MeanMethod, mean_upper, staged_upper
from latentry.natural.from_samples.observables import Block, Codes
from latentry.natural.from_samples.small_networks import fit_net
from latentry.streams import stream

__all__ = ["HIGHEST_FLOOR", "Guess", "Lesson", "lesson_of_labels", "plan", "redundancy_upper", "teach"]

Array = NDArray[np.float64]
Guess = Callable[[Codes], Array]
Student = Callable[[Array, Block, Codes, int], Guess]  # of the latent, from a block, on some rows, with a seed
_HIDDEN = 48
_NET_ROWS = 100  # from so many fit rows on a net is worth a try
_FEW, _FOLDS = 300, 3  # up to so many fit rows every third of them takes its turn in choosing a student
_STAGES = (0.1, 0.2, 0.35, 0.55, 0.75)  # parts of the rows after which counts are taken again
_FLOOR_ROWS = 8.0
HIGHEST_FLOOR = 0.1  # probability that a student divides among all values of the latent
_FAR = 6.0  # spreads from the mean, beyond which a feature says no more: students do not extrapolate


@dataclass(frozen=True, eq=False)
class Lesson:
    """Losses of students on rows that they had not seen, each at most `top` (infinite for Gaussian latents).

    Students are fitted again before each stage, on all earlier rows, so that rows audit first and fit afterwards.
    """

    losses: Array
    rows: Codes
    top: float
    student: str
    stage: Codes  # of each loss, from 0 on

    @property
    def latest(self) -> Array:
        """Return the losses of the last students, which had most rows."""
        latest: Array = self.losses[self.stage == self.stage.max()]
        return latest

    def only(self, rows: Codes) -> Lesson:
        """Restrict the losses to some of the rows.

        Args:
            rows: Row numbers.

        Returns:
            The same students on those rows.
        """
        kept = np.isin(self.rows, rows)
        return replace(self, losses=self.losses[kept], rows=self.rows[kept], stage=self.stage[kept])

    def method(self, wanted: MeanMethod) -> MeanMethod:
        """Replace a method for bounded losses by `bootstrap` when the losses have no bound.

        Args:
            wanted: The method asked for.

        Returns:
            The method used.
        """
        bounded = np.isfinite(self.top)
        return wanted if bounded or wanted in ("bootstrap", "t") else "bootstrap"

    def upper(self, delta: float, wanted: MeanMethod, seed: int) -> float:
        """Bound the mean loss, hence the redundancy error, from above.

        Args:
            delta: One minus the confidence.
            wanted: The method asked for.
            seed: Of the method.

        Returns:
            Nats.
        """
        return redundancy_upper([self], delta, wanted, seed)


def redundancy_upper(lessons: Sequence[Lesson], delta: float, wanted: MeanMethod, seed: int) -> float:
    """Bound the redundancy error of every mixture of domains from above by shared students.

    Args:
        lessons: Of the same students, in each domain.
        delta: One minus the confidence.
        wanted: The method asked for.
        seed: Of the method.

    Returns:
        Nats.
    """
    method, top = lessons[0].method(wanted), lessons[0].top
    stages = np.unique(np.concatenate([lesson.stage for lesson in lessons]))
    if method == "betting":
        parts = [[lesson.losses[lesson.stage == stage] for lesson in lessons] for stage in stages]
        return staged_upper(parts, top, delta, seed=seed)
    if method == "bernstein":  # needs independent losses: those of the last students
        lessons = [lesson.only(lesson.rows[lesson.stage == stages[-1]]) for lesson in lessons]
    return max(mean_upper(lesson.losses, top, delta, method, seed=seed) for lesson in lessons)


def teach(rows: Rows, block: Block, fit: Codes, audit: Codes, seed: int) -> Lesson:
    """Fit students of the latent on some rows and measure them on others.

    Args:
        rows: Rows with their latent.
        block: The block that the students see.
        fit: Row numbers on which they are fitted.
        audit: Row numbers on which they are measured.
        seed: Of the students.

    Returns:
        Their losses. Where block and latent are labels that no row has defined, most of the fit rows audit too.
    """
    if isinstance(rows.channel, GaussianChannel):
        return _gaussian_lesson(rows.channel, block, fit, audit, seed)
    return lesson_of_labels(rows.channel, block, plan(rows, [block], fit, audit, seed), seed)


def plan(rows: Rows, blocks: Sequence[Block], fit: Codes, audit: Codes, seed: int) -> list[Codes]:
    """Order rows as students meet them: those of the first part fit only, each further part audits, then fits.

    Args:
        rows: Rows with their latent.
        blocks: What the students see. Where all are labels, and no row has defined the latent, fit rows audit too.
        fit: Row numbers that may fit from the beginning.
        audit: The other row numbers.
        seed: Of the order.

    Returns:
        Row numbers, part by part.
    """
    if rows.units is not None:  # a unit that audits in one stage must not have taught before it
        return [fit, audit]
    rng = stream("natural/stages of students", seed)
    if all(block.discrete for block in blocks) and np.isin(fit, rows.untouched).all():
        order = np.concatenate([rng.permutation(fit), rng.permutation(audit)])
        return np.split(order, [max(1, int(len(order) * part)) for part in _STAGES])
    return [fit, *np.array_split(rng.permutation(audit), 2)]


def lesson_of_labels(channel: CategoricalChannel, block: Block, parts: list[Codes], seed: int) -> Lesson:
    """Fit students of a latent of labels before each part of the rows, and measure them on it.

    Args:
        channel: The latent of every row.
        block: What the students see.
        parts: From `plan`.
        seed: Of the students.

    Returns:
        Their losses, part by part.
    """
    truth = channel.probabilities
    values = truth.shape[1]
    audit = np.concatenate(parts[1:])
    # A floor keeps the loss bounded; it costs about this fraction of a nat, and saves as much where rows are few.
    floor = min(HIGHEST_FLOOR, _FLOOR_ROWS / len(audit))
    name, student = _best_student(students_of_labels(block, len(parts[0])), truth, block, parts[0], seed)
    losses = []
    for stage, part in enumerate(parts[1:]):
        guess = student(truth, block, np.concatenate(parts[: stage + 1]), seed)
        q = (1 - floor) * guess(part) + floor / values
        losses.append(rel_entr(truth[part], q).sum(axis=1))
    stages = np.repeat(np.arange(len(losses)), [len(part) for part in losses])
    return Lesson(np.concatenate(losses), audit, float(np.log(values / floor)), name, stages)


def students_of_labels(block: Block, rows: int) -> dict[str, Student]:
    """Return students of a latent of labels: counting is best for labels; smooth functions and trees complement each other."""
    if block.discrete:
        return {"counts": _count_student}
    result: dict[str, Student] = {"logistic": _logistic(1.0), "kernel": _kernel, "boosted trees": tree_student}
    result |= {f"logistic, penalty {penalty:g}": _logistic(penalty) for penalty in (10.0, 100.0)}
    return result | ({"net": _net} if rows >= _NET_ROWS else {})


def _best_student(
    students: dict[str, Student], truth: Array, block: Block, fit: Codes, seed: int
) -> tuple[str, Student]:
    """Choose on a third of the fit rows."""

    def loss(name: str) -> float:
        return sum(_divergence(students[name](truth, block, train, seed), truth, test) for test, train in parts)

    parts = _thirds(fit, seed)
    best = min(students, key=loss) if len(students) > 1 else next(iter(students))
    return best, students[best]


def _thirds(fit: Codes, seed: int) -> list[tuple[Codes, Codes]]:
    """Rows that choose and rows that teach: once, or where rows are few, every third in turn."""
    parts = np.array_split(stream("natural/thirds of the fit rows", seed).permutation(fit), _FOLDS)
    turns = [(test, np.concatenate([p for p in parts if p is not test])) for test in parts]
    return turns if len(fit) <= _FEW else turns[:1]


def _divergence(guess: Guess, truth: Array, rows: Codes) -> float:
    return float(rel_entr(truth[rows], 0.999 * guess(rows) + 0.001 / truth.shape[1]).sum())


def _count_student(truth: Array, block: Block, fit: Codes, seed: int) -> Guess:
    """Average channel at each level of the block, shrunk to the overall average by one row's worth."""
    codes, levels = block.values, block.levels or 1
    overall = truth[fit].mean(axis=0)
    sums = np.zeros((levels, truth.shape[1]))
    np.add.at(sums, codes[fit], truth[fit])
    table = (sums + overall) / (np.bincount(codes[fit], minlength=levels)[:, None] + 1.0)
    return lambda rows: table[codes[rows]]


def _standard(block: Block, fit: Codes) -> Guess:
    """The features of rows in units of their spread among the fit rows, and no further away than those may be."""
    known = block.features[fit]
    centre, scale = known.mean(axis=0), column_scales(known)
    return lambda rows: np.clip((block.features[rows] - centre) / scale, -_FAR, _FAR)


def _logistic(penalty: float) -> Student:
    """Logistic regression; the penalty is on half the squared weights, beside the sum of the losses."""

    def student(truth: Array, block: Block, fit: Codes, seed: int) -> Guess:
        x = _standard(block, fit)
        model = fit_net(x(fit), truth[fit], soft=True, decay=penalty / len(fit), patient=True)
        return lambda rows: model(x(rows))

    return student


def _kernel(truth: Array, block: Block, fit: Codes, seed: int) -> Guess:
    """A logistic regression on the features of the kernel regression that comes nearest to the probabilities."""
    x = _standard(block, fit)
    features = kernel_features(x(fit), truth[fit], seed)
    model = fit_net(features(x(fit)), truth[fit], soft=True, decay=0.1 / len(fit), patient=True)
    return lambda rows: model(features(x(rows)))


def _net(truth: Array, block: Block, fit: Codes, seed: int) -> Guess:
    x = _standard(block, fit)
    model = fit_net(x(fit), truth[fit], _HIDDEN, soft=True, seed=seed)
    return lambda rows: model(x(rows))


def tree_student(truth: Array, block: Block, fit: Codes, seed: int) -> Guess:
    """Fit boosted trees that guess labels."""
    model = tree_labels(block.features[fit], truth[fit])
    return lambda rows: model(block.features[rows])


def _gaussian_lesson(channel: GaussianChannel, block: Block, fit: Codes, audit: Codes, seed: int) -> Lesson:
    """A student N(m(x_i), s²) per latent coordinate; D(K‖q) in closed form, summed over coordinates."""
    parts = _thirds(fit, seed)
    losses = {
        name: _gaussian_losses(channel, [student(channel.mean, block, train, seed) for _, train in parts], parts, audit)
        for name, student in students_of_numbers(block, len(fit)).items()
    }
    best = min(losses, key=lambda name: losses[name][0])
    return Lesson(losses[best][1], audit, np.inf, best, np.zeros(len(audit), dtype=np.int64))


def students_of_numbers(block: Block, rows: int) -> dict[str, Student]:
    """Return students of a latent of numbers, by name."""
    result: dict[str, Student] = {"ridge": _ridge, "boosted trees": tree_mean_student}
    if block.discrete:
        return result
    return {**result, "kernel": _kernel_mean} | ({"net": _net_mean} if rows >= _NET_ROWS else {})


def _gaussian_losses(
    channel: GaussianChannel, guesses: list[Guess], parts: list[tuple[Codes, Codes]], audit: Codes
) -> tuple[float, Array]:
    """Loss on the rows that set the student's width, and losses on the audit rows; of several guesses the mean counts."""
    test = np.concatenate([rows for rows, _ in parts])
    gaps = np.concatenate([channel.mean[rows] - guess(rows) for guess, (rows, _) in zip(guesses, parts, strict=True)])
    width = (channel.scale[test] ** 2 + gaps**2).mean(axis=0)

    def loss(rows: Codes, gap: Array) -> Array:
        variance = channel.scale[rows] ** 2
        total: Array = (np.log(width / variance) + (variance + gap**2) / width - 1.0).sum(axis=1)
        return 0.5 * total

    guessed = np.mean([guess(audit) for guess in guesses], axis=0)
    return float(loss(test, gaps).mean()), loss(audit, channel.mean[audit] - guessed)


def _ridge(mean: Array, block: Block, fit: Codes, seed: int) -> Guess:
    x = _standard(block, fit)
    model = RidgeCV(alphas=np.logspace(-3, 3, 7)).fit(x(fit), mean[fit])
    return lambda rows: model.predict(x(rows)).reshape(len(rows), -1)


def tree_mean_student(mean: Array, block: Block, fit: Codes, seed: int) -> Guess:
    """Fit boosted trees that guess means."""
    model = tree_numbers(block.features[fit], mean[fit])
    return lambda rows: model(block.features[rows])


def _kernel_mean(mean: Array, block: Block, fit: Codes, seed: int) -> Guess:
    x = _standard(block, fit)
    model = kernel_regression(x(fit), mean[fit], seed)
    return lambda rows: model(x(rows))


def _net_mean(mean: Array, block: Block, fit: Codes, seed: int) -> Guess:
    """Learns the latent in units of its spread, so that no coordinate drowns another."""
    x = _standard(block, fit)
    centre, scale = mean[fit].mean(axis=0), column_scales(mean[fit])
    model = fit_net(x(fit), (mean[fit] - centre) / scale, _HIDDEN, soft=False, seed=seed)
    return lambda rows: centre + scale * model(x(rows))
