"""Statements about the hidden variables: what they are, what they move, what they share."""

from __future__ import annotations

from collections.abc import Iterator

from latentry.certificate.question import Fields, Part
from latentry.certificate.statements.statement import Statement, capital, joined, percent

__all__ = ["COPY", "about_dependence", "about_factors", "about_variables"]

COPY = 0.9  # fraction of the larger entropy above which two variables are called copies
_SHOWN = 0.02  # fraction of a variance, or of an entropy, that is worth a sentence
_FACTOR = 0.1


def about_variables(part: Part, called: str) -> Iterator[Statement]:
    """Yield a sentence for each hidden variable.

    Args:
        part: "variables" of a certificate.
        called: What Λ is called.

    Returns:
        An iterator over statements.
    """
    for one in part.details.get("variables", ()):
        name = _name(one["name"], called)
        if one["silent"]:
            sentence = f"{capital(name)} has one value in nearly all rows: it holds nothing."
            yield Statement("variable", one["name"], sentence, "measured", 0.0, one["entropy"])
            continue
        whole = [row for row in one["moves"] if row["whole"]]
        seen = [row for row in whole if row["fraction"][1] > 0 and row["fraction"][0] >= _SHOWN]
        moves = _moves(one, seen, whole)
        ends = max((row["fraction"] for row in whole), default=[None, None, None])
        yield Statement(
            "variable",
            one["name"],
            f"{capital(name)}{_values(one)}{moves}",
            "measured",
            ends[1],
            ends[2],
            "fraction",
            1.0,
            0.95,
        )


def _values(one: Fields) -> str:
    if not one["values"]:
        return ""
    used = one["used"]
    if one["values"] > 4:
        unused = "" if used == one["values"] else f", {used} of them in use"
        return f" has {one['values']} values{unused}, holds {one['entropy']:.2f} nats"
    fractions = joined(f"{100 * fraction:.0f} %" for fraction in one["fractions"])
    return f" has {one['values']} values, in {fractions} of rows"


def _moves(one: Fields, seen: list[Fields], whole: list[Fields]) -> str:
    """Say which modalities, and which of their columns, go with the variable."""
    if not whole:
        return "." if one["values"] else " was not set beside numbers."
    also = ", and" if one["values"] else ""
    parts = [f"{percent(row['fraction'])} of the variance of {row['modality']}{_columns(one, row)}" for row in seen]
    goes = f"{also} goes with {joined(parts)}" if seen else ""
    little = [row["modality"] for row in whole if row not in seen and row["fraction"][2] < _SHOWN]
    under = (
        f"{', and' if goes else also} goes with under {100 * _SHOWN:.0f} % of the variance of {joined(little)}"
        if little
        else ""
    )
    rest = [row for row in whole if row not in seen and row["modality"] not in little]
    ends = joined(f"{100 * row['fraction'][2]:.0f} % of {row['modality']}" for row in rest) if rest else ""
    begun = goes or under or not one["values"]
    unsure = (
        f"{'; it' if goes or under else also} may go with up to {ends}, which is not told from chance" if rest else ""
    )
    return f"{goes}{under}{unsure}." if begun or rest else "."


def _columns(one: Fields, row: Fields) -> str:
    named = [r for r in one["moves"] if not r["whole"] and r["modality"] == row["modality"]]
    if not named:
        return ""
    words = [f"{r['column']}, {100 * r['fraction'][0]:.0f} %" for r in named[:2]]
    return f" (most of {joined(words)})"


def about_dependence(part: Part) -> Iterator[Statement]:
    """Yield what pairs of variables share: copies first, then the strongest.

    Args:
        part: "variables" of a certificate.

    Returns:
        An iterator over statements.
    """
    pairs = sorted(part.details.get("pairs", ()), key=lambda pair: -pair["fraction"][0])
    if not pairs:
        return
    copies = [pair for pair in pairs if pair["both"][1] > COPY]
    for pair in copies:
        known = f"knowing one removes {percent(pair['fraction'])} of the uncertainty about the other"
        yield _pair(
            pair, f"{capital(pair['a'])} and {pair['b']} are copies of each other, one variable found twice: {known}."
        )
    rest = [pair for pair in pairs if pair not in copies]
    if rest:
        most = rest[0]
        which = "" if len(rest) == 1 else ", the most of any pair" if not copies else ", the most of the other pairs"
        known = (
            f"removes {percent(most['fraction'])} of the uncertainty about the other, or that which holds less{which}"
        )
        yield _pair(most, f"Knowing one of {most['a']} and {most['b']} {known}.")


def _pair(pair: Fields, sentence: str) -> Statement:
    _, low, high = pair["fraction"]
    return Statement("dependence", f"{pair['a']}, {pair['b']}", sentence, "measured", low, high, "fraction", 1.0, 0.95)


def about_factors(part: Part, called: str) -> Iterator[Statement]:
    """Yield, for each known factor, the variable that shares most with it.

    Args:
        part: "variables" of a certificate.
        called: What Λ is called.

    Returns:
        An iterator over statements.
    """
    rows = part.details.get("known", ())
    for factor in dict.fromkeys(row["factor"] for row in rows):
        best = max((row for row in rows if row["factor"] == factor), key=lambda row: row["fraction"][0])
        low, high = best["fraction"][1], max(row["fraction"][2] for row in rows if row["factor"] == factor)
        name = _name(best["variable"], called)
        if low > 0 and best["fraction"][0] >= _FACTOR:
            known = f"knowing one removes {percent(best['fraction'])} of the uncertainty about that which holds less"
            sentence = f"{capital(name)} goes with the known {factor}: {known}."
        else:
            sentence = f"No variable that was found shares more than {100 * high:.0f} % with the known {factor}."
        yield Statement("factor", best["variable"], sentence, "measured", low, high, "fraction", 1.0, 0.95)


def _name(name: str, called: str) -> str:
    return called if name == "Λ" else name
