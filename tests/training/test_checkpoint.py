import errno
import hashlib
import json
import os
import re
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import latentry as lt
from latentry.training import RunFiles, RunFolder, checkpoint, read_run, write_run


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
    assert kinds(tmp_path / "run") == ["history.jsonl", "manifest.json", "optimiser.safetensors", "weights.safetensors"]


def kinds(folder):
    """Names in a folder without the checksums in them."""
    return sorted(re.sub("-[0-9a-f]{16}", "", path.name) for path in folder.iterdir())


def part_of(folder, part):
    """The file of a run folder, whatever its version is called."""
    stem, _, ending = part.partition(".")
    return next(path for path in folder.iterdir() if re.fullmatch(rf"{stem}(-[0-9a-f]+)?\.{ending}", path.name))


@pytest.mark.parametrize("part", ["manifest.json", "weights.safetensors", "optimiser.safetensors", "history.jsonl"])
def test_any_damage_is_named(tmp_path, part):
    write_run(tmp_path / "run", files())
    path = part_of(tmp_path / "run", part)
    whole = path.read_bytes()

    @given(st.integers(0, len(whole) - 1), st.integers(1, 255))
    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    def flip(place, change):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ change]) + whole[place + 1 :])
        try:
            read_run(tmp_path / "run")
        except lt.CheckpointError as problem:
            assert path.name in str(problem)  # noqa: PT017
        else:
            # white space is the one thing in a manifest that may change without a meaning
            assert part == "manifest.json"
            assert json.loads(path.read_bytes()) == json.loads(whole)

    flip()
    for length in (0, 1, len(whole) // 2, len(whole) - 2):
        path.write_bytes(whole[:length])
        with pytest.raises(lt.CheckpointError, match=path.name):
            read_run(tmp_path / "run")
    path.unlink()
    with pytest.raises(lt.CheckpointError, match=path.name):
        read_run(tmp_path / "run")


def test_an_unknown_format_is_refused(tmp_path):
    write_run(tmp_path / "run", files())
    path = tmp_path / "run" / "manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps(manifest | {"format": 99}))
    with pytest.raises(lt.CheckpointError, match="format 99; this latentry reads formats 1 to 2"):
        read_run(tmp_path / "run")


@pytest.mark.parametrize("failing", ["fsync", "replace", "open"])
def test_a_failed_save_leaves_the_earlier_run(tmp_path, monkeypatch, failing):
    write_run(tmp_path / "run", files(1.0))

    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, failing, full)
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


def test_a_failure_at_every_step_of_a_save_leaves_a_whole_run(tmp_path, monkeypatch):
    """Each call of fsync and of replace fails in turn: the run that is read is the earlier or the new one, never none."""
    for number in range(12):
        for name in ("fsync", "replace"):
            folder = tmp_path / f"{name}-{number}"
            write_run(folder, files(1.0))
            true, calls = getattr(os, name), []

            def failing(*args, true=true, calls=calls, number=number):
                calls.append(args)
                if len(calls) == number + 1:
                    raise OSError(errno.EIO, "input/output error")
                return true(*args)

            monkeypatch.setattr(os, name, failing)
            try:
                write_run(folder, files(2.0))
                said = 2.0
            except lt.CheckpointError:
                said = None
            monkeypatch.undo()
            assert read_run(folder).manifest["note"] in ((1.0, 2.0) if said is None else (said,))
            assert kinds(folder) == ["history.jsonl", "manifest.json", "optimiser.safetensors", "weights.safetensors"]


def test_somebody_elses_manifest_is_not_a_run(tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "manifest.json").write_text('{"name": "a web page"}')
    with pytest.raises(lt.CheckpointError, match="is no run folder"):
        write_run(tmp_path / "site", files())


def in_format_1(folder, value):
    """A run folder as earlier versions wrote it: fixed names, no list of files."""
    write_run(folder, files(value))
    manifest = json.loads((folder / "manifest.json").read_text())
    for name, version in manifest.pop("files").items():
        os.rename(folder / version, folder / name)
    manifest |= {"format": 1}
    del manifest["checksum"]
    manifest["checksum"] = hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_folders_of_the_earlier_format_are_read_and_replaced(tmp_path):
    in_format_1(tmp_path / "run", 1.0)
    assert read_run(tmp_path / "run").manifest["note"] == 1.0
    write_run(tmp_path / "run", files(2.0))
    assert read_run(tmp_path / "run").manifest["note"] == 2.0
    assert not (tmp_path / "run" / "weights.safetensors").exists()


def test_what_an_earlier_version_left_between_two_renames_is_read_and_not_moved(tmp_path):
    in_format_1(tmp_path / ".run.old", 1.0)
    assert checkpoint.holds_run(tmp_path / "run")
    assert read_run(tmp_path / "run").manifest["note"] == 1.0
    assert [path.name for path in tmp_path.iterdir()] == [".run.old"]
    write_run(tmp_path / "run", files(2.0))
    assert read_run(tmp_path / "run").manifest["note"] == 2.0
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_link_the_working_folder_and_a_change_of_it(tmp_path, monkeypatch):
    (tmp_path / "volume").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "volume")
    write_run(tmp_path / "link", files(1.0))
    write_run(tmp_path / "link", files(2.0))
    assert (tmp_path / "link").is_symlink()
    assert read_run(tmp_path / "volume").manifest["note"] == 2.0
    monkeypatch.chdir(tmp_path / "volume")
    write_run(".", files(3.0))
    assert read_run(tmp_path / "link").manifest["note"] == 3.0
    with RunFolder("inner") as held:
        monkeypatch.chdir(tmp_path)
        held.write(files(4.0))
    assert read_run(tmp_path / "volume" / "inner").manifest["note"] == 4.0
    with pytest.raises(lt.CheckpointError, match="is no run folder"):
        write_run("/", files())


def test_a_new_volume_is_an_empty_folder(tmp_path):
    (tmp_path / "lost+found").mkdir()
    write_run(tmp_path, files(1.0))
    write_run(tmp_path, files(2.0))
    assert read_run(tmp_path).manifest["note"] == 2.0
    assert (tmp_path / "lost+found").is_dir()


def test_nothing_outside_the_folder_is_renamed(tmp_path, monkeypatch):
    """A mount point cannot be renamed, nor may its parent be written."""
    folder = tmp_path / "volume"
    folder.mkdir()
    tmp_path.chmod(0o500)
    true = os.replace
    monkeypatch.setattr(os, "rename", None)

    def inside(source, target):
        assert {source.parent, target.parent} == {folder}
        true(source, target)

    monkeypatch.setattr(os, "replace", inside)
    write_run(folder, files(1.0))
    write_run(folder, files(2.0))
    tmp_path.chmod(0o700)
    assert read_run(folder).manifest["note"] == 2.0


def test_a_second_writer_is_refused_by_name(tmp_path):
    with RunFolder(tmp_path / "run") as held:
        with pytest.raises(lt.CheckpointError, match=f"process {os.getpid()} on .* is writing this run"):
            write_run(tmp_path / "run", files(2.0))
        held.write(files(1.0))
        assert read_run(tmp_path / "run").manifest["note"] == 1.0  # readers are not kept out
    write_run(tmp_path / "run", files(3.0))
    assert read_run(tmp_path / "run").manifest["note"] == 3.0


def test_a_folder_that_was_locked_and_not_written_is_gone(tmp_path):
    with RunFolder(tmp_path / "run"):
        pass
    assert not list(tmp_path.iterdir())


def test_what_a_killed_save_left_is_cleared_by_the_next(tmp_path):
    write_run(tmp_path / "run", files(1.0))
    for name in (".lock", ".manifest.json.12-0123abcd.draft", "weights-0123456789abcdef.safetensors"):
        (tmp_path / "run" / name).write_text("left")
    write_run(tmp_path / "run", files(2.0))
    assert kinds(tmp_path / "run") == ["history.jsonl", "manifest.json", "optimiser.safetensors", "weights.safetensors"]


def test_readers_beside_a_writer_see_whole_runs(tmp_path):
    """Every load while another thread saves without a pause is one of its runs, and no later one is older."""
    write_run(tmp_path / "run", files(0.0))
    done = threading.Event()

    def write():
        with RunFolder(tmp_path / "run") as held:
            for number in range(60):
                held.write(files(float(number)))
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    seen = []
    while not done.is_set():
        seen.append(read_run(tmp_path / "run"))
    writer.join()
    notes = [run.manifest["note"] for run in seen]
    assert notes == sorted(notes)
    assert all((run.weights["module/w"] == run.manifest["note"]).all() for run in seen)


def test_a_manifest_names_no_other_files(tmp_path):
    write_run(tmp_path / "run", files(1.0))
    path = tmp_path / "run" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["files"]["weights.safetensors"] = "../secret"
    del manifest["checksum"]
    manifest["checksum"] = hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps(manifest))
    with pytest.raises(lt.CheckpointError, match=r"manifest\.json: the files that it names"):
        read_run(tmp_path / "run")


def test_no_run_there(tmp_path):
    with pytest.raises(lt.CheckpointError, match="holds no run"):
        read_run(tmp_path)
