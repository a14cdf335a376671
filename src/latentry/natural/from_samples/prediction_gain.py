"""Held-out log-losses: what the best of several predictors gains from other observables, and what the domain adds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from latentry.data import column_scales, unit_columns, varying_columns
from latentry.evidence import Bound
from latentry.natural.from_samples.boosted_trees import tree_labels, tree_numbers
from latentry.natural.from_samples.kernel_regression import kernel_regression
from latentry.natural.from_samples.mean_bounds import mean_upper
from latentry.natural.from_samples.observables import Block, Codes
from latentry.natural.from_samples.small_networks import fit_net
from latentry.streams import stream

__all__ = ["PREDICTORS", "domain_information", "predictive_gain"]

Array = NDArray[np.float64]
Predictor = Callable[[Array], Array]
_NARROWEST = 1e-6  # the smallest variance that a prediction may claim, as a fraction of the column's
_CLASS = "boosted trees, two-fold held-out log-loss"
PREDICTORS = "boosted trees, kernel regressions and nets"
_HIDDEN = 32
_FAR = 6.0  # spreads from the mean, beyond which a feature says no more


def label_losses(features: Array, labels: Codes, seed: int) -> Array:
    """Compute held-out −ln q(label|features) of every row, two folds, with a floor of one in a thousand."""
    fold = stream("natural/folds", seed).permutation(len(labels)) % 2
    losses, values = np.empty(len(labels)), int(labels.max()) + 1
    for side in (0, 1):
        fit, rest = np.flatnonzero(fold != side), np.flatnonzero(fold == side)
        if features.shape[1]:
            probabilities = tree_labels(features[fit], np.eye(values)[labels[fit]])(features[rest])
        else:
            probabilities = np.tile(np.bincount(labels[fit], minlength=values) / len(fit), (len(rest), 1))
        q = 0.999 * probabilities + 0.001 / values
        losses[rest] = -np.log(q[np.arange(len(rest)), labels[rest]])
    return losses


def number_losses(features: Array, numbers: Array, seed: int) -> Array:
    """Compute held-out Gaussian log-losses of the columns of a block, summed, up to a constant.

    Constant columns cost nothing.
    """
    numbers = unit_columns(numbers[:, varying_columns(numbers)])
    if not numbers.shape[1]:
        return np.zeros(len(numbers))
    least = _NARROWEST * numbers.var(axis=0)
    fold = stream("natural/folds", seed).permutation(len(numbers)) % 2
    losses = np.empty(len(numbers))
    for side in (0, 1):
        fit, rest = np.flatnonzero(fold != side), np.flatnonzero(fold == side)
        half, other = fit[: len(fit) // 2], fit[len(fit) // 2 :]
        guess, width = _best_guess(features, numbers, half, other, least, seed)
        losses[rest] = 0.5 * (np.log(width) + (numbers[rest] - guess(features[rest])) ** 2 / width).sum(axis=1)
    return losses


def _best_guess(
    features: Array, numbers: Array, half: Codes, other: Codes, least: Array, seed: int
) -> tuple[Predictor, Array]:
    """The predictor with the least loss on the other rows, which also give its width."""
    x = _standard(features, half)
    centre, scale = numbers[half].mean(axis=0), column_scales(numbers[half])
    known, wanted = x(features[half]), (numbers[half] - centre) / scale
    candidates: list[Predictor] = [
        tree_numbers(features[half], numbers[half]),
        _after(kernel_regression(known, wanted, seed), x, centre, scale),
        _after(fit_net(known, wanted, _HIDDEN, soft=False, seed=seed), x, centre, scale),
    ]
    widths = [np.maximum(np.mean((numbers[other] - g(features[other])) ** 2, axis=0), least) for g in candidates]
    best = int(np.argmin([float(np.log(width).sum()) for width in widths]))
    return candidates[best], widths[best]


def _standard(features: Array, rows: Codes) -> Predictor:
    centre, scale = features[rows].mean(axis=0), column_scales(features[rows])
    return lambda some: np.clip((some - centre) / scale, -_FAR, _FAR)


def _after(model: Predictor, x: Predictor, centre: Array, scale: Array) -> Predictor:
    """A model of standard numbers from standard features, in the units of both."""
    return lambda some: centre + scale * model(x(some))


def _losses(block: Block, features: Array, rows: Codes, seed: int) -> Array:
    if block.discrete:
        return label_losses(features, block.values[rows], seed)
    return number_losses(features, block.summary[rows], seed)


def predictive_gain(blocks: Sequence[Block], latent: Array, rows: Codes, delta: float, seed: int) -> Bound:
    """Bound how much earlier blocks help to predict later ones once Λ is known, summed along the chain.

    TC(X|Λ) = Σ_i I(X_i; X_{<i}|Λ); here each term is the gain in held-out log-loss of predictors. It is
    an upper confidence bound for the best of several predictors, chosen on rows set aside: another may gain more.

    Args:
        blocks: The observables, in order.
        latent: A draw of Λ, (rows, columns).
        rows: Row numbers to use.
        delta: One minus the confidence.
        seed: Of the folds.

    Returns:
        Upper bound in nats, for these predictors only.
    """
    total = np.zeros(len(rows))
    for i in range(1, len(blocks)):
        earlier = np.hstack([block.features[rows] for block in blocks[:i]])
        without = _losses(blocks[i], latent[rows], rows, seed)
        total += without - _losses(blocks[i], np.hstack([latent[rows], earlier]), rows, seed)
    value = max(0.0, mean_upper(total, np.inf, delta, "t"))
    return Bound(
        value,
        "upper",
        confidence=1 - delta,
        method=f"gain of the best of {PREDICTORS}, two-fold held-out log-loss",
        assumptions=("speaks of these predictors only", "many rows"),
        n=len(rows),
        seed=seed,
    )


def domain_information(domain: Codes, known: Array, added: Array, seed: int) -> Bound:
    """Estimate I(J; added | known) as the drop in a domain classifier's held-out log-loss.

    Args:
        domain: Codes (rows,).
        known: Features (rows, columns) of the condition.
        added: Features (rows, columns).
        seed: Of the folds.

    Returns:
        An estimate in nats.
    """
    gain = label_losses(known, domain, seed) - label_losses(np.hstack([known, added]), domain, seed)
    return Bound(max(0.0, float(gain.mean())), "estimate", method=_CLASS, n=len(domain), seed=seed)
