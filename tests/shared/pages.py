"""The code of the pages: its blocks, and a page that is run from top to bottom as a reader would."""

import doctest
import re
import textwrap
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md")))
CELL = "{code-cell} python3"
_BLOCK = re.compile(r"^( *)```(\{code-cell\} python3|\w*)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    """Code between fences, and the line of the page on which it begins."""

    kind: str
    line: int
    code: str


def named(page):
    return str(page.relative_to(ROOT))


def blocks(page, *kinds):
    """Return the blocks of a page that are of these kinds, in order."""
    text = page.read_text(encoding="utf-8")
    found = (
        Block(block[2], text.count("\n", 0, block.start(3)), textwrap.dedent(block[3]))
        for block in _BLOCK.finditer(text)
    )
    return [block for block in found if block.kind in kinds]


def run_page(page, **names):
    """Execute the Python of a page in one namespace; a line of an error is a line of the page."""
    names = {"__name__": page.stem.replace("-", "_"), **names}
    for block in blocks(page, "python", CELL):
        (_run_as_doctest if block.code.startswith(">>>") else _run_as_file)(block, page, names)
    return names


def _run_as_file(block, page, names):
    exec(compile("\n" * block.line + block.code, str(page), "exec"), names)  # noqa: S102


def _run_as_doctest(block, page, names):
    """What stands below a line is what it prints."""
    test = doctest.DocTest(
        doctest.DocTestParser().get_examples(block.code), names, named(page), str(page), block.line, block.code
    )
    test.globs = names  # not a copy
    runner = doctest.DebugRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    try:
        runner.run(test, clear_globs=False)
    except doctest.DocTestFailure as failed:
        line = block.line + failed.example.lineno + 1
        raise AssertionError(
            f"{named(page)}, line {line}: printed {failed.got!r}, not {failed.example.want!r}"
        ) from None
    except doctest.UnexpectedException as failed:
        raise failed.exc_info[1] from None
