"""Pieces of HTML that several sections share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from latentry.certificate.question import Number
from latentry.evidence import Bound
from latentry.html_text import escaped

__all__ = ["MARKS", "bullets", "card", "chip", "number_words", "table"]

MARKS = {"certified": "✓", "supported": "◐", "refuted": "✗", "not refuted": "○", "cannot say": "?", "measured": "≈"}


def card(title: str, question: str, body: str, *, wide: bool = False, long: bool = False, name: str = "") -> str:
    """Return a box of the page.

    Args:
        title: Of the box.
        question: That it answers; empty for none.
        body: HTML.
        wide: Whether it takes the whole width.
        long: Whether it may be taller than others.
        name: By which links find it; empty for none.

    Returns:
        HTML.
    """
    classes = "card" + (" wide" if wide else "") + (" long" if long else "")
    asked = f'<p class="question">{escaped(question)}</p>' if question else ""
    mark = f' id="{escaped(name)}"' if name else ""
    return f'<section class="{classes}"{mark}><h2>{escaped(title)}</h2>{asked}{body}</section>'


def chip(status: str, word: str = "") -> str:
    """Return a verdict's word, with a mark that needs no colour.

    Args:
        status: One of the keys of :data:`MARKS`.
        word: To be shown in its place.

    Returns:
        HTML.
    """
    return f'<span class="chip {escaped(status.replace(" ", "-"))}">{MARKS[status]} {escaped(word or status)}</span>'


def bullets(sentences: Iterable[str]) -> str:
    """Return a list of sentences.

    Args:
        sentences: As text.

    Returns:
        HTML; empty for none.
    """
    items = "".join(f"<li>{escaped(sentence)}</li>" for sentence in sentences)
    return f"<ul>{items}</ul>" if items else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """Return a table.

    Args:
        head: Titles of the columns, as text.
        rows: Cells, as HTML.
        numbers: Columns that do not wrap.

    Returns:
        HTML.
    """
    top = "".join(f"<th>{escaped(title)}</th>" for title in head)
    body = "".join(
        "<tr>"
        + "".join(f"<td{' class=number' if i in numbers else ''}>{cell}</td>" for i, cell in enumerate(row))
        + "</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def number_words(number: Number) -> str:
    """Return a number with its direction or its interval; a dash for one that the rows do not give.

    Args:
        number: A bound or an estimate.

    Returns:
        Text.
    """
    if isinstance(number, Bound):
        sign = {"exact": "", "upper": "≤ ", "lower": "≥ ", "estimate": "≈ "}[number.direction]
        return sign + _short(number.value)
    if math.isnan(number):
        return "–"
    if math.isnan(number.low):
        return f"≈ {_short(float(number))}"
    return f"≈ {_short(float(number))} [{_short(number.low)}, {_short(number.high)}]"


def _short(value: float) -> str:
    return "∞" if value == math.inf else f"{value:.4g}"
