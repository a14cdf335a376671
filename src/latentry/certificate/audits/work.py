"""How much work an audit is expected to be: in seconds of one core of the machine on which it was measured once."""

from __future__ import annotations

import numpy as np

from latentry.certificate.leading_components import is_label
from latentry.certificate.subject import Subject
from latentry.contracts import HasLatentDistributions

__all__ = [
    "causal_work",
    "controls_work",
    "domains_work",
    "fit_work",
    "identifiable_work",
    "informative_work",
    "natural_work",
    "variables_work",
]

_NOTHING = 0.01


def variables_work(subject: Subject) -> float:
    """Estimate the work of describing each variable.

    Args:
        subject: What is certified.

    Returns:
        Seconds.
    """
    return 0.1 * len(subject.observables.names)


def domains_work(subject: Subject) -> float:
    """Estimate the work of guessing the domain.

    Args:
        subject: What is certified.

    Returns:
        Seconds.
    """
    return _NOTHING if subject.domain is None else 0.3 * min(len(np.unique(subject.domain)), 12)


def fit_work(subject: Subject) -> float:
    """Estimate the work of scoring rows.

    Args:
        subject: What is certified.

    Returns:
        Seconds.
    """
    return _NOTHING if subject.model is None else 1.5


def identifiable_work(subject: Subject) -> float:
    """Estimate the work of asking whether the domains change enough.

    Args:
        subject: What is certified.

    Returns:
        Seconds.
    """
    return 1.0 if isinstance(subject.model, HasLatentDistributions) else _NOTHING


def informative_work(subject: Subject) -> float:
    """Estimate the work of all estimates: those between numbers cost, those with labels do not.

    Args:
        subject: What is certified.

    Returns:
        Seconds.
    """
    latents = 0 if subject.latents is None else min(subject.latents.mean.shape[1], 8) + 1
    return 0.2 + 0.5 * _tables_of_numbers(subject) * latents


def natural_work(subject: Subject) -> float:
    """Estimate the work of judging each latent in every place; tables of labels are quick.

    Args:
        subject: What is certified.

    Returns:
        Seconds.
    """
    domains = 1 if subject.domain is None else len(np.unique(subject.domain))
    places = domains + (domains > 1)
    if len(subject.observables.names) < 2:
        return _NOTHING
    return (0.1 + 0.4 * _tables_of_numbers(subject)) * len(subject.candidates) * places


def causal_work(subject: Subject) -> float:
    """Estimate the work of testing a graph on new rows.

    Args:
        subject: What is certified.

    Returns:
        Seconds.
    """
    return 0.1 if len(subject.nodes) > 1 else _NOTHING


def controls_work(subject: Subject) -> float:
    """Estimate the work of asking about worthless latents and domains.

    Args:
        subject: What is certified.

    Returns:
        Seconds.
    """
    return 0.2 + 0.1 * len(subject.observables.names)


def _tables_of_numbers(subject: Subject) -> int:
    data = subject.observables
    return sum(not is_label(data, name) for name in data.names)
