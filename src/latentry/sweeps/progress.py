"""A bar over many fits: how many are done, how many failed, and about how long the rest takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from latentry.models import Outcome
from latentry.training import wants_bar

__all__ = ["watched"]


@contextmanager
def watched(total: int, before: int, progress: bool | str) -> Iterator[Callable[[str, Outcome], None]]:
    """Show how many fits are done.

    Args:
        total: Of all fits.
        before: That an earlier run had done.
        progress: True, False or "auto".

    Returns:
        A context that gives what is called with the name and outcome of each fit that ends.
    """
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[failed]} failed"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not wants_bar(progress),
    )
    with bar:
        task = bar.add_task("fits", total=total, completed=before, failed=0)
        failed = 0

        def say(name: str, outcome: Outcome) -> None:
            nonlocal failed
            failed += outcome.status != "done"
            bar.update(task, advance=1, description=name, failed=failed)

        yield say
