"""The sections of the page, each from the certificate alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType

import numpy as np

from latentry import graphs
from latentry.certificate.audits import AUDITS
from latentry.certificate.certificate import Certificate
from latentry.certificate.line_charts import Series, line_chart
from latentry.certificate.question import Fields, Part
from latentry.certificate.report.found import found_box
from latentry.certificate.report.html_pieces import bullets, card, chip, number_words, table
from latentry.certificate.report.interval_charts import Bar, Span, bars, spans
from latentry.evidence import Assumption, Estimate, Verdict
from latentry.html_text import escaped

__all__ = ["cards", "closing", "top_box", "words_card"]


def top_box(certificate: Certificate, pictures: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return what was found, what may not be said, the answers one line each, and an alarm when the controls failed.

    Args:
        certificate: To be shown.
        pictures: HTML of what each variable does, by its name.

    Returns:
        HTML.
    """
    alarm = ""
    if not certificate.trusted:
        alarm = f'<div class="alarm" role="alert"><b>{escaped(_sentence(certificate["controls"].verdict.sentence))}</b></div>'
    lines = "".join(_line(part) for part in certificate.parts.values())
    answers = f'<section class="card top" id="verdicts"><h2>The answers behind it</h2>{lines}</section>'
    return f"{alarm}{found_box(certificate, pictures)}{answers}"


def _line(part: Part) -> str:
    words, name = escaped(_sentence(part.verdict.sentence) + _power(part.verdict)), escaped(part.name)
    line = f'<div class="verdict" data-part="{name}"><b>{name}</b>{chip(part.answer)}<p>{words}</p></div>'
    return line + "".join(_subline(name, claim) for name, claim in part.lines.items())


def _subline(name: str, claim: Verdict) -> str:
    """Return the line of one of several latents that the part asked about."""
    words = escaped(_sentence(claim.sentence) + _power(claim))
    return f'<div class="verdict one"><span>{escaped(name)}</span>{chip(claim.status)}<p>{words}</p></div>'


def _power(verdict: Verdict) -> str:
    """Return the power of a test that did not refute, in words."""
    return f" (power {verdict.power:.2f})" if verdict.status == "not refuted" else ""


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def cards(certificate: Certificate, images: dict[str, str]) -> Iterator[str]:
    """Yield one card for each part; images of rows are put where they belong.

    Args:
        certificate: To be shown.
        images: HTML of images, by the name of the part.

    Returns:
        An iterator over HTML.
    """
    drawn: dict[str, Callable[[Part], str]] = {
        "informative": _informative,
        "natural": _natural,
        "causal": _causal,
        "fit": _fit,
        "controls": _controls,
    }
    for name, part in sorted(certificate.parts.items(), key=lambda item: AUDITS[item[0]].place):
        chart = drawn[name](part) if name in drawn else ""
        body = chart + images.get(name, "") + bullets(part.notes) + _assumptions(part) + _numbers(part)
        words = f"<p>{chip(part.answer)} {escaped(_sentence(part.verdict.sentence))}</p>"
        yield card(AUDITS[name].title, part.question, words + body, long=True)
        if part.details.get("physics"):
            yield _physics(part)


def _assumptions(part: Part) -> str:
    """Return what the answer takes for granted, each with its test or named as untested."""
    rows = [
        [
            escaped(_sentence(one.name)),
            f"{chip('cannot say' if one.outcome == 'untested' else one.outcome, one.outcome)}<br>{_tested(one)}",
            escaped("; ".join(filter(None, (one.test, one.note)))),
        ]
        for one in part.tested
    ]
    if not rows:
        return ""
    return "<h3>What this takes for granted</h3>" + table(("assumption", "outcome", "how"), rows)


def _tested(one: Assumption) -> str:
    """Return p-value and power of a test, as far as they are known."""
    known = [] if one.p_value is None else [f"p = {one.p_value:.2g}"]
    known += [] if one.power is None else [f"power {one.power:.2f}"]
    return f'<span class="note">{", ".join(known)}</span>'


def _numbers(part: Part) -> str:
    """Return every claim and number behind a verdict, folded away."""
    rows = [[escaped(name), chip(v.status), escaped(_sentence(v.sentence))] for name, v in part.claims.items()]
    claims = table(("claim", "answer", "why"), rows) if rows and part.name != "controls" else ""
    figures = [
        [escaped(name), escaped(number_words(n)), escaped(n.method), "" if n.n in (None, 0) else escaped(n.n)]
        for name, n in part.numbers.items()
    ]
    numbers = table(("quantity", "value", "method", "rows"), figures, numbers=(1,)) if figures else ""
    if not claims and not numbers:
        return ""
    return f"<details><summary>Numbers and claims</summary>{claims}{numbers}</details>"


def _informative(part: Part) -> str:
    drawn = []
    for about, rows in groupby(part.details.get("table", ()), key=lambda row: row["about"]):
        result = [(row["latent"], part.numbers[f"I({row['latent']}; {about})"]) for row in rows]
        shown = [
            Bar(name, max(float(e), 0.0), e.low, e.high)
            for name, e in result
            if isinstance(e, Estimate) and not math.isnan(float(e))
        ]
        drawn.append(f"<h3>About {escaped(about)}</h3>{bars(shown, 'nats, with 95 % intervals')}" if shown else "")
    return "".join(drawn)


def _natural(part: Part) -> str:
    rows = part.details.get("table", ())
    latents = [[*claims] for _, claims in groupby(rows, key=lambda row: row["latent"])]
    drawn = []
    for claims in latents:
        name = claims[0]["latent"]
        title = f"<h3>{escaped(_sentence(name))}</h3>" if len(latents) > 1 else ""
        result = [
            Span(f"{row['error'].replace(' error', '')}, {row['place']}", row["lower"], row["upper"], row["status"])
            for row in claims
        ]
        drawn.append(f"{title}{spans(result, part.details['epsilon'], 'nats')}")
    return "".join(drawn) + _frontier(part.details.get("frontier", ()))


def _frontier(points: Sequence[Fields]) -> str:
    """Return how natural the latent would be with fewer values or columns, on rows that the fit held out."""
    if len(points) < 2:
        return ""
    sizes = np.array([point["size"] for point in points], dtype=float)
    names = {"score": "score", "information": "information kept", "errors": "redundancy errors, summed"}
    series = [
        Series(title, sizes, np.array([point[name] for point in points], dtype=float)) for name, title in names.items()
    ]
    kept = next((point["size"] for point in points if point["chosen"]), len(points))
    words = f"Rows held out by the fit; the model has {kept}. The score is the sum of all errors, less a constant."
    chart = line_chart(series, "values or columns of the latent", "nats")
    return f'<h3>With fewer values or columns</h3><p class="note">{words}</p>{chart}'


def _causal(part: Part) -> str:
    pattern = graphs.CPDAG.from_json(part.details["cpdag"])
    strengths = {(a, b): value for a, b, value in part.details["strengths"]}
    return f"<p></p>{graphs.to_svg(pattern, strengths, title='Causal graph of the latent nodes')}"


def _fit(part: Part) -> str:
    history = part.details.get("history", ())
    if not history:
        return ""
    epochs = epochs_so_far(history)
    names = {"loss": "training", "held_out_loss": "held out"}
    series = [
        Series(title, epochs, _column(history, name))
        for name, title in names.items()
        if any(name in row for row in history)
    ]
    return line_chart(series, "epoch", "loss (nats per row)")


def epochs_so_far(history: Sequence[Fields]) -> np.ndarray:
    """Count the epochs behind each row, over phases and restarts; a row may stand for several."""
    epochs = np.array([row.get("epoch", 1) for row in history])
    before = np.append(0, epochs[:-1])
    return np.cumsum(np.where(epochs > before, epochs - before, epochs))


def _physics(part: Part) -> str:
    """Return parameters of the experts with standard errors: one line for each cluster, or value of a node."""
    drawn = []
    for (modality, per), same in groupby(part.details["physics"], key=lambda row: (row["modality"], row["per"])):
        rows = [*same]
        cells = [
            [escaped(_place(per, i)), *(_with_error(row["values"][i]) for row in rows)]
            for i in range(len(rows[0]["values"]))
        ]
        head = ("", *(row["parameter"] for row in rows))
        drawn.append(f"<h3>{escaped(modality)}</h3>{table(head, cells, numbers=range(1, len(head)))}")
    words = (
        "What the decoder of a modality is made of, fitted on the rows of the fit; standard errors take rows as units."
    )
    return card("Physics", words, "".join(drawn))


def _place(per: str, number: int) -> str:
    """Say where a parameter has this value."""
    return "all rows" if per == "all" else f"cluster {number}" if per == "cluster" else f"{per} = {number}"


def _with_error(pair: Sequence[float | None]) -> str:
    value, error = pair
    return f"{value:.4g}" if error is None else f"{value:.4g} ± {error:.1g}"


def _column(history: Sequence[Fields], name: str) -> np.ndarray:
    """Return losses, without a first few that would flatten all the rest."""
    values = np.array([math.nan if row.get(name) is None else row[name] for row in history], dtype=float)
    known = values[np.isfinite(values)]
    if len(known) < 5:
        return values
    low, high = float(known.min()), float(np.quantile(known, 0.98))
    return np.where(values > high + 0.5 * (high - low), np.nan, values)


def _controls(part: Part) -> str:
    rows = [
        [escaped(name), "<b>✗ wrong</b>" if v.refuted else "✓ as expected", escaped(_sentence(v.sentence))]
        for name, v in part.claims.items()
    ]
    return table(("control", "came out", "what was seen"), rows)


def closing(certificate: Certificate) -> Iterator[str]:
    """Yield assumptions, methods, and the record itself.

    Args:
        certificate: To be shown.

    Returns:
        An iterator over HTML.
    """
    assumed = [_sentence(a) + "." for a in certificate.assumptions]
    yield card("Assumptions", "The verdicts hold if these do.", bullets([certificate.split["sentence"], *assumed]))
    yield words_card(certificate.settings["level"])
    yield card("Methods and citations", "Exactly what was used.", _methods(certificate), long=True)
    yield card("Record", "", _record(certificate))


_WORDS = {
    "certified": "Bounds show it. Each is false with a probability of at most {level:.0f} %, if the assumptions hold.",
    "supported": "A theorem or predictors say so. What could be tested of its assumptions was not refuted; the others are named.",
    "measured": "An estimate on the rows that were checked, with a 95 % interval in brackets where there is one.",
    "not refuted": "A test looked for a violation and saw none. That is weaker than certified.",
    "refuted": "Bounds show that it does not hold.",
    "cannot say": "The rows, the model or the theory do not decide it.",
}
_TERMS = {
    "row": "One specimen, subject or shot, in all its measurements. A new row is one that did not train the model.",
    "modality": "One kind of measurement of a row: an image, a curve, a table.",
    "latent, Λ": "A variable that was not measured, or the label that is judged. A node is a latent with few values; a cluster is "
    "one combination of the values of all nodes.",
    "nat": "The unit of information: a fair coin holds 0.69 nats, one of ten equally likely labels 2.30.",
    "natural": "Each modality alone determines the variable, and given it the modalities share nothing more. The naturality "
    "error is the most by which this fails, in nats; 0 is perfect.",
    "mediation error": "What the modalities still share given the variable.",
    "redundancy error": "What one modality alone leaves open of the variable, and the others would tell.",
    "domain": "Where or under which conditions a row was measured: a laboratory, a year, a machine. Every mixture: whatever "
    "the fractions of the domains are.",
}


def words_card(level: float) -> str:
    """Return the grades and the few terms that a page uses.

    Args:
        level: Probability of a false verdict.

    Returns:
        HTML.
    """
    grades = [[chip(word), escaped(meaning.format(level=100 * level))] for word, meaning in _WORDS.items()]
    terms = [[escaped(word), escaped(meaning)] for word, meaning in _TERMS.items()]
    return card("What the words mean", "", table(("word", "meaning"), [*grades, *terms]), name="grades")


def _methods(certificate: Certificate) -> str:
    used = bullets(method for method in certificate.methods if method != "latentry")
    entries = f"<details><summary>BibTeX</summary><pre>{escaped(certificate.citations())}</pre></details>"
    return f"<details><summary>Methods</summary>{used}</details>{entries}"


def _record(certificate: Certificate) -> str:
    rows = {
        "latent": certificate.subject["latent"],
        "data": f"{certificate.data['rows']} rows, fingerprint {certificate.data['fingerprint'][:16]}…",
        "audited": f"{certificate.split.get('audited', certificate.split['rows'])} rows ({certificate.split['origin']})",
        "declared": ", ".join(f"{k} = {v}" for k, v in certificate.settings.items() if v is not None),
        "made": f"{certificate.made['at']}, in {certificate.made['seconds']} s",
        "versions": ", ".join(f"{name} {number}" for name, number in certificate.versions.items()),
    }
    if "model" in certificate.subject:
        rows["model"] = " ".join(certificate.subject["model"].split())
    body = table(("", ""), [[escaped(k), escaped(str(v))] for k, v in rows.items()])
    return body + '<p class="controls"><button id="save">Save certificate.json</button></p>'
