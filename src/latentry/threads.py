"""How many threads work may use: decided here for every room.

Threads that wait for each other (OpenMP, linear algebra) are harmful where a piece of work is small or other programs are
running: each round lasts as long as its slowest thread. So small work runs on one thread. Independent pieces of work
are different: they wait for nothing, and run side by side on every core.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

__all__ = ["cores", "free_cores", "side_by_side", "single_threaded"]

In = TypeVar("In")
Out = TypeVar("Out")


def cores() -> int:
    """Count the cores that this process may use.

    >>> cores() >= 1
    True
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def free_cores() -> int:
    """Count the cores that no other work is using at this moment: at least one, at most :func:`cores`.

    >>> 1 <= free_cores() <= cores()
    True
    """
    return max(1, min(cores(), round((os.cpu_count() or 1) - _running_elsewhere())))


def _running_elsewhere() -> float:
    """Threads of the machine that run or wait for a core, less this one; where the system does not say, its average load."""
    try:
        with open("/proc/loadavg", encoding="ascii") as file:
            return max(0, int(file.read().split()[3].split("/")[0]) - 1)
    except (OSError, ValueError, IndexError):
        return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def side_by_side(task: Callable[[In], Out], items: Iterable[In], *, threads: int | None = None) -> list[Out]:
    """Map a task over independent items, on as many threads as there are cores; results come in the items' order.

    It pays where the task spends its time outside the interpreter (NumPy, compiled code).

    Args:
        task: Called once for each item.
        items: Independent pieces of work.
        threads: At most so many; all cores by default. One runs the items in turn, here.

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
    """Keep OpenMP and linear algebra on one thread each inside: for small problems, and for tasks that run side by side."""
    with ThreadpoolController().limit(limits=1):
        yield
