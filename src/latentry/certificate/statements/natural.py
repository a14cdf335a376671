"""Statements about naturality: between which ends each error lies, whatever threshold was declared."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from latentry.certificate.question import MIXED, Fields, Part
from latentry.certificate.statements.statement import Statement, are, at_least, at_most, capital, joined, nats
from latentry.evidence import Bound, Estimate, Status, Verdict, judge

__all__ = ["Errors", "Told", "about_naturality", "naturality_errors"]

Told = Mapping[tuple[str, str], Estimate]

_POOLED = "all rows pooled"
_MEDIATION = "mediation error"
_DECIDED = 0.9  # fraction of its entropy that rows determine of a latent that is called decided
_SMALL = 0.1  # fraction of its entropy below which an error is near none
_TELLS, _HIDES = 0.25, 0.5  # fractions of its entropy that a modality leaves open of a variable that it shows, or hides


@dataclass(frozen=True)
class Errors:
    """The errors of one latent in one kind of place.

    Args:
        latent: Its name.
        where: In words; empty where there is one place.
        mediation: Rows of the table about mediation.
        redundancy: Rows about each modality, by its name.
        entropy: What rows determine of the latent, where it has finitely many values.
        empty: Reasons why naturality says little here.
        decided: Whether rows determine nearly all of the latent.
        problem: Why domains were not judged one by one.
    """

    latent: str
    where: str
    mediation: tuple[Fields, ...]
    redundancy: dict[str, tuple[Fields, ...]]
    entropy: float | None
    empty: tuple[str, ...] = ()
    decided: bool = True
    problem: str = ""

    @property
    def rows(self) -> list[Fields]:
        """Return all rows of the table."""
        return [*self.mediation, *(row for rows in self.redundancy.values() for row in rows)]

    @property
    def doubt(self) -> str:
        """Say why bounds do not hold; empty where nothing speaks against them."""
        return next((row["doubt"] for row in self.rows if row.get("doubt")), "")

    @property
    def low(self) -> float:
        """Return what the largest error is at least, in some of the places: every smaller threshold is refuted."""
        sure = [
            row for row in self.rows if row["upper"] is not None or row["status"] == "refuted"
        ]  # else tests must agree
        return max((float(row["lower"] or 0.0) for row in sure), default=0.0)

    @property
    def high(self) -> float | None:
        """Return what the largest error is at most, in all of the places: every larger threshold is certified."""
        return _largest(self.rows)

    def within(self, epsilon: float, level: float) -> Verdict:
        """Judge whether the largest error is at most a threshold, whenever it was chosen.

        Args:
            epsilon: The threshold, nats.
            level: Probability that a bound is wrong, where it has no confidence of its own.

        Returns:
            certified, refuted or cannot say.
        """
        name = f"the naturality error of {self.latent}"
        if self.problem or (self.doubt and not self.low > epsilon):
            return Verdict("cannot say", f"{name} is open: {self.problem or self.doubt}.")
        confidence = self.confidence(level)
        bounds = [Bound(max(self.low, 0.0), "lower", confidence, "largest of all lower bounds")]
        if self.high is not None:
            bounds.append(Bound(self.high, "upper", confidence, "largest of all upper bounds"))
        verdict = judge(f"{name}{self.where}", bounds, epsilon)
        if self.high is None and not verdict.refuted:
            sentence = (
                f"{name}{self.where} is at least {max(self.low, 0.0):.2g} nats, and nothing bounds it from above."
            )
            return replace(verdict, sentence=sentence)
        return verdict

    def confidence(self, level: float) -> float:
        """Return the confidence of the largest of the bounds.

        Args:
            level: Where a row has none of its own.

        Returns:
            A probability.
        """
        return 1 - level  # a bound that every mixture caps holds with the mixtures' own, which holds at the level

    @property
    def high_for_predictors(self) -> float | None:
        """Return the same with mediation as far as predictors see."""
        seen = [row["upper"] if row["upper"] is not None else _gain(row) for row in self.mediation]
        rest = _largest([row for rows in self.redundancy.values() for row in rows])
        return None if rest is None or None in seen else max([rest, *(one for one in seen if one is not None)])


def _gain(row: Fields) -> float | None:
    return row.get("for_predictors") if row["status"] == "supported" else None


def naturality_errors(part: Part) -> list[Errors]:
    """Return the errors of each latent in each domain, or on all rows where there are no domains.

    Args:
        part: "natural" of a certificate.

    Returns:
        One for each latent that was judged.
    """
    table: Sequence[Fields] = part.details.get("table", ())
    return [
        _errors(name, [row for row in table if row["latent"] == name], part)
        for name in dict.fromkeys(row["latent"] for row in table)
    ]


def _errors(name: str, rows: list[Fields], part: Part) -> Errors:
    domains = [row for row in rows if row["place"] not in (MIXED, _POOLED)]
    used = domains or [row for row in rows if row["place"] == _POOLED]
    places = list(dict.fromkeys(row["place"] for row in used))
    problem = str(part.details.get("problems", {}).get(name, ""))
    where = f" in each of the {len(places)} domains" if domains else " on all rows together" if problem else ""
    modalities = dict.fromkeys(row["error"] for row in used if not row["error"].startswith(_MEDIATION))
    return Errors(
        name,
        where,
        tuple(row for row in used if row["error"].startswith(_MEDIATION)),
        {
            error.removeprefix("redundancy error of "): tuple(r for r in used if r["error"] == error)
            for error in modalities
        },
        part.details.get("determined", {}).get(name),
        tuple(part.details.get("empty", {}).get(name, ())),
        _decided(part, name),
        problem,
    )


def _decided(part: Part, name: str) -> bool:
    whole = part.details.get("entropies", {}).get(name)
    return whole is None or part.details.get("determined", {}).get(name, whole) >= _DECIDED * whole


def about_naturality(part: Part, told: Told, called: str, level: float) -> Iterator[Statement]:
    """Yield where each latent shows, what is shared beyond it, and between which ends its naturality error lies.

    Args:
        part: "natural" of a certificate.
        told: What each modality tells of each latent, by the names of both.
        called: What Λ is called.
        level: Probability that a bound is wrong.

    Returns:
        An iterator over statements.
    """
    for errors in naturality_errors(part):
        if errors.entropy is not None and errors.entropy < 0.02:
            continue
        name = called if errors.latent in ("Λ", "the cluster") else errors.latent
        if errors.doubt:
            sentence = f"Nothing is known of the naturality of {name}: {errors.doubt}."
            yield Statement("natural", errors.latent, sentence, "cannot say")
            if any(row["status"] == "refuted" for row in errors.mediation):
                yield from _beyond(errors, name, level)
            continue
        if errors.empty:
            sentence = f"That {name} is natural would say little: {'; '.join(errors.empty)}."
            yield Statement("natural", errors.latent, sentence, "measured")
        yield from _whole(errors, name, level)
        yield from _where_it_shows(errors, name, level)
        yield from _where_it_hides(
            errors, name, {m: e for (latent, m), e in told.items() if latent == _measured_as(errors.latent)}
        )
        yield from _beyond(errors, name, level)


def _whole(errors: Errors, name: str, level: float) -> Iterator[Statement]:
    held = "" if errors.entropy is None else f", of the {errors.entropy:.2f} that it holds"
    low = max(errors.low, 0.0)
    bounded = errors.high is not None
    high = errors.high if bounded else errors.high_for_predictors
    if high is None or low > high:
        return
    how = "" if bounded else " as far as predictors see"
    ends = f"between {at_least(low)} and {at_most(high)} nats{errors.where}{how}{held}"
    wide = errors.entropy is not None and low < _SMALL * errors.entropy and high > _TELLS * errors.entropy
    sentence = f"The naturality error of {name} lies {ends}."
    if wide:
        sentence = f"Whether {name} {are(name)} natural is open: the naturality error lies {ends}."
    grade: Status = "cannot say" if wide else "certified" if bounded else "supported"
    yield Statement(
        "natural", errors.latent, sentence, grade, low, high, "nats", errors.entropy, errors.confidence(level)
    )


def _measured_as(latent: str) -> str:
    """Return the name that the part on information has for a latent."""
    return "Λ" if latent == "the cluster" else latent


def _where_it_shows(errors: Errors, name: str, level: float) -> Iterator[Statement]:
    """Say how much of the latent each modality alone leaves open, at most."""
    ends = {modality: _ends(rows) for modality, rows in errors.redundancy.items()}
    tops = {modality: high for modality, (_, high) in ends.items() if high is not None}
    if not tops:
        return
    whole = errors.entropy
    shows = [m for m, high in tops.items() if whole is not None and high <= _TELLS * whole]
    spoken = {modality: tops[modality] for modality in shows or tops}
    low, high = max(ends[modality][0] for modality in spoken), max(spoken.values())
    sentence = capital(_left_open(spoken, name, errors, shows=bool(shows)))
    yield Statement(
        "natural", errors.latent, sentence, "certified", low, high, "nats", errors.entropy, errors.confidence(level)
    )


def _left_open(tops: dict[str, float], name: str, errors: Errors, *, shows: bool) -> str:
    whole, where = errors.entropy, errors.where
    of = f"of {name}" if whole is None else f"of its {whole:.2f} nats"
    unit = " nats" if whole is None else ""
    held = math.inf if whole is None else whole
    if shows:
        each = f"each of {joined(tops)}" if len(tops) > 1 else joined(tops)
        determines = "determines" if errors.decided else "tells what all of them together tell of"
        most = at_most(min(max(tops.values()), held))
        return f"by itself {each} {determines} {name}: it leaves at most {most} {of} open{where}."
    words = [f"{modality} by itself leaves at most {at_most(min(high, held))}{unit}" for modality, high in tops.items()]
    return f"of {name}, {joined(words)}{'' if whole is None else f' {of}'} open{where}."


def _where_it_hides(errors: Errors, name: str, told: Mapping[str, Estimate]) -> Iterator[Statement]:
    """Say which modalities tell less than half of a latent: estimates, since nothing bounds what a better reader would see."""
    whole = errors.entropy
    if whole is None:
        return
    tops = {modality: _largest(rows) for modality, rows in errors.redundancy.items()}
    seen = [modality for modality, top in tops.items() if top is not None and top <= _TELLS * whole]
    known = {m: e for m, e in told.items() if e.high == e.high and e.high <= _HIDES * whole and m not in seen}
    if not known:
        return
    words = joined(f"{modality} tells {nats(e)}" for modality, e in known.items())
    tail = f": {name} shows in {joined(seen)} and little in {joined(known)}" if seen else ""
    sentence = f"Of the {whole:.2f} nats of {name}, {words}{tail}."
    low, high = min(e.low for e in known.values()), max(e.high for e in known.values())
    yield Statement("natural", errors.latent, sentence, "measured", max(low, 0.0), high, "nats", whole, 0.95)


def _between(low: float, high: float | None) -> str:
    if high is None:
        return f"at least {at_least(low)}" if low > 0 else "an unknown amount"
    return f"between {at_least(low)} and {at_most(high)}" if low > 0.005 else f"at most {at_most(high)}"


def _beyond(errors: Errors, name: str, level: float) -> Iterator[Statement]:
    """Say what the modalities share beyond the latent."""
    rows = errors.mediation
    if not rows:
        return
    modalities, where = joined(errors.redundancy), errors.where
    low, high = _ends(rows)
    against = [row for row in rows if row["status"] == "refuted"]
    least = min((row["lower"] or 0.0 for row in against), default=0.0)
    if against:
        place = "" if len(rows) == 1 else f" in {joined(row['place'] for row in against)}"
        shared = f"{modalities} still share at least {at_least(least)} nats{place}"
        sentence = f"Given {name}, {shared}: {name} {are(name)} not all that they have in common."
        yield Statement(
            "natural",
            errors.latent,
            sentence,
            "certified",
            least,
            high,
            "nats",
            errors.entropy,
            errors.confidence(level),
        )
    elif high is not None:
        sentence = f"Given {name}, {modalities} share {_between(low, high)} nats{where}."
        yield Statement(
            "natural", errors.latent, sentence, "certified", low, high, "nats", errors.entropy, errors.confidence(level)
        )
    else:
        yield _untold(errors, name, modalities, level)


def _untold(errors: Errors, name: str, modalities: str, level: float) -> Statement:
    """Say what tests and predictors found of mediation that nothing bounds from above."""
    rows, where = errors.mediation, errors.where
    tested = [row["p"] for row in rows if row["p"] is not None]
    gains = [_gain(row) for row in rows]
    statuses = {row["status"] for row in rows}
    if None not in gains:
        gain = max(g for g in gains if g is not None)
        seen = f"at most {at_most(gain)} nats{where} as far as predictors see"
        sentence = f"Given {name}, {modalities} share {seen}, and no test finds more."
        if gain < 0.005:
            found = f"Nothing that {modalities} share beyond {name} was found{where}"
            sentence = f"{found}, by predictors or by tests; this is no proof."
        return Statement(
            "natural", errors.latent, sentence, "supported", 0.0, gain, "nats", errors.entropy, errors.confidence(level)
        )
    if statuses <= {"not refuted", "supported"} and tested:
        powers = [row["power"] for row in rows if row.get("power") is not None]
        least = f"smallest p: {min(tested):.2g}" + (f"; power {min(powers):.2f}" if powers else "")
        sentence = f"No test finds anything that {modalities} share beyond {name}{where} ({least})."
        return Statement(
            "natural",
            errors.latent,
            sentence,
            "not refuted",
            0.0,
            None,
            "nats",
            errors.entropy,
            errors.confidence(level),
        )
    sentence = f"How much {modalities} share beyond {name} is open{where}."
    return Statement(
        "natural",
        errors.latent,
        sentence,
        "cannot say",
        _ends(rows)[0],
        None,
        "nats",
        errors.entropy,
        errors.confidence(level),
    )


def _ends(rows: Sequence[Fields]) -> tuple[float, float | None]:
    """Return what an error is at least in every place, and at most in all."""
    return min((row["lower"] or 0.0 for row in rows), default=0.0), _largest(rows)


def _largest(rows: Sequence[Fields]) -> float | None:
    uppers = [row["upper"] for row in rows]
    return None if not uppers or None in uppers else max(uppers)
