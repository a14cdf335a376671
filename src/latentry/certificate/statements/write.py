"""All statements of a certificate, in the order in which they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from latentry.certificate.question import Fields, Part
from latentry.certificate.row_check import ABOUT_ROWS
from latentry.certificate.statements.best import about_the_best
from latentry.certificate.statements.found import about_dependence, about_factors, about_variables
from latentry.certificate.statements.natural import about_naturality
from latentry.certificate.statements.statement import Grade, Statement, are, at_least, capital, joined, nats
from latentry.evidence import Assumption, Bound, Estimate

__all__ = ["called", "contradicted", "may_say", "silent_modalities", "statements", "worthless"]

_RECONSTRUCTED = "reconstruction of "
_WORTHLESS = 0.1  # nats
_QUOTABLE = ("certified", "supported", "measured", "not refuted")


def called(subject: Fields) -> str:
    """Return what Λ is called in sentences.

    Args:
        subject: Of a certificate.

    Returns:
        "the label", "the cluster", "the cluster of all nodes", "the latent" or "the latents".
    """
    return str(subject.get("called", "the latent"))


def statements(parts: Mapping[str, Part], subject: Fields, settings: Fields) -> tuple[Statement, ...]:
    """Write down what the parts of a certificate found, as sentences with numbers.

    Args:
        parts: Of a certificate.
        subject: What was certified.
        settings: What was declared.

    Returns:
        Statements, findings first.
    """
    return tuple(_all(parts, called(subject), float(settings["level"])))


def _all(parts: Mapping[str, Part], name: str, level: float) -> Iterator[Statement]:
    for one in contradicted(parts):
        sentence = f"Intervals and bounds on this page do not hold: they take for granted that {one.name}, which rows contradict."
        yield Statement("rows", "Λ", sentence, "cannot say")
    if "informative" in parts:
        yield from _worth(parts, name)
    if "variables" in parts:
        yield from about_variables(parts["variables"], name)
        yield from about_dependence(parts["variables"])
    if "informative" in parts:
        yield from _information(parts["informative"], name)
    if "natural" in parts:
        yield from about_naturality(parts["natural"], _told(parts), name, level)
        yield from about_the_best(parts["natural"], name, level)
    if "domains" in parts:
        yield from _domains(parts, name)
    if "variables" in parts:
        yield from about_factors(parts["variables"], name)
    if "identifiable" in parts:
        yield from _identifiable(parts["identifiable"])
    if "causal" in parts:
        yield from _graph(parts["causal"])
    if "fit" in parts:
        yield from _fit(parts["fit"], level)


def may_say(written: tuple[Statement, ...]) -> tuple[str, ...]:
    """Return the sentences that may be quoted, each with its grade.

    Args:
        written: Statements of a certificate.

    Returns:
        Sentences.
    """
    return tuple(f"{one.sentence} ({one.grade})" for one in written if one.grade in _QUOTABLE)


def contradicted(parts: Mapping[str, Part]) -> tuple[Assumption, ...]:
    """Return the assumptions about the order and copies of rows that rows contradict: every interval rests on them.

    Args:
        parts: Of a certificate.

    Returns:
        Each once.
    """
    refuted = {one.name: one for part in parts.values() for one in part.tested if one.refuted}
    return tuple(one for name, one in refuted.items() if name.startswith(ABOUT_ROWS))


def silent_modalities(part: Part) -> tuple[list[str], list[str]]:
    """Return the modalities about which the latent says nothing beyond chance, and all that were measured.

    Args:
        part: "informative" of a certificate.

    Returns:
        Names, and names.
    """
    rows = {row["about"] for row in part.details.get("table", ()) if row["about"] != "domain"}
    known = {name: part.numbers[f"I(Λ; {name})"] for name in sorted(rows) if f"I(Λ; {name})" in part.numbers}
    measured = {n: e for n, e in known.items() if isinstance(e, Estimate) and float(e) == float(e) and e.low == e.low}
    return [name for name, e in measured.items() if e.low <= 0], list(measured)


def _worth(parts: Mapping[str, Part], name: str) -> Iterator[Statement]:
    """Yield a warning where the latent says nothing about any modality."""
    part = parts["informative"]
    silent, known = silent_modalities(part)
    if not known or len(silent) < len(known):
        return
    high = max(max(e.high for e in (part.numbers[f"I(Λ; {m})"] for m in known) if isinstance(e, Estimate)), 0.0)
    say = "they say" if name == "the latents" else "it says"
    short = " as far as their leading components show" if part.details.get("short") else ""
    if worthless(parts):
        nothing = (
            f"{say} nothing beyond chance about {joined(known)}{short} (estimated below {max(high, 0.01):.2f} nats)"
        )
        sentence = f"For these data {name} {are(name)} worthless: {nothing}."
    else:
        sentence = f"No information of {name} about {joined(known)} was seen{short}; up to {max(high, 0.01):.2f} nats may be there."
    yield Statement("worth", "Λ", sentence, "measured", 0.0, high, confidence=0.95)


def worthless(parts: Mapping[str, Part]) -> bool:
    """Return whether every modality was measured, and none holds more than a little of the latent.

    Args:
        parts: Of a certificate.

    Returns:
        True or False; False where information was not asked.
    """
    part = parts.get("informative")
    if part is None:
        return False
    silent, known = silent_modalities(part)
    asked = {row["about"] for row in part.details.get("table", ()) if row["about"] != "domain"}
    held = (
        [one["entropy"] for one in parts["variables"].details["variables"] if one["name"] == "Λ"]
        if "variables" in parts
        else []
    )
    most = min([_WORTHLESS, *(0.2 * entropy for entropy in held if entropy is not None)])
    highs = [e.high for e in (part.numbers[f"I(Λ; {m})"] for m in known) if isinstance(e, Estimate)]
    return bool(known) and len(silent) == len(asked) and max(highs) < most


def _information(part: Part, name: str) -> Iterator[Statement]:
    silent, known = silent_modalities(part)
    if len(silent) == len(known):
        return
    amounts = {modality: part.numbers[f"I(Λ; {modality})"] for modality in known}
    say = "say" if name == "the latents" else "says"
    short = part.details.get("short", ())
    words = joined(
        f"{nats(e)} nats about {modality}{' (its leading components)' if modality in short else ''}"
        for modality, e in amounts.items()
        if modality not in silent
    )
    tail = f", and nothing beyond chance about {joined(silent)}" if silent else ""
    low = min(e.low for e in amounts.values() if isinstance(e, Estimate))
    high = max(e.high for e in amounts.values() if isinstance(e, Estimate))
    sentence = f"{capital(name)} {say} {words}{tail}."
    yield Statement("information", "Λ", sentence, "measured", max(low, 0.0), high, confidence=0.95)


def _told(parts: Mapping[str, Part]) -> dict[tuple[str, str], Estimate]:
    """Return what was measured of each latent and modality."""
    part = parts.get("informative")
    rows = () if part is None else part.details.get("table", ())
    found = (
        {(row["latent"], row["about"]): part.numbers.get(f"I({row['latent']}; {row['about']})") for row in rows}
        if part
        else {}
    )
    return {key: e for key, e in found.items() if isinstance(e, Estimate) and key[1] != "domain"}


def _domains(parts: Mapping[str, Part], name: str) -> Iterator[Statement]:
    part = parts["domains"]
    told = part.numbers.get("domain told by the latents")
    beyond = part.numbers.get("domain told by the modalities beyond the latents")
    if not isinstance(told, Estimate) or not isinstance(beyond, Estimate):
        return
    whole = _value(part, "entropy of the domain")
    of = f"of the {whole:.2f} nats that name it"
    hides = f"No sign of the domain was found in {name}: {nats(told)} {of} ({_guessed(part)})."
    shows = f"The domain shows in {name}: {nats(told)} {of} ({_guessed(part)}){_which(part)}."
    sentence = hides if told.low <= 0 and not part.details.get("noticed") else shows
    yield Statement("domain", "Λ", sentence, "measured", max(told.low, 0.0), max(told.high, 0.0), "nats", whole, 0.95)
    yield from _continuous(parts, whole)
    given = f"For equal {name.removeprefix('the ')}, "
    least = max(beyond.low, 0.0)
    sentence = (
        f"{given}the measurements still tell the domain: at least {at_least(least)} {of}, as far as classifiers see."
    )
    if beyond.low <= 0:
        sentence = f"{given}classifiers see no further difference between the domains; more may be there."
    yield Statement("domain", "Λ", sentence, "measured", least, None, "nats", whole, 0.975)


def _guessed(part: Part) -> str:
    """Say how many rows a classifier places in the right domain."""
    guessed, chance = _value(part, "domain guessed from the latents"), _value(part, "domain guessed without looking")
    if guessed <= chance:
        return f"no more rows are guessed right than the {100 * chance:.0f} % without looking"
    return f"{100 * guessed:.0f} % of rows guessed right, {100 * chance:.0f} % without looking"


def _continuous(parts: Mapping[str, Part], whole: float) -> Iterator[Statement]:
    """Say that continuous latents beside a cluster show the domain, where they do."""
    part = parts.get("informative")
    shown = None if part is None else part.numbers.get("I(continuous Λ; domain)")
    if isinstance(shown, Estimate) and shown.low > 0:
        sentence = (
            f"The continuous latents beside it do show the domain: {nats(shown)} of the {whole:.2f} nats that name it."
        )
        yield Statement("domain", "continuous Λ", sentence, "measured", shown.low, shown.high, "nats", whole, 0.95)


def _which(part: Part) -> str:
    """Name the variable that follows the domain most, where there are several."""
    rows = part.details.get("variables", ())
    if len(rows) < 2:
        return ""
    most = max(rows, key=lambda row: row["fraction"][0])
    if most["fraction"][1] <= 0:
        return ""
    return f", most of all in {most['name']}"


def _value(part: Part, name: str) -> float:
    number = part.numbers[name]
    return number.value if isinstance(number, Bound) else float(number)


def _identifiable(part: Part) -> Iterator[Statement]:
    if part.verdict.status in ("certified", "supported"):
        yield Statement("identifiable", "Λ", capital(part.verdict.sentence), part.verdict.status, unit="")


def _graph(part: Part) -> Iterator[Statement]:
    strengths = [(a, b, value) for a, b, value in part.details.get("strengths", ())]
    directed = {tuple(edge) for edge in part.details.get("cpdag", {}).get("compelled", ())}
    said = " (a direction that rests on what was given after the fit)" if part.details.get("given") else ""
    for a, b, value in strengths:
        how = part.numbers.get(f"share of draws that join {a} and {b}")
        again = (
            "" if not isinstance(how, Bound) else f"; {100 * how.value:.0f} % of searches on resampled rows join them"
        )
        arrow = f"{a} → {b}{said}" if (a, b) in directed else f"{a} — {b}, whose direction is open"
        sentence = f"The graph joins {arrow}: {value:.2f} nats of dependence on new rows{again}."
        yield Statement("graph", f"{a}, {b}", sentence, "measured", value, value)
    if not strengths:
        yield Statement("graph", "", "The graph joins no two nodes.", "measured", 0.0, None)
    if part.verdict.status in ("not refuted", "refuted"):
        found: Grade = "certified" if part.verdict.refuted else "not refuted"
        yield Statement("graph", "", capital(part.verdict.sentence), found)


def _fit(part: Part, level: float) -> Iterator[Statement]:
    verdict = part.verdict
    gain = verdict.evidence.get("gain per row")
    if verdict.status in ("certified", "refuted") and gain is not None:
        low, high = (gain.value, None) if verdict.certified else (None, gain.value)
        yield Statement("fit", "Λ", capital(verdict.sentence), "certified", low, high, confidence=1 - level)
    back = {
        name.removeprefix(_RECONSTRUCTED).removesuffix(" (R²)"): n
        for name, n in part.numbers.items()
        if name.startswith(_RECONSTRUCTED)
    }
    if back:
        values = {name: max(n.value, 0.0) for name, n in back.items() if isinstance(n, Bound)}
        words = joined(f"{100 * value:.0f} % of the variance of {name}" for name, value in values.items())
        sentence = f"From its latents the model gives back {words}, on new rows."
        yield Statement("fit", "Λ", sentence, "measured", min(values.values()), max(values.values()), "fraction", 1.0)
    yield from _lines(part)


def _lines(part: Part) -> Iterator[Statement]:
    """Yield dead latents, samples and restarts; a refuted claim is a finding, and its sentence says what was found."""
    for name, claim in part.lines.items():
        if claim.status == "cannot say" and not (name == "restarts agree" and claim.evidence):
            continue
        value = next((bound.value for bound in claim.evidence.values()), None)
        proved: Grade = "certified" if name == "samples look like new rows" else "measured"
        yield Statement("fit", "Λ", capital(claim.sentence), proved, value, None, "fraction", 1.0)
