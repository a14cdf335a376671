"""Latents and domains whose worth is known: if one of them comes out wrong, nothing here can be trusted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from latentry import identifiability
from latentry.certificate.audits.natural_controls import WHOLE, CouldNotRunError, Outcome, natural_controls
from latentry.certificate.leading_components import is_label, leading_columns, rows_in_words, some_rows, untied
from latentry.certificate.question import Part
from latentry.certificate.subject import Subject
from latentry.contracts import HasLatentDistributions
from latentry.errors import DataError
from latentry.evidence import Bound, Verdict
from latentry.information import mutual_information
from latentry.streams import stream
from latentry.threads import side_by_side

__all__ = ["controls"]

_MOST = 760  # rows of a control
_SURE = 0.999  # confidence with which a worthless variable must not seem to say anything
_TRIES = 3  # permutations, all of which must fail before it is called a fault
_SLACK = 0.02  # nats by which an estimate may be off at nothing
Control = Callable[[], Outcome]


def controls(subject: Subject) -> Part:
    """Judge variables of known worth: shuffled domains, permuted modalities, a constant, a copy, a coin, and planted failures.

    Args:
        subject: Rows and their latents.

    Returns:
        The part: certified if every control came out as expected; a control that could not run did not.
    """
    rows = some_rows(len(subject.data), _MOST, subject.settings.seed)
    fewer = subject.take(rows)
    asked = dict(_run(fewer))
    outcomes = dict(zip(asked, side_by_side(_outcome, asked.values()), strict=True))
    claims = {name: outcome for name, outcome in outcomes.items() if isinstance(outcome, Verdict)}
    missed = {name: outcome for name, outcome in outcomes.items() if isinstance(outcome, str)}
    looked = rows_in_words(len(rows), len(subject.data))
    note = f"Run on {looked}. Information counts as a fault only if {_TRIES} permutations of {_TRIES} show it."
    notes = (note, *_left_out(fewer, claims), *(f"{name}: could not be run; {why}" for name, why in missed.items()))
    return Part("controls", _judged(claims, missed, subject.settings.epsilon), claims, {}, notes, ())


def _outcome(control: Control) -> Verdict | str:
    """Run a control: its verdict, or why it could not be run."""
    try:
        return _as_verdict(*control())
    except CouldNotRunError as why:
        return str(why)


def _judged(claims: dict[str, Verdict], missed: dict[str, str], epsilon: float) -> Verdict:
    failed = {name: v for name, v in claims.items() if v.refuted}
    if failed:
        names = ", ".join(failed)
        evidence = {name: bound for v in failed.values() for name, bound in v.evidence.items()}
        sentence = f"this certificate cannot be trusted: {names} came out as if worth something."
        change = (
            "independent rows: look for duplicates and for rows in the order of time; shuffle rows that were sorted"
        )
        return Verdict("refuted", sentence, evidence, change)
    evidence = {"controls that came out right": Bound(len(claims), method="counted")}
    if missed:
        sentence = f"{len(claims)} controls came out as expected, but {', '.join(missed)} could not be run."
        return Verdict("cannot say", sentence, evidence, "; ".join(dict.fromkeys(missed.values())))
    sentence = f"all {len(claims)} controls came out as expected{_out_of_reach(claims, epsilon)}."
    return Verdict("certified", sentence, evidence, "")


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
        if subject.data.units is not None and whole >= WHOLE:
            units = len(np.unique(subject.data.units))
            yield f"{units} groups or blocks of time are too few for any bound to reach ε: controls of naturality were left out."
            return
        yield f"Controls of naturality need {WHOLE} rows in which no modality is missing; there are {whole}: they were left out."
    elif len(subject.observables.names) > 1 and not any("redundancy" in name for name in claims):
        yield "The latent says too little for permuted modalities to show: these controls of redundancy were left out."


def _as_verdict(right: bool, sentence: str, value: float) -> Verdict:
    evidence = {sentence.split(" ")[0]: Bound(value, method="measured in this control")}
    return Verdict("certified" if right else "refuted", sentence, evidence)


def _run(subject: Subject) -> Iterator[tuple[str, Control]]:
    """Yield what is to be run, by name; what does not apply to these data is not there."""
    if subject.domain is not None and len(np.unique(subject.domain)) > 1:
        yield from _shuffled_domains(subject)
    for name in subject.observables.names:
        yield f"permuted {name}, information", partial(_permuted_information, subject, name)
    if len(subject.observables.names) > 1:
        yield from natural_controls(subject)
    else:
        yield "constant latent", partial(_constant_information, subject)


def _shuffled_domains(subject: Subject) -> Iterator[tuple[str, Control]]:
    rng = stream("certificate/control: shuffled domains", subject.settings.seed)
    codes = np.unique(np.asarray(subject.domain), return_inverse=True)[1]
    shuffled = rng.permutation(codes)
    lows = (_information(_drawn(subject), rng.permutation(codes), subject.settings.seed) for _ in range(_TRIES))
    yield "shuffled domains, information", lambda: _silent("the latent", "shuffled domains", lows)
    if isinstance(subject.model, HasLatentDistributions) and subject.latents is not None:
        yield "shuffled domains, identifiability", partial(_shuffled_identifiability, subject, shuffled)


def _shuffled_identifiability(subject: Subject, shuffled: np.ndarray) -> Outcome:
    if not isinstance(subject.model, HasLatentDistributions) or subject.latents is None:
        raise CouldNotRunError("the latents have no distribution in each domain")
    status: str
    try:
        status = identifiability.sufficient_changes(
            subject.model, (subject.latents.mean, shuffled), level=subject.settings.level, bootstrap=0
        ).verdict.status
    except DataError as why:
        status = f"cannot say ({why})"
    words = f"with shuffled domains the latents come out as identifiable: {status}."
    good = status in ("certified", "supported")
    return not good, words, float(good)


def _permuted_information(subject: Subject, name: str) -> Outcome:
    data, seed = subject.observables, subject.settings.seed
    rng = stream(f"certificate/control: permuted {name}, information", seed)
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
    except DataError as why:
        raise CouldNotRunError(str(why)) from None
    return 0.0 if math.isnan(low) else max(low, 0.0)


def _drawn(subject: Subject) -> np.ndarray:
    """Draw the latent once; of many columns return the three leading components."""
    values = subject.channel.sample(subject.settings.seed)
    return values if values.ndim == 1 else leading_columns(values, 3, subject.settings.seed)
