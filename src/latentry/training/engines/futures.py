"""Any executor with the interface of concurrent.futures: of Dask, loky, submitit, executorlib, or processes of this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from typing import Protocol, final, runtime_checkable

from latentry.errors import LatentryError
from latentry.training.engines.engine import Engine, TextTask

__all__ = ["Futures", "Submits"]


@runtime_checkable
class Submits(Protocol):
    """The part of ``concurrent.futures.Executor`` that is used."""

    def submit(self, fn: Callable[[str], str], text: str, /) -> Future[str]:
        """Begin a piece of work."""


@final
class Futures(Engine):
    """Run pieces of work on an executor.

    Args:
        executor: Whose ``submit`` returns futures of ``concurrent.futures``.
        restarts: Whether work that failed can be submitted once more.
        close: Called at the end, for what was started for this engine; an executor that was given stays open.
    """

    def __init__(self, executor: Submits | Executor, *, restarts: bool, close: Callable[[], object] | None) -> None:
        self._executor, self._restarts, self._close = executor, restarts, close

    @property
    def restarts(self) -> bool:
        """Return whether work that failed can be submitted once more."""
        return self._restarts

    def stream(self, task: TextTask, texts: Sequence[str]) -> Iterator[tuple[int, str | Exception]]:
        """Submit everything, and return results as they come; what has not begun is cancelled if this is left early.

        Args:
            task: A function of a module, which the executor's workers can import.
            texts: Descriptions of work.

        Yields:
            Place and result.
        """
        waiting: dict[Future[str], int] = {}
        try:
            for place, text in enumerate(texts):
                try:
                    waiting[self._executor.submit(task, text)] = place
                except RuntimeError as problem:  # the executor has ended, or broken
                    yield place, _ended(problem)
            while waiting:
                done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    yield waiting.pop(future), _result(future)
        finally:
            for future in waiting:
                future.cancel()

    def __exit__(self, *error: object) -> None:
        """Close what was started for this engine."""
        if self._close is not None:
            self._close()


def _result(future: Future[str]) -> str | Exception:
    try:
        return future.result()
    except CancelledError:
        return RuntimeError("it was cancelled by its executor")
    except BrokenExecutor as problem:
        return _ended(problem)
    except Exception as problem:  # whatever the executor of another library raises
        return problem


def _ended(problem: RuntimeError) -> LatentryError:
    return LatentryError(
        f"its executor has ended ({type(problem).__name__}: {problem}). Call again with another executor and the same "
        "folder: what is done is kept."
    )
