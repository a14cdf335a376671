"""Files that belong together are replaced together, whatever stops the process."""

import errno
import os
import subprocess
import sys

import pytest

import latentry as lt
from latentry.whole_files import exchange, write_whole

# Each child ends without a word just before its n-th call of os.replace, fsync or open: what a kill does there.
KILLED = """
import builtins, os, sys
from latentry import whole_files
folder, calls = sys.argv[1], 0
pair = lambda word: {f"{folder}/certificate.json": word, f"{folder}/report.html": word}
for number in range(40):
    for name in ("certificate.json", "report.html"):
        open(f"{folder}/{name}", "w").write("earlier")
    child = os.fork()
    if child == 0:
        def dying(true, left=[number]):
            def call(*args, **kwargs):
                left[0] -= 1
                if left[0] < 0:
                    os._exit(9)
                return true(*args, **kwargs)
            return call
        for name in ("replace", "fsync", "unlink"):
            setattr(os, name, dying(getattr(os, name)))
        whole_files.write_whole(pair("new"))
        os._exit(0)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    there = [name for name in ("certificate.json", "report.html") if os.path.exists(f"{folder}/{name}")]
    print(ended, *(f"{name}={open(f'{folder}/{name}').read()}" for name in there))
    if ended == 0:
        break
"""


def test_no_kill_leaves_files_that_do_not_belong_together(tmp_path):
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], capture_output=True, text=True, check=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    assert len(lines) > 5
    assert lines[-1] == ["0", "certificate.json=new", "report.html=new"]
    for _, *found in lines:
        assert len({part.partition("=")[2] for part in found}) == 1  # all earlier, or all new
        assert any(part.startswith("certificate.json") for part in found)  # from which the page can be drawn again


@pytest.mark.parametrize("number", range(4))
def test_an_error_puts_the_earlier_files_back(tmp_path, monkeypatch, number):
    record, page = tmp_path / "certificate.json", tmp_path / "report.html"
    write_whole({record: "earlier", page: "earlier"})
    true, calls = os.replace, []

    def failing(*args):
        calls.append(args)
        if len(calls) == number + 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        true(*args)

    monkeypatch.setattr(os, "replace", failing)
    if number < 3:
        with pytest.raises(lt.DataError, match="No space left"):
            write_whole({record: "new", page: "new"})
    else:  # there are three moves
        write_whole({record: "new", page: "new"})
    assert {record.read_text(), page.read_text()} == {"new" if number == 3 else "earlier"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["certificate.json", "report.html"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "page.html").symlink_to(tmp_path / "kept.html")
    write_whole({tmp_path / "page.html": "text"})
    assert (tmp_path / "page.html").is_symlink()
    assert (tmp_path / "kept.html").read_text() == "text"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="one step on Linux only")
def test_folders_are_exchanged_in_one_step(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).write_text(name)
    if not exchange(tmp_path / "a", tmp_path / "b"):
        pytest.skip("this file system cannot exchange folders")
    assert (tmp_path / "a" / "b").exists()
    assert (tmp_path / "b" / "a").exists()
    assert not exchange(tmp_path / "a", tmp_path / "none")
