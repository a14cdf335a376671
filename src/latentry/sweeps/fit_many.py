"""From many jobs to one table."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from latentry.data import Dataset
from latentry.errors import DataError, LatentryError
from latentry.models import Outcome, finished
from latentry.sweeps.jobs import Job, JobLike, jobs_of
from latentry.sweeps.ledger import Ledger
from latentry.sweeps.many_fits import FitRow, ManyFits
from latentry.sweeps.one_job import Order, job_text
from latentry.sweeps.progress import watched
from latentry.training import Engine, EngineLike, engine_for, run_texts

__all__ = ["fit_many", "kept_rows"]


def fit_many(
    jobs: Iterable[JobLike],
    data: Dataset | str | Path | None = None,
    *,
    executor: EngineLike = None,
    workers: int | None = None,
    address: str | None = None,
    folder: str | Path | None = None,
    aside: float = 0.2,
    split: int = 0,
    seed: int | None = None,
    certify: bool = False,
    epsilon: float = 0.05,
    progress: bool | str = "auto",
) -> ManyFits:
    """Fit many models, each in a run folder of its own, and return one table.

    Every fit is described by a text, and carried out by whatever process gets it: the table is the same on every engine, bit for
    bit, except for seconds. A sweep that was killed goes on with the same folder: what is finished is read, what was begun
    goes on from its last save. A fit that fails is a line with its reason.

    Cost: that of the fits, divided by the workers; see ``model.describe``.

    Args:
        jobs: Models, which share ``data``; pairs of model and data; or :class:`Job` s, which have names.
        data: Rows, or a file of them, for models that come alone.
        executor: "local" (processes of this machine, the default), "here" (this process), "joblib", "dask", "ray", a client of
            Dask, or anything with the interface of ``concurrent.futures``. Its workers must see ``folder`` under the same path.
        workers: Processes, where the engine is started here.
        address: Of a running cluster of Dask or Ray.
        folder: Where every run is kept; a temporary one by default, which goes with the result.
        aside: Fraction of the rows that no fit sees, and by which fits are scored; 0 for none.
        split: Seed of that split, the same for all fits.
        seed: From it and the number of a job its model's seed is made; None keeps the models' own seeds.
        certify: Certify each fit on the rows aside; verdicts are columns of the table.
        epsilon: For certificates: largest error, in nats, that still counts as natural.
        progress: True, False, or "auto": a bar with the time left when somebody is watching.

    Returns:
        A line for each job.

    Raises:
        DataError: If a job cannot be sent to another process, or the folder holds other jobs under the same names.
        KeyboardInterrupt: If it was interrupted; the folder holds what was done.

    >>> import latentry as lt
    >>> data = lt.generators.segments(domains=4, rows_per_domain=50, latents=2)
    >>> found = fit_many([lt.VAE(latent_dim=n, epochs=1) for n in (1, 2)], data, executor="here", progress=False)
    >>> [row.status for row in found], found.best.numbers["rows_aside"]
    (['done', 'done'], 40)
    """
    if not 0 <= aside < 1:
        raise DataError(f"aside={aside!r}: no fraction of the rows. Give a number from 0 to below 1.")
    if certify and not aside:
        raise DataError("certify=True: needs rows that no fit saw. Give aside=0.2.")
    named = jobs_of(jobs, data, seed)
    engine = engine_for(executor, workers, address)
    fit = partial(_fitted, named, engine, aside, split, certify=certify, epsilon=epsilon, progress=progress)
    if folder is None:
        return _in_a_folder_of_its_own(fit)
    return fit(Path(folder).absolute())


def _in_a_folder_of_its_own(fit: Callable[[Path], ManyFits]) -> ManyFits:
    """Fit in a temporary folder that lives as long as the result."""
    place = Path(tempfile.mkdtemp(prefix="latentry-many-"))
    try:
        found = fit(place)
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    weakref.finalize(found, shutil.rmtree, place, ignore_errors=True)
    return found


def _fitted(
    named: Sequence[Job],
    engine: Engine,
    aside: float,
    split: int,
    place: Path,
    *,
    certify: bool,
    epsilon: float,
    progress: bool | str,
) -> ManyFits:
    orders = [Order.of(job, place, aside, split, certify=certify, epsilon=epsilon) for job in named]
    ledger = Ledger(place)
    ledger.keep({job.name: order.mark for job, order in zip(named, orders, strict=True)})
    outcomes = {number: finished(order.fit, order.mark) for number, order in enumerate(orders)}
    left = [number for number, outcome in outcomes.items() if outcome is None]
    with watched(len(named), len(named) - len(left), progress) as say, engine:
        for number, outcome in _carried_out(engine, orders, left):
            outcomes[number] = outcome
            say(named[number].name, outcome)
    rows = tuple(_row(job, order, outcomes[n]) for n, (job, order) in enumerate(zip(named, orders, strict=True)))
    return ManyFits(rows, place)


def kept_rows(
    jobs: Sequence[Job], place: Path, *, aside: float, split: int, certify: bool, epsilon: float
) -> tuple[FitRow, ...]:
    """Read what a folder holds of jobs, without fitting anything.

    Cost: constant for each job.

    Args:
        jobs: With their names.
        place: Folder of all fits.
        aside: As of :func:`fit_many`.
        split: As of :func:`fit_many`.
        certify: As of :func:`fit_many`.
        epsilon: As of :func:`fit_many`.

    Returns:
        A line for each job; one without a finished run has failed.
    """
    orders = [Order.of(job, place, aside, split, certify=certify, epsilon=epsilon) for job in jobs]
    lost = Outcome("failed", "its folder holds no finished run.")
    return tuple(_row(job, one, finished(one.fit, one.mark) or lost) for job, one in zip(jobs, orders, strict=True))


def _carried_out(engine: Engine, orders: Sequence[Order], left: Sequence[int]) -> Iterator[tuple[int, Outcome]]:
    texts = [orders[number].text for number in left]
    for place, result in run_texts(engine, job_text, texts):
        if isinstance(result, Exception):
            yield left[place], Outcome("failed", _reason(result))
            continue
        outcome = Outcome.from_text(result)
        if outcome.status == "interrupted":
            raise KeyboardInterrupt
        yield left[place], outcome


def _reason(problem: Exception) -> str:
    return (
        f"{problem}" if isinstance(problem, LatentryError) else f"its engine said {type(problem).__name__}: {problem}"
    )


def _row(job: Job, order: Order, outcome: Outcome | None) -> FitRow:
    assert outcome is not None
    given = order.fit
    return FitRow(
        job.name,
        given.model,
        Path(given.rows).name,
        given.parameters,
        outcome.status,
        outcome.reason,
        outcome.numbers,
        outcome.seconds,
        outcome.warnings,
        given.folder,
    )
