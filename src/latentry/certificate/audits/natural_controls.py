"""Latents whose naturality is known: nothing holds a coin, a constant is known without looking, planted dependence is seen."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from latentry.certificate.leading_components import is_label, leading_columns
from latentry.certificate.subject import Subject
from latentry.data import CategoricalChannel, Channel, Dataset
from latentry.errors import DataError
from latentry.natural import (
    Judge,
    Rows,
    as_rows,
    choose_family,
    independence,
    reasons_to_call_it_empty,
    units_needed,
)
from latentry.streams import stream

__all__ = ["WHOLE", "CouldNotRunError", "Outcome", "natural_controls"]

Outcome = tuple[bool, str, float]
WHOLE = 80  # complete rows that controls of naturality need
_LITTLE = 0.3  # nats of a copy below which its control says nothing
_BINS = 2  # values of a copy of numbers
_FEWER = 240  # rows in which dependence is planted
_POWER = 0.99  # from which on planted dependence must be seen
_AS_OPEN = 0.75  # of what a modality leaves open of a coin that it must leave open of what it cannot hold
_SLACK = 1.3  # times the entropy of a coin, which bounds from few rows may say of it
_DISTINCT = 0.9  # of the rows of a modality that must differ for a hash of it to be as good as a coin


class CouldNotRunError(Exception):
    """A control that these rows do not allow; it does not count as passed."""


def natural_controls(subject: Subject) -> Iterator[tuple[str, Callable[[], Outcome]]]:
    """Yield the controls of naturality, by name.

    Args:
        subject: Rows and their latents.

    Returns:
        An iterator over names and what is to be run.
    """
    whole = np.flatnonzero(np.all([subject.observables.observed[n] for n in subject.observables.names], axis=0))
    if len(whole) < WHOLE:
        yield "controls of naturality", partial(_too_few, len(whole))
        return
    asked = _Asked(subject.take(whole))
    if asked.too_few_units:  # no bound can reach epsilon, for a control as for the latent itself
        return
    _ = asked.rows, asked.coin_bound  # made once, before controls ask for them side by side
    if asked.says > 2 * asked.epsilon:
        for name in asked.data.names:
            yield f"permuted {name}, redundancy", partial(asked.permuted, name)
    if asked.epsilon < math.log(2):  # else any modality determines a coin well enough
        yield "a coin", asked.tossed
        yield (
            "row number",
            partial(asked.unknown, asked.row_number, asked.first, "the half of the file that a row is in"),
        )
        if asked.hashed is not None:
            yield "hash", partial(asked.unknown, asked.hashed, asked.data.names[1], f"a hash of {asked.first}")
    yield "constant latent", asked.constant
    if asked.copy[1] >= _LITTLE:  # else too little for bounds of these sizes to tell from nothing
        yield "copy latent", asked.copied
    yield "every row twice", asked.doubled
    if asked.domains is not None:
        yield "domain as the latent", asked.domain_latent
    if 2 * asked.epsilon < 0.9 * math.log(2):
        yield "planted dependence", asked.planted


def _too_few(count: int) -> Outcome:
    raise CouldNotRunError(f"{WHOLE} rows in which no modality is missing are needed, and there are {count}")


@dataclass(frozen=True, eq=False)
class _Asked:
    """The rows in which nothing is missing, and what is asked of them; blocks and split are made once."""

    subject: Subject

    def _draws(self, purpose: str) -> np.random.Generator:
        """A stream for each control: they run side by side."""
        return stream(f"certificate/control: {purpose}", self.subject.settings.seed)

    @cached_property
    def data(self) -> Dataset:
        return self.subject.observables.with_domain(None)

    @property
    def epsilon(self) -> float:
        return self.subject.settings.epsilon

    @property
    def first(self) -> str:
        return self.data.names[0]

    @cached_property
    def says(self) -> float:
        return _says(self.subject.channel)

    @cached_property
    def domains(self) -> np.ndarray | None:
        """Codes of the domains, where there are several."""
        if self.subject.domain is None:
            return None
        names, codes = np.unique(np.asarray(self.subject.domain), return_inverse=True)
        return codes if len(names) > 1 else None

    @cached_property
    def coin(self) -> CategoricalChannel:
        return _labels(self._draws("coin").integers(0, 2, len(self.data)))

    @cached_property
    def row_number(self) -> CategoricalChannel:
        """Which half of its domain's rows, or which half of the units, a row is in."""
        units = self.subject.data.units
        if units is not None:
            return _labels((units >= np.median(np.unique(units))).astype(int))
        codes = np.zeros(len(self.data), dtype=int) if self.domains is None else self.domains
        late = np.zeros(len(codes), dtype=int)
        for code in np.unique(codes):
            inside = np.flatnonzero(codes == code)
            late[inside[len(inside) // 2 :]] = 1
        return _labels(late)

    @cached_property
    def hashed(self) -> CategoricalChannel | None:
        """A bit of each row of the first modality that is as good as a coin to all others; None for labels."""
        if is_label(self.data, self.first):
            return None
        rows = [np.ascontiguousarray(row).tobytes() for row in np.asarray(self.data[self.first])]
        if len(set(rows)) < _DISTINCT * len(rows):
            return None
        return _labels(np.array([hashlib.sha256(row).digest()[0] & 1 for row in rows]))

    @cached_property
    def copy(self) -> tuple[CategoricalChannel, float]:
        return _copy(self.data, self.first, self.subject.settings.seed)

    @cached_property
    def rows(self) -> Rows:
        return self._rows(self.data, self.coin)

    @property
    def too_few_units(self) -> bool:
        try:
            return bool(units_needed(self.rows, self.epsilon, self.subject.settings.level))
        except DataError:  # a part of the split without a unit
            return self.subject.data.units is not None

    def _rows(self, data: Dataset, channel: Channel, domain: np.ndarray | None = None) -> Rows:
        seed, units = self.subject.settings.seed, self.subject.data.units
        whose = units.astype(np.int64) if units is not None and len(units) == len(data) else None
        return as_rows(
            data, channel, blocks=None, domain=domain, noise=None, quantiser=None, fit=0.5, seed=seed, units=whose
        )

    def bound(self, channel: Channel, name: str, order: np.ndarray | None = None) -> float:
        """Bound the redundancy error of one modality from above, on all rows together."""
        try:
            return redundancy_bound(self.rows, channel, name, order, self.subject)
        except DataError as why:
            raise CouldNotRunError(str(why)) from None

    @cached_property
    def coin_bound(self) -> float:
        return self.bound(self.coin, self.first)

    def tossed(self) -> Outcome:
        """Judge a coin."""
        return _left_open(self.coin_bound, self.epsilon, f"{self.first}, of a coin that no modality holds,")

    def permuted(self, name: str) -> Outcome:
        """Judge the latent by a modality whose rows belong to others."""
        bound = self.bound(self.subject.channel, name, self._draws(f"permuted {name}").permutation(len(self.data)))
        return _left_open(bound, self.epsilon, f"{name} of other rows")

    def unknown(self, channel: Channel, name: str, what: str) -> Outcome:
        """Judge a latent that must be as unknown to a modality as a coin."""
        bound = self.bound(channel, name)
        words = f"{name} leaves up to {bound:.3g} nats of {what} open, and {self.coin_bound:.3g} of a coin."
        return bound > _AS_OPEN * self.coin_bound, words, bound

    def constant(self) -> Outcome:
        """Judge a constant beside a coin."""
        least = self.bound(CategoricalChannel(np.ones((len(self.data), 1))), self.first)
        most = self.coin_bound
        words = f"{self.first} leaves at most {least:.3g} nats of a constant open, and {most:.3g} of a coin."
        return least < most / 2, words, least

    def copied(self) -> Outcome:
        """Judge a copy of a modality by that modality."""
        copy, entropy = self.copy
        bound = self.bound(copy, self.first)
        words = f"{self.first} leaves {bound:.3g} of the {entropy:.3g} nats of its own copy open."
        slack = min(_SLACK, max(1.0, self.coin_bound / math.log(2)))  # of bounds from so few rows
        return bound < 0.75 * entropy * slack, words, bound

    def doubled(self) -> Outcome:
        """Every row twice, one after the other: it must be noticed that rows are not independent."""
        twice = np.repeat(np.arange(len(self.data) // 2), 2)
        rows = as_rows(
            self.data.take(twice),
            self.subject.channel.take(twice),
            blocks=None,
            domain=None,
            noise=None,
            quantiser=None,
            fit=0.5,
            seed=self.subject.settings.seed,
        )
        noticed = any(one.refuted for one in independence(rows))
        words = f"every row given twice is {'noticed' if noticed else 'not noticed'}."
        return noticed, words, float(noticed)

    def domain_latent(self) -> Outcome:
        """The domain as the latent: it must be said that this is empty."""
        if self.domains is None:
            raise CouldNotRunError("there is only one domain")
        try:
            rows = self._rows(self.data, _labels(self.domains), self.domains)
        except DataError as why:
            raise CouldNotRunError(str(why)) from None
        named = bool(reasons_to_call_it_empty(rows))
        words = f"the domain as the latent is {'said to be empty' if named else 'taken for a latent of its own'}."
        return named, words, float(named)

    def planted(self) -> Outcome:
        """Dependence of twice epsilon between two modalities of shuffled rows: it must not be certified away."""
        rng = self._draws("planted dependence")
        some = np.sort(rng.permutation(len(self.data))[:_FEWER])
        planted = _planted(self.data.take(some), 2 * self.epsilon, rng)
        settings = self.subject.settings
        rows = as_rows(
            planted,
            CategoricalChannel(np.ones((len(some), 1))),
            blocks=None,
            domain=None,
            noise=None,
            quantiser=None,
            fit=0.5,
            seed=settings.seed,
        )
        judge = Judge(rows, choose_family("auto", rows), self.epsilon, settings.level, "betting", settings.seed)
        claim = judge.mediation(judge.places()[0])
        p = min((test.p_value for test in claim.tests), default=math.nan)
        power = claim.verdict.power
        seen = not claim.verdict.certified
        if power is not None and p > settings.level:  # judged by tests alone, and none sees it
            if power < _POWER:
                raise CouldNotRunError(
                    f"with so few rows {2 * self.epsilon:g} nats of planted dependence cannot be seen"
                )
            seen = False
        came = {"refuted": "it was seen", "cannot say": "it was not called absent, but so few rows do not prove it"}
        status = came.get(claim.verdict.status, claim.verdict.status)
        words = f"dependence of {2 * self.epsilon:g} nats was planted between two modalities: {status}."
        return seen, words, float(claim.verdict.certified)


def _labels(codes: np.ndarray) -> CategoricalChannel:
    return CategoricalChannel(np.eye(max(2, int(codes.max()) + 1))[codes])


def _planted(data: Dataset, size: float, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return two modalities of shuffled rows, with a column added to each; the added ones share so many nats."""
    both = list(data.names[:2])
    count = len(data)
    if all(is_label(data, name) for name in both):
        bit = rng.integers(0, 2, count)
        added = [bit, np.where(rng.random(count) < _flip(size), 1 - bit, bit)]
        codes = [np.unique(np.asarray(data[name]).ravel(), return_inverse=True)[1] for name in both]
        return {n: 2 * rng.permutation(c) + extra for n, c, extra in zip(both, codes, added, strict=True)}
    rho = math.sqrt(-math.expm1(-2 * size))
    first, noise = rng.standard_normal((2, count))
    numbers = [first, rho * first + math.sqrt(1 - rho**2) * noise]
    tables = {}
    for name, extra in zip(both, numbers, strict=True):
        values = np.asarray(data[name], dtype=np.float64).reshape(count, -1)
        tables[name] = np.column_stack([leading_columns(values, 3)[rng.permutation(count)], extra])
    return tables


def _flip(size: float) -> float:
    """Return the probability q with which a bit must differ from another for ln 2 − h(q) nats in common."""
    low, high = 1e-12, 0.5
    for _ in range(60):
        q = (low + high) / 2
        nats = math.log(2) + q * math.log(q) + (1 - q) * math.log(1 - q)
        low, high = (q, high) if nats > size else (low, q)
    return low


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


def redundancy_bound(rows: Rows, channel: Channel, name: str, order: np.ndarray | None, subject: Subject) -> float:
    """Bound the redundancy error of one modality from above, on all rows together.

    Args:
        rows: The rows, with any latent.
        channel: The latent.
        name: Of the modality.
        order: Rows that the modality is taken from; None for its own.
        subject: What was declared.

    Returns:
        Nats.
    """
    settings = subject.settings
    place = [block.name for block in rows.blocks].index(name)
    if order is not None:  # its fit rows are others then, and so are its components
        rows = rows.with_block(place, rows.blocks[place].reordered(order, rows.fit, settings.seed))
    judge = Judge(rows.of(channel), "general", settings.epsilon, settings.level, "betting", settings.seed)
    upper = judge.redundancy(judge.places()[0], place).upper
    return math.inf if upper is None else upper.value
