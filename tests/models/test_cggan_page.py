"""The examples of docs/cggan.md, run in order."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

PAGE = Path(__file__).parents[2] / "docs" / "cggan.md"


def test_the_page_runs_as_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    source, names = "\n".join(blocks), {}
    exec(source, names)  # noqa: S102
    assert len(list((tmp_path / "grids").iterdir())) == 2
    assert names["there"].shape == (32, 16, 16, 3)
