"""The examples of docs/causal-pima.md, run in order."""

import doctest
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

PAGE = Path(__file__).parents[2] / "docs" / "causal-pima.md"


def test_the_page_runs_as_printed():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, PAGE.name, str(PAGE), 0)
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
    assert result.attempted > 15
    assert result.failed == 0
