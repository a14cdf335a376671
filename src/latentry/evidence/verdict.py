"""An answer in one of five words, with a sentence, the numbers behind it and what would change it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from latentry.errors import DataError, nearest
from latentry.evidence.assumption import Assumption
from latentry.evidence.bound import Bound, DirectionError, Fields

__all__ = ["STATUS_ORDER", "Status", "Verdict", "all_of", "judge"]

Status = Literal["certified", "supported", "refuted", "not refuted", "cannot say"]
# From the worst answer to the best: of parts that must all hold, the first one speaks for the whole.
STATUS_ORDER: tuple[Status, ...] = ("refuted", "cannot say", "not refuted", "supported", "certified")


@dataclass(frozen=True)
class Verdict:
    """The answer to one question.

    `certified` and `refuted` need a bound that is not an estimate; `not refuted` needs the power with which a
    test would have refuted, because a test that could not have refuted says nothing. `supported` is the answer of a
    theorem, or of a class of predictors, whose assumptions were tested and not refuted: it names each of them.

    >>> v = Verdict("certified", "Λ mediates within 0.05 nats.", {"mediation": Bound(0.02, "upper")})
    >>> print(v)
    certified: Λ mediates within 0.05 nats.
    >>> Verdict("certified", "Looks good.", {"mediation": Bound(0.02, "estimate")})
    Traceback (most recent call last):
    latentry.errors.DataError: status='certified': rests on an exact value or a bound; only estimates were given. Give ...

    Args:
        status: `certified`, `supported`, `refuted`, `not refuted` or `cannot say`.
        sentence: The answer in words.
        evidence: The numbers behind it, by name.
        change: What would change the answer.
        power: Probability that a violation of the declared size would have been refuted.
        assumptions: What must hold for the answer, each with its test, or named as untested.
    """

    status: Status
    sentence: str
    evidence: Mapping[str, Bound] = field(default_factory=dict)
    change: str = ""
    power: float | None = None
    assumptions: tuple[Assumption, ...] = ()

    def __post_init__(self) -> None:
        if self.status not in get_args(Status):
            raise DataError(f"status={self.status!r}: is not known{nearest(str(self.status), get_args(Status))}")
        firm = any(b.direction != "estimate" for b in self.evidence.values())
        if self.status in ("certified", "refuted") and not firm:
            given = "only estimates were given" if self.evidence else "none was given"
            raise DataError(
                f"status={self.status!r}: rests on an exact value or a bound; {given}. Give one as evidence."
            )
        if self.status == "not refuted" and self.power is None:
            raise DataError(
                "power=None: 'not refuted' needs the power. A test that could not have refuted says nothing."
            )
        if self.status == "supported":
            self._check_support()
        if self.power is not None and not 0.0 <= self.power <= 1.0:
            raise DataError(f"power={self.power}: is not a probability. Give a number between 0 and 1.")

    def _check_support(self) -> None:
        if not any(one.outcome == "not refuted" for one in self.assumptions):
            raise DataError("status='supported': rests on assumptions that were tested; none was. Give them.")
        against = next((one.name for one in self.assumptions if one.refuted), None)
        if against is not None:
            raise DataError(
                f"status='supported': the assumption {against!r} is refuted. Say 'cannot say' or 'refuted'."
            )

    def __bool__(self) -> bool:
        raise DirectionError("a verdict has five answers, not two. Read .status or .certified.")

    @property
    def certified(self) -> bool:
        """Return True only when the answer is `certified`."""
        return self.status == "certified"

    @property
    def refuted(self) -> bool:
        """Return True only when the answer is `refuted`."""
        return self.status == "refuted"

    def __str__(self) -> str:
        power = f" (power {self.power:.2f})" if self.status == "not refuted" else ""
        return f"{self.status}{power}: {self.sentence}"

    def to_json(self) -> Fields:
        """Return plain data for a JSON file."""
        evidence = {name: bound.to_json() for name, bound in self.evidence.items()}
        return {**self.__dict__, "evidence": evidence, "assumptions": [one.to_json() for one in self.assumptions]}

    @classmethod
    def from_json(cls, fields: Fields) -> Verdict:
        """Read the verdict that `to_json` wrote.

        Args:
            fields: Every field of a verdict, by name.

        Returns:
            The verdict.

        Raises:
            DataError: If a field holds what no verdict may have.
        """
        evidence = {name: Bound.from_json(bound) for name, bound in fields["evidence"].items()}
        assumptions = tuple(Assumption.from_json(one) for one in fields["assumptions"])
        return cls(**{**fields, "evidence": evidence, "assumptions": assumptions})


def judge(name: str, bounds: Sequence[Bound], threshold: float, *, change: str = "") -> Verdict:
    """Judge from its bounds whether a quantity is at most a threshold declared beforehand.

    >>> print(judge("mediation error", [Bound(0.01, "lower"), Bound(0.03, "upper")], 0.05))
    certified: mediation error ≤ 0.03 nats, within the declared 0.05.
    >>> print(judge("mediation error", [Bound(0.2)], 0.05))
    refuted: mediation error ≥ 0.2 nats, more than the declared 0.05.
    >>> print(judge("mediation error", [Bound(0.01, "lower"), Bound(0.3, "upper")], 0.05))
    cannot say: mediation error lies between 0.01 and 0.3 nats; the declared 0.05 is inside.

    Args:
        name: Of the quantity.
        bounds: What is known of it, at least one.
        threshold: In nats.
        change: What would change the answer; a standard sentence by default.

    Returns:
        `certified`, `refuted` or `cannot say`.
    """
    high = min((b for b in bounds), key=lambda b: b.high)
    low = max((b for b in bounds), key=lambda b: b.low)
    evidence = {name: high} if high is low else {f"{name}, lower": low, f"{name}, upper": high}
    if high.high <= threshold:
        sentence = f"{name} ≤ {high.high:.3g} nats, within the declared {threshold:g}."
        return Verdict("certified", sentence, {name: high}, change or "a smaller declared threshold")
    if low.low > threshold:
        sentence = f"{name} ≥ {low.low:.3g} nats, more than the declared {threshold:g}."
        return Verdict("refuted", sentence, {name: low}, change or "a larger declared threshold")
    between = f"lies between {max(low.low, 0.0):.3g} and {high.high:.3g} nats"
    sentence = f"{name} {between}; the declared {threshold:g} is inside."
    return Verdict("cannot say", sentence, evidence, change or "more rows, or a larger declared threshold")


def all_of(verdicts: Sequence[Verdict], claim: str) -> Verdict:
    """Judge a claim that holds when every part holds.

    One refuted part refutes it; it is certified only when every part is; otherwise the weakest part speaks. The assumptions
    of all parts are those of the whole.

    >>> parts = [judge("mediation", [Bound(0.01)], 0.05), judge("redundancy", [Bound(0.2)], 0.05)]
    >>> print(all_of(parts, "Λ is natural"))
    refuted: it does not hold that Λ is natural: redundancy ≥ 0.2 nats, more than the declared 0.05.

    Args:
        verdicts: On the parts, at least one.
        claim: In words.

    Returns:
        The verdict on the claim.

    Raises:
        DataError: If there are no parts.
    """
    if not verdicts:
        raise DataError("verdicts: no verdicts to combine. Give at least one.")
    status = next(s for s in STATUS_ORDER if any(v.status == s for v in verdicts))
    speakers = [v for v in verdicts if v.status == status]
    evidence = {name: bound for v in speakers for name, bound in v.evidence.items()}
    powers = [v.power for v in speakers if v.power is not None]
    return Verdict(
        status,
        _joined(claim, status, speakers, len(verdicts)),
        evidence,
        "; ".join(dict.fromkeys(v.change for v in speakers if v.change)),
        min(powers) if powers else None,
        tuple(dict.fromkeys(one for v in verdicts for one in v.assumptions)),
    )


def _joined(claim: str, status: Status, speakers: Sequence[Verdict], parts: int) -> str:
    first = speakers[0].sentence
    if len(speakers) > 1:
        first = f"{first.rstrip('.')} (and {len(speakers) - 1} other claim{'s' * (len(speakers) > 2)})."
    if status == "certified":
        return f"{claim}: yes, all {parts} parts are certified."
    begin = {
        "refuted": "it does not hold that",
        "cannot say": "it is open whether",
        "not refuted": "there is no sign against it that",
        "supported": "tests and theory support that",
    }
    return f"{begin[status]} {claim}: {first}"
