"""The examples of docs/discover.md, run in order."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "discover.md"


def test_the_page_runs_as_printed(quick, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names = {}
    exec("\n".join(blocks), names)  # noqa: S102
    assert "hidden variable" in names["found"].paragraph
    assert "What was found, and how" in Path("report.html").read_text(encoding="utf-8")
    names_in_order = ["CGVAE, 2 latents", "IFlow, 2 latents", "VAE, 2 latents", "VAE, wider"]
    assert [one.name for one in names["tried"]] == names_in_order
