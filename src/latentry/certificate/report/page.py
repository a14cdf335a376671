"""The whole page: one file, no network."""

from __future__ import annotations

from pathlib import Path

from latentry.certificate.certificate import Certificate
from latentry.certificate.opening import Opening
from latentry.certificate.report.gallery import gallery
from latentry.certificate.report.interventions import interventions
from latentry.certificate.report.opening_box import opening_box
from latentry.certificate.report.sections import cards, closing, top_box
from latentry.certificate.report.variable_pictures import variable_pictures
from latentry.certificate.statements import joined
from latentry.certificate.subject import Subject
from latentry.html_text import embedded_json, escaped, whole_page

__all__ = ["STYLE", "page_of"]

_HERE = Path(__file__).parent
STYLE = (_HERE / "style.css").read_text(encoding="utf-8")
_SCRIPT = (_HERE / "script.js").read_text(encoding="utf-8")


def page_of(certificate: Certificate, subject: Subject | None, title: str = "", opening: Opening | None = None) -> str:
    """Return the page of a certificate, with images of the rows if they are at hand.

    Args:
        certificate: To be shown.
        subject: Rows and model; None if they are not at hand.
        title: Of the page; one is made by default.
        opening: What stands above the certificate; None where nothing does.

    Returns:
        HTML.
    """
    name = title or f"{certificate.subject['kind']}: what may be believed"
    drawn = list(gallery(subject)) if subject is not None else []
    shown = variable_pictures(subject) if subject is not None else {}
    images = {"causal": interventions(subject)} if subject is not None else {}
    body = "".join([*drawn, *cards(certificate, images), *closing(certificate)])
    record = embedded_json(certificate.to_json())
    content = (
        f"<header><div><h1>{escaped(name)}</h1><p class='lead'>{escaped(_lead(certificate))}</p></div>"
        "<button id='theme' class='controls'>Dark</button></header>"
        f"{opening_box(opening)}{top_box(certificate, shown)}<main class='grid'>{body}</main>"
        f"<script type='application/json' id='certificate'>{record}</script>"
    )
    return whole_page(name, STYLE, content, _SCRIPT)


def _lead(certificate: Certificate) -> str:
    data, subject, split = certificate.data, certificate.subject, certificate.split
    places = data.get("domains")
    where = f" from {len(places)} domains" if places else ""
    fitted = f", fitted on {subject['rows']} rows" if subject.get("rows") else ""
    audited = split.get("audited", split["rows"])
    shown = joined(data["modalities"])
    return f"{subject['kind']}{fitted}; checked on {audited} rows{where}, of {shown}."
