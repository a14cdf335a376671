import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import latentry as lt
from latentry.certificate.report.sections import epochs_so_far
from latentry.cli.commands import COMMANDS, load_command
from latentry.cli.info import describe_epochs

QUICK = ["--epochs", "2", "--latents", "1", "--set", "hidden=[4]", "--quiet"]


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 3))
    lines = ["length,mass,width,lab"] + [f"{a},{b},{c},{'AB'[i % 2]}" for i, (a, b, c) in enumerate(rows)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    return tmp_path / "t.csv"


def test_generate_fit_info_transform(call, tmp_path):
    data, run, out = tmp_path / "d.npz", tmp_path / "run", tmp_path / "z.csv"
    code, text, _ = call(
        "generate", "segments", "--out", data, "--set", "domains=3", "--set", "rows_per_domain=40", "--set", "latents=3"
    )
    assert (code, "120 rows" in text) == (0, True)
    code, text, _ = call("fit", data, "--out", run, *QUICK, "--json", "--log", tmp_path / "log.jsonl")
    result = json.loads(text)
    assert code == 0
    assert result["epochs"] == 2
    assert np.isfinite(result["held_out_loss"])
    assert len((tmp_path / "log.jsonl").read_text().splitlines()) == 2
    code, text, _ = call("info", run, "--json")
    shown = json.loads(text)
    assert (shown["model"], shown["epochs"]) == ("vae", "2: all of them")
    code, text, _ = call("transform", run, data, "--out", out)
    assert code == 0
    assert np.allclose(lt.read(out)["mean"], lt.load(run).transform(lt.read(data)), atol=1e-6)
    lt.load(run).rename({"z1": "size"}).save(run)
    assert call("transform", run, data, "--out", out)[0] == 0
    assert lt.read(out).columns["mean"][0] == "size"
    assert json.loads(call("info", run, "--json")[1])["latents"] == "size"
    code, text, _ = call("info", data)
    assert "3 labels" in text


def test_tables_with_text_columns(call, table, tmp_path):
    assert call("fit", table, "--domain", "lab", "--out", tmp_path / "run", *QUICK)[0] == 0
    code, text, error = call("transform", tmp_path / "run", table, "--out", tmp_path / "z.csv")
    assert (code, error) == (0, "")
    assert len(lt.read(tmp_path / "z.csv")) == 60


def test_missing_cells_are_refused_before_a_fit_that_is_to_be_certified(call, table, tmp_path):
    table.write_text(table.read_text() + "\n,1.0,2.0,A")
    code, _, error = call("fit", table, "--domain", "lab", "--certify", "--out", tmp_path / "run", *QUICK)
    assert (code, (tmp_path / "run").exists()) == (2, False)
    assert "A certificate needs every cell" in error


def test_transform_takes_what_fit_took(call, tmp_path):
    rng = np.random.default_rng(0)
    data = lt.Dataset({"a": rng.normal(size=(30, 2)), "b": rng.normal(size=(30, 3))}, domain=["p", "q"] * 15)
    for ending in ("npz", "csv", "zarr", "h5mu"):
        file, run, out = tmp_path / f"d.{ending}", tmp_path / f"run-{ending}", tmp_path / f"z-{ending}.csv"
        data.write(file)
        assert call("fit", file, "--modality", "a", "--out", run, *QUICK)[0] == 0
        code, _, error = call("transform", run, file, "--out", out)
        assert (code, error) == (0, "")


BAD = {
    "no file": (["fit", "nowhere.npz"], "nowhere.npz: it does not exist"),
    "no model": (
        ["fit", "{table}", "--domain", "lab", "--model", "vea"],
        "there is no model 'vea'; did you mean 'vae'?",
    ),
    "no column": (
        ["fit", "{table}", "--domain", "lob"],
        "--domain 'lob': there is no such column; did you mean 'lab'?",
    ),
    "no columns": (["fit", "{table}", "--modality", "x="], "--modality x=: names no column"),
    "no domain": (
        ["fit", "{table}", "--modality", "x=length,mass", "--model", "iflow"],
        "it needs a domain for each row, as --domain column.",
    ),
    "no parameter": (
        ["fit", "{table}", "--domain", "lab", "--set", "hiden=3"],
        "no parameter 'hiden'; did you mean 'hidden'?",
    ),
    "no value": (["fit", "{table}", "--domain", "lab", "--set", "hidden"], "Write name=value"),
    "bad value": (["fit", "{table}", "--domain", "lab", "--epochs", "0"], "epochs=0"),
    "not a number": (["fit", "{table}", "--epochs", "many"], "Invalid value for '--epochs'"),
    "no run to resume": (
        ["fit", "{tmp}/nothere", "--resume"],
        "nothere holds no run to continue, and is no data file. Give the folder of a run",
    ),
    "widths that are none": (
        ["fit", "{table}", "--domain", "lab", "--out", "{tmp}/none", "--set", "hidden=16"],
        "hidden=16: no list of positive widths. Give one such as [64,64].",
    ),
    "nothing to resume": (
        ["fit", "{table}", "--domain", "lab", "--resume", "--out", "{tmp}/none"],
        "holds no run to continue",
    ),
    "no run": (["transform", "{tmp}/none", "{table}"], "holds no run"),
    "no generator": (["generate", "segmens", "--out", "{tmp}/x.npz"], "did you mean 'segments'?"),
    "no ending": (["generate", "segments", "--out", "{tmp}/x.npx"], "did you mean '.npz'?"),
    "not data": (["info", "{tmp}"], "ending"),
    "a width": (["fit", "{table}", "--domain", "lab", "--set", "hidden=4"], "hidden=4"),
    "a word": (["fit", "{table}", "--domain", "lab", "--set", "beta=abc"], "training__beta='abc'"),
    "a bad seed": (["generate", "segments", "--out", "{tmp}/x.npz", "--seed", "-1"], "seed=-1"),
    "half a domain": (["generate", "segments", "--out", "{tmp}/x.npz", "--set", "domains=2.5"], "domains=2.5"),
    "no place to log": (["fit", "{table}", "--domain", "lab", "--log", "{tmp}/no/log"], "cannot be written"),
    "here": (["info", "."], "ending"),
    "no command": (["fitt"], "No such command"),
    "too many latents": (
        ["fit", "{table}", "--domain", "lab", "--latents", "9"],
        "more latents than a row holds numbers",
    ),
}


@pytest.mark.parametrize("case", BAD, ids=str)
def test_bad_input_is_one_sentence_and_exit_2(call, table, tmp_path, case):
    words, sentence = BAD[case]
    words = [word.format(table=table, tmp=tmp_path) for word in words]
    if words[0] == "fit" and "--out" not in words:
        words += ["--out", str(tmp_path / "run")]
    code, out, error = call(*words)
    assert code == 2
    assert sentence in error
    assert "Traceback" not in error
    assert out == ""
    assert not (tmp_path / "run").exists()


def test_epochs_of_several_restarts():
    rows = [{"restart": restart, "phase": "fit", "epoch": epoch} for restart, epoch in ((0, 1), (0, 2), (1, 1))]
    assert (describe_epochs(rows), describe_epochs(rows[:2])) == ("2 + 1 in 2 restarts; the last", "2")


def test_a_row_of_the_history_may_stand_for_several_epochs():
    rows = [{"restart": 0, "phase": phase, "epoch": epoch} for phase, epoch in (("a", 20), ("a", 40), ("b", 20))]
    assert describe_epochs(rows) == "60"
    assert epochs_so_far(rows).tolist() == [20, 40, 60]


@pytest.mark.filterwarnings("ignore::latentry.errors.DataWarning")  # of so few rows, and a column of one value
def test_info_shows_any_table(call, tmp_path):
    (tmp_path / "t.csv").write_text("height,lab\n1.5,graz\n,graz\n2.5,\n")
    code, text, _ = call("info", tmp_path / "t.csv")
    assert code == 0
    assert "3 numbers, 1.5 to 2.5, 1 empty" in text
    assert "3 texts, 1 different: graz, 1 empty" in text


def test_models_have_their_own_number_of_latents(call, table, tmp_path):
    words = ["--epochs", "1", "--quiet", "--set", "blocks=1", "--set", "patience=None"]
    assert call("fit", table, "--domain", "lab", "--model", "iflow", "--out", tmp_path / "run", *words)[0] == 0
    assert lt.load(tmp_path / "run").training.patience is None


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
@pytest.mark.parametrize("words", [["--help"], ["--version"], ["info", "--json"]])
def test_output_that_cannot_be_written_has_exit_codes_of_its_own(words):
    """1 means that a required verdict was not reached: neither a full device nor a closed pipe may give it."""
    command = [sys.executable, "-m", "latentry", *words]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 74
    assert "the output could not be written: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


def test_resume_alone_recalls_data_and_options(call, table, tmp_path):
    run = tmp_path / "run"
    words = ["--epochs", 2, "--set", "hidden=[4]", "--quiet", "--latents", 1]
    assert call("fit", table, "--domain", "lab", "--out", run, *words)[0] == 0
    code, out, error = call("fit", "--resume", run, "--epochs", 3, "--json", "--quiet")
    assert (code, json.loads(out)["epochs"]) == (0, 3), error
    assert call("fit", "--resume", "--out", run, "--set", "seed=1", "--quiet")[0] == 2
    assert "DATA: is missing" in call("fit", "--epochs", 3)[2]


@pytest.mark.parametrize(
    "words",
    [["--latents", "3"], ["--domain", "lab"], ["--seed", "3"], ["--modality", "x"], ["--restarts", "2"], ["--certify"],
     ["--require", "fit"], ["--workers", "2"], ["--drop", "a"]],
)  # fmt: skip
def test_an_option_that_would_change_nothing_is_refused_on_resume(call, words):
    """A run that goes on keeps its options: one that is given all the same was once ignored."""
    code, _, error = call("fit", "--resume", "--epochs", "2", *words)
    assert (code, f"{words[0]}: a run that goes on keeps its data and options" in error) == (2, True)


def test_an_earlier_run_is_not_overwritten(call, table, tmp_path):
    run = tmp_path / "run"
    assert call("fit", table, "--domain", "lab", "--out", run, *QUICK)[0] == 0
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    code, _, error = call("fit", table, "--domain", "lab", "--out", run, *QUICK, "--seed", "4")
    assert code == 2
    assert "holds an earlier run: pass --resume" in error
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before


def test_other_features_are_refused_at_transform(call, table, tmp_path):
    assert call("fit", table, "--domain", "lab", "--out", tmp_path / "run", *QUICK)[0] == 0
    (tmp_path / "o.csv").write_text("length,mass,depth\n1,2,3\n4,5,7\n")
    code, _, error = call("transform", tmp_path / "run", tmp_path / "o.csv", "--out", tmp_path / "z.csv")
    assert code == 2
    assert "there is no column 'width'" in error
    assert not (tmp_path / "z.csv").exists()


def _wait_for_lines(path, count):
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        if path.exists() and len(path.read_text().splitlines()) >= count:
            return
        time.sleep(0.05)


@pytest.mark.long
def test_ctrl_c_saves_and_resume_goes_on(table, tmp_path):
    words = [sys.executable, "-m", "latentry", "fit", str(table), "--domain", "lab", "--out", str(tmp_path / "run")]
    words += [
        "--epochs",
        "100000",
        "--latents",
        "1",
        "--set",
        "hidden=[4]",
        "--set",
        "patience=null",
        "--log",
        str(tmp_path / "log"),
    ]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        _wait_for_lines(tmp_path / "log", 1)
        process.send_signal(signal.SIGINT)
        error = process.stderr.read()
    assert process.returncode == 130
    assert "interrupted" in error
    assert "Traceback" not in error
    before = lt.load(tmp_path / "run")
    assert not before.state_.finished
    with subprocess.Popen([*words, "--resume"], stderr=subprocess.PIPE, text=True) as process:
        _wait_for_lines(tmp_path / "log", len(before.history_) + 1)
        process.send_signal(signal.SIGINT)
        process.stderr.read()
    after = lt.load(tmp_path / "run")
    assert len(after.history_) > len(before.history_)
    assert list(after.history_)[: len(before.history_)] == list(before.history_)


def test_unexpected_problems_are_a_sentence_too(call, monkeypatch, table):
    import latentry.cli.fit as module

    def broken(*args, **kwargs):
        raise RuntimeError("the moon is in the wrong phase")

    monkeypatch.setattr(module, "read", broken)
    code, _, error = call("fit", table)
    assert code == 70
    assert "wrong phase" in error
    assert "Traceback" not in error


@pytest.mark.parametrize("name", COMMANDS)
def test_every_argument_of_every_command_has_help(name):
    command = load_command(name)
    assert command.help.startswith(COMMANDS[name].split(".")[0]), "the list of commands says what the command says"
    for parameter in command.params:
        words = getattr(parameter, "help", None)
        assert words, f"{name}: {parameter.name}"
        assert words[0].isupper() or ":" in words or "=" in words or words.startswith("npy"), f"{name}: {words}"


def test_help_and_version_load_no_heavy_library():
    heavy = ("jax", "sklearn", "scipy", "numba", "pandas", "numpy")
    code = (
        "import sys; from latentry.cli import main\n"
        "try: main([sys.argv[1]])\n"
        f"except SystemExit as end: print(end.code, [n for n in {heavy} if n in sys.modules])"
    )
    for option, words in (("--help", "certify"), ("--version", lt.__version__)):
        found = subprocess.run([sys.executable, "-c", code, option], capture_output=True, text=True, check=True).stdout
        assert found.endswith("0 []\n")
        assert words in found


def test_a_mistyped_command_gets_the_nearest(call):
    code, _, error = call("certfy")
    assert code == 2
    assert "Did you mean 'certify'" in error


def test_help_names_every_command(call):
    code, text, _ = call("--help")
    assert code == 0
    for word in ("demo", "fit", "transform", "info", "generate"):
        assert word in text


def test_a_device_that_is_not_there_is_a_sentence():
    words = [sys.executable, "-m", "latentry", "info"]
    ended = subprocess.run(
        words, env=os.environ | {"JAX_PLATFORMS": "tpu"}, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert "JAX_PLATFORMS=tpu: no such device" in ended.stderr


@pytest.mark.parametrize("problem", [AssertionError(), RuntimeError("Unable to initialize backend")])
def test_a_device_that_fails_only_when_it_is_used_is_a_sentence_too(call, monkeypatch, table, problem):
    """JAX raises an AssertionError without a word where it first computes, if it was told to use a device that is not there."""
    import latentry.cli.fit as module
    from latentry import training

    def broken(*args, **kwargs):
        raise problem

    def no_devices():
        raise lt.DataError("JAX_PLATFORMS=cuda: no such device can be used here.")

    monkeypatch.setattr(module, "read", broken)
    assert call("fit", table)[0] == 70  # nobody asked for a device: it is what it is
    monkeypatch.setenv("JAX_PLATFORMS", "cuda")
    assert call("fit", table)[0] == 70  # devices are there
    monkeypatch.setattr(training, "usable_devices", no_devices)
    assert call("fit", table)[::2] == (2, "latentry: JAX_PLATFORMS=cuda: no such device can be used here. ")


def test_the_kind_of_device_can_be_said(call, monkeypatch):
    monkeypatch.setenv("JAX_PLATFORMS", "")
    assert call("info", "--device", "cpu")[0] == 0
    assert os.environ["JAX_PLATFORMS"] == "cpu"  # for processes that are started here
    code, _, error = call("info", "--device", "tpu")
    assert code == 2
    assert "--device tpu: no such device can be used here; JAX sees cpu:0" in error
    assert os.environ["JAX_PLATFORMS"] == "cpu"
    code, _, error = call("info", "--device", "cudaa")
    assert (code, "did you mean 'cuda'" in error) == (2, True)
