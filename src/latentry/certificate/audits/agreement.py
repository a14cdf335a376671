"""Whether fits from other seeds agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from latentry.certificate.question import Number
from latentry.certificate.subject import Subject
from latentry.contracts import KeepsFitRecord
from latentry.evidence import Bound, Verdict
from latentry.identifiability import agreement

__all__ = ["distinct_fits", "history_of", "restart_losses", "restarts_agree"]

_AGREE = 0.9  # adjusted Rand index of two fits that count as the same


def restarts_agree(subject: Subject) -> Iterator[tuple[str, Verdict]]:
    """Compare restarts: by clusters where a model has them, else by latents up to order, scale and sign.

    Args:
        subject: Rows and their latents.

    Returns:
        One claim at most; none without restarts.
    """
    fits = distinct_fits(subject)
    if len(fits) < 2:
        return
    if subject.clusters is not None and all(one.clusters is not None for one in fits):
        yield "restarts agree", _same_clusters([one.clusters.most_likely for one in fits if one.clusters is not None])
    elif subject.latents is not None:
        yield "restarts agree", agreement([one.latents.mean for one in fits if one.latents is not None]).verdict


def distinct_fits(subject: Subject) -> tuple[Subject, ...]:
    """Return this fit and those that are not one of the others once more: a fit that was given twice agrees with itself.

    Args:
        subject: Rows and their latents, of several fits.

    Returns:
        Fits of which no two have the same numbers.
    """
    fits = [subject]
    for other in subject.others:
        if not any(_equal(one, other) for one in fits):
            fits.append(other)
    return tuple(fits)


def _equal(one: Subject, other: Subject) -> bool:
    if one.latents is not None and other.latents is not None:
        return np.array_equal(one.latents.mean, other.latents.mean)
    if one.clusters is not None and other.clusters is not None:
        return np.array_equal(one.clusters.probabilities, other.clusters.probabilities)
    return False


def _same_clusters(codes: list[np.ndarray]) -> Verdict:
    """Judge clusters as latents are: disagreement shows that the data leave them open, agreement proves nothing."""
    lowest = min(float(adjusted_rand_score(a, b)) for a, b in combinations(codes, 2))
    numbers = {"lowest adjusted Rand index": Bound(lowest, method="adjusted Rand index", n=len(codes[0]))}
    if lowest < _AGREE:
        sentence = (
            f"{len(codes)} fits do not find the same clusters (adjusted Rand index {lowest:.2f}, declared {_AGREE:g})."
        )
        return Verdict("refuted", sentence, numbers, "longer training, or fewer values of the nodes")
    sentence = (
        f"{len(codes)} fits find the same clusters (adjusted Rand index at least {lowest:.2f}), or share one bias."
    )
    return Verdict("cannot say", sentence, numbers, "clusters that are known for some rows")


def history_of(model: object) -> Sequence[Mapping[str, Any]]:
    """Return the metrics of each epoch, where a model keeps them.

    Args:
        model: Of any kind, or None.

    Returns:
        A row for each epoch; none where they are not kept.
    """
    return model.fit_history() if isinstance(model, KeepsFitRecord) else ()


def restart_losses(subject: Subject) -> dict[str, Number]:
    """Return the range of the best held-out losses of the restarts of the fit itself, of which the least was kept.

    Args:
        subject: Rows and their latents.

    Returns:
        The least and the largest loss, by name; nothing without restarts.
    """
    losses: dict[int, float] = {}
    for row in history_of(subject.model):
        loss = row.get("held_out_loss")
        if loss is not None and np.isfinite(loss):
            losses[row["restart"]] = min(loss, losses.get(row["restart"], np.inf))
    if len(losses) < 2:
        return {}
    method = "best epoch of each restart, on the rows that the fit held out"
    ends = {"least": min(losses.values()), "largest": max(losses.values())}
    return {
        f"{word} held-out loss of {len(losses)} restarts": Bound(value, "estimate", method=method)
        for word, value in ends.items()
    }
