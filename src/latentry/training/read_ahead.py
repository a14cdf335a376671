"""Reading what comes next while the device computes."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Generic, TypeVar, final

__all__ = ["ReadAhead"]

Read = TypeVar("Read")


@cache
def _reader() -> ThreadPoolExecutor:
    """Return the one thread that reads: two would wait for the same disk."""
    return ThreadPoolExecutor(1, thread_name_prefix="latentry-read")


@final
class ReadAhead(Generic[Read]):
    """Holds one result that is made in the background, under a name.

    What goes wrong there is raised where the result is taken.

    >>> ahead = ReadAhead()
    >>> ahead.begin("second", lambda: 2)
    >>> ahead.take("first", lambda: 1), ahead.take("second", lambda: 2)
    (1, 2)
    """

    def __init__(self) -> None:
        self._begun: tuple[Hashable, Future[Read]] | None = None

    def begin(self, name: Hashable, read: Callable[[], Read]) -> None:
        """Start to make a result.

        Args:
            name: Under which it is taken.
            read: Makes it, in another thread.
        """
        self._begun = (name, _reader().submit(read))

    def take(self, name: Hashable, read: Callable[[], Read]) -> Read:
        """Return a result; one that was begun under another name stays for its turn.

        Args:
            name: Of the result.
            read: Makes it here, if it was not begun.

        Returns:
            The result.
        """
        if self._begun is None or self._begun[0] != name:
            return read()
        (_, begun), self._begun = self._begun, None
        return begun.result()

    def drop(self) -> None:
        """Forget what was begun."""
        if self._begun is not None:
            self._begun[1].cancel()
            self._begun = None
