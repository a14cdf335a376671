"""How far a run is, with loss, rate and time left: a bar in a terminal, a few lines in a notebook or a file, or nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.text import Text

from latentry.training.duration import TimeLeft, in_words

__all__ = ["Bar", "wants_bar"]

_FIRST_LINE, _GROWTH = 5.0, 2.0  # seconds to the first line, and how much later than one line the next is


def wants_bar(progress: bool | str) -> bool:
    """Decide whether to show progress: ``"auto"`` shows it to people, in a terminal or a notebook.

    Args:
        progress: True, False or "auto".

    Returns:
        True to show it.
    """
    if progress == "auto":
        return sys.stderr.isatty() or "ipykernel" in sys.modules
    return bool(progress)


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        """Show steps per second."""
        return Text(f"{task.speed:,.0f} steps/s" if task.speed else "compiling")


class Bar:
    """A context that shows how far a run is; ``shown=False`` makes it silent.

    A terminal gets a bar. Elsewhere (a notebook, a file) lines are printed, each after twice the time of the one before.
    """

    def __init__(self, total: int, *, shown: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._task = TaskID(0)
        drawn = shown and sys.stderr.isatty()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[words]}"),
            _Rate(),
            TextColumn("{task.fields[left]}"),
            console=Console(stderr=True),
            disable=not drawn,
            transient=False,
        )
        self._total, self._left, self._lines = total, TimeLeft(total, clock), shown and not drawn
        self._clock, self._began, self._next = clock, clock(), _FIRST_LINE

    def __enter__(self) -> Bar:
        self._bar.start()
        self._task = self._bar.add_task("training", total=self._total, words="", left="")
        return self

    def show(self, done: int, description: str, words: str, stage: str = "") -> None:
        """Show how far a run is, where, the latest loss, and the time that is left.

        Args:
            done: Optimiser steps so far.
            description: Restart, phase and epoch.
            words: The latest loss, formatted.
            stage: Of the run: the first steps of each are compiled, and say nothing of the pace.
        """
        seconds = self._left.seconds(done, stage)
        left = "" if seconds is None or done >= self._total else f"about {in_words(seconds)} left"
        self._bar.update(self._task, completed=done, description=description, words=words, left=left)
        elapsed = self._clock() - self._began
        if self._lines and left and elapsed >= self._next:
            sys.stderr.write(f"{description}: {words}{', ' * bool(words)}{left}\n")
            sys.stderr.flush()
            self._next = _GROWTH * elapsed

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
