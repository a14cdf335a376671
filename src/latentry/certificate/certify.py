"""From latents and rows to a certificate."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from time import perf_counter
from typing import TypeAlias, TypedDict, TypeGuard, Unpack, cast, overload

import jax
import numpy as np
import scipy
import sklearn
from numpy.typing import ArrayLike

from latentry.certificate.audits import AUDITS, PARTS
from latentry.certificate.certificate import Certificate
from latentry.certificate.declared import number, whole
from latentry.certificate.given import (
    Columns,
    Latents,
    as_dataset,
    check_given,
    in_order_of,
    rows_new_to_all,
    split_for,
    taken,
)
from latentry.certificate.on_trust import taken_on_trust
from latentry.certificate.question import Fields, Part
from latentry.certificate.restarts import refitted, training_rows
from latentry.certificate.row_check import with_rows_looked_at
from latentry.certificate.side_by_side import SideBySide, compared, named
from latentry.certificate.splitting import FEWEST, without_trained_units
from latentry.certificate.stages import stages
from latentry.certificate.subject import Blocks, Settings, Subject, subject_of
from latentry.contracts import HasChannel, KeepsFitRecord, Where
from latentry.data import CategoricalChannel, Channel, Dataset, as_frame
from latentry.errors import DataError, nearest
from latentry.evidence import Verdict
from latentry.identifiability import refit_assumptions
from latentry.threads import single_threaded
from latentry.training import EngineLike

__all__ = ["certify"]

Several: TypeAlias = Mapping[str, Latents] | list[HasChannel | Channel | Dataset | np.ndarray]


class Options(TypedDict, total=False):
    """What `certify` takes besides latents and data; see there."""

    epsilon: float
    level: float
    domain: ArrayLike | None
    groups: ArrayLike | None
    time: ArrayLike | None
    blocks: Blocks
    noise: float
    quantiser: int | None
    seen: ArrayLike | None
    others: Sequence[HasChannel]
    restarts: int
    refits: bool
    best: bool
    only: Sequence[str] | None
    executor: EngineLike
    workers: int | None
    seed: int
    progress: Callable[[str], None] | None


@overload
def certify(latents: Several, data: Columns, **options: Unpack[Options]) -> SideBySide: ...


@overload
def certify(latents: Latents, data: Columns, **options: Unpack[Options]) -> Certificate: ...


def certify(
    latents: Latents | Several,
    data: Columns,
    *,
    epsilon: float = 0.05,
    level: float = 0.05,
    domain: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    time: ArrayLike | None = None,
    blocks: Blocks = None,
    noise: float = 0.25,
    quantiser: int | None = None,
    seen: ArrayLike | None = None,
    others: Sequence[HasChannel] = (),
    restarts: int = 0,
    refits: bool = False,
    best: bool = False,
    only: Sequence[str] | None = None,
    executor: EngineLike = "here",
    workers: int | None = None,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Certificate | SideBySide:
    """Audit latents on rows that did not train them, and say how far they can be trusted.

    Cost: one reading of the rows by the model, and a few passes over the data. What grows faster than the rows is measured on rows
    that are drawn: estimates of information on 1000, audits of numbers on 10 000; counts of labels take all. Audits grow with the
    modalities, and with modalities · domains where each domain is judged.

    >>> import latentry as lt
    >>> from latentry.generators import planted_natural
    >>> sample = planted_natural().sample(6000, seed=0)
    >>> rows = {"left": sample.observables[:, 0], "right": sample.observables[:, 1]}
    >>> certificate = lt.certify(sample.latent, rows, domain=sample.domain, epsilon=0.05)
    >>> certificate["natural"].verdict.status, certificate.trusted
    ('certified', True)

    Args:
        latents: a fitted model; or latents made elsewhere, one row for each row of the data: a channel, labels (rows,),
            an array of numbers (rows, latents), or a Dataset of one table, which is paired by names of rows. Several of them,
            as a list or by name in a dictionary, are audited on the rows that trained none of them, and compared.
        data: the rows. If they are those of the fit, only what the fit held out is audited; if they hold the rows of the fit
            and those of `data.split`'s other part, only the latter.
        epsilon: the largest error, in nats, that still counts as natural; declare it before looking.
        level: probability of a false "certified", for each verdict.
        domain: one label per row, if the data have none.
        groups: one label per row, if the data have none and rows of one subject, plate or batch depend on each other.
        time: one moment per row, if the data have none and rows that are near in time depend on each other.
        blocks: which modalities, or which columns of a single table, are the observables of a natural latent.
        noise: for latents without noise of their own, that of Λ = z/spread + noise·N(0, 1).
        quantiser: round a continuous latent to so many values instead.
        seen: for latents made elsewhere, the rows that trained them: numbers or booleans. They are left out; [] says that there
            are none. Without it that is taken on trust, and the answers say so.
        others: the same model fitted from other seeds, to see whether restarts agree.
        restarts: fit the model so many times more, from other seeds and on the rows that trained it, for the same purpose.
        refits: fit the model up to five times more on the rows that trained it, to test what identifiability takes for
            granted: with one latent fewer and one more, and without one domain at a time (three at most).
        best: learn the most natural latent on part of the audited rows, and say on the others how far these latents are from it.
        only: names of the parts to run; all of them by default.
        executor: where the fits of `restarts` and `refits` are made, side by side but for "here": see :func:`latentry.fit_many`.
            The certificate is the same on each engine.
        workers: processes, where the engine is started here.
        seed: of splits, students and permutations.
        progress: called with the name of each part before it runs: text that also says how much of the expected work is
            `done`, the part's `own` and the `total`.

    Returns:
        The certificate: a verdict, with its evidence, for each part; for several latents their certificates side by side.

    Raises:
        DataError: If an argument is out of range, latents and data do not belong together, or too few rows are new.
    """
    settings = Settings(
        number("epsilon", epsilon),
        number("level", level),
        whole("seed", seed),
        number("noise", noise),
        None if quantiser is None else whole("quantiser", quantiser),
        blocks,
        whole("restarts", restarts),
        bool(refits),
        bool(best),
    )
    if only is not None and not np.iterable(only):
        raise DataError(f"only={only!r}: is no list. Give names of parts, such as ['natural'].")
    only = None if only is None else only if isinstance(only, str) else list(only)
    chosen = _chosen(only)
    rows = as_dataset(data, domain).with_groups(groups, time)
    if isinstance(latents, Mapping) or (_is_several(latents) and len(latents) != len(rows)):
        if settings.quantiser is not None:
            raise DataError(
                f"quantiser={quantiser}: rounds one latent on rows of its own. Round latents that are compared yourself."
            )
        if others or settings.restarts or settings.refits:
            raise DataError(
                "others, restarts, refits: are questions about one model. Certify it without the other latents."
            )
        if settings.best:
            raise DataError("best=True: is a question about one latent. Use natural.best, which compares several.")
        return _side_by_side(named(latents), rows, settings, seen, only, progress)
    where = Where(executor, workers, progress)
    return _one(cast("Latents", latents), rows, settings, chosen, seen, others, where)


def _one(
    latents: Latents,
    rows: Dataset,
    settings: Settings,
    chosen: Sequence[str],
    seen: ArrayLike | None,
    others: Sequence[HasChannel],
    where: Where,
) -> Certificate:
    start, latents = perf_counter(), in_order_of(rows, latents)
    split = without_trained_units(split_for(latents, rows, seen), rows)
    fresh = rows.take(split.rows)
    check_given(latents, rows)
    again = refitted(latents, rows, split, settings.restarts, where)
    subject = subject_of(taken(latents, split.rows), fresh, settings, (*others, *again))
    if settings.refits and "identifiable" in chosen:
        training = training_rows(latents, rows, split, "refits=True")
        tested = refit_assumptions(latents, training, fresh, level=settings.level, seed=settings.seed, where=where)
        subject = replace(subject, refits=tested)
    with single_threaded():  # audits are small: threads that wait for each other cost more than they bring
        parts = taken_on_trust(with_rows_looked_at(dict(_run(subject, chosen, where.say)), subject), split)
    return Certificate(
        parts=parts,
        subject=_about(subject),
        data=_about_data(rows),
        split={**split.to_json(), "audited": len(subject.data)},
        settings=settings.to_json(),
        versions=_versions(),
        made={"at": datetime.now(UTC).isoformat(timespec="seconds"), "seconds": round(perf_counter() - start, 1)},
        _shown=subject,
    )


def _is_several(latents: Latents | Several) -> TypeGuard[Sequence[Latents]]:
    """Return whether a list holds latents, and not the numbers of one."""
    return isinstance(latents, list | tuple) and any(
        isinstance(one, HasChannel | Channel | Dataset | np.ndarray) or as_frame("latents", one) is not None
        for one in latents
    )


def _side_by_side(
    latents: Mapping[str, Latents],
    rows: Dataset,
    settings: Settings,
    seen: ArrayLike | None,
    only: Sequence[str] | None,
    progress: Callable[[str], None] | None,
) -> SideBySide:
    """Certify each latent on the rows that trained none of them."""
    latents = {name: in_order_of(rows, one, f"latents {name!r}") for name, one in latents.items()}
    for one in latents.values():
        check_given(one, rows)
    common = rows_new_to_all(latents, rows, seen)
    if len(common) < FEWEST:
        raise DataError(
            f"latents: {len(common)} rows trained none of them, and {FEWEST} are needed. Certify them one by one, or on new rows."
        )
    fresh = rows.take(common)
    each = replace(settings, level=settings.level / len(latents))  # so that the bounds of all of them hold at once
    certificates = {
        name: _one(taken(one, common), fresh, each, _chosen(only), _named_before(one, seen), (), Where(say=progress))
        for name, one in latents.items()
    }
    return compared(certificates, progress)


def _named_before(latents: Latents, seen: ArrayLike | None) -> ArrayLike | None:
    """Say that none of the rows that are left made the latents, where rows that did were named."""
    return None if seen is None or isinstance(latents, HasChannel) else ()


def _run(subject: Subject, chosen: Sequence[str], progress: Callable[[str], None] | None) -> list[tuple[str, Part]]:
    parts = []
    for name in stages(chosen, subject):
        if progress is not None:
            progress(name)
        try:
            part = AUDITS[name].answer(subject)
        except DataError as why:  # rows that do not allow one audit may allow the others
            part = Part(str(name), Verdict("cannot say", f"{why}", {}, "what the sentence asks for"))
        if part is not None:
            parts.append((str(name), replace(part, question=PARTS[name])))
    return parts


def _chosen(only: Sequence[str] | None) -> list[str]:
    if isinstance(only, str):
        raise DataError(f"only={only!r}: is a single name. Give a list of parts, such as [{only!r}].")
    if only is not None and not len(only):
        raise DataError(f"only={only!r}: names no part. Name some, or leave it out for all of them.")
    for name in only or ():
        if name not in PARTS:
            raise DataError(f"only={name!r}: there is no part {name!r}{nearest(str(name), PARTS)}")
    return [name for name in PARTS if only is None or name in only]


def _about(subject: Subject) -> Fields:
    model, channel = subject.model, subject.channel
    about: Fields = {"kind": "latents" if model is None else type(model).__name__, "latent": subject.definition}
    about["values"] = channel.probabilities.shape[1] if isinstance(channel, CategoricalChannel) else None
    about["called"] = subject.called
    about["latents"] = len(subject.names)
    about["names"] = list(subject.names)
    if model is not None:
        record = model.fit_record() if isinstance(model, KeepsFitRecord) else None
        about |= {"model": repr(model), "fitted_on": None, "rows": None, "seed": None}
        if record is not None:
            about |= {"fitted_on": record.fingerprint, "rows": record.rows, "seed": record.seed}
    return about


def _about_data(data: Dataset) -> Fields:
    place = data.domain
    return {
        "fingerprint": data.fingerprint,
        "rows": len(data),
        "modalities": {name: list(map(int, data[name].shape[1:])) for name in data.names},
        "missing": {name: int((~data.observed[name]).sum()) for name in data.names},
        "groups": None if data.groups is None else len(np.unique(data.groups)),
        "time": None if data.time is None else [float(data.time.min()), float(data.time.max())],
        "domains": None if place is None or place.labels is None else [str(label) for label in place.labels],
    }


def _versions() -> dict[str, str]:
    from latentry import __version__

    return {
        "latentry": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "jax": jax.__version__,
        "numba": version("numba"),
    }
