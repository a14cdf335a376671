"""The engine that needs nothing: one piece of work after the other, in this process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import final

from latentry.training.engines.engine import Engine, TextTask

__all__ = ["Here"]


@final
class Here(Engine):
    """Run pieces of work in turn in this process: for debugging, and where other processes cannot be started."""

    @property
    def restarts(self) -> bool:
        """Return False: what fails here fails again."""
        return False

    def stream(self, task: TextTask, texts: Sequence[str]) -> Iterator[tuple[int, str | Exception]]:
        """Run a task on each text, in order.

        Args:
            task: Any function of a text.
            texts: Descriptions of work.

        Yields:
            Place and result.
        """
        for place, text in enumerate(texts):
            yield place, task(text)
