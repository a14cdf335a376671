"""Lengths of time in words, and how much of a run is left."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["TimeLeft", "in_words"]


def in_words(seconds: float) -> str:
    """Return a length of time as somebody would say it.

    Args:
        seconds: At least 0.

    Returns:
        Two digits at most.

    >>> [in_words(s) for s in (0.4, 42, 59, 61, 719, 5400, 9000, 200000)]
    ['1 s', '40 s', '1 minute', '1 minute', '12 minutes', '1.5 hours', '2.5 hours', '2.3 days']
    """
    if seconds < 55:
        return f"{max(1, round(seconds, -1) if seconds > 20 else round(seconds)):.0f} s"
    if seconds < 80 * 60:
        minutes = round(seconds / 60)
        return f"{minutes} minute{'s' * (minutes != 1)}"
    hours = seconds / 3600
    return f"{hours:.2g} hours" if hours < 36 else f"{hours / 24:.2g} days"


class TimeLeft:
    """Estimates what is left of a run from its pace. Compiling, at its beginning, is left out."""

    def __init__(self, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._total, self._clock = total, clock
        self._from: tuple[int, float] | None = None  # steps and time from where the pace is measured
        self._stages: set[str] = set()

    def seconds(self, done: int, stage: str) -> float | None:
        """Note how far a run is, and return the seconds that are left.

        Args:
            done: Steps so far.
            stage: Of the run: at the first steps of each a program is compiled.

        Returns:
            An estimate, or None until steps have been taken after compiling.
        """
        now = self._clock()
        if stage not in self._stages:  # these steps were compiled
            self._stages.add(stage)
            self._from = (done, now)
            return None
        assert self._from is not None
        steps, since = self._from
        if done <= steps or now <= since:
            return None
        return (self._total - done) * (now - since) / (done - steps)
