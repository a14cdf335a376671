"""Whether the model describes rows that it has not seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm
from scipy.stats import t as student_t
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import adjusted_rand_score, roc_auc_score

from latentry.certificate.audits.agreement import history_of, restart_losses, restarts_agree
from latentry.certificate.audits.physics import physics_numbers, physics_table
from latentry.certificate.leading_components import flat, leading_columns, some_rows
from latentry.certificate.question import Fields, Number, Part
from latentry.certificate.subject import Subject
from latentry.contracts import HasLikelihood, Reconstructs, Samples
from latentry.data import Dataset, GaussianChannel, moments, split_rows
from latentry.errors import DataError
from latentry.evidence import Bound, Estimate, Verdict
from latentry.identifiability import collapse, mcc
from latentry.streams import stream

_TOLD_APART = "samples told from new rows (AUC, 0.5 = not at all)"
_FEWEST_UNITS = 5  # groups by which a mean has a spread
_CLEARLY = 0.75  # area under the curve above which the sentence says so
__all__ = ["by_name", "by_unit", "fit", "gain_verdict"]

_MOST = 2000  # rows of the classifier that tells samples from data
_ALONE = "there is one fit: whether another would find the same was not measured."
_DEAD, _ALIKE, _AGAIN = "no dead latents", "samples look like new rows", "restarts agree"
_CLASSIFIER = "classifier two-sample test (boosted trees, two folds)"


@runtime_checkable
class _Named(Protocol):
    """A model that has a name by which its papers are cited."""

    name: str


def fit(subject: Subject) -> Part:
    """Measure score, reconstruction, calibration, collapse, agreement of restarts, and known factors if there are any.

    Args:
        subject: Rows and their latents.

    Returns:
        The part.
    """
    numbers, claims = dict(_factors(subject)), {}
    methods = ["mean correlation coefficient"] if any(name.startswith("mcc") for name in numbers) else []
    if subject.latents is not None and subject.model is not None:  # noise that was declared is no posterior
        claims[_DEAD] = _collapse(subject.latents, subject.data, subject.names)
        methods.append("collapse: fraction of the variance that follows the data")
    if subject.model is None:
        sentence = "these latents were made elsewhere, without a model that could score new rows."
        verdict = Verdict("cannot say", sentence, {}, "a model of latentry")
        return Part("fit", verdict, claims, numbers, (), tuple(methods), {"lines": list(claims)})
    claims[_AGAIN] = dict(restarts_agree(subject)).get(
        _AGAIN, Verdict("cannot say", _ALONE, {}, "restarts=2 (--restarts 2)")
    )
    if isinstance(subject.model, HasLikelihood):
        numbers["held-out score"] = _score(subject.model, subject.data)
        claims |= _beats_gaussian(subject.model, subject)
    physics = physics_table(subject.model)
    numbers |= restart_losses(subject) | _reconstruction(subject) | _calibration(subject) | physics_numbers(physics)
    claims |= _like_rows(numbers, subject.settings.level)
    lines = [name for name in (_DEAD, _ALIKE, _AGAIN) if name in claims]
    details: Fields = {"history": _history(subject.model), "lines": lines}
    details |= {"physics": physics} if physics else {}
    methods += [subject.model.name] if isinstance(subject.model, _Named) else []
    return Part("fit", _verdict(claims), claims, numbers, (), tuple(methods), details)


def _verdict(claims: dict[str, Verdict]) -> Verdict:
    """Judge whether the model describes new rows; whether latents are dead, and restarts agree, are answers of their own."""
    verdict = next((claim for name, claim in claims.items() if name.startswith("better than")), None)
    if verdict is None:
        return Verdict("cannot say", "the fit was scored, and nothing to compare the score with is at hand.")
    return verdict


def _like_rows(numbers: Mapping[str, Number], level: float) -> dict[str, Verdict]:
    """Judge whether samples of the model look like new rows; a classifier that tells them apart refutes it."""
    area = numbers.get(_TOLD_APART)
    if not isinstance(area, Bound) or area.n is None:
        return {}
    spread = max(area.value * (1 - area.value), 0.25 / area.n)  # of one row, at most, for any two distributions
    low = area.value - norm.isf(level) * np.sqrt(spread / (area.n / 2))
    least = {"area": Bound(float(low), "lower", 1 - level, area.method, ("independent rows", "many rows"), n=area.n)}
    told = f"a classifier tells them from new rows (area under the curve {area.value:.2f}, 0.5 would be not at all)"
    if low > _CLEARLY:
        verdict = Verdict("refuted", f"samples of the model are not like new rows: {told}.", least, "a better fit")
    elif low > 0.5:
        verdict = Verdict(
            "cannot say", f"samples of the model are not quite like new rows: {told}.", least, "a better fit"
        )
    else:
        sentence = (
            f"no difference between samples of the model and new rows was seen (area under the curve {area.value:.2f})."
        )
        verdict = Verdict("cannot say", sentence, least, "more rows")
    return {_ALIKE: verdict}


def _score(model: HasLikelihood, data: Dataset) -> Estimate:
    rows = by_unit(model.score_rows(data), data)
    low, high = _t_interval(rows, 0.95)
    return Estimate(
        rows.mean(), low=low, high=high, method=model.score_name, n=len(rows), confidence=0.95, units="nats"
    )


def _t_interval(rows: np.ndarray, confidence: float) -> tuple[float, float]:
    half = student_t.ppf((1 + confidence) / 2, len(rows) - 1) * rows.std(ddof=1) / np.sqrt(len(rows))
    return float(rows.mean() - half), float(rows.mean() + half)


def _beats_gaussian(model: HasLikelihood, subject: Subject) -> dict[str, Verdict]:
    """Compare with independent Gaussian entries, fitted to half of the audited rows and scored on the other half."""
    data = subject.data
    kinds = set(model.likelihoods().values())
    half, rest = split_rows(len(data), (0.5, 0.5), None, data.units, subject.settings.seed)
    enough = all(data.observed[name][half].sum() >= 3 for name in data.names)
    if kinds != {"gaussian"} or not enough:
        return {}
    plain = np.sum(
        [_plain_score(flat(np.asarray(data[name])), data.observed[name], half, rest) for name in data.names], axis=0
    )
    gain = by_unit(model.score_rows(data.take(rest)) - plain, data.take(rest))
    if len(gain) < _FEWEST_UNITS:
        return {}
    return {"better than independent Gaussian entries": gain_verdict(gain, subject.settings.level)}


def by_unit(values: np.ndarray, data: Dataset) -> np.ndarray:
    """Return the mean of each group or block of time, where rows come in them: independent numbers.

    Args:
        values: One for each row.
        data: The rows.

    Returns:
        One for each group; the values themselves where rows stand alone.
    """
    if data.units is None:
        return values
    codes = np.unique(data.units, return_inverse=True)[1]
    return np.asarray(np.bincount(codes, values) / np.bincount(codes))


def _plain_score(table: np.ndarray, seen: np.ndarray, half: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """Return the log density of the rest under independent Gaussian entries fitted to the half."""
    train = table[half][seen[half]]
    mean, size = moments(train)
    scale = np.maximum(size, 1e-3 * (float(moments(train.reshape(-1, 1))[1][0]) or 1.0))
    away = (np.where(seen[rest, None], table[rest], 0.0) - mean) / scale
    score: np.ndarray = seen[rest] * (-0.5 * away**2 - np.log(scale) - 0.5 * np.log(2 * np.pi)).sum(axis=1)
    return score


def gain_verdict(gain: np.ndarray, level: float) -> Verdict:
    """Judge whether a gain in log density is above zero, by a t interval.

    Args:
        gain: Of independent rows or groups.
        level: Of each limit.

    Returns:
        certified, refuted or cannot say.
    """
    half = student_t.ppf(1 - level, len(gain) - 1) * gain.std(ddof=1) / np.sqrt(len(gain))
    method, assumed = "paired difference, t interval", ("independent rows", "many rows")
    low = Bound(float(gain.mean() - half), "lower", 1 - level, method, assumed, n=len(gain))
    high = Bound(float(gain.mean() + half), "upper", 1 - level, method, assumed, n=len(gain))
    if low.value > 0:
        sentence = f"the model predicts a new row better than independent Gaussian entries do, by at least {low.value:.3g} nats."
        return Verdict("certified", sentence, {"gain per row": low}, "worse rows")
    if high.value < 0:
        sentence = (
            f"independent Gaussian entries predict a new row better than the model, by at least {-high.value:.3g} nats."
        )
        return Verdict("refuted", sentence, {"gain per row": high}, "longer training, or another model")
    sentence = "new rows leave open whether the model says more than independent Gaussian entries do."
    return Verdict("cannot say", sentence, {"gain per row": low}, "more rows")


def _reconstruction(subject: Subject) -> dict[str, Number]:
    """Measure the fraction of the variance of each modality that comes back from its latents, over observed rows."""
    if not isinstance(subject.model, Reconstructs):
        return {}
    guesses = by_name(subject.model.reconstruct(subject.data), subject.data)
    numbers: dict[str, Number] = {}
    for name in subject.data.names:
        seen = subject.data.observed[name]
        if seen.sum() < 2 or name not in guesses or np.dtype(subject.data[name].dtype).kind not in "fiub":
            continue
        true, guess = flat(subject.data[name])[seen], flat(guesses[name])[seen]
        if true.shape != guess.shape:
            continue
        explained = 1 - ((true - guess) ** 2).sum() / max(((true - true.mean(axis=0)) ** 2).sum(), 1e-300)
        numbers[f"reconstruction of {name} (R²)"] = Bound(
            float(explained), "estimate", method="on new rows", n=int(seen.sum())
        )
    return numbers


def by_name(arrays: Mapping[str, np.ndarray] | ArrayLike, data: Dataset) -> dict[str, np.ndarray]:
    """Return modalities by name, whether a model gave an array or a dictionary.

    Args:
        arrays: What a model gave.
        data: Whose first modality a bare array is.

    Returns:
        Arrays, by the name of the modality.
    """
    return dict(arrays) if isinstance(arrays, Mapping) else {data.names[0]: np.asarray(arrays)}


def _calibration(subject: Subject) -> dict[str, Number]:
    """Measure whether a classifier can tell samples of the model from new rows, and how many its 90 % ranges hold."""
    data, seed = subject.data, subject.settings.seed
    whole = np.flatnonzero(np.all([data.observed[name] for name in data.names], axis=0))
    if not isinstance(subject.model, Samples) or len(whole) < 40:
        return {}
    alone = data.take(whole).one_row_per_unit(seed)  # trees would know the rows of a subject from each other
    if len(alone) < 40:
        return {}
    real_rows = alone.take(some_rows(len(alone), _MOST, seed))
    drawn = by_name(subject.model.sample(len(real_rows), seed=seed), data)
    if any(np.dtype(data[name].dtype).kind == "U" for name in data.names):
        return {}
    both = [
        leading_columns(np.concatenate([flat(real_rows[n]), flat(drawn[n])]), 10, seed)
        for n in data.names
        if n in drawn
    ]
    table = np.hstack(both)
    real, fake = table[: len(real_rows)], table[len(real_rows) :]
    inside = (real > np.quantile(fake, 0.05, axis=0)) & (real < np.quantile(fake, 0.95, axis=0))
    auc = _separability(real, fake, seed)
    return {
        _TOLD_APART: Bound(auc, "estimate", method=_CLASSIFIER, n=len(table)),
        "new rows inside the model's 90 % ranges": Bound(
            float(inside.mean()), "estimate", method="leading components, one at a time", n=len(real)
        ),
    }


def _separability(real: np.ndarray, fake: np.ndarray, seed: int) -> float:
    table, labels = np.vstack([real, fake]), np.repeat([1, 0], [len(real), len(fake)])
    fold = stream("certificate/folds", seed).permutation(len(labels)) % 2
    scores = np.empty(len(labels))
    for side in (0, 1):
        trees = HistGradientBoostingClassifier(max_iter=60, max_leaf_nodes=8, random_state=seed)
        trees.fit(table[fold != side], labels[fold != side])
        scores[fold == side] = trees.predict_proba(table[fold == side])[:, 1]
    return float(roc_auc_score(labels, scores))


def _collapse(latents: GaussianChannel, data: Dataset, names: tuple[str, ...]) -> Verdict:
    return collapse(latents, data.domain, names=names).verdict


def _factors(subject: Subject) -> Iterator[tuple[str, Number]]:
    """Yield scores against the truth, where the data bring it."""
    factors, latents = subject.data.factors, subject.latents
    columns = {name: f for name, f in factors.items() if f.dtype.kind == "f" and f.ndim == 1 and f.std() > 0}
    fits = latents is not None and 0 < len(columns) <= latents.mean.shape[1]  # more factors than latents have no match
    if latents is not None and fits and (latents.mean.std(axis=0) > 0).all():
        try:
            value = mcc(latents.mean, np.column_stack([*columns.values()]), "spearman")
            yield "mcc with the known factors", Bound(value, "estimate", method="Spearman, on new rows", n=len(latents))
        except DataError:
            pass
    labels = {} if subject.clusters is None else {"clusters": subject.clusters}
    labels |= {f"node {name}": channel for name, channel in subject.nodes.items()} if len(subject.nodes) > 1 else {}
    for name, values in factors.items():
        if values.ndim == 1 and values.dtype.kind in "iubU" and len(np.unique(values)) < len(values) / 4:
            for what, channel in labels.items():
                score = float(adjusted_rand_score(values, channel.most_likely))
                yield f"{what} against {name}", Bound(score, "estimate", method="adjusted Rand index", n=len(values))


def _history(model: object) -> list[Fields]:
    """Return each epoch as plain JSON."""
    rows = history_of(model)
    return [{k: None if isinstance(v, float) and not np.isfinite(v) else v for k, v in row.items()} for row in rows]
