"""Backends of joblib, as ``joblib.parallel_config`` chooses them; scikit-learn hands its own settings on to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import final

from latentry.training.engines.engine import Engine, TextTask

__all__ = ["Joblib"]


@final
class Joblib(Engine):
    """Run pieces of work on the backend of joblib that is in force.

    Args:
        workers: Processes; None leaves it to joblib's own configuration.
    """

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers

    @property
    def restarts(self) -> bool:
        """Return False: a backend that lost a worker ends all of its work."""
        return False

    def stream(self, task: TextTask, texts: Sequence[str]) -> Iterator[tuple[int, str | Exception]]:
        """Run a task on each text.

        Args:
            task: A function of a module.
            texts: Descriptions of work.

        Yields:
            Place and result, as they come where the backend can tell.
        """
        from sklearn.utils.parallel import Parallel, delayed  # a second that only this engine needs

        left = set(range(len(texts)))
        parallel = Parallel(n_jobs=self._workers, return_as="generator_unordered")
        try:
            for place, result in parallel(delayed(_numbered)(task, place, text) for place, text in enumerate(texts)):
                left.discard(place)
                yield place, result
        except Exception as problem:  # of any backend
            for place in sorted(left):
                yield place, problem


def _numbered(task: TextTask, place: int, text: str) -> tuple[int, str]:
    return place, task(text)
