r"""Information about labels from classifiers: H(Y) less the cross-entropy of held-out rows is at most I(X; Y), in any dimension.

:math:`I(X; Y) = H(Y) - H(Y | X) ≥ E[\log q(Y | X) - \log p(Y)]` for every distribution q, with equality for the true one
(Barber and Agakov, NIPS 2003). Logistic regression, boosted trees and a small network learn from some of the rows; the one
that says most about rows set aside for the choice is reported on rows that took no part in it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import stats
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from latentry.information.normalisers import std
from latentry.information.ranks import folds
from latentry.information.underestimation import extrapolated
from latentry.streams import stream_seed
from latentry.threads import single_threaded

__all__ = ["can_be_asked", "HeldOut", "held_out_bound"]

Array = np.ndarray
PRIOR = 0.002  # weight of the frequencies of the labels in every prediction: no row costs more than its logarithm
MOST_CHOSEN = 6_000  # rows on which classifiers are compared
MOST_ROWS = 20_000
FEWEST_ROWS = 200
FEWEST_OF_A_LABEL = 10
MOST_LABELS = 20
TREE_COLUMNS = 10  # looked at for each split, at most
BATCH = 128  # rows of a step of the network, fewer than it learns from
STOPPING = 0.1  # of the rows to learn from say when trees and networks have learned enough


class Classifier(Protocol):
    """What is used of a classifier."""

    def fit(self, x: Array, y: Array) -> object:
        """Learn."""
        ...

    def predict_proba(self, x: Array) -> Array:
        """Return a probability for each label."""
        ...


Maker = Callable[[Array], Classifier]  # for the labels that it is going to learn


@dataclass(frozen=True)
class HeldOut:
    """What the best classifier says about rows that it did not learn from.

    Args:
        name: Of the classifier.
        terms: log q(y | x) − log p(y) of each reported row; their mean is at most I(X; Y).
        missing: How much more it may say, extrapolated from half the rows to learn from.
    """

    name: str
    terms: Array
    missing: float

    @property
    def value(self) -> float:
        """Return the bound, in nats."""
        return float(self.terms.mean())

    @property
    def error(self) -> float:
        """Return its standard error."""
        return float(self.terms.std(ddof=1) / np.sqrt(len(self.terms)))


def _makers(columns: int, seed: int) -> dict[str, Maker]:
    seed = stream_seed("information/classifiers", seed)
    return {
        "logistic regression": lambda labels: LogisticRegression(max_iter=200),
        "boosted trees": lambda labels: HistGradientBoostingClassifier(
            max_iter=200, learning_rate=0.2, max_leaf_nodes=15, early_stopping=_stops_early(labels), random_state=seed,
            max_features=min(1.0, TREE_COLUMNS / columns), validation_fraction=STOPPING,
        ),
        "a small network": lambda labels: MLPClassifier(
            (64, 64), alpha=1e-3, max_iter=40, early_stopping=_stops_early(labels), n_iter_no_change=5, learning_rate_init=3e-3,
            random_state=seed, batch_size=min(BATCH, len(labels) * 4 // 5), validation_fraction=STOPPING,
        ),
    }  # fmt: skip


def can_be_asked(labels: Array) -> bool:
    """Return whether there are enough rows, and enough of each label, for classifiers.

    Args:
        labels: Codes.

    Returns:
        Its truth.
    """
    sizes = np.bincount(labels)
    return len(labels) >= FEWEST_ROWS and len(sizes) <= MOST_LABELS and bool(sizes.min() >= FEWEST_OF_A_LABEL)


def held_out_bound(x: Array, labels: Array, seed: int, least: float) -> HeldOut | None:
    """Return the bound of the best of several classifiers, if it is above a value.

    Args:
        x: Rows of numbers.
        labels: Codes.
        seed: Of folds, trees and weights.
        least: The value to exceed; in nats.

    Returns:
        The bound, or None if no classifier says more or there are too few rows of some label.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((900, 8))
    >>> found = held_out_bound(x, (x[:, 0] * x[:, 1] > 0).astype(int), 0, 0.1)
    >>> found.name, bool(0.5 < found.value < 0.6932)
    ('boosted trees', True)
    """
    if not can_be_asked(labels):
        return None
    x = _tamed(x)
    choose, *report = folds(len(x), 3, seed)
    choose, report = choose[: MOST_CHOSEN // 3], [part[: MOST_ROWS // 3] for part in report]
    learn = np.concatenate(report)[:: max(1, len(report[0]) * 6 // (2 * MOST_CHOSEN))]
    with single_threaded(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        makers = _makers(x.shape[1], seed)
        said = {name: float(_terms(make, x, labels, learn, choose).mean()) for name, make in makers.items()}
        best = max(said, key=lambda name: said[name])
        if said[best] <= least:
            return None
        return _reported(best, makers[best], x, labels, (choose, *report))


def _tamed(x: Array) -> Array:
    """Columns in units of their spread; those with far outliers as normal scores, which logistic regression and networks need."""
    scaled = std(x)
    far = np.max(np.abs(scaled), axis=0) > 10
    scaled[:, far] = stats.norm.ppf((stats.rankdata(x[:, far], axis=0) - 0.5) / len(x))
    return np.asarray(scaled)


def _stops_early(labels: Array) -> bool:
    """Whether the rows that say when to stop can have some of every label, and leave some to learn from."""
    sizes = np.bincount(labels)
    sizes = sizes[sizes > 0]
    return bool(sizes.min() >= 2 and STOPPING * len(labels) >= len(sizes))


def _terms(make: Maker, x: Array, labels: Array, learn: Array, held: Array) -> Array:
    """Log q(y | x) − log p(y) of held-out rows, p the frequencies of the labels where q was learned."""
    frequency = (np.bincount(labels[learn], minlength=labels.max() + 1) + 0.5) / (len(learn) + 0.5 * (labels.max() + 1))
    q, known = np.zeros((len(held), len(frequency))), np.unique(labels[learn])
    if len(known) == 1:  # nothing to learn
        q[:, known] = 1.0
    else:
        model = make(labels[learn])
        model.fit(x[learn], labels[learn])
        q[:, known] = model.predict_proba(x[held])
    q = (1 - PRIOR) * q + PRIOR * frequency
    rows = np.arange(len(held))
    return np.asarray(np.log(q[rows, labels[held]] / frequency[labels[held]]))


def _reported(name: str, make: Maker, x: Array, labels: Array, parts: tuple[Array, ...]) -> HeldOut:
    """Cross-fit the chosen classifier; the rows by which it was chosen only teach."""
    first, a, b = parts
    terms = [_terms(make, x, labels, np.concatenate([first, other]), held) for held, other in ((a, b), (b, a))]
    half = _terms(make, x, labels, np.concatenate([first, b])[::2], a)
    return HeldOut(name, np.concatenate(terms), extrapolated(float(terms[0].mean()), float(half.mean()), 0.5))
