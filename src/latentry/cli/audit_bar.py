"""A bar that says which audit of a certificate runs, and about how long the rest will take."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.progress_bar import ProgressBar
from rich.text import Text

from latentry.certificate import Stage

__all__ = ["Clock", "audit_bar"]

_SLIGHT = 0.05  # of the work, before which the pace so far says little


@dataclass(frozen=True)
class Clock:
    """Time left, from the work of the parts: as slow as the parts so far, or as expected while there are none.

    Args:
        began: when the first part with known work began, in seconds.
        part: when the present part began.
        done: work before the present part.
        own: work of the present part.
        total: work of all parts.
    """

    began: float
    part: float
    done: float = 0.0
    own: float = 0.0
    total: float = 0.0

    def at(self, stage: str, now: float) -> Clock:
        """Return the clock when a part begins; a name without work (a restart) says nothing about time.

        Args:
            stage: The part, with its work if that is known.
            now: In seconds.

        Returns:
            A new clock.
        """
        if not isinstance(stage, Stage) or not stage.total:
            return Clock(now, now)
        began = self.began if self.total else now
        return replace(self, began=began, part=now, done=stage.done, own=stage.own, total=stage.total)

    def left(self, now: float) -> float | None:
        """Return the seconds left: at least what the parts after this one will take.

        Args:
            now: In seconds.

        Returns:
            Seconds; None where nothing is known.

        >>> clock = Clock(began=0.0, part=4.0, done=2.0, own=3.0, total=6.0)
        >>> clock.left(4.0), clock.left(6.0), clock.left(100.0)
        (8.0, 6.0, 2.0)
        """
        if not self.total:
            return None
        pace = (self.part - self.began) / self.done if self.done > _SLIGHT * self.total else 1.0
        later = pace * (self.total - self.done - self.own)
        return later + max(0.0, pace * self.own - (now - self.part))

    def fraction(self, now: float) -> float | None:
        """Return the fraction of the whole time that has passed.

        Args:
            now: In seconds.

        Returns:
            Between 0 and 1; None where nothing is known.
        """
        left = self.left(now)
        return None if left is None else (now - self.began) / max(now - self.began + left, 1e-9)


class _Left(ProgressColumn):
    def render(self, task: Task) -> Text:
        left = task.fields["clock"].left(time.monotonic())
        return Text("" if left is None else f"about {left:.0f} s left" if left >= 1 else "nearly done")


class _Bar(BarColumn):
    """Follows the clock, also while a part runs."""

    def render(self, task: Task) -> ProgressBar:
        fraction = task.fields["clock"].fraction(time.monotonic())
        task.total, task.completed = (None, 0) if fraction is None else (1.0, fraction)
        return super().render(task)


@contextmanager
def audit_bar(*, quiet: bool) -> Iterator[Callable[[str], None] | None]:
    """Show a bar, where somebody is watching.

    Args:
        quiet: Whether to show nothing.

    Returns:
        A context, of what `certify` may call with the name of each part; of None where nobody is watching.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    clock = Clock(time.monotonic(), time.monotonic())
    columns = TextColumn("{task.description}"), _Bar(), _Left()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("auditing", total=None, clock=clock)

        def show(name: str) -> None:
            nonlocal clock
            clock = clock.at(name, time.monotonic())
            bar.update(task, description=f"auditing: {name}", clock=clock)

        yield show
