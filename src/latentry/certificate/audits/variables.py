"""What the hidden variables are: their values, what each moves, what they share with each other and with known factors."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from latentry.certificate.audits.explained_variance import (
    Fraction,
    bins,
    explained,
    jackknife_blocks,
    shared_entropy,
)
from latentry.certificate.leading_components import flat, is_label, rows_in_words, some_rows
from latentry.certificate.question import Fields, Number, Part
from latentry.certificate.subject import Subject
from latentry.contracts import HasDoubts
from latentry.data import unit_columns
from latentry.evidence import Estimate, Verdict

__all__ = ["variables"]

_MOST = 4000  # rows
_VARIABLES = 30  # that are described one by one
_COLUMNS = 3  # of a table that are named for each variable
_FEWEST = 40  # rows behind a fraction
_NAMELESS = 12  # columns without names, above which a modality is taken as a curve or a profile
_SILENT = 0.02  # nats in a variable that is as good as constant
_MOVED = "fraction of the variance (epsilon squared), jackknife interval"
_SHARED = "fraction of the smaller entropy, jackknife interval"


class _Variable(NamedTuple):
    """A hidden variable: its name, its value or bin in each row, and the fraction of each value."""

    name: str
    kind: str
    codes: np.ndarray
    fractions: np.ndarray


def variables(subject: Subject) -> Part:
    """Describe each hidden variable on rows that did not train it.

    Args:
        subject: Rows and their latents.

    Returns:
        The part: estimates, without a judgement.
    """
    fewer = subject.take(some_rows(len(subject.data), _MOST, subject.settings.seed))
    blocks = jackknife_blocks(len(fewer.data), fewer.data.units, subject.settings.seed)
    everything = list(_variables(fewer))
    found = everything[:_VARIABLES]
    numbers: dict[str, Number] = {}
    described = []
    for one in found:
        moved = _moved(one, fewer, blocks)
        numbers |= {f"{_title(row)} by {one.name}": _estimate(row["fraction"], _MOVED, len(blocks)) for row in moved}
        described.append(_described(one, moved, len(blocks)))
    pairs = _pairs(found, blocks)
    known = list(_known(found, fewer, blocks))
    shared = [(a, b, least) for a, b, least, _ in pairs]
    numbers |= {f"shared by {a} and {b}": _estimate(f, _SHARED, len(blocks)) for a, b, f in [*shared, *known]}
    details: Fields = {
        "variables": described,
        "pairs": [{"a": a, "b": b, "fraction": list(least), "both": list(both)} for a, b, least, both in pairs],
        "known": [{"variable": a, "factor": b, "fraction": list(f)} for a, b, f in known],
    }
    notes = (f"Measured on {rows_in_words(len(blocks), len(subject.data))}.", *_doubts(subject))
    return Part("variables", _verdict(described, len(everything)), {}, numbers, notes, (), details)


def _estimate(fraction: Fraction, method: str, rows: int) -> Estimate:
    return Estimate(
        fraction.value, low=fraction.low, high=fraction.high, method=method, n=rows, confidence=0.95, units="fraction"
    )


def _variables(subject: Subject) -> Iterator[_Variable]:
    """Yield the nodes where there are several; else the cluster, or each continuous latent."""
    if len(subject.nodes) > 1:
        for name, channel in subject.nodes.items():
            yield _Variable(f"node {name}", "node", channel.most_likely, channel.probabilities.mean(axis=0))
    elif subject.clusters is not None:
        yield _Variable("Λ", "label", subject.clusters.most_likely, subject.clusters.probabilities.mean(axis=0))
    elif subject.latents is not None:
        for name, column in zip(subject.variables, subject.latents.mean.T, strict=True):
            yield _Variable(name, "number", bins(column), np.zeros(0))


def _described(one: _Variable, moved: list[Fields], rows: int) -> Fields:
    entropy = _entropy_of(one.fractions) if len(one.fractions) else None
    return {
        "name": one.name,
        "kind": one.kind,
        "values": len(one.fractions) or None,
        "fractions": [round(float(f), 4) for f in one.fractions],
        "used": int((one.fractions * rows >= 0.5).sum()),
        "entropy": None if entropy is None else round(entropy, 4),
        "silent": bool(entropy is not None and entropy < _SILENT),
        "moves": [{**row, "fraction": list(row["fraction"])} for row in moved],
    }


def _moved(one: _Variable, subject: Subject, blocks: np.ndarray) -> list[Fields]:
    """Return the fraction of each modality's variance that goes with the variable, and the columns that follow it most."""
    rows: list[Fields] = []
    data = subject.observables
    for name in data.names:
        seen = np.flatnonzero(data.observed[name])
        if np.dtype(data[name].dtype).kind not in "fiub" or is_label(data, name) or len(seen) < _FEWEST:
            continue
        table = flat(np.asarray(data[name])[seen])
        scaled = unit_columns(table) if np.asarray(data[name]).ndim == 2 else table
        whole, columns = explained(one.codes[seen], scaled, blocks[seen])
        rows.append({"modality": name, "column": name, "whole": True, "fraction": whole})
        if (
            np.asarray(data[name]).ndim == 2
            and table.shape[1] > 1
            and (name in data.columns or table.shape[1] <= _NAMELESS)
        ):
            rows += _strongest(name, data.columns.get(name), columns)
    return rows


def _strongest(name: str, named: tuple[str, ...] | None, columns: list[Fraction]) -> list[Fields]:
    order = sorted(range(len(columns)), key=lambda i: -columns[i].value)[:_COLUMNS]
    return [
        {
            "modality": name,
            "column": named[i] if named else f"{name} {i + 1}",
            "whole": False,
            "fraction": columns[i],
        }
        for i in order
        if columns[i].low > 0
    ]


def _title(row: Fields) -> str:
    return str(row["modality"]) if row["whole"] else f"{row['modality']}, {row['column']}"


def _pairs(found: list[_Variable], blocks: np.ndarray) -> list[tuple[str, str, Fraction, Fraction]]:
    """Return what two variables share, of the smaller and of the larger entropy; those of one value share nothing."""
    speaking = [one for one in found if not len(one.fractions) or _entropy_of(one.fractions) >= _SILENT]
    return [
        (
            a.name,
            b.name,
            shared_entropy(a.codes, b.codes, blocks),
            shared_entropy(a.codes, b.codes, blocks, of_larger=True),
        )
        for a, b in combinations(speaking, 2)
    ]


def _entropy_of(fractions: np.ndarray) -> float:
    likely = fractions[fractions > 0]
    return float(-(likely * np.log(likely)).sum())


def _known(found: list[_Variable], subject: Subject, blocks: np.ndarray) -> Iterator[tuple[str, str, Fraction]]:
    """Yield what each variable shares with each known factor."""
    for name, values in subject.data.factors.items():
        if values.ndim != 1 or len(np.unique(values)) < 2:
            continue
        labels = values.dtype.kind in "iubU" and len(np.unique(values)) < len(values) / 4
        if not labels and values.dtype.kind not in "fiu":
            continue
        there = np.flatnonzero(np.isfinite(values)) if values.dtype.kind == "f" else np.arange(len(values))
        if len(there) < _FEWEST or len(np.unique(values[there])) < 2:
            continue
        known = values[there]
        codes = np.unique(known, return_inverse=True)[1] if labels else bins(np.asarray(known, dtype=float))
        for one in found:
            yield one.name, name, shared_entropy(one.codes[there], codes, blocks[there])


def _doubts(subject: Subject) -> tuple[str, ...]:
    """Return what the model warns of itself."""
    said: tuple[str, ...] = subject.model.doubts() if isinstance(subject.model, HasDoubts) else ()
    return tuple(f"The model warns: {doubt}" for doubt in said)


def _verdict(described: list[Fields], count: int) -> Verdict:
    silent = [one["name"] for one in described if one["silent"]]
    names = ", ".join("as given" if one["name"] == "Λ" else one["name"] for one in described)
    some = "" if len(described) == count else f", of which {len(described)} are described"
    sentence = f"{count} hidden variable{'s' * (count != 1)}{some}: {names}. Whether more are needed is not asked here."
    sentence += "".join(f" {name} has one value in nearly all rows." for name in silent)
    return Verdict("cannot say", sentence, {}, "restarts, which show whether the same variables come again")
