"""Students that guess the latent from one block: their held-out loss bounds the redundancy error from above.

For any q(λ|x_i) fitted on other rows, E D(K(·|X)‖q(·|X_i)) = I(Λ; X_{−i}|X_i) + E D(P(Λ|X_i)‖q) ≥ ε_i. One student
for all domains bounds the error of every mixture, because its loss is linear in the mixture and ε_i(α) is below it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import rel_entr
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from latentry.data import CategoricalChannel, GaussianChannel
from latentry.natural.sampled.means import MeanMethod, mean_upper
from latentry.natural.sampled.rows import Block, Codes, Rows

__all__ = ["Lesson", "teach"]

Array = NDArray[np.float64]
Guess = Callable[[Codes], Array]
_NET_ROWS = 300
_NET: dict[str, Any] = {
    "hidden_layer_sizes": (64, 64),
    "learning_rate_init": 3e-3,
    "early_stopping": True,
    "n_iter_no_change": 25,
    "max_iter": 300,
}


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
    if block.discrete:
        students: dict[str, Callable[..., Guess]] = {"counts": _count_student}
    else:
        students = {"logistic": _logistic, "boosted trees": _boosted}
        students |= {"net": _net} if _worth_a_net(block, fit) else {}
    name, guess = _best_student(students, truth, block, fit, seed)
    # A floor keeps the loss bounded; it costs about this share of a nat.
    floor = min(0.05, 0.2 / np.sqrt(len(audit)))
    q = (1 - floor) * guess(audit) + floor / values
    losses = rel_entr(truth[audit], q).sum(axis=1)
    return Lesson(losses, audit, float(np.log(values / floor)), name)


def _best_student(
    students: dict[str, Callable[..., Guess]], truth: Array, block: Block, fit: Codes, seed: int
) -> tuple[str, Guess]:
    """Choose on a third of the fit rows, then fit on all of them."""
    if len(students) == 1:
        name, make = next(iter(students.items()))
        return name, make(truth, block, fit, seed)
    order = np.random.default_rng(seed).permutation(fit)
    third = len(order) // 3
    test, train = order[:third], order[third:]
    scores = {
        name: float(rel_entr(truth[test], 0.999 * make(truth, block, train, seed)(test) + 0.001 / truth.shape[1]).sum())
        for name, make in students.items()
    }
    best = min(scores, key=lambda name: scores[name])
    return best, students[best](truth, block, fit, seed)


def _count_student(truth: Array, block: Block, fit: Codes, seed: int) -> Guess:
    """Average channel at each level of the block, shrunk to the overall average by one row's worth."""
    codes, levels = block.values, block.levels or 1
    overall = truth[fit].mean(axis=0)
    sums = np.zeros((levels, truth.shape[1]))
    np.add.at(sums, codes[fit], truth[fit])
    table = (sums + overall) / (np.bincount(codes[fit], minlength=levels)[:, None] + 1.0)
    return lambda rows: table[codes[rows]]


def _weighted_fit(model: object, truth: Array, block: Block, fit: Codes, weight: str) -> Guess:
    """Learn soft labels as weighted copies of each row."""
    kept = np.argwhere(truth[fit] > 1e-9)
    x, y = block.features[fit][kept[:, 0]], kept[:, 1]
    weights = truth[fit][kept[:, 0], kept[:, 1]]
    values = truth.shape[1]
    present = np.unique(y)
    if len(present) < 2:
        return lambda rows: np.tile(np.eye(values)[present[0]], (len(rows), 1))
    model.fit(x, y, **{weight: weights})  # type: ignore[attr-defined]

    def guess(rows: Codes) -> Array:
        result = np.zeros((len(rows), values))
        result[:, present] = model.predict_proba(block.features[rows])  # type: ignore[attr-defined]
        return result

    return guess


def _logistic(truth: Array, block: Block, fit: Codes, seed: int) -> Guess:
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
    return _weighted_fit(model, truth, block, fit, "logisticregression__sample_weight")


def _boosted(truth: Array, block: Block, fit: Codes, seed: int) -> Guess:
    model = HistGradientBoostingClassifier(max_iter=100, learning_rate=0.1, max_leaf_nodes=15, random_state=seed)
    return _weighted_fit(model, truth, block, fit, "sample_weight")


def _worth_a_net(block: Block, fit: Codes) -> bool:
    """Trees cut along one column at a time: enough for one, wasteful for functions of several at once."""
    return block.features.shape[1] > 1 and len(fit) >= _NET_ROWS


def _net(truth: Array, block: Block, fit: Codes, seed: int) -> Guess:
    net = MLPClassifier(**_NET, random_state=seed)
    return _weighted_fit(_Patient(StandardScaler(), net), truth, block, fit, "sample_weight")


@dataclass(frozen=True, eq=False)
class _Patient:
    """A scaled net; running out of epochs is no news, since its held-out loss is what counts."""

    scaler: StandardScaler
    net: MLPClassifier | MLPRegressor

    def fit(self, x: Array, y: Array, **options: Array) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.net.fit(self.scaler.fit_transform(x), y, **options)

    def predict(self, x: Array) -> Array:
        return self.net.predict(self.scaler.transform(x))

    def predict_proba(self, x: Array) -> Array:
        return self.net.predict_proba(self.scaler.transform(x))


def _gaussian_lesson(channel: GaussianChannel, block: Block, fit: Codes, audit: Codes, seed: int) -> Lesson:
    """A student N(m(x_i), s²) per latent coordinate; D(K‖q) in closed form, summed over coordinates."""
    order = np.random.default_rng(seed).permutation(fit)
    third = len(order) // 3
    test, train = order[:third], order[third:]
    losses = {}
    students = {"ridge": _ridge, "boosted trees": _boosted_mean}
    students |= {"net": _net_mean} if not block.discrete and _worth_a_net(block, fit) else {}
    for name, regress in students.items():
        losses[name] = _gaussian_losses(channel, regress(channel.mean, block, train, seed), test, audit)
    best = min(losses, key=lambda name: losses[name][0])
    return Lesson(losses[best][1], audit, np.inf, best)


def _gaussian_losses(channel: GaussianChannel, guess: Guess, test: Codes, audit: Codes) -> tuple[float, Array]:
    """Loss on the rows that set the student's width, and losses on the audit rows."""
    width = (channel.scale[test] ** 2 + (channel.mean[test] - guess(test)) ** 2).mean(axis=0)

    def loss(rows: Codes) -> Array:
        variance = channel.scale[rows] ** 2
        gap = (channel.mean[rows] - guess(rows)) ** 2
        return 0.5 * (np.log(width / variance) + (variance + gap) / width - 1.0).sum(axis=1)

    return float(loss(test).mean()), loss(audit)


def _ridge(mean: Array, block: Block, fit: Codes, seed: int) -> Guess:
    model = make_pipeline(StandardScaler(), RidgeCV(alphas=np.logspace(-3, 3, 7)))
    model.fit(block.features[fit], mean[fit])
    return lambda rows: model.predict(block.features[rows]).reshape(len(rows), -1)


def _boosted_mean(mean: Array, block: Block, fit: Codes, seed: int) -> Guess:
    models = [
        HistGradientBoostingRegressor(max_iter=100, max_leaf_nodes=15, random_state=seed).fit(block.features[fit], y)
        for y in mean[fit].T
    ]
    return lambda rows: np.column_stack([m.predict(block.features[rows]) for m in models])


def _net_mean(mean: Array, block: Block, fit: Codes, seed: int) -> Guess:
    """Learns the latent in units of its spread, so that no coordinate drowns another."""
    centre, spread = mean[fit].mean(axis=0), mean[fit].std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    model = _Patient(StandardScaler(), MLPRegressor(**_NET, random_state=seed))
    target = (mean[fit] - centre) / scale
    model.fit(block.features[fit], target if target.shape[1] > 1 else target[:, 0])
    return lambda rows: centre + scale * model.predict(block.features[rows]).reshape(len(rows), -1)
