"""One claim about one error in one place: what bounds it, what was tested, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from latentry.evidence import Assumption, Bound, Verdict, judge
from latentry.natural.from_samples.independence_tests import Refutation
from latentry.natural.from_samples.mean_bounds import smallest_level
from latentry.natural.from_samples.prediction_gain import PREDICTORS
from latentry.natural.from_samples.rows_needed import rows_needed, rows_needed_in_words

__all__ = ["Claim", "by_bounds", "by_tests", "holm"]


@dataclass(frozen=True, eq=False)
class Claim:
    """An error (mediation, or redundancy of a block), the place it is about, and what is known of it."""

    error: str
    place: str
    verdict: Verdict
    upper: Bound | None = None
    lower: Bound | None = None
    tests: tuple[Refutation, ...] = ()
    class_gain: Bound | None = None
    epsilon: float = 0.0
    retry: Callable[[float], float] | None = None

    @property
    def name(self) -> str:
        """Name the claim in words."""
        return f"{self.error} in {self.place}"

    @cached_property
    def p_certify(self) -> float:
        """Compute the p-value of 'the error is above epsilon': the smallest level at which it would be certified."""
        return 1.0 if self.retry is None else smallest_level(self.retry, self.epsilon)


def by_bounds(
    error: str,
    place: str,
    epsilon: float,
    upper: Bound | None,
    lower: Bound | None,
    *,
    retry: Callable[[float], float] | None = None,
    tests: tuple[Refutation, ...] = (),
    change: str = "",
    spread: tuple[float, float] | None = None,
) -> Claim:
    """Decide a claim by an upper and a lower bound; bounds that contradict each other decide nothing.

    Args:
        error: Mediation, or redundancy of a block.
        place: A domain, or every mixture.
        epsilon: The declared largest error, nats.
        upper: Upper bound of the error, if there is one.
        lower: Lower bound, if there is one.
        retry: Recomputes the upper bound at another δ, for the p-value.
        tests: Tests made beside the bounds.
        change: What would change the answer.
        spread: An estimate of the error and the variance of one row's part in it, to plan the rows that an open verdict needs.

    Returns:
        The claim with its verdict.
    """
    if upper is not None and lower is not None and lower.value > upper.value:
        return Claim(
            error, place, _contradiction(f"{error} in {place}", upper, lower), upper, lower, tests, None, epsilon
        )
    floor = Bound(0.0, "lower", method="information is never negative")
    verdict = judge(f"{error} in {place}", [b for b in (upper, lower, floor) if b is not None], epsilon, change=change)
    if verdict.status == "cannot say" and upper is not None and spread is not None:
        verdict = replace(verdict, change=_planned(upper, spread, epsilon))
    return Claim(error, place, verdict, upper, lower, tests, None, epsilon, retry)


def _contradiction(what: str, upper: Bound, lower: Bound) -> Verdict:
    """An assumption of one of them fails, or chance was unkind to one."""
    sentence = f"{what} ≥ {lower.value:.3g} and ≤ {upper.value:.3g} nats: the two bounds contradict each other."
    evidence = {f"{what}, lower": lower, f"{what}, upper": upper}
    return Verdict("cannot say", sentence, evidence, "a family whose assumptions hold, or more rows")


def _planned(upper: Bound, spread: tuple[float, float], epsilon: float) -> str:
    rows, delta = upper.n or 1, 1.0 - (upper.confidence or 0.95)
    wanted = rows_needed(rows, upper.value, *spread, epsilon, delta)
    return rows_needed_in_words(wanted, rows, spread[0], epsilon)


def by_tests(
    error: str,
    place: str,
    epsilon: float,
    delta: float,
    tests: tuple[Refutation, ...],
    power: float,
    class_gain: Bound | None = None,
) -> Claim:
    """Decide a claim that only tests speak about: refuted when one rejects and the size seen is above epsilon.

    Args:
        error: Mediation, or redundancy of a block.
        place: A domain, or every mixture.
        epsilon: The declared largest error, nats.
        delta: Level of the refutation, shared by the tests.
        tests: At least one.
        power: Probability that a violation of size epsilon would have been refuted.
        class_gain: Upper bound of what predictors gain from the other observables.

    Returns:
        The claim with its verdict, never `certified`: `supported` where no test rejects and predictors gain at most epsilon.
    """
    p = min(1.0, len(tests) * min(test.p_value for test in tests))
    lower_value = max(test.lower(delta / len(tests)) for test in tests)
    lower = Bound(
        lower_value,
        "lower",
        confidence=1 - delta,
        method="nearest-neighbour information less its sampling error",
        assumptions=("smooth densities", "many rows"),
        n=tests[0].rows,
    )
    what = f"{error} in {place}"
    if p <= delta and lower_value > epsilon:
        sentence = f"{what} ≥ {lower_value:.3g} nats, more than the declared {epsilon:g} (p = {p:.2g})."
        verdict = Verdict("refuted", sentence, {what: lower}, "a larger declared threshold, or another latent")
    elif p <= delta:
        sentence = f"{what} is not zero (p = {p:.2g}), but it may be smaller than the declared {epsilon:g}."
        verdict = Verdict("cannot say", sentence, {what: lower}, "more rows, or a discrete or Gaussian family")
    elif class_gain is not None and class_gain.value <= epsilon:
        verdict = _supported(what, tests, p, power, lower, class_gain)
    else:
        sentence = f"no test rejects independence given Λ in {place} (p = {p:.2g}); this does not certify it."
        change = "a discrete or Gaussian family, or a declared resolution, can certify"
        verdict = Verdict("not refuted", sentence, {what: lower}, change, power)
    return Claim(error, place, verdict, None, lower, tests, class_gain, epsilon)


def _supported(what: str, tests: tuple[Refutation, ...], p: float, power: float, lower: Bound, gain: Bound) -> Verdict:
    """No test rejects, and no predictor gains more than is allowed: true if predictors see what there is to see."""
    names = ", ".join(dict.fromkeys(test.name for test in tests))
    assumptions = (
        Assumption("the observables are independent given Λ", "not refuted", names, p, power),
        Assumption(
            f"what they share beyond Λ would be seen by {PREDICTORS}",
            "untested",
            note="in means of numbers and in probabilities of labels",
        ),
    )
    sentence = f"{what} ≤ {gain.value:.3g} nats as far as {PREDICTORS} see, and no test rejects (p = {p:.2g})."
    change = "a discrete or Gaussian family, or a declared resolution, can certify"
    return Verdict("supported", sentence, {what: gain, f"{what}, lower": lower}, change, power, assumptions)


def holm(claims: Sequence[Claim], level: float) -> tuple[str, ...]:
    """Name the claims that are certified at once with familywise error `level` (Holm 1979).

    A conjunction of claims needs no such correction: it is certified when each part is at the full level.

    Args:
        claims: The family.
        level: Probability that any of them is certified falsely.

    Returns:
        Names of the certified ones, smallest p-value first.
    """
    certain = []
    ordered = sorted(claims, key=lambda claim: claim.p_certify)
    for rank, claim in enumerate(ordered):
        if claim.p_certify > level / (len(ordered) - rank):
            break
        certain.append(claim.name)
    return tuple(certain)
