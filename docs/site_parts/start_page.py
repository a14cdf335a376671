"""The first page stands in a folder of the site: a small page at the site's root leads there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

PAGE = """<!doctype html>
<meta charset="utf-8">
<title>latentry</title>
<meta http-equiv="refresh" content="0; url=docs/index.html">
<p><a href="docs/index.html">latentry: documentation</a></p>
"""


def write(app: Sphinx, problem: Exception | None) -> None:
    """Write it when the site is built."""
    if problem is None and app.builder.name == "html":
        (Path(app.outdir) / "index.html").write_text(PAGE, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
