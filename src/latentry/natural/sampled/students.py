"""Students that guess the latent from one block: their held-out loss bounds the redundancy error from above.

For any q(λ|x_i) fitted on other rows, E D(K(·|X)‖q(·|X_i)) = I(Λ; X_{−i}|X_i) + E D(P(Λ|X_i)‖q) ≥ ε_i. One student
for all domains bounds the error of every mixture, because its loss is linear in the mixture and ε_i(α) is below it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import rel_entr
from sklearn.linear_model import RidgeCV

from latentry.data import CategoricalChannel, GaussianChannel
from latentry.natural.sampled.kernels import kernel_features, kernel_regression
from latentry.natural.sampled.means import MeanMethod, mean_upper
from latentry.natural.sampled.nets import fit_net
from latentry.natural.sampled.rows import Block, Codes, Rows
from latentry.natural.sampled.trees import tree_labels, tree_numbers

__all__ = ["Lesson", "teach"]

Array = NDArray[np.float64]
Guess = Callable[[Codes], Array]
Student = Callable[[Array, Block, Codes, int], Guess]  # of the latent, from a block, on some rows, with a seed
_HIDDEN = 48


@dataclass(frozen=True, eq=False)
class Lesson:
    """Losses of one student on audit rows it has not seen, each at most `top` (infinite for Gaussian latents)."""

    losses: Array
    rows: Codes
    top: float
    student: str

    def only(self, rows: Codes) -> Lesson:
        """The same student on some of the rows."""
        return Lesson(self.losses[np.isin(self.rows, rows)], np.intersect1d(self.rows, rows), self.top, self.student)

    def method(self, wanted: MeanMethod) -> MeanMethod:
        """Bounds for bounded losses need a bound."""
        bounded = np.isfinite(self.top)
        return wanted if bounded or wanted in ("bootstrap", "t") else "bootstrap"

    def upper(self, delta: float, wanted: MeanMethod, seed: int) -> float:
        """Upper confidence bound of the mean loss, hence of the redundancy error."""
        return mean_upper(self.losses, self.top, delta, self.method(wanted), seed=seed)


def teach(rows: Rows, block: Block, fit: Codes, audit: Codes, seed: int) -> Lesson:
    """Fit a student of the latent on some rows and measure it on others."""
    if isinstance(rows.channel, GaussianChannel):
        return _gaussian_lesson(rows.channel, block, fit, audit, seed)
    return _categorical_lesson(rows.channel, block, fit, audit, seed)


def _categorical_lesson(channel: CategoricalChannel, block: Block, fit: Codes, audit: Codes, seed: int) -> Lesson:
    truth = channel.probabilities
    values = truth.shape[1]
    name, guess = _best_student(_of_labels(block), truth, block, fit, seed)
    # A floor keeps the loss bounded; it costs about this share of a nat.
    floor = min(0.05, 0.2 / np.sqrt(len(audit)))
    q = (1 - floor) * guess(audit) + floor / values
    losses = rel_entr(truth[audit], q).sum(axis=1)
    return Lesson(losses, audit, float(np.log(values / floor)), name)


def _of_labels(block: Block) -> dict[str, Student]:
    """Counting is best for labels; smooth functions and trees complement each other for numbers."""
    if block.discrete:
        return {"counts": _count_student}
    return {"logistic": _logistic, "kernel": _kernel, "boosted trees": _trees, "net": _net}


def _best_student(
    students: dict[str, Student], truth: Array, block: Block, fit: Codes, seed: int
) -> tuple[str, Guess]:
    """Choose on a third of the fit rows, then fit on all of them."""
    order = np.random.default_rng(seed).permutation(fit)
    third = len(order) // 3
    test, train = order[:third], order[third:]

    def loss(name: str) -> float:
        guess = students[name](truth, block, train, seed)
        return float(rel_entr(truth[test], 0.999 * guess(test) + 0.001 / truth.shape[1]).sum())

    best = min(students, key=loss) if len(students) > 1 else next(iter(students))
    return best, students[best](truth, block, fit, seed)


def _count_student(truth: Array, block: Block, fit: Codes, seed: int) -> Guess:
    """Average channel at each level of the block, shrunk to the overall average by one row's worth."""
    codes, levels = block.values, block.levels or 1
    overall = truth[fit].mean(axis=0)
    sums = np.zeros((levels, truth.shape[1]))
    np.add.at(sums, codes[fit], truth[fit])
    table = (sums + overall) / (np.bincount(codes[fit], minlength=levels)[:, None] + 1.0)
    return lambda rows: table[codes[rows]]


def _standard(block: Block, fit: Codes) -> Guess:
    """The features of rows in units of their spread among the fit rows."""
    known = block.features[fit]
    centre, spread = known.mean(axis=0), known.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    return lambda rows: (block.features[rows] - centre) / scale


def _logistic(truth: Array, block: Block, fit: Codes, seed: int) -> Guess:
    x = _standard(block, fit)
    model = fit_net(x(fit), truth[fit], soft=True, decay=1.0 / len(fit), patient=True)
    return lambda rows: model(x(rows))


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


def _trees(truth: Array, block: Block, fit: Codes, seed: int) -> Guess:
    model = tree_labels(block.features[fit], truth[fit])
    return lambda rows: model(block.features[rows])


def _gaussian_lesson(channel: GaussianChannel, block: Block, fit: Codes, audit: Codes, seed: int) -> Lesson:
    """A student N(m(x_i), s²) per latent coordinate; D(K‖q) in closed form, summed over coordinates."""
    order = np.random.default_rng(seed).permutation(fit)
    third = len(order) // 3
    test, train = order[:third], order[third:]
    losses = {
        name: _gaussian_losses(channel, student(channel.mean, block, train, seed), test, audit)
        for name, student in _of_numbers(block).items()
    }
    best = min(losses, key=lambda name: losses[name][0])
    return Lesson(losses[best][1], audit, np.inf, best)


def _of_numbers(block: Block) -> dict[str, Student]:
    linear: dict[str, Student] = {"ridge": _ridge, "boosted trees": _trees_mean}
    return linear if block.discrete else {**linear, "kernel": _kernel_mean, "net": _net_mean}


def _gaussian_losses(channel: GaussianChannel, guess: Guess, test: Codes, audit: Codes) -> tuple[float, Array]:
    """Loss on the rows that set the student's width, and losses on the audit rows."""
    width = (channel.scale[test] ** 2 + (channel.mean[test] - guess(test)) ** 2).mean(axis=0)

    def loss(rows: Codes) -> Array:
        variance = channel.scale[rows] ** 2
        gap = (channel.mean[rows] - guess(rows)) ** 2
        return 0.5 * (np.log(width / variance) + (variance + gap) / width - 1.0).sum(axis=1)

    return float(loss(test).mean()), loss(audit)


def _ridge(mean: Array, block: Block, fit: Codes, seed: int) -> Guess:
    x = _standard(block, fit)
    model = RidgeCV(alphas=np.logspace(-3, 3, 7)).fit(x(fit), mean[fit])
    return lambda rows: model.predict(x(rows)).reshape(len(rows), -1)


def _trees_mean(mean: Array, block: Block, fit: Codes, seed: int) -> Guess:
    model = tree_numbers(block.features[fit], mean[fit])
    return lambda rows: model(block.features[rows])


def _kernel_mean(mean: Array, block: Block, fit: Codes, seed: int) -> Guess:
    x = _standard(block, fit)
    model = kernel_regression(x(fit), mean[fit], seed)
    return lambda rows: model(x(rows))


def _net_mean(mean: Array, block: Block, fit: Codes, seed: int) -> Guess:
    """Learns the latent in units of its spread, so that no coordinate drowns another."""
    x = _standard(block, fit)
    centre, spread = mean[fit].mean(axis=0), mean[fit].std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    model = fit_net(x(fit), (mean[fit] - centre) / scale, _HIDDEN, soft=False, seed=seed)
    return lambda rows: centre + scale * model(x(rows))
