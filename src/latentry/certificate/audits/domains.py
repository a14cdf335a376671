"""How much of the domain shows in the latents, and how far the domains differ given them."""

from __future__ import annotations

import numpy as np
from scipy.stats import t as student_t
from sklearn.ensemble import HistGradientBoostingClassifier

from latentry.certificate.audits.explained_variance import bins, jackknife_blocks, shared_entropy
from latentry.certificate.audits.fit import by_unit
from latentry.certificate.audits.informative import draw_of
from latentry.certificate.leading_components import is_label, leading_columns, rows_in_words, some_rows
from latentry.certificate.question import Fields, Number, Part
from latentry.certificate.subject import Subject
from latentry.data import CategoricalChannel
from latentry.evidence import Bound, Estimate, Verdict
from latentry.information import mutual_information
from latentry.streams import stream_seed

__all__ = ["domains"]

_MOST = 2000  # rows
_COLUMNS = 10  # leading components of a modality
_METHOD = "held-out boosted trees, two folds, t interval"
_FEWEST = 10  # rows of a domain that a classifier could learn from
_UNITS = 5  # groups by which a mean has a spread


def domains(subject: Subject) -> Part | None:
    """Measure what a classifier learns of the domain from the latents, and what the modalities add to it.

    I(J; Λ) is estimated. I(J; X|Λ) = H(J|Λ) − H(J|Λ, X) has the losses of classifiers on rows that did not train them in place of
    the conditional entropies: it is what these classifiers see, and more may be there.

    Args:
        subject: Rows and their latents.

    Returns:
        The part; None where there are no two domains.
    """
    if subject.domain is None or len(np.unique(subject.domain)) < 2:
        return None
    fewer = subject.take(some_rows(len(subject.data), _MOST, subject.settings.seed))
    names, codes = np.unique(np.asarray(fewer.domain), return_inverse=True)
    folds = jackknife_blocks(len(codes), fewer.data.units, subject.settings.seed) % 2
    everywhere = len(np.unique(np.asarray(subject.domain)))
    if len(names) < everywhere or not _learnable(codes, folds, fewer):
        return Part("domains", _too_few(everywhere))
    latent, modalities = _latent_columns(fewer), _modality_columns(fewer)
    seed = stream_seed("certificate/domains", subject.settings.seed)
    blind = _losses(np.zeros((len(codes), 1)), codes, folds, seed)
    seen, both = (_losses(table, codes, folds, seed) for table in (latent, np.hstack([latent, modalities])))
    whole = _entropy(codes)
    told, beyond = _told(fewer, codes, whole), _gain(seen[0] - both[0], fewer, whole)
    numbers: dict[str, Number] = {
        "domain told by the latents": told,
        "domain told by the modalities beyond the latents": beyond,
        "entropy of the domain": Bound(whole, "estimate", method="plug-in", n=len(codes)),
        "domain guessed from the latents": Bound(float(seen[1].mean()), "estimate", method=_METHOD, n=len(codes)),
        "domain guessed without looking": Bound(float(blind[1].mean()), "estimate", method=_METHOD, n=len(codes)),
    }
    noticed = _noticed(seen[1], blind[1], fewer)
    details: Fields = {
        "noticed": noticed,
        "domains": [str(name) for name in names],
        "variables": _by_variable(fewer, codes),
    }
    notes = (
        f"Measured on {rows_in_words(len(codes), len(subject.data))}; what classifiers do not see is not counted.",
    )
    return Part(
        "domains",
        _verdict(subject.called, told, beyond, whole, (float(seen[1].mean()), float(blind[1].mean()))),
        {},
        numbers,
        notes,
        (_METHOD,),
        details,
    )


def _told(subject: Subject, codes: np.ndarray, most: float) -> Estimate:
    """Estimate I(J; Λ), at most the entropy of the domain."""
    seed = subject.settings.seed
    found = mutual_information(draw_of(subject), codes, confidence=0.95, groups=subject.data.units, seed=seed)
    low, high = (0.0, most) if found.low != found.low else (found.low, found.high)  # too few groups for an interval
    value, low, high = (min(max(float(end), 0.0), most) for end in (found, low, high))
    return found.with_(value=value, low=low, high=high)


def _noticed(right: np.ndarray, blind: np.ndarray, subject: Subject) -> bool:
    """Return whether more rows, or groups, are placed in the right domain than without looking (level 0.01)."""
    gain = by_unit(right - blind, subject.data)
    spread = gain.std(ddof=1) / np.sqrt(len(gain))
    return bool(spread > 0 and gain.mean() / spread > student_t.ppf(0.99, len(gain) - 1))


def _learnable(codes: np.ndarray, folds: np.ndarray, subject: Subject) -> bool:
    """Return whether each fold has enough rows of each domain, and enough groups for a spread."""
    counts = [np.bincount(codes[folds == side], minlength=codes.max() + 1).min() for side in (0, 1)]
    units = subject.data.units
    return min(counts) >= _FEWEST and (units is None or len(np.unique(units)) >= _UNITS)


def _too_few(count: int) -> Verdict:
    sentence = (
        f"one of the {count} domains has too few rows, or groups, for a classifier that learns from one half and is "
        "measured on the other."
    )
    return Verdict(
        "cannot say", sentence, {}, f"at least {4 * _FEWEST} rows of each domain, and groups that span both halves"
    )


def _latent_columns(subject: Subject) -> np.ndarray:
    drawn = draw_of(subject)
    if not isinstance(subject.channel, CategoricalChannel):
        return drawn
    columns: np.ndarray = np.eye(subject.channel.probabilities.shape[1])[drawn]
    return columns


def _modality_columns(subject: Subject) -> np.ndarray:
    """Return labels as codes, and leading components of numbers; missing rows are NaN, which trees know."""
    data, columns = subject.observables, []
    for name in data.names:
        inside = np.flatnonzero(data.observed[name])
        values = np.asarray(data[name])[inside]
        if is_label(data, name) or values.dtype.kind not in "fiub":
            known = np.unique(values.reshape(len(inside), -1).astype(str), return_inverse=True)[1]
            known = known.reshape(len(inside), -1).astype(float)
        else:
            known = leading_columns(values, _COLUMNS, subject.settings.seed)
        table = np.full((len(data), known.shape[1]), np.nan)
        table[inside] = known
        columns.append(table)
    return np.hstack(columns)


def _losses(table: np.ndarray, codes: np.ndarray, folds: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return −log p(domain) of each row, and whether the guess was right, by trees that did not see its fold."""
    loss, right = np.empty(len(codes)), np.empty(len(codes))
    rounds = 60 if codes.max() < 6 else 20
    for side in (0, 1):
        train, test = folds != side, folds == side
        table = table[
            :, np.isfinite(table[train]).any(axis=0)
        ]  # of a column that the fold does not have nothing is learned
        if table.shape[1] == 1 and np.ptp(table) == 0:
            chances = np.broadcast_to(np.bincount(codes[train]) / train.sum(), (test.sum(), codes.max() + 1))
        else:
            trees = HistGradientBoostingClassifier(
                max_iter=rounds, max_leaf_nodes=8, learning_rate=0.1, min_samples_leaf=10, random_state=seed
            )
            chances = trees.fit(table[train], codes[train]).predict_proba(table[test])
        loss[test] = -np.log(np.maximum(chances[np.arange(test.sum()), codes[test]], 1e-12))
        right[test] = chances.argmax(axis=1) == codes[test]
    return loss, right


def _gain(gain: np.ndarray, subject: Subject, most: float) -> Estimate:
    """Return the mean over rows, at most the entropy, with an interval from the spread of the sums over groups."""
    units = np.arange(len(gain)) if subject.data.units is None else subject.data.units
    codes = np.unique(units, return_inverse=True)[1]
    sums = np.bincount(codes, gain - gain.mean())
    count = len(sums)
    half = student_t.ppf(0.975, count - 1) * np.sqrt(count / (count - 1) * (sums**2).sum()) / len(gain)
    low, mean, high = (min(float(end), most) for end in (gain.mean() - half, gain.mean(), gain.mean() + half))
    return Estimate(mean, low=low, high=high, method=_METHOD, n=count, confidence=0.95, units="nats")


def _entropy(codes: np.ndarray) -> float:
    fraction = np.bincount(codes) / len(codes)
    return float(-(fraction[fraction > 0] * np.log(fraction[fraction > 0])).sum())


def _by_variable(subject: Subject, codes: np.ndarray) -> list[Fields]:
    """Return what each hidden variable alone shares with the domain, as a fraction of the smaller entropy."""
    named = {f"node {name}": channel.most_likely for name, channel in subject.nodes.items() if len(subject.nodes) > 1}
    if not named and subject.latents is not None and subject.clusters is None:
        named = {
            f"latent {name}": bins(column) for name, column in zip(subject.names, subject.latents.mean.T, strict=True)
        }
    blocks = jackknife_blocks(len(codes), subject.data.units, subject.settings.seed)
    return [{"name": name, "fraction": list(shared_entropy(values, codes, blocks))} for name, values in named.items()]


def _verdict(name: str, told: Estimate, beyond: Estimate, whole: float, right: tuple[float, float]) -> Verdict:
    guessed, chance = right
    sentence = (
        f"from {name} a classifier names the domain of {100 * guessed:.0f} % of new rows ({100 * chance:.0f} % without "
        f"looking): {_nats(told)} of the {whole:.2f} nats that name it; for rows equal in it, the modalities tell {_nats(beyond)}."
    )
    return Verdict("cannot say", sentence, {}, "more rows in each domain")


def _nats(estimate: Estimate) -> str:
    return f"{max(float(estimate), 0.0):.2f} [{max(estimate.low, 0.0):.2f}, {max(estimate.high, 0.0):.2f}]"
