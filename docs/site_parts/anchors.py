"""Links to anchors that a page writes as HTML, `<a id="row"></a>`: repositories and the site then understand the same ones."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

ANCHOR = re.compile(r'<a id="([\w-]+)">')


def collect(app: Sphinx, document: nodes.document) -> None:
    """Note the anchors of a page beside those of its headings."""
    page = app.env.docname
    slugs = app.env.metadata[page].setdefault("myst_slugs", {})
    for raw in document.findall(nodes.raw):
        for anchor in ANCHOR.findall(raw.astext()):
            slugs[anchor] = (raw.line or 1, anchor, anchor)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("doctree-read", collect)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
