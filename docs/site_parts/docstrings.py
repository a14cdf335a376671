"""Docstrings are written for readers of the source; here the signs of formulas are kept from being read as markup."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

CODE = re.compile(r"(``.*?``|:\w+:`[^`]*`)")
SIGNS = re.compile(r"(?<!\\)[|*_]")
DIRECTIVE = re.compile(r"\s*\.\. ")
FIELD = re.compile(r"\s*:[^:`]+:(?!`) ?")
ROUTING = re.compile(r"set_\w+_request")


def escaped(text: str) -> str:
    r"""Return words with bars, stars and underscores as themselves, outside of code.

    >>> print(escaped("I(Λ; X_i|Λ), see ``a|b``"))
    I(Λ; X\_i\|Λ), see ``a|b``
    """
    pieces = CODE.split(text)
    return "".join(piece if CODE.fullmatch(piece) else SIGNS.sub(r"\\\g<0>", piece) for piece in pieces)


def escape(app: Sphinx, what: str, name: str, about: object, options: object, lines: list[str]) -> None:
    """Escape the lines of one docstring, but for its examples and for what belongs to a directive."""
    in_example, directive = False, -1
    for number, line in enumerate(lines):
        depth = len(line) - len(line.lstrip())
        in_example = line.lstrip().startswith(">>>") or (in_example and bool(line.strip()))
        if DIRECTIVE.match(line):
            directive = depth
        elif line.strip() and depth <= directive:
            directive = -1
        if not in_example and directive < 0:
            field = FIELD.match(line)
            start = field.end() if field else 0
            lines[number] = line[:start] + escaped(line[start:])


def skip(app: Sphinx, what: str, name: str, about: object, skipped: bool, options: object) -> bool | None:
    """Leave out the methods that scikit-learn writes for routing metadata: they are not ours."""
    return True if ROUTING.fullmatch(name) else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx: after napoleon, which reads the stars of ``*args``."""
    app.connect("autodoc-process-docstring", escape, priority=900)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
