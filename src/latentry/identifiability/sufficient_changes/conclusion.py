"""From measured changes to an answer in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from latentry.contracts import LatentDistributions
from latentry.evidence import Assumption, Bound, Verdict, assumptions_in_words
from latentry.identifiability.assumptions import too_weakly_tested
from latentry.identifiability.sufficient_changes.measured_moments import MeasuredMoments
from latentry.identifiability.sufficient_changes.weakest_change import Change

__all__ = ["Conclusion", "Facts", "conclude"]

_ASSUMED = (
    "the model is of the right family and its fit has reached the best likelihood",
    "the observation map is one to one, and smooth",
    "latents are independent given the domain",
)
_DOMINANT = 0.5  # fraction of the rows in one domain, beyond which the others' changes weigh too little to be denied
_LEAST_FRACTION = 0.1  # of a latent's variance within domains that must follow the data
_ONLY_SUFFICIENT = "The condition is sufficient, not necessary: this does not prove that no method could."
_ONE_FIT = "It was read off one fit, and another may find other latents: this does not prove that no method could."


class Conclusion(NamedTuple):
    """The answer, whether impossibility is proved, what stays undetermined at best, and the theorem that says so."""

    verdict: Verdict
    identifiable: bool | None
    proved_impossible: bool
    up_to: str
    theorem: str = ""


class Candidate(NamedTuple):
    """Natural parameters, the noise of one row, and the weakest change; None if there are too few domains for one."""

    values: np.ndarray
    noise: np.ndarray
    weakest: Change | None


@dataclass(frozen=True, eq=False)
class Facts:
    """All that the answer rests on.

    ``candidates`` holds natural parameters, their noise and the weakest change for the fewest and the most latents whose
    means may be said to move.
    """

    distributions: LatentDistributions
    measured: MeasuredMoments
    mean_changes: tuple[Change, ...]
    variance_changes: tuple[Change, ...]
    pairs: tuple[tuple[int, int], ...]
    tolerance: float
    level: float
    stated: bool  # distributions given as such or measured on held-out rows, not only learned
    given: bool = False  # distributions given as known, without rows
    assumed: tuple[Assumption, ...] = ()  # what the theorem takes for granted, tested or named
    candidates: tuple[Candidate, ...] = field(default=())
    names: tuple[str, ...] = ()  # of the latents

    @property
    def values(self) -> np.ndarray:
        """Return the natural parameters of the larger candidate."""
        return self.candidates[-1].values

    @property
    def noise(self) -> np.ndarray:
        """Return the noise of the larger candidate."""
        return self.candidates[-1].noise

    @property
    def weakest(self) -> Change | None:
        """Return the weakest change of the larger candidate; None when there are too few domains for it to be above 0."""
        return self.candidates[-1].weakest

    @property
    def needed(self) -> int:
        """Return how many domains the theorem needs."""
        return int(self.values.shape[1]) + 1

    @property
    def inseparable(self) -> tuple[tuple[int, int], ...]:
        """Return the pairs that a rotation mixes without a trace; only Gaussian latents have them."""
        return () if self.distributions.family in ("laplace", "natural") else self.pairs

    def _still(self, changes: Sequence[Change]) -> list[bool]:
        return [change.exceeds(self.tolerance) is False for change in changes]

    @cached_property
    def still_means(self) -> list[bool]:
        """Return, for each latent, whether its mean stays."""
        return self._still(self.mean_changes)

    @cached_property
    def still_variances(self) -> list[bool]:
        """Return, for each latent, whether its variance stays."""
        return self._still(self.variance_changes)

    @property
    def unchanged(self) -> tuple[int, ...]:
        """Return the latents whose distribution does not change."""
        both = zip(self.still_means, self.still_variances, strict=True)
        return tuple(i for i, (mean, variance) in enumerate(both) if mean and variance)

    @property
    def means_only(self) -> bool:
        """Return whether some mean moves and no variance does."""
        moves = [change.exceeds(self.tolerance) for change in self.mean_changes]
        return (
            any(moves)
            and self.distributions.family != "natural"
            and (self.distributions.family == "mean" or all(self.still_variances))
        )

    @property
    def dominant(self) -> str | None:
        """Return the domain that has most of the rows, in words, where there is one: it outweighs what others show."""
        weights = self.measured.rows / self.measured.rows.sum()
        if self.given or weights.max() <= _DOMINANT or self.measured.domains < 3:
            return None
        return f"domain {self.measured.labels[int(weights.argmax())]!r} has {weights.max():.0%}"

    @property
    def moving_means(self) -> int:
        """Return how many latents' means are taken to move."""
        return int(self.values.shape[1]) - self.measured.latents

    @property
    def holds(self) -> bool | None:
        """Return whether the changes have full rank, for every candidate; None when the rows leave it open."""
        conclusion = {c.weakest is not None and c.weakest.exceeds(self.tolerance) for c in self.candidates}
        return conclusion.pop() if len(conclusion) == 1 else None


def conclude(facts: Facts) -> Conclusion:
    """Conclude by the first rule that applies; a "no" stands only on a fit that could have shown a "yes".

    Args:
        facts: What was measured.

    Returns:
        The verdict, and what it rests on.
    """
    for rule in _RULES:
        conclusion = rule(facts)
        if conclusion is not None:
            # Counting needs no fit; and where nothing at all changes, rows say so whatever the fit.
            sure = rule is _too_few or (rule is _nothing_changes and facts.stated and facts.dominant is None)
            return conclusion if sure or conclusion.identifiable is not False else _doubted(facts, conclusion)
    return _open(facts)


def _doubted(facts: Facts, conclusion: Conclusion) -> Conclusion:
    said = conclusion.verdict.sentence.removeprefix("not identifiable: ")
    if not facts.stated:
        sentence = f"no row has been looked at, and a model that is not trained enough learns no changes. Its table says: {said}"
        return _unsure(sentence, "held-out rows: sufficient_changes(model, held_out)")
    if facts.dominant is not None:
        sentence = f"changes are weighed by rows, and {facts.dominant} of them. As it is: {said}"
        return _unsure(sentence, "more rows of the other domains, or fewer of this one", facts.assumed)
    against = _first_refuted(facts)
    if against is not None:
        sentence = f"{_denied(against)} A fit to such rows can hide changes. As it is: {said}"
        return _unsure(sentence, _remedy(against), facts.assumed)
    return conclusion


def _first_refuted(facts: Facts) -> Assumption | None:
    return next((one for one in facts.assumed if one.refuted), None)


def _denied(one: Assumption) -> str:
    p_value = "" if one.p_value is None else f", p = {one.p_value:.2g}"
    return f"rows contradict an assumption of the theorem, that {one.name} ({one.note}{p_value})."


def _remedy(one: Assumption) -> str:
    if "rows" in one.name and "map" not in one.name:
        return "groups= or time= for rows that depend on each other"
    return "a better fit (epochs, restarts, blocks), another family of distributions, or another model"


def _assumption_refuted(facts: Facts) -> Conclusion | None:
    """Leave the answer open where rows speak against what the theorem takes for granted."""
    against = _first_refuted(facts)
    if facts.holds is not True or against is None:
        return None
    sentence = (
        f"{_denied(against)} The changes between domains are sufficient, but the theorem does not speak of such rows."
    )
    return _unsure(sentence, _remedy(against), facts.assumed)


def _too_few_rows_to_test(facts: Facts) -> Conclusion | None:
    """Leave the answer open where rows are so few that a broken assumption would hardly have shown."""
    weak = too_weakly_tested(facts.assumed)
    if facts.holds is not True or weak is None:
        return None
    sentence = (
        f"the changes are sufficient, but these rows are too few to test an assumption of the theorem, that {weak.name} "
        f"({weak.note}, which is {weak.power or 0.0:.2f})."
    )
    return _unsure(sentence, "more held-out rows", facts.assumed)


def _only_learned(facts: Facts) -> Conclusion | None:
    if facts.stated or facts.holds is not True:
        return None
    sentence = "the learned distributions change enough, but no row has confirmed them."
    if facts.distributions.family == "natural":
        return _unsure(sentence, 'prior="gaussian": further statistics cannot be read off held-out rows')
    return _unsure(sentence, "held-out rows: sufficient_changes(model, held_out)")


def _collapsed(facts: Facts) -> Conclusion | None:
    follows = facts.measured.follows
    if facts.holds is not True or follows is None or follows.min() >= _LEAST_FRACTION:
        return None
    return _latent_collapsed(follows, facts.names)


def _latent_collapsed(follows: np.ndarray, names: tuple[str, ...]) -> Conclusion:
    which, part = int(follows.argmin()), 100 * follows.min()
    follows_by = f"it follows the data by {part:.1f} % of its variance"
    sentence = f"latent {names[which]} is collapsed: {follows_by}; its distribution is arbitrary."
    return _unsure(sentence, "a fit whose latents follow the data; see collapse(model, data)")


def _poor_fit(facts: Facts) -> Conclusion | None:
    size = facts.measured.dependence
    if facts.holds is not True or not size > _bound(facts, "lower").value:
        return None
    sentence = (
        f"the changes look sufficient, but two latents still depend on each other within domains, by {size:.2f} (root mean "
        "square correlation): a fit that poor can feign changes of this size."
    )
    return _unsure(sentence, "a better fit: more epochs, restarts or blocks", facts.assumed)


def _general_family(facts: Facts) -> Conclusion | None:
    """Apply Theorem 1 for any number k of statistics of each latent, and Theorem 2 when k ≥ 2."""
    if facts.distributions.family != "natural" or facts.measured.domains < facts.needed:
        return None
    count = facts.values.shape[1] // facts.measured.latents
    if facts.holds is not True:
        return _unsure("not all statistics of this family change on their own.", 'fewer of them: prior="gaussian"')
    up_to = "order and a one-to-one map of each latent" if count > 1 else "an invertible linear map of their statistics"
    what = f"up to {up_to}: {facts.measured.domains} domains, {facts.needed} needed, and all parameters change."
    evidence = {"weakest change": _bound(facts, "lower")}
    return _yes(facts, what, evidence, up_to, "Theorem 2" if count > 1 else "Theorem 1")


def _no_promise(facts: Facts) -> Conclusion | None:
    if facts.distributions.promise is True or facts.holds is not True:
        return None
    reason = facts.distributions.promise or "no theorem covers this observation model."
    sentence = f"the changes are sufficient, but nothing is promised: {reason}"
    return _unsure(sentence, "continuous observations, for which the theorem is proved")


def _nothing_changes(facts: Facts) -> Conclusion | None:
    if len(facts.unchanged) < facts.measured.latents:
        return None
    sentence = "not identifiable: the distributions of the latents do not differ between the domains beyond noise."
    return _no(
        facts, sentence, "domains in which the latents really differ; check that u belongs to these rows", "anything"
    )


def _one_latent(facts: Facts) -> Conclusion | None:
    """Apply Theorem 1 to the mean of a single latent, which has none to be mixed with: scale and shift stay open."""
    mean = facts.mean_changes[0]
    if (
        facts.measured.latents > 1
        or not facts.means_only
        or not facts.stated
        or facts.distributions.promise is not True
    ):
        return None
    if facts.distributions.family == "laplace":  # a moving location is no natural parameter there
        return None
    follows = facts.measured.follows
    if follows is not None and follows.min() < _LEAST_FRACTION:
        return _latent_collapsed(follows, facts.names)
    against = _first_refuted(facts)
    if against is not None:
        return _unsure(_denied(against), _remedy(against), facts.assumed)
    what = f"up to scale and shift: a single latent, whose mean moves between {facts.measured.domains} domains."
    bound = replace(_bound(facts, "upper"), value=mean.low, direction="lower")
    return _yes(facts, what, {"change of the mean": bound}, "scale and shift", "Theorem 1")


def _means_only(facts: Facts) -> Conclusion | None:
    if not facts.means_only or facts.distributions.family == "laplace":
        return None
    sentence = (
        "not identifiable: only means move. Gaussian latents whose variances stay can be turned into each other, so that "
        "at best a linear mixture of them is recovered (Proposition 1)."
    )
    change = "domains in which variances change, each by a factor of its own"
    if facts.distributions.family == "mean" and not all(facts.still_variances):
        change = 'prior="gaussian": the variances of these latents do change between domains'
    return _no(facts, sentence, change, "an invertible linear map")._replace(theorem="Proposition 1")


def _laplace_moves(facts: Facts) -> Conclusion | None:
    if facts.distributions.family != "laplace" or facts.moving_means == 0 or facts.holds is False:
        return None
    sentence = (
        "Laplace latents whose locations change are no exponential family of fixed size: the theorem does not speak."
    )
    return _unsure(sentence, 'prior="gaussian", or locations that stay')


def _too_few(facts: Facts) -> Conclusion | None:
    present = facts.measured.domains
    fewest = min(candidate.values.shape[1] for candidate in facts.candidates) + 1
    if present >= fewest:
        return None
    if facts.measured.grouped:
        rows = int(facts.measured.rows.sum())
        return _unsure(
            f"{rows} rows make only {present} groups of neighbouring u, and {facts.needed} are needed for {_what(facts)}.",
            "more rows",
        )
    sentence = f"not identifiable: {present} domains, {facts.needed} needed for {_what(facts)}."
    missing = facts.needed - present
    change = f"{missing} more domain{'s' * (missing > 1)} whose {_which(facts)} differ"
    return _no(facts, sentence, change, "an unknown map", exact=present)


def _dependent_changes(facts: Facts) -> Conclusion | None:
    if facts.holds is not False:
        return None
    sentence = f"not identifiable: the changes are not independent enough; {_blame(facts)}."
    if facts.inseparable:
        i, j = facts.inseparable[0]
        change = f"a domain in which the variances of latents {facts.names[i]} and {facts.names[j]} change by different factors"
    else:
        change = f"domains whose {_which(facts)} differ in new directions"
    return _no(facts, sentence, change, "an unknown map")


def _sufficient(facts: Facts) -> Conclusion | None:
    if facts.holds is not True:
        return None
    size = facts.values.shape[1]
    directions = "direction" if size == 1 else "independent directions"
    what = (
        f"up to order, scale and shift, as components that are independent in each domain: {facts.measured.domains} domains, "
        f"{facts.needed} needed, and the {_which(facts)} change in {size} {directions}."
    )
    return _yes(facts, what, {"weakest change": _bound(facts, "lower")}, "order, scale and shift", _theorem(facts))


_RULES = (
    _nothing_changes,
    _no_promise,
    _only_learned,
    _collapsed,
    _assumption_refuted,
    _too_few_rows_to_test,
    _poor_fit,
    _general_family,
    _one_latent,
    _means_only,
    _laplace_moves,
    _too_few,
    _dependent_changes,
    _sufficient,
)


def _open(facts: Facts) -> Conclusion:
    weakest = min((c.weakest for c in facts.candidates if c.weakest is not None), key=lambda change: change.low)
    sentence = (
        f"the weakest change lies between {weakest.low:.2g} and {weakest.high:.2g} standard errors of one row; the declared "
        f"{facts.tolerance:g} is inside, or it is open whether some means move."
    )
    against = _first_refuted(facts)
    if against is not None:
        return _unsure(f"{_denied(against)} As it is, {sentence}", _remedy(against), facts.assumed)
    missing = facts.needed - facts.measured.domains
    more = f"{missing} more domain{'s' * (missing > 1)}, " if missing > 0 and not facts.measured.grouped else ""
    return _unsure(sentence, f"{more}more held-out rows, or domains that differ more")


def _yes(facts: Facts, what: str, evidence: Mapping[str, Bound], up_to: str, theorem: str) -> Conclusion:
    """Answer yes: certified of distributions that were given as known, supported where assumptions were tested on rows."""
    change, words = "a larger declared tolerance", assumptions_in_words(facts.assumed)
    if facts.given:
        sentence = f"distributions such as these identify latents {what} {words}"
        verdict = Verdict("certified", sentence, evidence, change, assumptions=facts.assumed)
    else:
        sentence = f"identifiable {what} {words}"
        verdict = Verdict("supported", sentence, evidence, change, assumptions=facts.assumed)
    return Conclusion(verdict, identifiable=True, proved_impossible=False, up_to=up_to, theorem=theorem)


def _unsure(sentence: str, change: str, assumed: tuple[Assumption, ...] = ()) -> Conclusion:
    verdict = Verdict("cannot say", sentence, {}, change, assumptions=assumed)
    return Conclusion(verdict, identifiable=None, proved_impossible=False, up_to="an unknown map")


def _no(facts: Facts, sentence: str, change: str, up_to: str, exact: int | None = None) -> Conclusion:
    proved = bool(facts.inseparable) and facts.given
    if not proved:
        sentence = f"{sentence} {_ONE_FIT if facts.inseparable else _ONLY_SUFFICIENT}"
    evidence = {"domains": Bound(exact)} if exact is not None else {"weakest change": _bound(facts, "upper")}
    verdict = Verdict("refuted", sentence, evidence, change, assumptions=facts.assumed)
    return Conclusion(verdict, identifiable=False, proved_impossible=proved, up_to=up_to)


def _bound(facts: Facts, direction: Literal["upper", "lower"]) -> Bound:
    changes = [candidate.weakest for candidate in facts.candidates if candidate.weakest is not None]
    if not changes:  # fewer domains than statistics: some direction does not change at all
        return Bound(0.0)
    value = min(c.low for c in changes) if direction == "lower" else max(c.high for c in changes)
    rows = int(facts.measured.rows.sum())
    source = "held-out rows" if facts.measured.held_out else "the model's own table"
    return Bound(value, direction, confidence=1 - facts.level, method=source, assumptions=_ASSUMED, n=rows)


def _theorem(facts: Facts) -> str:
    """Return the theorem: 2 for two statistics each, 3 for one that is not monotone (a square), both for some of each."""
    if facts.moving_means == 0:
        return "Theorem 3"
    return "Theorem 2" if facts.moving_means == facts.measured.latents else "Theorems 2 and 3"


def _which(facts: Facts) -> str:
    if facts.distributions.family == "natural":
        return "natural parameters"
    return "means and variances" if facts.moving_means else "variances"


def _what(facts: Facts) -> str:
    size, moving = facts.measured.latents, facts.moving_means
    latents = f"{size} latent{'s' * (size != 1)}"
    if facts.distributions.family == "natural":
        return f"{latents} with {facts.values.shape[1] // size} statistics each"
    if not moving:
        return f"{latents} whose variances change"
    some = "" if moving == size else f", {moving} of them with moving means"
    return f"{latents} whose {_which(facts)} change{some}"


def _blame(facts: Facts) -> str:
    if facts.unchanged:
        names = ", ".join(facts.names[k] for k in facts.unchanged)
        return (
            f"the distribution of latent {names} does not change"
            if len(facts.unchanged) == 1
            else f"latents {names} do not change"
        )
    if facts.inseparable:
        i, j = facts.inseparable[0]
        return f"the variances of latents {facts.names[i]} and {facts.names[j]} keep one ratio in all domains"
    return f"in some direction {_which(facts)} together hardly change"
