"""Processes of this machine, each a fresh interpreter: never a fork, which JAX does not survive, and no guard in scripts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock
from typing import Any, final

from latentry.errors import LatentryError
from latentry.threads import cores

__all__ = ["LocalProcesses", "WorkerDied"]

_PATIENCE = 20.0  # seconds that a process has to save and end


class WorkerDied(LatentryError):
    """The process that carried out a piece of work ended in the middle of it."""


@final
class LocalProcesses(Executor):
    """Run functions of texts in processes of their own, each on its part of the cores.

    A process is a fresh interpreter that imports the function by its name and hands it to :func:`serve`; it takes one text after
    the other. If it dies, its text fails with :class:`WorkerDied` and a new one takes its place.

    Args:
        workers: How many processes; one for each core by default.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = cores() if workers is None else workers
        self._threads = ThreadPoolExecutor(self.workers)
        self._free: SimpleQueue[int] = SimpleQueue()
        self._children: dict[int, subprocess.Popen[str]] = {}
        self._tasks: dict[int, str] = {}  # what each of them can do
        self._lock, self._ended = Lock(), False
        for place in range(self.workers):
            self._free.put(place)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Begin a piece of work.

        Args:
            fn: A function that stands in a module.
            args: One text.
            kwargs: None.

        Returns:
            Its result, to come.
        """
        return self._threads.submit(self._carry_out, f"{fn.__module__}:{fn.__qualname__}", args[0])

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002  the interface's own
        """End the processes; with ``cancel_futures`` what they do is stopped, saved where it can be.

        Args:
            wait: Wait for what has begun.
            cancel_futures: Forget what has not.
        """
        if cancel_futures:
            self._ended = True
            for child in self._started():
                with suppress(ProcessLookupError):
                    child.send_signal(signal.SIGTERM)
        self._threads.shutdown(wait=wait, cancel_futures=cancel_futures)
        for child in self._started():
            _end(child)

    def _started(self) -> list[subprocess.Popen[str]]:
        with self._lock:
            return list(self._children.values())

    def _carry_out(self, task: str, text: str) -> str:
        place = self._free.get()
        try:
            child = self._child(place, task)
            return _ask(child, text)
        except (OSError, ValueError) as problem:
            raise WorkerDied(f"its process ended: {self._end_of(place)}") from problem
        finally:
            self._free.put(place)

    def _child(self, place: int, task: str) -> subprocess.Popen[str]:
        with self._lock:
            if self._ended:
                raise OSError("the processes have been ended")
            child = self._children.get(place)
            if child is not None and self._tasks[place] != task:
                _end(child)
            if child is None or child.poll() is not None:
                child = self._children[place] = _start(task, _part_of_cores(place, self.workers))
                self._tasks[place] = task
            return child

    def _end_of(self, place: int) -> str:
        with self._lock:
            child = self._children.pop(place, None)
        if child is None:
            return "it was stopped before it began"
        code = _end(child)
        if code >= 0:
            return f"exit code {code}"
        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        return f"signal {name}" + (", as where memory runs out" if -code == signal.SIGKILL else "")


def _start(task: str, part: str) -> subprocess.Popen[str]:
    module, name = task.split(":")
    program = f"from {module} import {name}; from latentry.training import serve; serve({name})"
    command = [sys.executable, "-c", program, *([part] if part else [])]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")


def _ask(child: subprocess.Popen[str], text: str) -> str:
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(json.dumps(text) + "\n")
    child.stdin.flush()
    answer: str = json.loads(child.stdout.readline())  # a process that has ended answers with an empty line
    return answer


def _end(child: subprocess.Popen[str]) -> int:
    """Close a process's input, which ends it, and return its exit code; one that does not end in time is killed."""
    with suppress(OSError):  # it may be gone
        if child.stdin is not None:
            child.stdin.close()
    try:
        child.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()
    if child.stdout is not None:
        child.stdout.close()
    return child.wait()


def _part_of_cores(place: int, workers: int) -> str:
    """Return the cores of one process, so that processes do not wait for each other; none where there are too few to share."""
    if not hasattr(os, "sched_getaffinity"):
        return ""
    all_cores = sorted(os.sched_getaffinity(0))
    return ",".join(map(str, all_cores[place::workers])) if workers <= len(all_cores) else ""
