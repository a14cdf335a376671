"""The page of several latents: a table, what tells them apart, and what was found of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from latentry.certificate.certificate import Certificate
from latentry.certificate.report.found import found_box, statement_items
from latentry.certificate.report.html_pieces import table
from latentry.certificate.report.page import STYLE
from latentry.certificate.report.sections import words_card
from latentry.certificate.report.variable_pictures import variable_pictures
from latentry.certificate.statements import Statement
from latentry.certificate.subject import Subject
from latentry.html_text import escaped, whole_page

__all__ = ["comparison_page"]


def comparison_page(
    rows: Sequence[Mapping[str, str]],
    statements: Sequence[Statement],
    certificates: Mapping[str, tuple[Certificate, Subject | None]],
    title: str,
) -> str:
    """Return the page.

    Args:
        rows: Cells of the table by the names of the columns, one row for each latent.
        statements: What tells the latents apart.
        certificates: Of each latent, with its rows if they are at hand.
        title: Of the page; one is made by default.

    Returns:
        HTML.
    """
    name = title or f"{len(certificates)} latents side by side"
    columns = list(dict.fromkeys(column for row in rows for column in row))
    cells = [[escaped(row.get(column, "")) for column in columns] for row in rows]
    level = max(one.settings["level"] for one, _ in certificates.values())
    each = "".join(_one(latent, one, shown) for latent, (one, shown) in certificates.items())
    content = (
        f"<header><h1>{escaped(name)}</h1></header>"
        f'<section class="card top" id="compared"><h2>Side by side</h2><p class="question">In nats, on the same new rows; '
        f"estimates with 95 % intervals, naturality errors between bounds.</p>{table(columns, cells)}</section>"
        f'<section class="card top" id="apart"><h2>What tells them apart</h2>{statement_items(statements)}</section>'
        f"{each}{words_card(level)}"
    )
    return whole_page(name, STYLE, content)


def _one(latent: str, certificate: Certificate, shown: Subject | None) -> str:
    pictures = variable_pictures(shown) if shown else {}
    return f"<details><summary><b>{escaped(latent)}</b></summary>{found_box(certificate, pictures)}</details>"
