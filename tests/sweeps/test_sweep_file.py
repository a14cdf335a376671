"""Sweep files: every combination a job, every mistake named at once."""

import importlib
import json
from dataclasses import replace

import pytest

import latentry as lt
from latentry.cli import main
from latentry.errors import DataError
from latentry.sweeps import read_sweep, search

GRID = """
seeds = [0, 1]
aside = 0.25
[data]
file = "rows.npz"
[[models]]
model = "vae"
epochs = 1
latent_dim = [1, 2]
[models.training]
patience = 3
[engine]
name = "here"
"""


@pytest.fixture
def folder(tmp_path):
    lt.generators.segments(domains=3, rows_per_domain=40, latents=2).write(tmp_path / "rows.npz")
    (tmp_path / "sweep.toml").write_text(GRID)
    return tmp_path


def run(*words):
    with pytest.raises(SystemExit) as stopped:
        main([str(word) for word in words])
    return stopped.value.code


def test_a_file_is_every_combination(folder):
    jobs = read_sweep(folder / "sweep.toml").jobs()
    assert [job.name for job in jobs] == [f"vae-latent_dim={n}-seed={s}" for n in (1, 2) for s in (0, 1)]
    assert [(job.model.latent_dim, job.model.seed) for job in jobs] == [(1, 0), (1, 1), (2, 0), (2, 1)]
    assert {job.model.training.patience for job in jobs} == {3}
    assert {str(job.data) for job in jobs} == {str(folder / "rows.npz")}


def test_the_command_writes_a_table_and_goes_on(folder, capsys):
    assert run("sweep", folder / "sweep.toml", "--out", folder / "out", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["fits"], result["failed"]) == (4, 0)
    table = lt.data.read_columns(result["table"])
    assert len(set(table["score"])) == 4
    assert run("sweep", folder / "sweep.toml", "--out", folder / "out", "--json") == 0
    again = lt.data.read_columns(json.loads(capsys.readouterr().out)["table"])
    assert list(again["seconds"]) == list(table["seconds"])  # read, not fitted


def test_all_mistakes_are_named_at_once(folder):
    (folder / "bad.toml").write_text(
        'sedes = [1]\nseeds = [1, 1]\naside = 2\n[data]\nfile = 3\ndomian = "lab"\n[[models]]\nmodel = "ivea"\n'
        '[[models]]\nmodel = "vae"\nlatents = 3\nseed = 1\nlearning_rate = {low = 1, high = 0}\n[engine]\nwokers = 2\n'
    )
    with pytest.raises(DataError) as found:
        read_sweep(folder / "bad.toml")
    for words in (
        "sedes: there is no such key; did you mean 'seeds'",
        "seeds=[1, 1]",
        "aside=2",
        "data.file",
        "data.domian: there is no such key; did you mean 'domain'",
        "models[0].model='ivea': there is no such model; did you mean 'ivae'",
        "models[1].latents: there is no such key",
        "models[1].seed",
        "models[1].learning_rate: a range needs low below high",
        "engine.wokers: there is no such key; did you mean 'workers'",
    ):
        assert words in str(found.value), words


@pytest.mark.parametrize(
    "text", ["", "models = 3", "[data]\n[[models]]", "= 3", 'data = 3\nmodels = ["a"]', "seeds = 3"]
)
def test_a_file_that_is_no_sweep_is_a_sentence(tmp_path, text, capsys):
    (tmp_path / "bad.toml").write_text(text)
    assert run("sweep", tmp_path / "bad.toml", "--out", tmp_path / "out") == 2
    assert "Traceback" not in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_ranges_want_a_search(folder):
    (folder / "sweep.toml").write_text(GRID.replace("latent_dim = [1, 2]", "latent_dim = {low = 1, high = 2}"))
    with pytest.raises(DataError, match=r"models\[0\].latent_dim: is a range"):
        read_sweep(folder / "sweep.toml").jobs()


def test_values_that_models_refuse_are_named_before_any_fit(folder):
    text = GRID.replace("latent_dim = [1, 2]", 'latent_dim = ["a", 2]\nlearning_rate = {low = -1.0, high = 0.1}')
    text = text.replace("epochs = 1", "epochs = -3").replace('"here"', '"here"\nworkers = -3')
    (folder / "sweep.toml").write_text(text.replace("rows.npz", "gone.npz"))
    with pytest.raises(DataError) as found:
        read_sweep(folder / "sweep.toml")
    for words in ("models[0].latent_dim='a'", "models[0].epochs=-3", "models[0].learning_rate=-1.0", "engine.workers=-3",
                  "gone.npz does not exist"):  # fmt: skip
        assert words in str(found.value), words
    assert "latent_dim=2" not in str(found.value)


def test_a_sweep_whose_fits_all_fail_says_so(folder, capsys):
    (folder / "rows.npz").write_bytes(b"no archive")
    assert run("sweep", folder / "sweep.toml", "--out", folder / "out", "--json") == 2
    printed = capsys.readouterr()
    assert json.loads(printed.out)["failed"] == 4
    assert "every fit failed; the first, vae-latent_dim=1-seed=0: " in printed.err


def search_file(folder, low=1, high=2):
    text = GRID.replace("latent_dim = [1, 2]", f"latent_dim = {{low = {low}, high = {high}}}").replace("[0, 1]", "[0]")
    (folder / "sweep.toml").write_text(text.replace("epochs = 1", "epochs = [2, 4]"))
    return "sweep", folder / "sweep.toml", "--out", folder / "out", "--search", "optuna", "--json", "--trials"


@pytest.mark.long
def test_a_search_ends_poor_trials_and_goes_on_with_all_of_them_in_the_table(folder, capsys):
    pytest.importorskip("optuna")
    words = search_file(folder)
    assert run(*words, 5) == 0
    assert json.loads(capsys.readouterr().out)["fits"] == 5
    first = lt.data.read_columns(folder / "out" / "results.parquet")
    assert run(*words, 6) == 0  # one more
    assert json.loads(capsys.readouterr().out)["fits"] == 6
    table = lt.data.read_columns(folder / "out" / "results.parquet")
    assert list(table["score"])[:5] == list(first["score"])
    assert run(*words, 6) == 0  # nothing is left to do
    assert list(lt.data.read_columns(folder / "out" / "results.parquet")["score"]) == list(table["score"])


@pytest.mark.long
def test_a_search_whose_trials_all_fail_ends(folder, capsys):
    pytest.importorskip("optuna")
    (folder / "rows.npz").write_bytes(b"no archive")
    assert run(*search_file(folder), 5) == 2
    assert json.loads(capsys.readouterr().out)["failed"] == 5


@pytest.mark.long
def test_a_search_that_was_killed_goes_on_with_the_trials_that_had_begun(folder, monkeypatch):
    pytest.importorskip("optuna")
    words = search_file(folder)
    given = replace(read_sweep(words[1]), search={"trials": 4})

    def killed(*args, **named):
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(importlib.import_module("latentry.sweeps.search"), "fit_many", killed)
        with pytest.raises(RuntimeError):
            search(given, folder / "out")
    assert run(*words, 4) == 0
    assert len(list(lt.data.read_columns(folder / "out" / "results.parquet")["name"])) == 4
    assert sorted({path.name[:10] for path in (folder / "out").glob("trial-*")}) == [f"trial-{n:04d}" for n in range(4)]


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new"), [("epochs = [2, 4]", "epochs = 3"), ("high = 2", "high = 3"), ("patience = 3", "patience = 4")]
)
def test_a_search_of_a_changed_file_is_refused_and_keeps_its_table(folder, capsys, old, new):
    pytest.importorskip("optuna")
    words = search_file(folder)
    assert run(*words, 2) == 0
    before = (folder / "out" / "results.parquet").read_bytes()
    changed = (folder / "sweep.toml").read_text().replace(old, new)
    (folder / "sweep.toml").write_text(changed)
    assert run(*words, 3) == 2
    assert "holds a search of another file" in capsys.readouterr().err
    assert (folder / "out" / "results.parquet").read_bytes() == before
