"""Certify, refute or leave open the naturality of a latent from rows that it was not trained on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latentry.data import CategoricalChannel, Channel, Dataset, GaussianChannel, LabelsLike, beside_rows
from latentry.errors import DataError, nearest
from latentry.evidence import Bound, Verdict, all_of
from latentry.natural.from_samples.assumptions import in_its_sentence, needing, open_claim, weighed
from latentry.natural.from_samples.audit_rows import Rows, as_rows, fewer_rows
from latentry.natural.from_samples.contained import contained
from latentry.natural.from_samples.emptiness import reasons_to_call_it_empty
from latentry.natural.from_samples.error_verdicts import Claim, holm
from latentry.natural.from_samples.judge import Judge, Place, choose_family
from latentry.natural.from_samples.judge import drift as domain_drift
from latentry.natural.from_samples.mean_bounds import METHODS, MeanMethod
from latentry.natural.from_samples.resolution_bounds import check_resolution
from latentry.natural.from_samples.row_order import independence, too_few_units, units_needed, units_of
from latentry.natural.report import plain
from latentry.threads import single_threaded

__all__ = ["Audit", "Family", "audit", "audit_of", "noise_curve"]

Array = NDArray[np.float64]
Family = Literal["auto", "discrete", "gaussian", "general"]


@dataclass(frozen=True, eq=False)
class Audit:
    """The answers of an audit.

    Args:
        claims: One per error and place; a place is a domain, or every mixture of the domains.
        verdicts: Naturality in each place.
        drift: How much the domain shows through, by name; estimates.
        latent_entropy: H(Λ) of a latent with finitely many values.
        epsilon: The declared largest error, nats.
        level: The largest probability of a false certificate, for each verdict.
        rows: Numbers of rows that fitted students and that audited.
        family: How mediation was judged.
        notes: What else a reader should know.
        empty: Reasons why naturality says little here, whatever the latent.
    """

    claims: tuple[Claim, ...]
    verdicts: Mapping[str, Verdict]
    drift: Mapping[str, Bound]
    latent_entropy: Bound | None
    epsilon: float
    level: float
    rows: tuple[int, int]
    family: str
    notes: tuple[str, ...]
    empty: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Return the answer to the strongest question asked: every mixture, or the only domain."""
        return list(self.verdicts.values())[-1]

    @cached_property
    def simultaneous(self) -> tuple[str, ...]:
        """Name the claims that are certified together, by Holm's method at the level."""
        return holm(self.claims, self.level)

    def to_json(self) -> dict[str, Any]:
        """Return plain data for a JSON file."""
        fields: dict[str, Any] = plain(self)
        return fields

    def __str__(self) -> str:
        fit, rest = self.rows
        head = f"{fit} rows fitted students, {rest} audited; level {self.level:g}; mediation judged as {self.family}"
        lines = [f"  {claim.verdict}" for claim in self.claims]
        answers = [str(v) for v in self.verdicts.values()]
        drift = [f"  {name}: {bound}" for name, bound in self.drift.items()]
        return "\n".join([*answers, head, *lines, *drift, *self.notes])


def audit(
    data: Dataset | Mapping[str, ArrayLike] | ArrayLike,
    channel: Channel | ArrayLike,
    *,
    epsilon: float,
    blocks: Mapping[str, Sequence[int]] | Sequence[str] | None = None,
    domain: ArrayLike | None = None,
    groups: LabelsLike | None = None,
    time: ArrayLike | None = None,
    labels: Sequence[str] = (),
    numbers: Sequence[str] = (),
    family: Family = "auto",
    level: float = 0.05,
    noise: float | None = None,
    quantiser: int | None = None,
    resolution: float | Mapping[str, float] | None = None,
    fit: float = 0.5,
    mean: MeanMethod = "betting",
    drift: bool = True,
    seed: int = 0,
) -> Audit:
    """Audit a latent on rows that were not used to train it.

    Redundancy is bounded from above by students of the latent, fitted on one part of the rows and measured on the
    other. Mediation is certified for small discrete tables (at every sample size) and for Gaussian families (for many
    rows), and for numbers at a declared resolution; otherwise it can be refuted, or supported by a class of predictors.

    Cost: where there are numbers, some 40 000 rows are drawn, students grow with rows · columns up to there, and a note says so;
    counts of labels are linear in all rows. The number of students grows with the modalities, that of bounds with
    modalities · domains.

    >>> from latentry.generators import planted_natural
    >>> sample = planted_natural().sample(10_000, seed=0)
    >>> observed = {"left": sample.observables[:, 0], "right": sample.observables[:, 1]}
    >>> report = audit(observed, sample.latent, domain=sample.domain, epsilon=0.05)
    >>> report.verdict.status
    'certified'

    Args:
        data: a Dataset (its modalities are the blocks), a mapping from name to column(s), or an array with `blocks`.
            Integer, boolean and text columns are labels; float columns are numbers. Incomplete rows are left out.
        channel: a CategoricalChannel or GaussianChannel, labels (rows,), or an embedding (rows, columns) that needs
            `noise` or `quantiser`.
        epsilon: The largest error, in nats, that still counts as natural; declare it before looking.
        blocks: Which modalities, or which columns of an array, form each observable.
        domain: One label per row; a Dataset brings its own.
        groups: One label per row, where rows of one subject, plate or batch depend on each other; a Dataset brings its own.
            Groups stay whole in the split, bounds are on the mean over groups of each group's mean, and tests see one row of each.
        time: One moment per row, where rows that are near in time do: blocks of time are the groups then.
        labels: Blocks of numbers that are labels, not measurements; floats with at most 20 values are taken as such.
        numbers: Blocks of numbers that are measurements, however few different values they have.
        family: `discrete`, `gaussian` (tested, and withheld where it is refuted), `general`, or `auto`: discrete if everything is.
        level: Probability of a false certificate for each verdict.
        noise: σ of independent Gaussian noise added to a continuous latent, as part of its definition.
        quantiser: Number of values to which a continuous latent is rounded, as part of its definition.
        resolution: σ of independent Gaussian noise that is thought to be added to blocks of numbers, one for all or by
            name: mediation is then judged of the noisy blocks, and can be certified. One block may go without; labels need none.
        fit: Fraction of the rows that fit students; where everything is a label, a tenth fits first and every further row audits.
        mean: How the mean loss is bounded: `betting`, `bernstein`, `bootstrap` or `t`.
        drift: Also estimate how much the domain shows through.
        seed: Of the split, the students and the permutations.

    Returns:
        Claims with bounds and tests, and a verdict for each domain and for every mixture.

    Raises:
        DataError: If an argument is out of range, a block is unknown, or there are too few complete rows.
    """
    if not epsilon > 0:
        raise DataError(f"epsilon={epsilon}: must be positive. It is the largest error that counts as natural.")
    if not 0 < level < 0.5:
        raise DataError(f"level={level}: must lie between 0 and 0.5.")
    if not 0 < fit < 1:
        raise DataError(f"fit={fit}: must lie between 0 and 1.")
    if mean not in METHODS:
        raise DataError(f"mean={mean!r}: is not known{nearest(str(mean), METHODS)}")
    data, beside = beside_rows(data, channel=channel, domain=domain, groups=groups, time=time)
    domain = beside["domain"]
    rows = as_rows(
        data,
        beside["channel"],
        blocks=blocks,
        domain=domain,
        noise=noise,
        quantiser=quantiser,
        fit=fit,
        seed=seed,
        labels=labels,
        numbers=numbers,
        units=units_of(data, blocks, domain, beside["groups"], beside["time"]),
    )
    rows = fewer_rows(rows, seed)
    with single_threaded():
        judge = Judge(rows, choose_family(family, rows), epsilon, level, mean, seed, check_resolution(resolution, rows))
        return audit_of(judge, drift=drift)


def audit_of(judge: Judge, *, drift: bool = True) -> Audit:
    """Audit the rows of a judge, reusing what it has learned.

    Cost: as :func:`audit`, less what the judge has learned already.

    Args:
        judge: Rows, family, epsilon, level and seed.
        drift: Whether to estimate how much the domain shows through.

    Returns:
        Claims with bounds and tests, and a verdict for each domain and for every mixture.
    """
    rows, places = judge.rows, judge.places()
    few = too_few_units(rows)
    if few:
        claims = [open_claim(error, place.name, few, judge.epsilon) for place in places for error in judge.errors]
    else:
        judge.learn()
        claims = contained([claim for place in places for claim in judge.claims(place)])
    claims = weighed(claims, independence(rows))
    if rows.gaps is not None:
        claims = weighed(claims, rows.gaps.assumptions(rows.given, judge.seed), both=False)
    claims = needing(claims, units_needed(rows, judge.epsilon, judge.level))
    empty = reasons_to_call_it_empty(rows)
    return Audit(
        claims=tuple(claims),
        verdicts={place.name: in_its_sentence(_verdict(place, claims, judge.epsilon), empty) for place in places},
        drift=domain_drift(rows, judge.seed) if drift and not few and len(rows.domains) > 1 else {},
        latent_entropy=_entropy(rows),
        epsilon=judge.epsilon,
        level=judge.level,
        rows=(len(rows.fit), len(rows.audit)),
        family=judge.family,
        notes=(*_notes(rows), *_crowding_notes(claims)),
        empty=empty,
    )


def _verdict(place: Place, claims: Sequence[Claim], epsilon: float) -> Verdict:
    """All claims of the place; a domain is itself a mixture, so every mixture answers for their mediation too.

    What is certified for every mixture is certified for each domain; only a refutation there speaks against it.
    """
    parts = [c for c in claims if c.place == place.name]
    if place.domain is None:
        known = all(c.verdict.certified for c in parts if c.error.startswith("mediation error"))
        domains = [c for c in claims if c.error.startswith("mediation error") and c not in parts]
        parts += [c for c in domains if c.verdict.refuted or not known]
    noisy = parts[0].error.removeprefix("mediation error")  # the resolution, where one was declared
    return all_of([c.verdict for c in parts], f"Λ is natural within {epsilon:g} nats{noisy} in {place.name}")


def _entropy(rows: Rows) -> Bound | None:
    if not isinstance(rows.channel, CategoricalChannel):
        return None
    mass = rows.channel.probabilities.mean(axis=0)
    mass = mass[mass > 0]
    return Bound(float(-(mass * np.log(mass)).sum()), "estimate", method="plug-in", n=len(rows.domain))


def _notes(rows: Rows) -> list[str]:
    notes = [f"{rows.dropped} rows with a missing block were left out."] if rows.dropped else []
    if rows.drawn:
        notes.append(
            f"{len(rows.fit)} rows fitted students and {len(rows.audit)} audited, drawn by seed from {len(rows.kept)}: the bounds "
            "are those of so many rows."
        )
    if rows.taken_as_labels:
        notes.append(
            f"{', '.join(rows.taken_as_labels)}: so few different numbers that they were taken as labels; "
            "name blocks that are measurements in numbers=[...]."
        )
    if rows.latent_taken_as_labels:
        notes.append(
            "The latent has so few different numbers that it was taken as labels; declare noise=σ if it is a measurement."
        )
    short = [block.name for block in rows.blocks if block.narrowed]
    if short:
        notes.append(
            f"Tests of mediation look at 12 leading components and 12 random directions of {', '.join(short)}, not at all "
            "of it; the power is that against dependence in these."
        )
    spread = _entropy(rows)
    if spread is not None and spread.value < 0.01:
        notes.append("Λ is almost constant (H(Λ) < 0.01 nats): redundancy is then small whatever the data.")
    if isinstance(rows.channel, GaussianChannel):
        signal = rows.channel.mean.var(axis=0) / np.mean(rows.channel.scale**2, axis=0)
        if (signal < 0.01).all():
            notes.append(
                "Λ is almost all noise (signal under 1 % of its variance): redundancy is then small whatever the data."
            )
    return notes


def _crowding_notes(claims: Sequence[Claim]) -> list[str]:
    """Where cells hold too few rows for a likelihood ratio, say what the permutations show."""
    return [
        f"{claim.name}: too few rows per cell for a likelihood ratio, so it cannot be refuted at epsilon; "
        f"permutations give p = {min(t.p_value for t in claim.tests):.2g} for an error of zero."
        for claim in claims
        if claim.lower is None and claim.tests
    ]


def noise_curve(
    data: Dataset | Mapping[str, ArrayLike] | ArrayLike,
    mean: ArrayLike,
    scales: Sequence[float],
    *,
    epsilon: float,
    blocks: Mapping[str, Sequence[int]] | Sequence[str] | None = None,
    domain: ArrayLike | None = None,
    level: float = 0.05,
    seed: int = 0,
) -> dict[float, dict[str, Bound]]:
    """Bound the redundancy of a deterministic encoder as a function of the noise that is added to it.

    The error of f(X) + σ·noise falls as σ grows and tends to infinity as σ → 0 unless every block determines f(X).
    Where a Dataset brings groups or times, bounds are on the mean over groups, or blocks of time, as in `audit`.

    >>> rng = np.random.default_rng(0)
    >>> z = rng.standard_normal((800, 1))
    >>> views = {"a": z + 0.1 * rng.standard_normal((800, 1)), "b": z + 0.1 * rng.standard_normal((800, 1))}
    >>> curve = noise_curve(views, views["a"], [0.1, 1.0], epsilon=0.1)
    >>> curve[0.1]["redundancy error of b"].value > curve[1.0]["redundancy error of b"].value
    True

    Args:
        data: As in `audit`.
        mean: f(X), (rows, columns).
        scales: Values of σ, each above zero.
        epsilon: The declared largest error, nats.
        blocks: As in `audit`.
        domain: As in `audit`.
        level: Probability of a false bound.
        seed: Of the split and the students.

    Returns:
        For each σ, the upper bound of each block's redundancy error, by name.

    Raises:
        DataError: If a scale is not positive, the data do not fit, or there are too few groups or blocks of time.
    """
    data, beside = beside_rows(data, mean=mean, domain=domain)
    mean, domain = beside["mean"], beside["domain"]
    latent = np.asarray(mean, dtype=np.float64).reshape(len(np.asarray(mean)), -1)
    curve: dict[float, dict[str, Bound]] = {}
    for scale in scales:
        if not scale > 0:
            raise DataError(f"scales={list(scales)}: {scale} must be positive.")
        rows = as_rows(
            data,
            latent,
            blocks=blocks,
            domain=domain,
            noise=float(scale),
            quantiser=None,
            fit=0.5,
            seed=seed,
            units=units_of(data, blocks, domain, None, None),
        )
        few = too_few_units(rows)
        if few:
            raise DataError(f"data: {few} Bring more of them.")
        judged = Judge(rows, "general", epsilon, level, "bootstrap", seed)
        claims = [judged.redundancy(judged.places()[-1], i) for i in range(len(rows.blocks))]
        curve[float(scale)] = {claim.error: claim.upper for claim in claims if claim.upper is not None}
    return curve
