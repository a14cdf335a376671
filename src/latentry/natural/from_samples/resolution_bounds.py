"""Upper bounds of the mediation error of numbers at a declared resolution, valid at every sample size.

Let X_i′ = X_i + σ_i N with σ_i declared. Whatever else is known, h(X_i′|·) ≥ h(σ_i N), so that for any predictor q_i(x|λ)

    TC(X′|Λ) = Σ_i I(X_i′; X′_{<i}|Λ) ≤ Σ_{i>1} E D(N(X_i, σ_i²)‖q_i(·|Λ)),

and the same with −ln q_i(X_i|Λ) for labels, which need no noise. The first observable costs nothing, and any of them can be
the first. The slack is what an observable shows of itself at that resolution beyond Λ: small for a sensor whose noise is below
σ, large for pictures. Numbers beyond the range of the rows that fit count as its ends, so that the losses are bounded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latentry.data import CategoricalChannel
from latentry.errors import DataError, nearest
from latentry.natural.from_samples.audit_rows import Rows
from latentry.natural.from_samples.mean_bounds import staged_upper
from latentry.natural.from_samples.observables import Block, Codes, block_of
from latentry.natural.from_samples.redundancy_bounds import Guess, Lesson, lesson_of_labels, students_of_numbers
from latentry.streams import stream

__all__ = ["check_resolution", "resolution_lessons", "resolution_spread", "resolution_upper", "resolution_words"]

Array = NDArray[np.float64]
_WIDE = 0.02  # weight of a wide normal beside the predictor's, which keeps the loss bounded


def check_resolution(resolution: float | Mapping[str, float] | None, rows: Rows) -> dict[str, float]:
    """Give every block of numbers its σ, and refuse what is not one.

    Args:
        resolution: One σ for all blocks of numbers, or one for each by name.
        rows: The rows to audit.

    Returns:
        σ by name; empty where none was declared.

    Raises:
        DataError: If a σ is not positive, a name is unknown or has labels, or two blocks of numbers have none.
    """
    if resolution is None:
        return {}
    names = [block.name for block in rows.blocks if not block.discrete]
    given = dict(resolution) if isinstance(resolution, Mapping) else dict.fromkeys(names, float(resolution))
    for name, sigma in given.items():
        if name not in names:
            raise DataError(f"resolution={given}: {name!r} is no block of numbers{nearest(str(name), names)}")
        if not 0 < sigma < np.inf:
            raise DataError(f"resolution={given}: σ of {name!r} must be positive and finite.")
    without = [name for name in names if name not in given]
    if not names or len(without) > 1:
        reason = f"{without} have none, and only one block may go without" if names else "every block holds labels"
        raise DataError(f"resolution={given}: {reason}. Declare σ for each block of numbers but one.")
    return given


def resolution_words(resolution: Mapping[str, float]) -> str:
    """Name the resolution of each block.

    >>> resolution_words({"curve": 0.5})
    'at resolution σ = 0.5 (curve)'

    Args:
        resolution: σ by name.

    Returns:
        A phrase.
    """
    return "at resolution σ = " + ", ".join(f"{sigma:g} ({name})" for name, sigma in resolution.items())


def resolution_lessons(
    rows: Rows, resolution: Mapping[str, float], fit: Codes, audit: Codes, seed: int
) -> dict[str, Lesson]:
    """Fit predictors of each block from Λ on some rows and measure them on others.

    Args:
        rows: The rows to audit.
        resolution: σ by name.
        fit: Row numbers on which they are fitted.
        audit: Row numbers on which they are measured.
        seed: Of the draw of the latent and of the predictors.

    Returns:
        Losses of the blocks that are labels or have a σ, by name.
    """
    drawn = rows.latent_sample(seed)
    if rows.categorical:
        latent = Block.of_labels("latent", drawn)
    else:
        latent = block_of("latent", drawn, np.arange(len(drawn)), label=False, fit=fit, seed=seed)
    lessons = {}
    for block in rows.blocks:
        if block.discrete:
            labels = CategoricalChannel(np.eye(block.levels or 1)[block.values])
            lessons[block.name] = lesson_of_labels(labels, latent, [fit, audit], seed)
        elif block.name in resolution:
            lessons[block.name] = _lesson_of_numbers(block, latent, resolution[block.name], fit, audit, seed)
    return lessons


def resolution_upper(places: Sequence[Mapping[str, Lesson]], blocks: int, delta: float, seed: int) -> float:
    """Bound the mediation error in every mixture of the places from above.

    Args:
        places: Lessons of the same predictors in each domain.
        blocks: How many observables there are.
        delta: One minus the confidence.
        seed: Of the bets.

    Returns:
        Nats.
    """
    names = list(places[0])
    # The block that comes first costs nothing: the one without lesson, or any, each at its part of δ.
    kept = [names] if len(names) < blocks else [[name for name in names if name != first] for first in names]
    return min(
        staged_upper(
            [[np.sum([place[name].losses for name in chosen], axis=0) for place in places]],
            sum(places[0][name].top for name in chosen),
            delta / len(kept),
            seed=seed,
        )
        for chosen in kept
    )


def resolution_spread(places: Sequence[Mapping[str, Lesson]], blocks: int) -> tuple[float, float]:
    """Estimate what the bound would be for many rows, and the variance of one row's part in it.

    Args:
        places: Lessons of the same predictors in each domain.
        blocks: How many observables there are.

    Returns:
        Nats, and nats squared, in the worst place.
    """

    def of(place: Mapping[str, Lesson]) -> tuple[float, float]:
        ordered = sorted((lesson.losses for lesson in place.values()), key=np.mean)
        total = np.sum(ordered[: blocks - 1], axis=0)
        return float(total.mean()), float(total.var())

    return max(of(place) for place in places)


def _lesson_of_numbers(block: Block, latent: Block, sigma: float, fit: Codes, audit: Codes, seed: int) -> Lesson:
    """D(N(x, σ²)‖q) for a normal q around the best guess, or for a wide one where that costs less."""
    low, high = block.values[fit].min(axis=0), block.values[fit].max(axis=0)
    x = np.clip(np.asarray(block.values, dtype=np.float64), low, high)
    name, guess, variance = _best_guess(x, latent, sigma, fit, seed)
    centre, spread = (low + high) / 2, np.maximum((high - low) / 2, sigma) ** 2

    def divergence(gap: ArrayLike, width: Array) -> Array:
        total: Array = 0.5 * (np.log(width / sigma**2) + (sigma**2 + np.square(gap)) / width - 1.0).sum(axis=-1)
        return total

    near = divergence(x[audit] - np.clip(guess(audit), low, high), variance(audit)) - np.log(1 - _WIDE)
    wide = divergence(x[audit] - centre, spread) - np.log(_WIDE)
    top = float(divergence((high - low) / 2, spread)) - np.log(_WIDE)
    return Lesson(np.minimum(near, wide), audit, top, name, np.zeros(len(audit), dtype=np.int64))


def _best_guess(x: Array, latent: Block, sigma: float, fit: Codes, seed: int) -> tuple[str, Guess, Guess]:
    """Means and variances from Λ, each value of it by itself, or by the student with the least loss on a third of the fit rows."""
    if latent.discrete:
        return "means of each value of Λ", *_by_value(x, latent, sigma, fit)
    held, rest = np.split(stream("natural/resolution", seed).permutation(fit), [len(fit) // 3])
    found = {}
    for name, student in students_of_numbers(latent, len(rest)).items():
        guess = student(x, latent, rest, seed)
        width = np.maximum(sigma**2 + np.mean((x[held] - guess(held)) ** 2, axis=0), sigma**2)
        found[name] = float(np.log(width).sum()), guess, width
    best = min(found, key=lambda name: found[name][0])
    _, guess, width = found[best]
    return best, guess, lambda rows: np.broadcast_to(width, (len(rows), x.shape[1]))


def _by_value(x: Array, latent: Block, sigma: float, fit: Codes) -> tuple[Guess, Guess]:
    """Mean and variance of the rows with each value of Λ, drawn to those of all rows by one row's worth."""
    codes, levels = latent.values, latent.levels or 1
    counts = np.bincount(codes[fit], minlength=levels)[:, None] + 1.0

    def average(of: Array) -> Array:
        sums = np.zeros((levels, of.shape[1]))
        np.add.at(sums, codes[fit], of[fit])
        means: Array = (sums + of[fit].mean(axis=0)) / counts
        return means

    means = average(x)
    variances = sigma**2 + average((x - means[codes]) ** 2) * (1 + 1 / counts)
    return lambda rows: means[codes[rows]], lambda rows: variances[codes[rows]]
