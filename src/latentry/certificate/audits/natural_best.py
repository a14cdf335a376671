"""How far a latent is from the most natural one of the same rows: one is learned on some of them, both are judged on the others."""

from __future__ import annotations

import numpy as np

from latentry.certificate.leading_components import is_label, some_rows
from latentry.certificate.question import ABOVE_BEST, BESIDE_BEST, BEST_FOUND, Fields, Number
from latentry.certificate.subject import Subject
from latentry.data import CategoricalChannel, Channel, Dataset
from latentry.natural import Best, best, quick_learner

__all__ = ["beside_the_best_of_rows"]

_MOST = 4000  # rows that learn, and judge


def beside_the_best_of_rows(subject: Subject, name: str, channel: Channel) -> tuple[dict[str, Number], Fields]:
    """Learn a natural latent on part of the audited rows, and bound its errors and those of a latent on the rest.

    All bounds hold at once, and in every mixture of domains that have labels: the level is divided among both latents and all
    modalities.

    Args:
        subject: Rows and their latents.
        name: Of the latent that is compared.
        channel: It, for each row.

    Returns:
        Two bounds and the distance of the scores; and what the page says about them.

    Raises:
        DataError: If the rows do not allow a fit.
    """
    rows = some_rows(len(subject.data), _MOST, subject.settings.seed)
    data = subject.observables.take(rows)
    if data.domain is not None and data.domain.is_continuous:
        data = data.with_domain(None)  # a student is held to each of several domains
    labels = tuple(one for one in data.names if is_label(data, one))
    seed, count = subject.settings.seed, 2 * len(data.names)
    answer = best(
        _coded(data, labels),
        {"yours": channel.take(rows)},
        model=quick_learner(labels, seed),
        labels=labels,
        plain=False,
        level=subject.settings.level / count,
        seed=seed,
    )
    return _numbers(answer), {
        "latent": name,
        "values": answer.found.values,
        "mixtures": data.domain is not None,
        "pooled": data.domain is None and subject.data.domain is not None,
        "rounded": not isinstance(channel, CategoricalChannel),
        "learned_on": len(answer.trained),
        "judged_on": len(answer.audited),
    }


def _numbers(answer: Best) -> dict[str, Number]:
    return {
        BEST_FOUND: answer.found.worst,
        BESIDE_BEST: answer.others["yours"].worst,
        ABOVE_BEST: answer.gaps["yours"],
    }


def _coded(data: Dataset, labels: tuple[str, ...]) -> Dataset:
    """Labels as codes 0, 1, 2, …, as networks take them."""
    codes = {name: np.unique(np.asarray(data[name]), return_inverse=True)[1].reshape(-1, 1) for name in labels}
    return (
        data
        if not codes
        else Dataset(
            {name: codes.get(name, data[name]) for name in data.names},
            domain=data.domain,
            groups=data.groups,
            time=data.time,
            observed=data.observed,
        )
    )
