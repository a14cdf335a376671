"""How much the latents say about each modality and about the domain, whatever the units."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from latentry.certificate.leading_components import is_label, leading_columns, rows_in_words, some_rows, untied
from latentry.certificate.question import Part
from latentry.certificate.subject import Subject
from latentry.errors import DataError
from latentry.evidence import Bound, Estimate, Verdict
from latentry.information import mutual_information
from latentry.streams import stream
from latentry.threads import side_by_side

__all__ = ["draw_of", "informative"]

_MOST = 1000  # rows of one estimate: more would cost seconds each and change no digit that matters
_DRAWS = 19  # permutations of labels
_COLUMNS = 5  # leading components of a modality
_LATENTS = 8  # that are measured one by one


class _Row(NamedTuple):
    latent: str
    about: str
    estimate: Estimate


def informative(subject: Subject) -> Part:
    """Estimate I(Λ; X_m) for all latents together and one by one, and I(Λ; domain).

    Args:
        subject: Rows and their latents.

    Returns:
        The part: estimates, without a judgement.
    """
    rows = some_rows(len(subject.data), _MOST, subject.settings.seed)
    fewer = subject.take(rows)
    asked, short, variables, units = [], [], _variables(fewer), fewer.data.units
    for name in fewer.observables.names:
        x, inside, shortened = _modality(fewer, name)
        short += [name] if shortened else []
        whose = None if units is None else units[inside]
        asked += [(label, name, values[inside], x[inside], whose, subject.settings.seed) for label, values in variables]
    if fewer.domain is not None and len(np.unique(fewer.domain)) > 1:
        codes = np.unique(fewer.domain, return_inverse=True)[1]
        asked += [(label, "domain", values, codes, units, subject.settings.seed) for label, values in variables]
    table = side_by_side(lambda question: _row(*question), asked)
    numbers = {f"I({row.latent}; {row.about})": row.estimate for row in table}
    details = {
        "short": list(dict.fromkeys(short)),
        "table": [{"latent": row.latent, "about": row.about} for row in table],
    }
    words = rows_in_words(len(rows), len(subject.data))
    return Part("informative", _verdict(numbers, fewer), {}, numbers, _notes(short, numbers, words), (), details)


def draw_of(subject: Subject) -> np.ndarray:
    """Draw the latents of each row once.

    Args:
        subject: Rows and their latents.

    Returns:
        Labels (rows,), or numbers (rows, latents).
    """
    return subject.channel.sample(subject.settings.seed)


def _variables(subject: Subject) -> list[tuple[str, np.ndarray]]:
    """Return what is measured: the cluster, the nodes, the continuous latent as a whole, and its coordinates."""
    seed = subject.settings.seed
    result: list[tuple[str, np.ndarray]] = []
    if subject.clusters is not None:
        result.append(("Λ", subject.clusters.sample(seed)))
        several = subject.nodes if len(subject.nodes) > 1 else {}
        result += [(f"node {name}", channel.sample(seed)) for name, channel in several.items()]
    if subject.latents is not None:
        drawn = subject.latents.sample(seed)
        result.append(("Λ" if subject.clusters is None else "continuous Λ", drawn))
        if 1 < drawn.shape[1] <= _LATENTS:
            result += list(zip(subject.variables, drawn.T, strict=True))
    return result


def _modality(subject: Subject, name: str) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return what is looked at of a modality, the rows that have it, and whether that is less than all of it."""
    data = subject.observables
    inside = np.flatnonzero(data.observed[name])
    if is_label(data, name) and not _numerous(np.asarray(data[name])[inside]):
        return np.unique(np.asarray(data[name]).ravel(), return_inverse=True)[1], inside, False
    values = np.asarray(data[name])
    result = untied(leading_columns(values[inside], _COLUMNS, subject.settings.seed), subject.settings.seed)
    looked = np.zeros((len(values), result.shape[1]))
    looked[inside] = result
    return looked, inside, result.shape[1] < int(np.prod(values.shape[1:]))


def _numerous(values: np.ndarray) -> bool:
    """Return whether whole numbers have so many values that they are a measurement, not labels."""
    return values.dtype.kind in "iu" and len(np.unique(values)) > max(20, len(values) / 5)


def _less_chance(estimate: Estimate, values: np.ndarray, x: np.ndarray, seed: int) -> Estimate:
    """Take off what permuted labels share, which is much where both have many values; no more than chance is nothing."""
    if values.dtype.kind not in "iub" or x.dtype.kind not in "iub" or values.ndim > 1 or x.ndim > 1:
        return estimate
    rng = stream("certificate/chance", seed)
    drawn = [float(mutual_information(values, x[rng.permutation(len(x))], confidence=None)) for _ in range(_DRAWS)]
    if float(estimate) <= max(drawn):
        return estimate.with_(value=0.0, low=0.0, warnings=(*estimate.warnings, "no more than permuted labels share"))
    mean = float(np.mean(drawn))
    return estimate.with_(value=float(estimate) - mean, low=max(estimate.low - mean, 0.0))


def _row(latent: str, about: str, values: np.ndarray, x: np.ndarray, groups: np.ndarray | None, seed: int) -> _Row:
    try:
        estimate = mutual_information(values, x, confidence=0.95, groups=groups, seed=seed)
        estimate = estimate if groups is not None else _less_chance(estimate, values, x, seed)
    except DataError as problem:
        estimate = Estimate(np.nan, method="none", n=len(x), warnings=(str(problem),))
    return _Row(latent, about, estimate)


def _verdict(numbers: dict[str, Estimate], subject: Subject) -> Verdict:
    """Return no certificate: estimates only say where to look."""
    estimates = {name: numbers[f"I(Λ; {name})"] for name in subject.observables.names}
    evidence = {
        name: Bound(float(e), "estimate", method=e.method, n=e.n)
        for name, e in estimates.items()
        if not np.isnan(float(e))
    }
    words = ", ".join(f"{_amount(e)} about {name}" for name, e in estimates.items())
    silent = [name for name, e in estimates.items() if not np.isnan(e.low) and e.low <= 0]
    tail = f" Nothing beyond chance about {', '.join(silent)}." if silent else ""
    sentence = f"the latent says {words}; these are estimates, not bounds.{tail}"
    return Verdict("cannot say", sentence, evidence, "labels or small alphabets, where information can be bounded")


def _amount(estimate: Estimate) -> str:
    if np.isnan(float(estimate)):
        return "an unknown amount"
    if np.isnan(estimate.low):
        return f"{max(float(estimate), 0.0):.2f} nats (too few rows for an interval)"
    return f"{max(float(estimate), 0.0):.2f} nats [{max(estimate.low, 0.0):.2f}, {estimate.high:.2f}]"


def _notes(short: list[str], numbers: dict[str, Estimate], rows: str) -> tuple[str, ...]:
    notes = [f"Measured on {rows}, with one draw of the latent for each."]
    if short:
        notes.append(
            f"Of {', '.join(dict.fromkeys(short))} the {_COLUMNS} leading components are looked at: "
            "the whole can only tell more."
        )
    # a warning that differs from another in its numbers only is given once
    said = {re.sub(r"[\d.]+", "#", w): w for e in numbers.values() for w in e.warnings}
    notes += [f"{w[:1].upper()}{w[1:]}." for w in list(said.values())[:3]]
    return tuple(notes)
