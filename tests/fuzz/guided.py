"""Let atheris look for inputs that take new ways through latentry, and count what happens, in the page of hostile_files.py.

    make fuzz ENGINE=atheris                  # all kinds
    make fuzz ENGINE=atheris ARGS="300 csv"   # seconds for each kind, and kinds

atheris is no dependency: the script makes a virtual environment that holds it alone, and everything else is that of .venv. Inputs
of the kinds with *fields* are JSON, of which the checksum is made to fit.
"""

import os
import resource
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import warnings
from importlib import import_module
from pathlib import Path

from hostile_files import HANG, KINDS, MEMORY, ROOT, SECONDS, WORDS, outcome, page, rows_of, wrong

GUIDED = ", guided by coverage"
NAMES = ("csv", "npy", "npz", "parquet", "certificate", "certificate, fields", "manifest, fields")
PACKAGES = ["atheris==3.0.0"]


def child(name, seconds, seed, folder):
    """Read what atheris makes up, and print what happened to each input, one a line; libFuzzer ends this process."""
    import atheris

    warnings.simplefilter("ignore")
    with atheris.instrument_imports(include=["latentry"]):
        for module in (
            "latentry.certificate",
            "latentry.data",
            "latentry.models.estimator.saving",
            "latentry.training",
        ):
            import_module(module)
    kind = KINDS[name](folder)
    expected = kind.whole()
    corpus = folder / "corpus"
    corpus.mkdir()
    (corpus / "whole").write_bytes(kind.seed())
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    def read(content):
        kind.place(content)
        began = time.monotonic()
        result = outcome(kind, expected)
        print(WORDS.index(HANG if time.monotonic() - began > SECONDS else result), flush=True)

    limits = [f"-max_total_time={seconds}", f"-seed={seed + 1}", "-timeout=0", "-rss_limit_mb=0", "-max_len=262144"]
    atheris.Setup([sys.argv[0], str(corpus), *limits, f"-artifact_prefix={folder}/"], read)
    atheris.Fuzz()


def counted(name, seconds, seed=0):
    """Let a child look for a while; count what happened, and whether the child was ended by an input."""
    from common import peer_environment

    python = peer_environment("atheris", PACKAGES)
    paths = [
        str(ROOT / "src"),
        str(ROOT / "tests" / "fuzz"),
        sysconfig.get_path("purelib"),
        os.environ.get("PYTHONPATH", ""),
    ]
    with tempfile.TemporaryDirectory() as folder:
        command = [python, __file__, "--child", name, str(seconds), str(seed), folder]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
    results = [int(line) for line in done.stdout.split() if line.isdigit()]
    counts = {word: sum(WORDS[number] == word for number in results) for word in WORDS}
    ended = "Done " not in done.stderr[-2000:]  # what libFuzzer says last
    if ended or not results:
        print(name, done.returncode, done.stderr[-2000:], file=sys.stderr)
    for line in sorted({line for line in done.stderr.splitlines() if line.startswith("BARE")})[:20]:
        print(name, line, file=sys.stderr)
    return counts | {"crash": int(ended)}


def main(seconds, names):
    """Look into each kind; return 1 where something happened that must not."""
    place = ROOT / "benchmarks" / "results" / "hostile_files.md"
    bad = 0
    for name in names:
        counts = counted(name, seconds)
        print(name, counts, flush=True)
        text = place.read_text()
        place.write_text(page({**rows_of(text), name + GUIDED: counts}))
        bad |= any(counts[word] for word in wrong(name))
    return int(bad)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), Path(sys.argv[5]))
    else:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 120, sys.argv[2:] or NAMES))
