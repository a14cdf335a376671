"""The top of the page: what was found, variable by variable; what may not be said; what would settle more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from latentry.certificate.certificate import Certificate
from latentry.certificate.report.html_pieces import bullets, chip
from latentry.certificate.statements import Statement
from latentry.html_text import escaped

__all__ = ["found_box", "statement_items"]

_FIRST = 4  # statements of a group that are shown at once


def found_box(certificate: Certificate, pictures: Mapping[str, str]) -> str:
    """Return the statements in groups, one for each hidden variable and one for all together.

    Args:
        certificate: To be shown.
        pictures: HTML of what each variable does, by its name.

    Returns:
        HTML.
    """
    groups = list(_groups(certificate.statements))
    body = "".join(_group(title, some, pictures) for title, some in groups)
    quoted = "Each sentence may be quoted with its grade. " if certificate.may_say else ""
    known = f'<p class="question">{quoted}<a href="#grades">What the grades mean.</a></p>'
    found = (
        f'<section class="card top" id="found"><h2>What was found</h2>{known}<div class="found">{body}</div></section>'
    )
    return found + _limits(certificate)


def _groups(statements: Sequence[Statement]) -> Iterator[tuple[str, list[Statement]]]:
    """Yield statements about each variable, then those about several or all of them."""
    worth = [one for one in statements if one.topic in ("rows", "worth")]
    if worth:
        yield "", worth
    names = [one.about for one in statements if one.topic == "variable"]
    several = len(names) > 1
    for name in names if several else ():
        yield name, [one for one in statements if one.about == name]
    rest = [one for one in statements if one not in worth and (not several or one.about not in names)]
    if rest:
        yield ("all together" if several else ""), rest


def _group(title: str, statements: Sequence[Statement], pictures: Mapping[str, str]) -> str:
    head = f"<h3>{escaped(title[:1].upper() + title[1:])}</h3>" if title else ""
    first = _FIRST if title in pictures else 2 * _FIRST
    shown, folded = statements[:first], statements[first:]
    more = f"<details><summary>{len(folded)} more</summary>{statement_items(folded)}</details>" if folded else ""
    drawn = pictures.get(title or "Λ", "")
    return f"<div{'' if title in pictures else ' class=whole'}>{head}{drawn}{statement_items(shown)}{more}</div>"


def statement_items(statements: Sequence[Statement]) -> str:
    """Return sentences, each behind its grade.

    Args:
        statements: In the order of the page.

    Returns:
        HTML.
    """
    return "".join(
        f'<div class="statement" data-topic="{escaped(one.topic)}">{chip(one.grade)}<p>{escaped(one.sentence)}</p></div>'
        for one in statements
    )


def _limits(certificate: Certificate) -> str:
    boxes = {
        "may-not": ("You may not say", certificate.may_not_say),
        "next": ("What would settle more", certificate.next_steps),
    }
    return "".join(
        f'<section class="card top" id="{name}"><h2>{title}</h2>{bullets(sentences)}</section>'
        for name, (title, sentences) in boxes.items()
        if sentences
    )
