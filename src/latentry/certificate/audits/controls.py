"""Latents and domains whose worth is known: if one of them comes out wrong, nothing here can be trusted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from latentry import identifiability
from latentry.certificate.leading_components import is_label, leading_columns, rows_in_words, some_rows, untied
from latentry.certificate.question import Part
from latentry.certificate.subject import Settings, Subject
from latentry.contracts import HasLatentDistributions
from latentry.data import CategoricalChannel, Channel, Dataset
from latentry.errors import DataError
from latentry.evidence import Bound, Verdict
from latentry.information import mutual_information
from latentry.natural import Judge, Rows, as_rows
from latentry.streams import stream
from latentry.threads import side_by_side

__all__ = ["controls"]

_MOST = 760  # rows of a control
_SURE = 0.999  # confidence with which a worthless variable must not seem to say anything
_TRIES = 3  # permutations, all of which must fail before it is called a fault
_SLACK = 0.02  # nats by which an estimate may be off at nothing
_WHOLE = 80  # complete rows that controls of naturality need
_LITTLE = 0.3  # nats of a copy below which its control says nothing
_BINS = 2  # values of a copy of numbers
Outcome = tuple[bool, str, float]
Asked = tuple[Channel, str, np.ndarray | None]  # a latent, a modality, and the order of its rows if they are permuted


def controls(subject: Subject) -> Part:
    """Judge variables of known worth: shuffled domains, permuted modalities, a constant, a copy, and a coin.

    Args:
        subject: Rows and their latents.

    Returns:
        The part: certified if every control came out as expected.
    """
    rows = some_rows(len(subject.data), _MOST, subject.settings.seed)
    fewer = subject.take(rows)
    claims = {name: _as_verdict(*outcome) for name, outcome in _run(fewer)}
    failed = {name: v for name, v in claims.items() if v.refuted}
    if failed:
        names = ", ".join(failed)
        evidence = {name: bound for v in failed.values() for name, bound in v.evidence.items()}
        sentence = f"this certificate cannot be trusted: {names} came out as if worth something."
        verdict = Verdict(
            "refuted", sentence, evidence, "independent rows: look for duplicates and for rows in the order of time"
        )
    else:
        evidence = {"controls that came out right": Bound(len(claims), method="counted")}
        sentence = f"all {len(claims)} controls came out as expected{_out_of_reach(claims, subject.settings.epsilon)}."
        verdict = Verdict("certified", sentence, evidence, "")
    looked = rows_in_words(len(rows), len(subject.data))
    note = f"Run on {looked}. Information counts as a fault only if {_TRIES} permutations of {_TRIES} show it."
    return Part("controls", verdict, claims, {}, (note, *_left_out(fewer, claims)), ())


def _out_of_reach(claims: dict[str, Verdict], epsilon: float) -> str:
    """Say what a constant, of which nothing can be open, shows of the size that these rows can certify."""
    if "constant latent" not in claims or "coin" not in "".join(claims):
        return ""
    (bound,) = claims["constant latent"].evidence.values()
    if bound.value <= epsilon:
        return ""
    return f"; even a constant leaves up to {bound.value:.3g} nats open with so few rows, so that {epsilon:g} is out of their reach"


def _left_out(subject: Subject, claims: dict[str, Verdict]) -> Iterator[str]:
    """Yield the controls that could not be run, and why."""
    if len(subject.observables.names) > 1 and "constant latent" not in claims:
        whole = np.all([subject.observables.observed[n] for n in subject.observables.names], axis=0).sum()
        yield f"Controls of naturality need {_WHOLE} rows in which no modality is missing; there are {whole}: they were left out."
    elif len(subject.observables.names) > 1 and not any("redundancy" in name for name in claims):
        yield "The latent says too little for permuted modalities to show: these controls of redundancy were left out."


def _as_verdict(right: bool, sentence: str, value: float) -> Verdict:
    evidence = {sentence.split(" ")[0]: Bound(value, method="measured in this control")}
    return Verdict("certified" if right else "refuted", sentence, evidence)


def _run(subject: Subject) -> Iterator[tuple[str, Outcome]]:
    rng = stream("certificate/controls", subject.settings.seed)
    if subject.domain is not None and len(np.unique(subject.domain)) > 1:
        yield from _shuffled_domains(subject, rng)
    for name in subject.observables.names:
        yield f"permuted {name}, information", _permuted_information(subject, name, rng)
    if len(subject.observables.names) > 1:
        yield from _natural_controls(subject, rng)
    else:
        yield "constant latent", _constant_information(subject)


def _shuffled_domains(subject: Subject, rng: np.random.Generator) -> Iterator[tuple[str, Outcome]]:
    codes = np.unique(np.asarray(subject.domain), return_inverse=True)[1]
    shuffled = rng.permutation(codes)
    lows = (_information(_drawn(subject), rng.permutation(codes), subject.settings.seed) for _ in range(_TRIES))
    yield "shuffled domains, information", _silent("the latent", "shuffled domains", lows)
    if isinstance(subject.model, HasLatentDistributions) and subject.latents is not None:
        status: str
        try:
            status = identifiability.sufficient_changes(
                subject.model, (subject.latents.mean, shuffled), level=subject.settings.level, bootstrap=0
            ).verdict.status
        except DataError as why:
            status = f"cannot say ({why})"
        words = f"with shuffled domains the latents come out as identifiable: {status}."
        yield "shuffled domains, identifiability", (status != "certified", words, float(status == "certified"))


def _permuted_information(subject: Subject, name: str, rng: np.random.Generator) -> Outcome:
    data, seed = subject.observables, subject.settings.seed
    inside = np.flatnonzero(data.observed[name])
    values = np.asarray(data[name])[inside]
    x = (
        np.unique(values.ravel(), return_inverse=True)[1]
        if is_label(data, name)
        else untied(leading_columns(values, 3, seed), seed)
    )
    latent = _drawn(subject)[inside]
    lows = (_information(latent, x[rng.permutation(len(x))], seed) for _ in range(_TRIES))
    return _silent("the latent", f"{name} of other rows", lows)


def _constant_information(subject: Subject) -> Outcome:
    data = subject.observables
    name = data.names[0]
    inside = np.flatnonzero(data.observed[name])
    x = leading_columns(np.asarray(data[name])[inside], 3, subject.settings.seed)
    lows = iter([_information(np.zeros(len(x)), x, subject.settings.seed)])
    return _silent("a constant latent", name, lows)


def _silent(who: str, about: str, lows: Iterator[float]) -> Outcome:
    """Return whether one of several tries comes out at nothing: chance errs now and then, a fault every time."""
    low = math.inf
    for value in lows:
        low = min(low, value)
        if low <= _SLACK:
            break
    return low <= _SLACK, f"{who} says {low:.3g} nats about {about} beyond doubt ({_SURE:.1%}).", low


def _information(values: np.ndarray, x: np.ndarray, seed: int) -> float:
    """Return the lower end of the interval of an estimate."""
    estimator = "auto" if values.ndim == 1 and np.asarray(values).dtype.kind in "iub" else "gaussian"
    if estimator == "gaussian" and np.asarray(x).dtype.kind in "iub":
        estimator = "auto"
    try:
        low = mutual_information(values, x, estimator=estimator, confidence=_SURE, seed=seed).low
    except DataError:
        return 0.0
    return 0.0 if math.isnan(low) else max(low, 0.0)


def _drawn(subject: Subject) -> np.ndarray:
    """Draw the latent once; of many columns return the three leading components."""
    values = subject.channel.sample(subject.settings.seed)
    return values if values.ndim == 1 else leading_columns(values, 3, subject.settings.seed)


def _natural_controls(subject: Subject, rng: np.random.Generator) -> Iterator[tuple[str, Outcome]]:
    epsilon, data = subject.settings.epsilon, subject.observables.with_domain(None)
    whole = np.flatnonzero(np.all([data.observed[n] for n in data.names], axis=0))
    if len(whole) < _WHOLE:
        return
    data = data.take(whole)
    channel = subject.channel.take(whole)
    first = data.names[0]
    copy, entropy = _copy(data, first, subject.settings.seed)
    asked: dict[str, Asked] = {}
    if _says(channel) > 2 * epsilon:
        asked = {f"permuted {name}": (channel, name, rng.permutation(len(data))) for name in data.names}
    asked["coin"] = CategoricalChannel(np.eye(2)[rng.integers(0, 2, len(data))]), first, None
    asked["constant"] = CategoricalChannel(np.ones((len(data), 1))), first, None
    if entropy >= _LITTLE:  # else too little for bounds of these sizes to tell from nothing
        asked["copy"] = copy, first, None
    bounds = _redundancies(data, asked, subject.settings)
    for name in data.names:
        if f"permuted {name}" in bounds:
            yield (
                f"permuted {name}, redundancy",
                _left_open(bounds[f"permuted {name}"], epsilon, f"{name} of other rows"),
            )
    if epsilon < math.log(2):  # else any modality determines a coin well enough
        yield "a coin", _left_open(bounds["coin"], epsilon, f"{first}, of a coin that no modality holds,")
    words = (
        f"{first} leaves at most {bounds['constant']:.3g} nats of a constant open, and {bounds['coin']:.3g} of a coin."
    )
    yield "constant latent", (bounds["constant"] < bounds["coin"] / 2, words, bounds["constant"])
    if "copy" in bounds:
        words = f"{first} leaves {bounds['copy']:.3g} of the {entropy:.3g} nats of its own copy open."
        yield "copy latent", (bounds["copy"] < 0.75 * entropy, words, bounds["copy"])


def _left_open(bound: float, epsilon: float, what: str) -> Outcome:
    return (
        bound > epsilon,
        f"{what} leaves up to {bound:.3g} nats of the latent open, and the declared size is {epsilon:g}.",
        bound,
    )


def _says(channel: Channel) -> float:
    """Estimate I(Λ; X) by plugging in: how far the latent of a row is from the average latent."""
    if isinstance(channel, CategoricalChannel):
        p, average = channel.probabilities, channel.probabilities.mean(axis=0)
        ratio = np.divide(p, average, out=np.ones_like(p), where=p > 0)
        return float((p * np.log(ratio)).sum(axis=1).mean())
    signal = channel.mean.var(axis=0) / np.mean(channel.scale**2, axis=0)
    return float(0.5 * np.log1p(signal).sum())


def _copy(data: Dataset, name: str, seed: int) -> tuple[CategoricalChannel, float]:
    """Return a latent that copies one modality: its labels, or the halves of its leading component; and its entropy."""
    if is_label(data, name):
        codes = np.unique(np.asarray(data[name]).ravel(), return_inverse=True)[1]
    else:
        leading = leading_columns(np.asarray(data[name]), 1, seed)[:, 0]
        codes = np.searchsorted(np.quantile(leading, np.arange(1, _BINS) / _BINS), leading)
    channel = CategoricalChannel(np.eye(int(codes.max()) + 1)[codes])
    return channel, _says(channel)


def _redundancies(data: Dataset, asked: Mapping[str, Asked], settings: Settings) -> dict[str, float]:
    """Bound the redundancy error for each latent, side by side; blocks and split are made once."""
    plain, seed = next(iter(asked.values()))[0], settings.seed
    rows = as_rows(data, plain, blocks=None, domain=None, noise=None, quantiser=None, fit=0.5, seed=seed)
    bounds = side_by_side(lambda question: _redundancy(rows, question, settings), asked.values())
    return dict(zip(asked, bounds, strict=True))


def _redundancy(rows: Rows, asked: Asked, settings: Settings) -> float:
    """Return the upper bound of the redundancy error of one modality, on all rows together."""
    channel, name, order = asked
    place = [block.name for block in rows.blocks].index(name)
    if order is not None:  # its fit rows are others then, and so are its components
        rows = rows.with_block(place, rows.blocks[place].reordered(order, rows.fit, settings.seed))
    judge = Judge(rows.of(channel), "general", settings.epsilon, settings.level, "betting", settings.seed)
    upper = judge.redundancy(judge.places()[0], place).upper
    return math.inf if upper is None else upper.value
