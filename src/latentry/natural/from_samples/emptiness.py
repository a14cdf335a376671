"""Naturality that says little: latents that the domain fixes, and observables that are copies of each other."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from latentry.data import CategoricalChannel, GaussianChannel, varying_columns
from latentry.natural.from_samples.audit_rows import Rows
from latentry.natural.from_samples.observables import Block

__all__ = ["reasons_to_call_it_empty"]

Array = NDArray[np.float64]
_SAME = 1e-9  # of the variance that may differ between copies
_LEAST = 0.01  # signal of a latent, as a fraction of its noise, below which it is constant


def reasons_to_call_it_empty(rows: Rows) -> tuple[str, ...]:
    """Say why a latent would be natural over these observables whatever it means.

    Args:
        rows: The rows to audit.

    Returns:
        Sentences without a full stop; none where there is no such reason.
    """
    reasons = []
    if len(rows.domains) > 1 and _fixed_by_domain(rows):
        reasons.append("Λ is a function of the domain, so that it is constant in each of them")
    for first, second in combinations(rows.blocks, 2):
        if shared := _copied(first, second):
            reasons.append(f"{first.name} and {second.name} {shared}, which is redundant by construction")
    return tuple(reasons)


def _fixed_by_domain(rows: Rows) -> bool:
    """Whether Λ varies between domains and in none of them."""
    channel = rows.channel
    parts = [np.flatnonzero(rows.domain == j) for j in range(len(rows.domains))]
    if isinstance(channel, CategoricalChannel):
        table = channel.probabilities
        still = all(np.ptp(table[part], axis=0).max(initial=0.0) < _SAME for part in parts)
        return still and bool(np.ptp(table, axis=0).max() > _SAME)
    within = max(_signal(channel, part) for part in parts)
    return within < _LEAST**2 < _signal(channel, np.arange(len(rows.domain)))


def _signal(channel: GaussianChannel, part: NDArray[np.int64]) -> float:
    """The largest variance of a mean, in units of its noise."""
    return float((channel.mean[part].var(axis=0) / np.mean(channel.scale[part] ** 2, axis=0)).max())


def _copied(first: Block, second: Block) -> str:
    """What two blocks have in common, in words; nothing where no column of one is a copy of one of the other."""
    if first.discrete and second.discrete:
        pairs = len(np.unique(np.column_stack([first.values, second.values]), axis=0))
        many = (first.levels or 0) > 1
        return "hold the same labels" if many and pairs == first.levels == second.levels else ""
    if first.discrete or second.discrete:
        return ""
    a, b = (_standard(block.values) for block in (first, second))
    same = np.abs(a.T @ b) > 1.0 - _SAME
    count = int(same.any(axis=1).sum())
    if not count:
        return ""
    return "are copies of each other" if count == same.shape[0] == same.shape[1] else f"share {count} column(s)"


def _standard(values: Array) -> Array:
    """Varying columns, centred, of unit length."""
    kept = values[:, varying_columns(values)]
    centred = kept - kept.mean(axis=0)
    unit: Array = centred / np.linalg.norm(centred, axis=0)
    return unit
