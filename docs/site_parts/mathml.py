"""Formulas as MathML, which browsers draw themselves: no script, no font to fetch, readable without a network."""

from __future__ import annotations

import html
import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.application import Sphinx
from sphinx.util.logging import getLogger
from sphinx.writers.html5 import HTML5Translator

LOGGER = getLogger(__name__)
OTHER_SPELLING = {
    r"\dots": r"\ldots",
    "…": r"\ldots",
    r"\Big": "",
    r"\big": "",
}  # brackets grow by themselves in MathML
SPELLING = re.compile("|".join(rf"{re.escape(word)}(?![a-z])" for word in OTHER_SPELLING))


def mathml(node: nodes.Element, *, as_block: bool = False) -> str:
    """Return a formula as MathML, or as its source with a warning that names the page."""
    formula = SPELLING.sub(lambda match: OTHER_SPELLING[match.group()], node.astext())
    try:
        return latex2mathml.tex2mathml(formula, as_block=as_block)
    except MathError as problem:
        LOGGER.warning("formula %r: %s", node.astext(), problem, location=node)
        return f"<code>{html.escape(node.astext())}</code>"


def inline(translator: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a sentence."""
    translator.body.append(mathml(node))
    raise nodes.SkipNode


def display(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on a line of its own, which scrolls on a narrow screen."""
    translator.body.append(translator.starttag(node, "div", CLASS="formula") + mathml(node, as_block=True) + "</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
