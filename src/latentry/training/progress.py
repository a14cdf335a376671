"""A progress bar with loss, rate and time left, or nothing."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

__all__ = ["Bar", "wants_bar"]


def wants_bar(progress: bool | str) -> bool:
    """Decide whether to show a bar: ``"auto"`` shows it to people, in a terminal or a notebook.

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
    """A context that shows how far a run is; ``shown=False`` makes it silent."""

    def __init__(self, total: int, *, shown: bool) -> None:
        self._task = TaskID(0)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[words]}"),
            _Rate(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            disable=not shown,
            transient=False,
        )
        self._total, self.began = total, time.monotonic()

    def __enter__(self) -> Bar:
        self._bar.start()
        self._task = self._bar.add_task("training", total=self._total, words="")
        return self

    def show(self, done: int, description: str, words: str) -> None:
        """Show how far a run is, where, and the latest loss.

        Args:
            done: Optimiser steps so far.
            description: Restart, phase and epoch.
            words: The latest loss, formatted.
        """
        self._bar.update(self._task, completed=done, description=description, words=words)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
