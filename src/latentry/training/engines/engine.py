"""What an engine is, and pieces of work run on one, again where their process died.

A piece of work is a text, and so is its result: a description that any process on any machine can carry out. No objects travel, so
nothing is pickled by us, no thread or device is shared, and the same descriptions give the same results on every engine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Self, TypeAlias

__all__ = ["Engine", "TextTask", "run_texts"]

TextTask: TypeAlias = Callable[[str], str]  # a function that stands in a module, so that other processes find it


class Engine(AbstractContextManager["Engine"], ABC):
    """Runs pieces of work that do not depend on each other; a context that gives back what it started."""

    @abstractmethod
    def stream(self, task: TextTask, texts: Sequence[str]) -> Iterator[tuple[int, str | Exception]]:
        """Run a task on each text.

        Args:
            task: A function of a module.
            texts: Descriptions of work.

        Yields:
            The place of a text and its result, as they come; an exception where its process or engine failed.
        """

    @property
    @abstractmethod
    def restarts(self) -> bool:
        """Return whether work whose process died can be given to it once more."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Give back what was started; the default has nothing."""


def run_texts(
    engine: Engine, task: TextTask, texts: Sequence[str], *, tries: int = 2
) -> Iterator[tuple[int, str | Exception]]:
    """Run a task on each text, once more where its process died.

    Args:
        engine: That is entered.
        task: A function of a module; it explains its own problems in its result.
        texts: Descriptions of work.
        tries: How often a piece of work is begun at most.

    Returns:
        The place of each text and its result, or the exception that ended its last try, as they come.

    >>> from latentry.training.engines.here import Here
    >>> sorted(run_texts(Here(), str.upper, ["a", "b"]))
    [(0, 'A'), (1, 'B')]
    """
    left = list(range(len(texts)))
    for attempt in range(1, tries + 1):
        again = []
        for place, result in engine.stream(task, [texts[i] for i in left]):
            if isinstance(result, Exception) and engine.restarts and attempt < tries:
                again.append(left[place])
            else:
                yield left[place], result
        left = sorted(again)
        if not left:
            return
