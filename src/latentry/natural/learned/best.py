"""Learn the most natural latent of some rows, and compare it with the latents at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student_t
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from latentry.contracts import HasChannel
from latentry.data import CategoricalChannel, Channel, DataLike, Dataset
from latentry.errors import DataError
from latentry.evidence import Estimate
from latentry.natural.learned.naturalness import Naturalness, naturalness
from latentry.streams import stream_seed

if TYPE_CHECKING:
    from latentry.models import NaturalLatents

__all__ = ["Best", "best", "quick_learner"]

Codes = NDArray[np.int64]
Latent = HasChannel | Channel | ArrayLike
_COMPONENTS = 2  # principal components that are compared


@dataclass(frozen=True, eq=False)
class Best:
    """The most natural latent that was found, and others beside it.

    Args:
        model: That was learned.
        found: How natural its latent is, on rows that it has not seen.
        others: How natural each other latent is, on the same rows.
        gaps: By how much the score of each other latent is above that of the latent found, in nats, with an interval.
        trained: Numbers of the rows that trained the model.
        audited: Numbers of the rows by which all latents were judged.
    """

    model: NaturalLatents
    found: Naturalness
    others: Mapping[str, Naturalness]
    gaps: Mapping[str, Estimate]
    trained: Codes
    audited: Codes

    def __str__(self) -> str:
        lines = [f"the most natural latent found: {self.found}"]
        for name, other in self.others.items():
            gap = self.gaps[name]
            lines.append(f"{name}: {other}; {float(gap):+.3f} nats from it ({gap.low:+.3f} to {gap.high:+.3f})")
        return "\n".join(lines)


def best(
    data: DataLike,
    latents: Mapping[str, Latent] | None = None,
    *,
    values: int | str = "auto",
    model: NaturalLatents | None = None,
    audited: ArrayLike | None = None,
    aside: float = 0.4,
    labels: Sequence[str] = (),
    plain: bool = True,
    level: float = 0.05,
    seed: int = 0,
) -> Best:
    """Learn the most natural latent of some rows, and say how far other latents are from it.

    Where the rows have domains with labels, redundancy errors are bounded in every mixture of them, and information is counted
    within each. Principal components and k-means, with as many values, are among the others unless they are left out; both are
    fitted to the rows that train the model.

    Cost: a fit of :class:`latentry.NaturalLatents`, then an audit of it and of each given latent.

    >>> from latentry.models import NaturalLatents
    >>> rng = np.random.default_rng(0)
    >>> z = rng.integers(0, 2, size=(800, 1))
    >>> views = {name: 4 * z + rng.normal(size=(800, 3)) for name in ("left", "right")}
    >>> small = NaturalLatents(values=2, epochs=60, batch_size=64, hidden=(16,), restarts=1, progress=False)
    >>> answer = best(views, {"the truth": z[:, 0]}, model=small)
    >>> answer.found.score.value < -0.5, list(answer.others)
    (True, ['principal components', 'k-means', 'the truth'])

    Args:
        data: A Dataset, or what one can be made of; at least two modalities.
        latents: Others to compare with, by name: labels (rows,), numbers (rows, columns), a channel, or a fitted model. Those
            of numbers are rounded to as many values as the latent that was found. None may have been trained on audited rows.
        values: Number of values, or "auto".
        model: An unfitted NaturalLatents with other settings, in place of ``values``.
        audited: Numbers of the rows to judge by; by default a fraction ``aside`` of them, chosen at random.
        aside: That fraction.
        labels: Modalities whose numbers are labels.
        plain: Whether principal components and k-means are compared too.
        level: One minus the confidence of each bound, and of each comparison.
        seed: Of the split, the model and the students.

    Returns:
        The model, how natural its latent is, and how natural the others are.

    Raises:
        DataError: If the rows do not suit the model, or a latent does not suit the rows.
    """
    from latentry.models import NaturalLatents  # what trains networks is loaded only when it is asked for

    whole = data if isinstance(data, Dataset) else Dataset(data)
    trained, judged = _parted(whole, audited, aside, seed)
    latents = {name: whole.in_order(f"latents[{name!r}]", latent) for name, latent in (latents or {}).items()}
    for name, latent in latents.items():
        _check_rows(name, latent, whole)
    kinds = dict.fromkeys(labels, "categorical")
    learner = NaturalLatents(values=values, likelihood=kinds or "gaussian", seed=seed) if model is None else model
    fitted: NaturalLatents = clone(learner).fit(whole.take(trained))
    known = trained[_complete(whole, trained)]
    rows = whole.take(np.concatenate([known, judged])).with_groups(None)
    here = np.arange(len(known), len(rows))

    def measured(latent: CategoricalChannel, students: Mapping[str, np.ndarray] | None = None) -> Naturalness:
        return naturalness(rows, latent, audited=here, students=students, labels=labels, level=level, seed=seed)

    count = fitted.n_features_out if isinstance(values, str) else values
    mine = fitted.channel(rows)
    own = isinstance(mine, CategoricalChannel)
    alone = {name: fitted.transform(rows.select(name)) for name in rows.names} if own else None
    found = measured(_finite(mine, count, len(known), seed), alone)
    at_hand = _plain_latents(rows, len(known), found.values, seed) if plain else {}
    for name, latent in latents.items():
        given = _of_rows(latent, rows, np.concatenate([known, judged]))
        at_hand[name] = _finite(given, found.values, len(known), seed)
    others = {name: measured(latent) for name, latent in at_hand.items()}
    gaps = {name: _gap(other.row_scores - found.row_scores, level) for name, other in others.items()}
    return Best(fitted, found, others, gaps, trained, judged)


def quick_learner(labels: Sequence[str] = (), seed: int = 0) -> NaturalLatents:
    """Return an unfitted model that learns in a few seconds: one restart, small networks, at most sixteen values.

    Cost: constant; its fit is linear in rows and epochs.

    Args:
        labels: Modalities whose numbers are labels.
        seed: Of the fit.

    Returns:
        The model, for :func:`best`.
    """
    from latentry.models import NaturalLatents

    kinds = dict.fromkeys(labels, "categorical")
    return NaturalLatents(
        values="auto",
        likelihood=kinds or "gaussian",
        hidden=(64,),
        encoder="dense",
        epochs=80,
        learning_rate=5e-3,
        restarts=1,
        progress=False,
        seed=seed,
    )


def _gap(apart: np.ndarray, level: float) -> Estimate:
    """The mean of paired differences, with its t interval."""
    half = student_t.ppf(1 - level / 2, len(apart) - 1) * apart.std(ddof=1) / np.sqrt(len(apart))
    mean = float(apart.mean())
    return Estimate(
        mean,
        low=mean - half,
        high=mean + half,
        method="paired held-out scores, t interval",
        n=len(apart),
        confidence=1 - level,
        units="nats",
    )


def _complete(data: Dataset, rows: Codes) -> NDArray[np.bool_]:
    return np.asarray(np.all([data.observed[name][rows] for name in data.names], axis=0))


def _parted(data: Dataset, audited: ArrayLike | None, aside: float, seed: int) -> tuple[Codes, Codes]:
    """Numbers of the rows that train and of those that judge: complete ones, and one of each group."""
    if audited is None:
        if not 0 < aside < 1:
            raise DataError(f"aside={aside}: must lie between 0 and 1. It is the fraction of rows to judge by.")
        trained, judged = data.split_rows(1 - aside, aside, seed=seed)
    else:
        judged = np.unique(np.asarray(audited, dtype=np.int64))
        if not len(judged) or judged[0] < 0 or judged[-1] >= len(data) or len(judged) == len(data):
            raise DataError(
                f"audited: must be numbers of some of the {len(data)} rows, not of all. Leave rows to train on."
            )
        trained = np.setdiff1d(np.arange(len(data)), judged)
    judged = judged[_complete(data, judged)]
    if data.units is not None:
        judged = judged[np.unique(data.units[judged], return_index=True)[1]]
    return trained.astype(np.int64), np.sort(judged).astype(np.int64)


def _check_rows(name: str, latent: Latent, data: Dataset) -> None:
    if isinstance(latent, HasChannel):
        return
    count = len(latent if isinstance(latent, Channel) else np.asarray(latent))
    if count != len(data):
        raise DataError(f"latents[{name!r}]: has {count} rows, the data have {len(data)}. Give one for each row.")


def _of_rows(latent: Latent, rows: Dataset, chosen: Codes) -> Channel | np.ndarray:
    """The latent of some rows."""
    if isinstance(latent, HasChannel):
        return latent.channel(rows)
    given = latent if isinstance(latent, Channel) else np.asarray(latent)
    return given.take(chosen) if isinstance(given, Channel) else given[chosen]


def _finite(latent: Channel | np.ndarray, values: int, known: int, seed: int) -> CategoricalChannel:
    """The latent itself, or clusters of its numbers, by k-means on the rows that train."""
    if isinstance(latent, CategoricalChannel):
        return latent
    if not isinstance(latent, Channel) and latent.ndim == 1:
        return CategoricalChannel.of_labels(latent)
    table = latent.mean if isinstance(latent, Channel) else latent
    start = stream_seed("natural/k-means beside the best", seed)
    clusters = KMeans(values, n_init=10, random_state=start).fit(table[:known]).predict(table)
    return CategoricalChannel(np.eye(values)[clusters])


def _plain_latents(rows: Dataset, known: int, values: int, seed: int) -> dict[str, CategoricalChannel]:
    """Principal components, and clusters by k-means, of all modalities side by side."""
    table = np.hstack([np.asarray(rows[name], dtype=np.float64).reshape(len(rows), -1) for name in rows.names])
    scaled = StandardScaler().fit(table[:known]).transform(table)
    components = PCA(min(_COMPONENTS, *scaled[:known].shape), random_state=0).fit(scaled[:known]).transform(scaled)
    return {
        "principal components": _finite(components, values, known, seed),
        "k-means": _finite(scaled, values, known, seed),
    }
