"""The examples of docs/natural-latents.md, run in order."""

import re
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.long

PAGE = Path(__file__).parents[2] / "docs" / "natural-latents.md"


def test_the_page_runs_as_printed():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names = {}
    exec("\n".join(blocks), names)  # noqa: S102
    model, answer = names["model"], names["answer"]
    assert model.n_features_out == 3
    values = model.channel(names["data"]).most_likely
    assert all(len(np.unique(values[names["kind"] == kind])) == 1 for kind in range(3)), "one value for each kind"
    assert answer.gaps["what is private"].low > 1
