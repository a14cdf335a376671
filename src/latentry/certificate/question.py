"""One part of a certificate: a question, its answer, and everything the answer stands on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from latentry.evidence import Assumption, Bound, Estimate, Verdict

__all__ = [
    "ABOVE_BEST",
    "BESIDE_BEST",
    "BEST_FOUND",
    "MEASURED",
    "MIXED",
    "Fields",
    "Number",
    "Part",
    "number_from_json",
    "number_to_json",
]

Number = Bound | Estimate
Fields = dict[str, Any]  # of a JSON object
MEASURED = ("variables", "informative", "domains")  # parts that report estimates and judge nothing
MIXED = "every mixture"  # of the domains: the place of a claim that holds whatever their fractions
# Names of numbers about the most natural latent of the rows.
BEST_FOUND = "largest redundancy error of the most natural latent found"
BESIDE_BEST = "largest redundancy error beside it"
ABOVE_BEST = "sum of all errors above that of the most natural latent found"


@dataclass(frozen=True, eq=False)
class Part:
    """The answer to one question.

    Args:
        name: one of :data:`latentry.certificate.PARTS`.
        verdict: the answer.
        claims: the verdicts that it rests on, by name.
        numbers: bounds and estimates, by name.
        notes: sentences that a reader should know.
        methods: what was used, in words that name the method.
        details: tables and graphs for the report, as plain JSON.
        question: what was asked, which :func:`certify` writes down.
    """

    name: str
    verdict: Verdict
    claims: Mapping[str, Verdict] = field(default_factory=dict)
    numbers: Mapping[str, Number] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    details: Fields = field(default_factory=dict)
    question: str = ""

    @property
    def answer(self) -> str:
        """Return the word of the verdict, or `measured` where nothing is judged."""
        return "measured" if self.name in MEASURED else self.verdict.status

    @property
    def lines(self) -> Mapping[str, Verdict]:
        """Return the claims that stand under the verdict with a line of their own."""
        return {name: self.claims[name] for name in self.details.get("lines", ())}

    def __str__(self) -> str:
        rows = [
            (self.answer, self.verdict.sentence),
            *((one.status, f"{n}: {one.sentence}") for n, one in self.lines.items()),
        ]
        return "\n".join([self.question, *(f"  {status}: {sentence}" for status, sentence in rows)]).strip()

    @property
    def all_methods(self) -> tuple[str, ...]:
        """Return everything that names a method: the part's own words, and those of its numbers."""
        bounds = [b for v in (self.verdict, *self.claims.values()) for b in v.evidence.values()]
        result = [*self.methods, *(n.method for n in (*bounds, *self.numbers.values())), *(a.test for a in self.tested)]
        return tuple(dict.fromkeys(word for word in result if word))

    @property
    def tested(self) -> tuple[Assumption, ...]:
        """Return what the answer takes for granted, each with its test or named as untested; what is refuted comes first."""
        given = dict.fromkeys(one for v in (self.verdict, *self.claims.values()) for one in v.assumptions)
        order = {"refuted": 0, "not refuted": 1, "untested": 2}
        return tuple(sorted(given, key=lambda one: order[one.outcome]))

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Return what must hold for the bounds to hold."""
        verdicts = (self.verdict, *self.claims.values())
        bounds = [b for v in verdicts for b in v.evidence.values()]
        bounds += [n for n in self.numbers.values() if isinstance(n, Bound)]
        return tuple(dict.fromkeys(a for b in bounds for a in b.assumptions))

    def to_json(self) -> Fields:
        """Return plain data for a JSON file."""
        return {
            "name": self.name,
            "question": self.question,
            "verdict": self.verdict.to_json(),
            "claims": {name: claim.to_json() for name, claim in self.claims.items()},
            "numbers": {name: number_to_json(n) for name, n in self.numbers.items()},
            "notes": list(self.notes),
            "methods": list(self.methods),
            "details": dict(self.details),
        }

    @classmethod
    def from_json(cls, fields: Fields) -> Part:
        """Read the part that `to_json` wrote.

        Args:
            fields: Every field of a part, by name.

        Returns:
            The part.
        """
        return cls(
            fields["name"],
            Verdict.from_json(fields["verdict"]),
            {name: Verdict.from_json(v) for name, v in fields["claims"].items()},
            {name: number_from_json(n) for name, n in fields["numbers"].items()},
            tuple(fields["notes"]),
            tuple(fields["methods"]),
            fields["details"],
            fields["question"],
        )


def number_to_json(number: Number) -> Fields:
    """Return a bound or an estimate as plain data, and which of the two it is.

    Args:
        number: Either.

    Returns:
        Its fields, and its "kind".
    """
    kind = "bound" if isinstance(number, Bound) else "estimate"
    return {"kind": kind, **number.to_json()}


def number_from_json(fields: Fields) -> Number:
    """Read the number that `number_to_json` wrote.

    Args:
        fields: Of a bound or an estimate, and its "kind".

    Returns:
        A bound or an estimate.
    """
    rest = {name: value for name, value in fields.items() if name != "kind"}
    return Bound.from_json(rest) if fields["kind"] == "bound" else Estimate.from_json(rest)
