"""Where a certificate is: the part that begins, and how much of the expected work is done and left."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from latentry.certificate.leading_components import is_label
from latentry.certificate.subject import Subject
from latentry.contracts import HasLatentDistributions

__all__ = ["Stage", "stages"]


class Stage(str):
    """The name of a part, as text, with the work expected of the parts before it, of itself, and of all.

    Work is counted in seconds of one core of the machine on which it was measured once; only ratios matter.

    >>> stage = Stage("natural", done=2.0, own=6.0, total=9.0)
    >>> stage == "natural", stage.left
    (True, 7.0)
    """

    done: float
    own: float
    total: float

    def __new__(cls, name: str, *, done: float, own: float, total: float) -> Stage:
        self = super().__new__(cls, name)
        self.done, self.own, self.total = done, own, total
        return self

    @property
    def left(self) -> float:
        """Return the work that is not done when the part begins."""
        return self.total - self.done


def stages(names: Sequence[str], subject: Subject) -> Iterator[Stage]:
    """Yield the chosen parts in order, each with the work around it.

    Args:
        names: Of the parts.
        subject: What is certified.

    Returns:
        An iterator over stages.
    """
    own = [_WORK[name](subject) for name in names]
    ends = np.concatenate([[0.0], np.cumsum(own)])
    for name, work, done in zip(names, own, ends[:-1], strict=True):
        yield Stage(name, done=float(done), own=work, total=float(ends[-1]))


_NOTHING = 0.01


def _informative(subject: Subject) -> float:
    """Estimate the work of all estimates: those between numbers cost, those with labels do not."""
    data = subject.observables
    numbers = sum(not is_label(data, name) for name in data.names)
    latents = 0 if subject.latents is None else min(subject.latents.mean.shape[1], 8) + 1
    return 0.2 + 0.5 * numbers * latents


def _natural(subject: Subject) -> float:
    """Estimate the work of judging each latent in every place; tables of labels are quick."""
    data = subject.observables
    numbers = sum(not is_label(data, name) for name in data.names)
    domains = 1 if subject.domain is None else len(np.unique(subject.domain))
    places = domains + (domains > 1)
    return (0.1 + 0.4 * numbers) * len(subject.candidates) * places if len(data.names) > 1 else _NOTHING


_WORK: Mapping[str, Callable[[Subject], float]] = MappingProxyType(
    {
        "fit": lambda subject: _NOTHING if subject.model is None else 1.5,
        "identifiable": lambda subject: 1.0 if isinstance(subject.model, HasLatentDistributions) else _NOTHING,
        "informative": _informative,
        "natural": _natural,
        "causal": lambda subject: 0.1 if len(subject.nodes) > 1 else _NOTHING,
        "controls": lambda subject: 0.2 + 0.1 * len(subject.observables.names),
    }
)
