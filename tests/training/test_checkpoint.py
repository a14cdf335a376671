import errno
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import latentry as lt
from latentry.training import RunFiles, checkpoint, read_run, write_run


def files(value=1.0):
    arrays = {"module/w": np.full((2, 3), value, np.float32), "module/n": np.array(3, np.int32)}
    return RunFiles(
        {"model": "vae", "note": value}, arrays, {"rows": np.array(value)}, [{"epoch": 1, "loss": float("nan")}]
    )


def test_round_trip(tmp_path):
    write_run(tmp_path / "run", files())
    back = read_run(tmp_path / "run")
    assert back.manifest["model"] == "vae"
    assert back.weights["module/n"].shape == ()
    assert (back.weights["module/w"] == 1).all()
    assert np.isnan(back.history[0]["loss"])
    assert sorted(p.name for p in (tmp_path / "run").iterdir()) == [
        "history.jsonl",
        "manifest.json",
        "optimiser.safetensors",
        "weights.safetensors",
    ]


@pytest.mark.parametrize("part", ["manifest.json", "weights.safetensors", "optimiser.safetensors", "history.jsonl"])
def test_any_damage_is_named(tmp_path, part):
    write_run(tmp_path / "run", files())
    path = tmp_path / "run" / part
    whole = path.read_bytes()

    @given(st.integers(0, len(whole) - 1), st.integers(1, 255))
    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    def flip(place, change):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ change]) + whole[place + 1 :])
        try:
            read_run(tmp_path / "run")
        except lt.CheckpointError as problem:
            assert part in str(problem)  # noqa: PT017
        else:
            # white space is the one thing in a manifest that may change without a meaning
            assert part == "manifest.json"
            assert json.loads(path.read_bytes()) == json.loads(whole)

    flip()
    for length in (0, 1, len(whole) // 2, len(whole) - 2):
        path.write_bytes(whole[:length])
        with pytest.raises(lt.CheckpointError, match=part):
            read_run(tmp_path / "run")
    path.unlink()
    with pytest.raises(lt.CheckpointError, match=part):
        read_run(tmp_path / "run")


def test_an_unknown_format_is_refused(tmp_path):
    write_run(tmp_path / "run", files())
    path = tmp_path / "run" / "manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps(manifest | {"format": 99}))
    with pytest.raises(lt.CheckpointError, match="format 99; this latentry reads format 1"):
        read_run(tmp_path / "run")


@pytest.mark.parametrize("failing", ["fsync", "rename", "mkdir"])
def test_a_failed_save_leaves_the_earlier_run(tmp_path, monkeypatch, failing):
    write_run(tmp_path / "run", files(1.0))

    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    owner = checkpoint.Path if failing == "mkdir" else os
    monkeypatch.setattr(owner, failing, full)
    with pytest.raises(lt.CheckpointError, match="No space left .* untouched"):
        write_run(tmp_path / "run", files(2.0))
    monkeypatch.undo()
    assert read_run(tmp_path / "run").manifest["note"] == 1.0
    write_run(tmp_path / "run", files(3.0))
    assert read_run(tmp_path / "run").manifest["note"] == 3.0
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def test_a_disk_that_really_fills_up(tmp_path):
    """The operating system refuses to let the file grow: the earlier run still loads."""
    code = """
import resource, signal, sys, numpy as np
from latentry.errors import CheckpointError
from latentry.training import RunFiles, write_run
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    write_run(sys.argv[1], RunFiles({"note": 2}, {"w": np.zeros(1_000_000)}, {}, []))
except CheckpointError as problem:
    print(problem)
"""
    write_run(tmp_path / "run", files(1.0))
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "run")], capture_output=True, text=True, check=True
    )
    assert "could not be saved" in done.stdout
    assert read_run(tmp_path / "run").manifest["note"] == 1.0


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(lt.CheckpointError, match="could not be saved"):
        write_run(tmp_path / "file" / "run", files())


def test_a_folder_that_is_no_run_is_never_replaced(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("years of work")
    with pytest.raises(lt.CheckpointError, match="is no run folder"):
        write_run(tmp_path / "thesis", files())
    assert (tmp_path / "thesis" / "chapter.tex").read_text() == "years of work"


def test_guests_in_a_run_folder_survive(tmp_path):
    write_run(tmp_path / "run", files(1.0))
    (tmp_path / "run" / "notes.txt").write_text("mine")
    write_run(tmp_path / "run", files(2.0))
    assert (tmp_path / "run" / "notes.txt").read_text() == "mine"


def test_guests_survive_a_kill_after_the_swap(tmp_path):
    write_run(tmp_path / "run", files(1.0))
    shutil.copytree(tmp_path / "run", tmp_path / ".run.old")
    (tmp_path / ".run.old" / "notes.txt").write_text("mine")  # not yet moved when the kill came
    write_run(tmp_path / "run", files(2.0))
    assert (tmp_path / "run" / "notes.txt").read_text() == "mine"


def test_a_failed_second_rename_puts_the_run_back(tmp_path, monkeypatch):
    write_run(tmp_path / "run", files(1.0))
    true, calls = os.rename, []

    def second_fails(a, b):
        calls.append(a)
        if len(calls) == 2:
            raise OSError(errno.EIO, "input/output error")
        true(a, b)

    monkeypatch.setattr(os, "rename", second_fails)
    with pytest.raises(lt.CheckpointError, match="untouched"):
        write_run(tmp_path / "run", files(2.0))
    monkeypatch.undo()
    assert [p.name for p in tmp_path.iterdir()] == ["run"]
    assert read_run(tmp_path / "run").manifest["note"] == 1.0


def test_somebody_elses_manifest_is_not_a_run(tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "manifest.json").write_text('{"name": "a web page"}')
    with pytest.raises(lt.CheckpointError, match="is no run folder"):
        write_run(tmp_path / "site", files())


def test_a_kill_between_the_two_renames_is_mended(tmp_path):
    write_run(tmp_path / "run", files(1.0))
    os.rename(tmp_path / "run", tmp_path / ".run.old")
    assert checkpoint.holds_run(tmp_path / "run")
    assert read_run(tmp_path / "run").manifest["note"] == 1.0
    shutil.copytree(tmp_path / "run", tmp_path / ".run.old")
    write_run(tmp_path / "run", files(2.0))
    assert read_run(tmp_path / "run").manifest["note"] == 2.0


def test_no_run_there(tmp_path):
    with pytest.raises(lt.CheckpointError, match="holds no run"):
        read_run(tmp_path)
