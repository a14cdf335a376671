"""Naturality that says little: latents that the domain fixes, and observables that hold copies of each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latentry.data import CategoricalChannel, GaussianChannel
from latentry.natural.from_samples.audit_rows import Rows

__all__ = ["reasons_to_call_it_empty"]

_SAME = 1e-9  # by which probabilities may differ and be the same
_LEAST = 0.01  # signal of a latent, as a fraction of its noise, below which it is constant


def reasons_to_call_it_empty(rows: Rows) -> tuple[str, ...]:
    """Say why a latent would be natural over these observables whatever it means.

    Cost: linear in the rows.

    Args:
        rows: The rows to audit.

    Returns:
        Sentences without a full stop; none where there is no such reason.
    """
    if len(rows.domains) > 1 and _fixed_by_domain(rows):
        return ("Λ is a function of the domain, so that it is constant in each of them", *rows.copied)
    return rows.copied


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
