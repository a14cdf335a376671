"""How each error is judged in each place, by kind of data."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from latentry.data import CategoricalChannel, GaussianChannel
from latentry.errors import DataError, nearest
from latentry.evidence import Assumption, Bound, Outcome
from latentry.natural.from_samples.assumptions import ASSUMED_LEVEL, weighed
from latentry.natural.from_samples.audit_rows import Rows
from latentry.natural.from_samples.error_verdicts import Claim, by_bounds, by_tests
from latentry.natural.from_samples.independence_tests import (
    Refutation,
    directed_test,
    neighbour_test,
    permutation_test,
    projection_test,
    residual_power,
    residual_test,
)
from latentry.natural.from_samples.likelihood_ratio import Ratio, discrete_ratio, gaussian_ratio, joint_codes
from latentry.natural.from_samples.mean_bounds import MeanMethod
from latentry.natural.from_samples.mediation_bounds import MAX_TABLE, mediation_method, mediation_upper, tabulate
from latentry.natural.from_samples.normality import normality_p_value
from latentry.natural.from_samples.observables import Codes
from latentry.natural.from_samples.prediction_gain import domain_information, predictive_gain
from latentry.natural.from_samples.redundancy_bounds import Lesson, redundancy_upper, teach
from latentry.natural.from_samples.residual_regression import Smoother
from latentry.natural.from_samples.resolution_bounds import (
    resolution_lessons,
    resolution_spread,
    resolution_upper,
    resolution_words,
)
from latentry.threads import side_by_side

__all__ = ["Judge", "Place", "choose_family", "drift"]

Key = TypeVar("Key", bound=Hashable)
Out = TypeVar("Out")
Tested = tuple[tuple[Refutation, ...], Bound]  # tests of mediation, and the gain of one class of predictors

Array = NDArray[np.float64]
_FAMILIES = ("auto", "discrete", "gaussian", "general")
# Fewer rows per cell than this and a likelihood ratio is not χ²: only permutations are used then.
_CROWDED = 5.0
_INDEPENDENT = ("independent rows that did not train the latent",)


def choose_family(family: str, rows: Rows) -> str:
    """Choose the family by which mediation is judged, or refuse one that the rows do not allow.

    Cost: constant.

    Args:
        family: `auto`, `discrete`, `gaussian` or `general`.
        rows: The rows to audit.

    Returns:
        `discrete`, `gaussian` or `general`.

    Raises:
        DataError: If the family is unknown or does not fit the rows.
    """
    if family not in _FAMILIES:
        raise DataError(f"family={family!r}: is not known{nearest(str(family), _FAMILIES)}")
    cells = int(np.prod([b.levels or 0 for b in rows.blocks], dtype=float))
    small = rows.discrete and cells <= MAX_TABLE
    if family == "discrete" and not small:
        why = f"the blocks have {cells:,} cells, more than {MAX_TABLE:,}" if rows.discrete else "a block or Λ is not"
        raise DataError(f"family='discrete': needs labels everywhere and a small table; {why}. Use family='general'.")
    if family == "gaussian":
        _check_gaussian(rows)
    if family == "auto":
        return "discrete" if small else "general"
    return family


def _check_gaussian(rows: Rows) -> None:
    named = [b.name for b in rows.blocks if b.discrete]
    if named:
        few = " (so few different numbers that they were taken as labels)" if named[0] in rows.taken_as_labels else ""
        raise DataError(
            f"family='gaussian': needs blocks of numbers, and {named[0]!r} holds labels{few}. "
            f"If they are measurements, pass numbers={named!r}."
        )
    if rows.categorical:
        few = ": its few different numbers were taken as labels" if rows.latent_taken_as_labels else ""
        raise DataError(
            f"family='gaussian': needs a Gaussian latent, and this one has labels{few}. Declare noise=σ for a latent of numbers."
        )


@dataclass(frozen=True)
class Place:
    """A domain, or (when `domain` is None) every mixture of the domains."""

    name: str
    domain: int | None


@dataclass(frozen=True, eq=False)
class Judge:
    """Turns rows into claims; all bounds of one audit share epsilon, level and seed.

    What costs time is learned once for each set of rows and remembered: students of a block in a domain or in all rows,
    and tests of mediation. The same rows asked about as every mixture and as a pool are one set.
    """

    rows: Rows
    family: str
    epsilon: float
    level: float
    mean: MeanMethod
    seed: int
    resolution: Mapping[str, float] = field(default_factory=dict)
    lessons: dict[tuple[int | None, int], Lesson] = field(default_factory=dict)
    tested: dict[int | None, Tested] = field(default_factory=dict)

    def pooled(self) -> Judge:
        """Return a judge of all rows together that reuses the same students and tests."""
        return replace(self, rows=self.rows.as_one())

    def learn(self) -> None:
        """Fit all students and run all tests of the places, side by side."""
        domains = [None] if len(self.rows.domains) == 1 else [None, *range(len(self.rows.domains))]
        tested = self.family != "discrete" and not self.resolution
        jobs: list[Callable[[], object]] = [partial(self._tested, j) for j in domains if tested]
        jobs += [partial(self._lesson, j, i) for j in domains for i in range(len(self.rows.blocks))]
        side_by_side(lambda job: job(), jobs)

    def _only(self, domain: int | None) -> int | None:
        """A single domain is all rows."""
        return None if len(self.rows.domains) == 1 else domain

    def places(self) -> list[Place]:
        """List each domain, then every mixture if there are several."""
        if len(self.rows.domains) == 1:
            return [Place("all rows", 0)]
        single = [Place(f"domain {name}", j) for j, name in enumerate(self.rows.domains)]
        return [*single, Place("every mixture", None)]

    @property
    def errors(self) -> list[str]:
        """Name what is judged in each place."""
        return ["mediation error", *(f"redundancy error of {block.name}" for block in self.rows.blocks)]

    def claims(self, place: Place) -> list[Claim]:
        """Judge mediation first, then the redundancy of each block.

        Args:
            place: A domain, or every mixture.

        Returns:
            One claim per error.
        """
        return [self.mediation(place), *(self.redundancy(place, i) for i in range(len(self.rows.blocks)))]

    @property
    def strict(self) -> float:
        """Return the level of a single refutation: one refuted part refutes the whole, so they divide the level."""
        return self.level / ((len(self.rows.blocks) + 1) * len(self.rows.domains))

    def redundancy(self, place: Place, i: int) -> Claim:
        """Bound a redundancy error from above by students, and from below where a likelihood ratio can.

        Args:
            place: A domain, or every mixture.
            i: Position of the block.

        Returns:
            The claim with its verdict.
        """
        lessons = self._lessons(place, i)
        method = lessons[0].method(self.mean)

        def upper(delta: float) -> float:
            return redundancy_upper(lessons, delta, self.mean, self.seed)

        needs = ("many rows",) if method in ("bootstrap", "t") else ()
        bound = Bound(
            max(0.0, upper(self.level)),
            "upper",
            confidence=1 - self.level,
            method=f"held-out student ({lessons[0].student}), {method} mean",
            assumptions=(*_INDEPENDENT, *needs),
            n=min(len(lesson.losses) for lesson in lessons),
            seed=self.seed,
        )
        name = self.errors[i + 1]
        lower = self._highest([self._redundancy_ratio(j, i) for j in self._domains(place)])
        worst = max(lessons, key=lambda lesson: float(lesson.latest.mean()))
        spread = float(worst.latest.mean()), float(worst.latest.var())
        return by_bounds(name, place.name, self.epsilon, bound, lower, retry=upper, spread=spread)

    def _domains(self, place: Place) -> list[int]:
        return list(range(len(self.rows.domains))) if place.domain is None else [place.domain]

    def _lessons(self, place: Place, i: int) -> list[Lesson]:
        """One student per domain; for every mixture, one shared student measured in each domain."""
        rows = self.rows
        if place.domain is not None:
            return [_by_unit(self._lesson(place.domain, i), rows)]
        shared = self._lesson(None, i)
        return [_by_unit(shared.only(np.flatnonzero(rows.domain == j)), rows) for j in self._domains(place)]

    def _lesson(self, domain: int | None, i: int) -> Lesson:
        """What a student of one block learns in a domain, or in all rows."""
        rows, where = self.rows, self._only(domain)
        parts = rows.inside(rows.fit, where), rows.inside(rows.audit, where)
        return _once(self.lessons, (where, i), lambda: teach(rows, rows.blocks[i], *parts, self.seed))

    def _redundancy_ratio(self, domain: int, i: int) -> Ratio | None:
        """Likelihood ratio of I(Λ; others|block); none where it would rest on a family that is refuted."""
        if self.family == "gaussian" and self._normality(domain) <= ASSUMED_LEVEL:
            return None
        others = [j for j in range(len(self.rows.blocks)) if j != i]
        return self._ratio(domain, [["latent"], [*others]], [i])

    def _ratio(self, domain: int, blocks: list[list[int | str]], given: list[int | str]) -> Ratio | None:
        """Likelihood ratio of TC(blocks|given) in one domain; None when it would not be χ²."""
        inside = self.rows.inside(self.rows.untouched, domain)
        if self.rows.discrete:
            ratio = discrete_ratio([self._codes(b, inside) for b in blocks], self._codes(given, inside))
            return ratio if ratio.crowding >= _CROWDED else None
        if self.family == "gaussian":
            return _gaussian(self.rows, inside, blocks, given)
        return None

    def _codes(self, names: list[int | str], inside: Codes) -> Codes:
        """Joint codes of some blocks and possibly the latent."""
        latent = self.rows.latent_sample(self.seed)
        columns = [(latent if n == "latent" else self.rows.blocks[int(n)].values)[inside] for n in names]
        return joint_codes(columns)

    def _highest(self, ratios: list[Ratio | None]) -> Bound | None:
        """The largest lower bound over domains, each at its part of the level."""
        known = [r for r in ratios if r is not None]
        if not known:
            return None
        return Bound(
            max(r.lower(self.strict) for r in known),
            "lower",
            confidence=1 - self.level,
            method="likelihood ratio inverted",
            assumptions=(
                *_INDEPENDENT,
                "many rows per cell",
                *(("Gaussian rows",) if self.family == "gaussian" else ()),
            ),
            n=min(r.rows for r in known),
            seed=self.seed,
        )

    def mediation(self, place: Place) -> Claim:
        """Judge mediation by exact intervals, by the Gaussian closed form, or by tests that can only refute.

        Args:
            place: A domain, or every mixture.

        Returns:
            The claim with its verdict.
        """
        if self.resolution:
            return self._at_resolution(place)
        methods = {"discrete": self._discrete, "gaussian": self._gaussian, "general": self._general}
        return methods[self.family](place)

    def _mediation_ratio(self, domain: int) -> Ratio | None:
        return self._ratio(domain, [[i] for i in range(len(self.rows.blocks))], ["latent"])

    def _discrete(self, place: Place) -> Claim:
        rows = self.rows
        made = [tabulate(rows, rows.inside(rows.untouched, j), self.seed) for j in self._domains(place)]
        tables = [table for table in made if table is not None]
        lower = self._highest([self._mediation_ratio(j) for j in self._domains(place)])
        tests = tuple(self._permutations(j) for j in self._domains(place)) if lower is None else ()
        if not tables:
            return by_bounds("mediation error", place.name, self.epsilon, None, lower, tests=tests)
        upper = cache(partial(mediation_upper, tables))
        bound = Bound(
            max(0.0, upper(self.level)),
            "upper",
            confidence=1 - self.level,
            method=mediation_method(tables),
            assumptions=(*_INDEPENDENT, "no levels beyond those seen"),
            n=min(table.rows for table in tables),
            seed=self.seed,
        )
        spread = max(table.spread() for table in tables)
        return by_bounds(
            "mediation error", place.name, self.epsilon, bound, lower, retry=upper, tests=tests, spread=spread
        )

    def _at_resolution(self, place: Place) -> Claim:
        """Bound mediation after the declared noise: predictors shared by all domains bound every mixture."""
        rows, where = self.rows, self._only(place.domain)
        parts = rows.inside(rows.fit, where), rows.inside(rows.audit, where)
        shared = resolution_lessons(rows, self.resolution, *parts, self.seed)
        domains = [
            {name: _by_unit(lesson.only(rows.inside(rows.audit, j)), rows) for name, lesson in shared.items()}
            for j in self._domains(place)
        ]
        upper = cache(partial(resolution_upper, domains, len(rows.blocks), seed=self.seed))
        words = resolution_words(self.resolution)
        bound = Bound(
            max(0.0, upper(self.level)),
            "upper",
            confidence=1 - self.level,
            method=f"held-out predictors of noisy observables {words}, betting mean",
            assumptions=(*_INDEPENDENT, "numbers beyond the range of the fit rows count as its ends"),
            n=min(len(lesson.losses) for domain in domains for lesson in domain.values()),
            seed=self.seed,
        )
        spread = resolution_spread(domains, len(rows.blocks))
        claim = by_bounds(f"mediation error {words}", place.name, self.epsilon, bound, None, retry=upper, spread=spread)
        if claim.verdict.certified:
            return claim
        return replace(claim, verdict=replace(claim.verdict, change=f"a coarser resolution; {claim.verdict.change}"))

    def _permutations(self, domain: int) -> Refutation:
        inside = self.rows.inside(self.rows.untouched, domain)
        columns = [self._codes([i], inside) for i in range(len(self.rows.blocks))]
        return permutation_test(columns, self._codes(["latent"], inside), seed=self.seed)

    def _gaussian(self, place: Place) -> Claim:
        ratios = [self._mediation_ratio(j) for j in self._domains(place)]
        lower = self._highest(ratios)
        if place.domain is None:  # a mixture of Gaussian distributions is not Gaussian
            change = "a discrete family, or the same distribution in every domain"
            claim = by_bounds("mediation error", place.name, self.epsilon, None, lower, change=change)
            return self._as_gaussian(place, claim)

        def upper(delta: float) -> float:
            return max(r.upper(delta) for r in ratios if r is not None)

        bound = Bound(
            upper(self.level),
            "upper",
            confidence=1 - self.level,
            method="Gaussian closed form, likelihood ratio inverted",
            assumptions=(*_INDEPENDENT, "Gaussian rows", "many rows"),
            n=len(self.rows.inside(self.rows.untouched, place.domain)),
            seed=self.seed,
        )
        claim = by_bounds("mediation error", place.name, self.epsilon, bound, lower, retry=upper)
        return self._as_gaussian(place, claim)

    def _as_gaussian(self, place: Place, claim: Claim) -> Claim:
        """Weigh a claim of the Gaussian family by tests of the family; tests of any family may refute on their own."""
        general = self._general(place)
        if general.verdict.refuted:
            return general
        p = min(1.0, len(self._domains(place)) * min(self._normality(j) for j in self._domains(place)))
        outcome: Outcome = "refuted" if p <= ASSUMED_LEVEL else "not refuted"
        family = Assumption(
            "rows and latent are jointly Gaussian",
            outcome,
            "distances, skewness and kurtosis",
            p,
            note="family='general'",
        )
        return weighed([replace(claim, tests=general.tests)], [family])[0]

    def _normality(self, domain: int) -> float:
        rows, latent = self.rows, self.rows.latent_sample(self.seed)
        inside = rows.inside(rows.untouched, domain)
        return normality_p_value(
            np.hstack([*(block.values[inside] for block in rows.blocks), latent[inside]]), self.seed
        )

    def _general(self, place: Place) -> Claim:
        tests, gain = self._tested(place.domain)
        pairs, delta = len(self.rows.blocks) - 1, self._mediation_level
        inside = self.rows.inside(self.rows.untouched, self._only(place.domain))
        widths = [block.looked.shape[1] for block in self.rows.blocks]
        columns = max(widths[i] * sum(widths[:i]) for i in range(1, len(widths)))
        power = residual_power(len(inside), self.epsilon / pairs, delta / len(tests), columns)
        return by_tests("mediation error", place.name, self.epsilon, delta, tests, power, gain)

    @property
    def _mediation_level(self) -> float:
        """Domains share the level of a refutation, tests share that of a domain."""
        return self.level / len(self.rows.domains)

    def _tested(self, domain: int | None) -> Tested:
        """Tests of mediation in a domain or in all rows, and what one class of predictors gains there."""
        where = self._only(domain)
        return _once(self.tested, where, lambda: self._tests(self.rows.inside(self.rows.untouched, where)))

    def _tests(self, inside: Codes) -> Tested:
        rows = self.rows
        latent = rows.latent_sample(self.seed)
        strata = latent[inside] if rows.categorical else None
        known = np.eye(int(latent.max()) + 1)[latent] if rows.categorical else latent
        # Permutations must resolve the level.
        draws = max(99, int(np.ceil(2 * (len(rows.blocks) - 1) / self._mediation_level)))
        z = known[inside]
        smoother = Smoother.of(z, self.seed)
        tests: list[Refutation] = []
        for i in range(1, len(rows.blocks)):
            x, earlier = (np.hstack([block.looked[inside] for block in part]) for part in rows.up_to(i))
            u, v = (np.hstack([block.summary[inside] for block in part]) for part in rows.up_to(i))
            tests.append(residual_test(x, earlier, z, smoother=smoother, seed=self.seed))
            tests.append(projection_test(x, earlier, z, smoother=smoother, seed=self.seed))
            tests.append(neighbour_test(u, v, z, strata=strata, draws=draws, smoother=smoother, seed=self.seed))
            if any(block.shortened for block in rows.blocks[: i + 1]):
                tests.append(
                    directed_test(x, earlier, z, strata=strata, draws=draws, smoother=smoother, seed=self.seed)
                )
        return tuple(tests), predictive_gain(rows.blocks, known, inside, self.level, self.seed)


def _by_unit(lesson: Lesson, rows: Rows) -> Lesson:
    """The mean loss of every unit, where rows come in units: independent numbers, whose mean is over units."""
    if rows.units is None:
        return lesson
    _, first, codes = np.unique(rows.units[lesson.rows], return_index=True, return_inverse=True)
    means = np.bincount(codes, lesson.losses) / np.bincount(codes)
    return replace(lesson, losses=means, rows=lesson.rows[first], stage=np.zeros(len(first), dtype=np.int64))


def _once(known: dict[Key, Out], key: Key, make: Callable[[], Out]) -> Out:
    """Make what is not known yet."""
    if key not in known:
        known[key] = make()
    return known[key]


def _gaussian(rows: Rows, inside: Codes, blocks: list[list[int | str]], given: list[int | str]) -> Ratio:
    """Covariance of observables and latent, with the channel's noise added where it belongs."""
    channel = rows.channel
    if not isinstance(channel, GaussianChannel):
        raise DataError("family='gaussian': needs a Gaussian latent. Declare noise=σ for a latent of numbers.")
    parts = [*(b.values[inside] for b in rows.blocks), channel.mean[inside]]
    ends = np.cumsum([0, *(p.shape[1] for p in parts)])
    covariance = np.cov(np.hstack(parts), rowvar=False)
    noise = np.arange(ends[-2], ends[-1])
    covariance[noise, noise] += np.mean(channel.scale[inside] ** 2, axis=0)

    def columns(names: list[int | str]) -> list[int]:
        slots = [len(parts) - 1 if n == "latent" else int(n) for n in names]
        return [c for s in slots for c in range(int(ends[s]), int(ends[s + 1]))]

    return gaussian_ratio(covariance, len(inside), [columns(b) for b in blocks], columns(given))


def drift(rows: Rows, seed: int) -> dict[str, Bound]:
    """Estimate how much the domain shows through: I(Λ; J|X_i) for each block, and I(J; X|Λ); on the rows that were drawn, if any.

    Args:
        rows: The rows to audit.
        seed: Of the folds and of the draw of the latent.

    Returns:
        Estimates in nats, by name.
    """
    some = np.sort(np.concatenate([rows.fit, rows.audit])) if rows.drawn else np.arange(len(rows.domain))
    latent = rows.latent_sample(seed)[some]
    if isinstance(rows.channel, CategoricalChannel):
        known = np.eye(rows.channel.probabilities.shape[1])[latent]
    else:
        known = latent
    seen = {block.name: block.features[some] for block in rows.blocks}
    questions = {f"I(Λ; domain | {name})": (features, known) for name, features in seen.items()}
    questions["I(domain; X | Λ)"] = (known, np.hstack([*seen.values()]))
    bounds = side_by_side(
        lambda pair: domain_information(rows.domain[some], pair[0], pair[1], seed), questions.values()
    )
    return dict(zip(questions, bounds, strict=True))
