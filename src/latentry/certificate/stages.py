"""Where a certificate is: the part that begins, and how much of the expected work is done and left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from latentry.certificate.audits import AUDITS
from latentry.certificate.subject import Subject

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
    own = [AUDITS[name].work(subject) for name in names]
    ends = np.concatenate([[0.0], np.cumsum(own)])
    for name, work, done in zip(names, own, ends[:-1], strict=True):
        yield Stage(name, done=float(done), own=work, total=float(ends[-1]))
