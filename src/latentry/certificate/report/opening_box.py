"""The box at the top of a page that says how the model was found."""

from __future__ import annotations

from latentry.certificate.opening import Opening, OpeningTable
from latentry.certificate.report.html_pieces import bullets, table
from latentry.html_text import escaped

__all__ = ["opening_box"]


def opening_box(opening: Opening | None) -> str:
    """Return the paragraph, then sentences and tables.

    Args:
        opening: What stands there; None where nothing does.

    Returns:
        HTML.
    """
    if opening is None:
        return ""
    tables = "".join(_table(one) for one in opening.tables)
    words = f"<p>{escaped(opening.paragraph)}</p>"
    why = f"<h3>How it was decided</h3>{bullets(opening.sentences)}" if opening.sentences else ""
    return f'<section class="card top" id="opening"><h2>{escaped(opening.title)}</h2>{words}{why}{tables}</section>'


def _table(one: OpeningTable) -> str:
    cells = [[escaped(cell) for cell in row] for row in one.rows]
    return f"<h3>{escaped(one.title)}</h3>{table(one.head, cells)}"
