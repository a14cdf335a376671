"""How many threads work may use: decided here for every room.

Threads that wait for each other (OpenMP, linear algebra) are harmful where a piece of work is small or other programs are
running: each round lasts as long as its slowest thread. So small work runs on one thread. Independent pieces of work
are different: they need not wait for each other, and run side by side on every core.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import Protocol, TypeVar

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

__all__ = ["cores", "side_by_side", "single_threaded"]

In = TypeVar("In")
Out = TypeVar("Out")


class _Limit(Protocol):
    def restore_original_limits(self) -> None:
        """Take the limits back."""
        ...


class _Inside:
    """How many callers are in :func:`single_threaded`: the first sets the limit, the last takes it back."""

    depth = 0
    limit: _Limit | None = None


_inside, _lock = _Inside(), Lock()


def cores() -> int:
    """Count the cores that this process may use.

    Returns:
        At least 1.

    >>> cores() >= 1
    True
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def side_by_side(task: Callable[[In], Out], items: Iterable[In], *, threads: int | None = None) -> list[Out]:
    """Map a task over independent items, on as many threads as there are cores; results come in the items' order.

    It pays where the task spends its time outside the interpreter (NumPy, compiled code).

    Args:
        task: Called once for each item.
        items: Independent pieces of work.
        threads: At most so many; all cores by default. One runs the items in turn, here.

    Returns:
        A result for each item.

    >>> side_by_side(abs, [-2, 1])
    [2, 1]
    """
    listed = list(items)
    count = min(len(listed), cores() if threads is None else threads)
    if count <= 1:
        return [task(item) for item in listed]
    with single_threaded(), ThreadPoolExecutor(count, initializer=_one_openmp_thread) as pool:
        return list(pool.map(task, listed))


def _one_openmp_thread() -> None:
    # OpenMP keeps its limit for each thread by itself, so a new thread must set its own.
    ThreadpoolController().limit(limits=1, user_api="openmp")


@contextmanager
def single_threaded() -> Iterator[None]:
    """Keep OpenMP and linear algebra on one thread each inside: for small problems, and for tasks that run side by side.

    Yields:
        Nothing; the limits are taken back at the end.
    """
    with _lock:
        if _inside.depth == 0:
            _inside.limit = ThreadpoolController().limit(limits=1)
        _inside.depth += 1
    try:
        yield
    finally:
        with _lock:
            _inside.depth -= 1
            if _inside.depth == 0 and _inside.limit is not None:
                _inside.limit.restore_original_limits()
