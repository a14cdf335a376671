"""Which engine a caller means."""

from __future__ import annotations

from concurrent.futures import Executor, Future, ProcessPoolExecutor
from typing import Protocol, TypeAlias, final, runtime_checkable

from latentry.errors import DataError, MissingExtra, nearest
from latentry.training.engines.engine import Engine, TextTask
from latentry.training.engines.futures import Futures, Submits
from latentry.training.engines.here import Here
from latentry.training.engines.joblib_backends import Joblib
from latentry.training.engines.processes import LocalProcesses

__all__ = ["ENGINES", "EngineLike", "engine_for", "stays_here"]

ENGINES = {
    "here": "one after the other, in this process",
    "local": "processes of this machine, one for each core",
    "joblib": "the backend of joblib that is in force",
    "dask": "a cluster of Dask.distributed; without an address, processes of this machine",
    "ray": "a cluster of Ray; without an address, this machine",
}


@runtime_checkable
class HasExecutor(Protocol):
    """A client of a cluster, such as Dask's, that hands out an executor with the interface of concurrent.futures."""

    def get_executor(self, *, pure: bool) -> Submits:
        """Return an executor; with ``pure=False`` equal work is done anew."""


EngineLike: TypeAlias = str | Engine | Executor | Submits | HasExecutor | None


def engine_for(given: EngineLike, workers: int | None = None, address: str | None = None) -> Engine:
    """Return the engine that a caller means; enter it to use it.

    Args:
        given: A name of ``ENGINES``, None for "local", an executor with the interface of ``concurrent.futures``, or a
            client of Dask.
        workers: Processes, where the engine is started here.
        address: Of a running cluster of Dask or Ray.

    Returns:
        The engine.

    Raises:
        DataError: If there is no such engine, its processes are forked, or ``workers`` is no whole number of at least 1.
        MissingExtra: If its library is not installed.

    >>> type(engine_for("here")).__name__
    'Here'
    """
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise DataError(f"workers={workers!r}: not a whole number of at least 1. Give one, or leave it out.")
    if isinstance(given, Engine):
        return given
    if given is None or isinstance(given, str):
        return _named("local" if given is None else given, workers, address)
    if isinstance(given, HasExecutor):  # asked first: such a client has a submit of its own, with other futures
        return Futures(given.get_executor(pure=False), restarts=True, close=None)
    if isinstance(given, type) or not isinstance(given, Submits):
        raise DataError(f"executor={given!r}: has no submit, as executors of concurrent.futures have. {_known()}")
    if isinstance(given, ProcessPoolExecutor) and _forks(given):
        raise DataError(
            "executor: its processes are forked, and JAX hangs in a process that was forked. Make it with "
            "ProcessPoolExecutor(mp_context=multiprocessing.get_context('spawn')), or give executor='local'."
        )
    return Futures(given, restarts=False, close=None)


def _forks(executor: ProcessPoolExecutor) -> bool:
    context = executor._mp_context  # no public name says it
    return context is not None and context.get_start_method() == "fork"


def stays_here(given: EngineLike, workers: int | None) -> bool:
    """Return whether work is done in turn in this process, by functions that need no text for it.

    Args:
        given: As of :func:`engine_for`.
        workers: Processes.

    Returns:
        True for "here".

    Raises:
        DataError: If several workers are asked for, which "here" has not.

    >>> stays_here("here", None), stays_here("local", 2)
    (True, False)
    """
    if not (isinstance(given, str) and given == "here"):
        return False
    if workers not in (None, 1):
        raise DataError(
            f"workers={workers!r}: executor='here' works in this process alone. Give executor='local' with it."
        )
    return True


def _named(name: str, workers: int | None, address: str | None) -> Engine:
    if name not in ENGINES:
        raise DataError(f"executor={name!r}: there is no such engine{nearest(name, ENGINES)}")
    if address is not None and name not in ("dask", "ray"):
        raise DataError(f"address={address!r}: the engine {name!r} has none. Use 'dask' or 'ray', or leave it out.")
    if name == "here":
        return Here()
    if name == "joblib":
        return Joblib(workers)
    if name == "local":
        processes = LocalProcesses(workers)
        return Futures(processes, restarts=True, close=lambda: processes.shutdown(cancel_futures=True))
    return _dask(workers, address) if name == "dask" else _ray(workers, address)


def _known() -> str:
    return "Give one, or a name: " + ", ".join(ENGINES) + "."


def _dask(workers: int | None, address: str | None) -> Engine:
    try:
        import distributed
    except ImportError as problem:
        raise MissingExtra("distributed", "dask", "executor='dask'") from problem
    try:
        if address is None:
            client = distributed.Client(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None)
        else:
            client = distributed.Client(address, timeout="20s")
    except OSError as problem:
        raise DataError(
            f"address={address!r}: no scheduler of Dask answered within 20 s. Start one, or mend it."
        ) from problem
    return Futures(client.get_executor(pure=False), restarts=True, close=client.close)


def _ray(workers: int | None, address: str | None) -> Engine:
    try:
        import ray
    except ImportError as problem:
        raise MissingExtra("ray", "ray", "executor='ray'") from problem
    started = not ray.is_initialized()
    if started:
        try:
            ray.init(address=address, num_cpus=workers, include_dashboard=False, log_to_driver=False)
        except (ConnectionError, ValueError) as problem:
            raise DataError(
                f"address={address!r}: no cluster of Ray answered ({problem}). Start one, or mend it."
            ) from None
    return Futures(_RayTasks(), restarts=True, close=ray.shutdown if started else None)


@final
class _RayTasks:
    """Tasks of Ray with the interface of concurrent.futures."""

    def submit(self, fn: TextTask, text: str, /) -> Future[str]:
        """Begin a piece of work.

        Args:
            fn: A function of a module.
            text: Its description.

        Returns:
            Its result, to come.
        """
        import ray

        future: Future[str] = ray.remote(fn).remote(text).future()
        return future
