"""The page of many fits runs as printed."""

import re
from pathlib import Path

import latentry as lt
from latentry.sweeps import read_sweep

PAGE = (Path(__file__).parents[2] / "docs" / "many-fits.md").read_text()


def test_the_page_runs_as_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    names = {}
    exec(code, names)
    assert len(names["found"]) == 3
    assert isinstance(names["best"], lt.VAE)
    assert (tmp_path / "results.parquet").exists()


def test_the_file_of_the_page_is_a_sweep(tmp_path):
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE, re.S)
    (tmp_path / "sweep.toml").write_text(text)
    jobs = read_sweep(tmp_path / "sweep.toml").jobs()
    assert len(jobs) == 3 * 3 + 2 * 3
    assert jobs[0].model.training.patience == 10
