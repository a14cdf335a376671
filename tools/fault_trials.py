"""Faults, one at a time: a child works, something happens to it, and what it left is looked at."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from latentry.errors import CheckpointError
from latentry.training import RunFiles, read_run, write_run

__all__ = ["PLAIN", "Outcome", "Server", "runs_of", "small_disk"]

ENDS = {signal.SIGKILL: (-9,), signal.SIGTERM: (143, -15), signal.SIGINT: (0, 130, -2)}


@dataclass
class Outcome:
    """What a kind of fault did, over its trials."""

    fault: str
    tries: int = 0
    kept: int = 0  # whole: nothing was lost but what the fault itself took
    before: int = 0  # the fault came before the first save, and there is nothing to lose
    lost: list[str] = field(default_factory=list)

    def add(self, word: str, why: str = "") -> None:
        """Count a trial."""
        self.tries += 1
        self.kept += word == "kept"
        self.before += word == "before"
        if word == "lost":
            self.lost.append(why)


# A server loads everything once and starts no device; each line that it reads starts a child, which does the work from there.
SERVER = """
import os, sys, warnings
warnings.simplefilter("ignore")
import numpy as np, latentry as lt, latentry.models.estimator.fitting, latentry.models.estimator.saving
import latentry.certificate.report
from latentry.models import MODELS
from latentry.whole_files import write_whole

SETTINGS = {"latent_dim": 2, "epochs": 12, "batch_size": 32, "hidden": (8,), "restarts": 1, "flow__blocks": 1,
    "flow__components": 2, "flow__optimiser": "adam", "domain_prior__hidden": (4,), "style_dim": 1, "networks__channels": 2,
    "networks__most_channels": 4, "networks__style_width": 4, "nodes": (2, 2), "progress": False}

def data_of(kind, seed=1):
    rng = np.random.default_rng(seed)
    x = np.tanh(rng.normal(size=(320, 2)) @ rng.normal(size=(2, 4))) + 0.05 * rng.normal(size=(320, 4))
    if not kind.takes_tables:
        return lt.generators.domain_images(rows_per_domain=60, size=8, seed=seed - 1)
    tables = {"left": x[:, :2], "right": x[:, 2:]} if kind.least_modalities > 1 else x
    return lt.Dataset(tables, domain=np.arange(320) % 2)

def model_of(kind):
    known = kind().get_params()
    wanted = {key: value for key, value in SETTINGS.items() if key in known}
    return kind().set_params(**wanted | ({"latent_dim": None} if kind.takes_latents_from_data else {}))

def fit(name, folder):
    kind = MODELS[name]
    model_of(kind).fit(data_of(kind), run=folder, resume=True, save_every=2)

def save(name, folder):
    model = lt.load(folder)
    names = model.latents_
    while True:
        model.rename([f"new {name}" for name in names]).save(folder)
        model.rename(names).save(folder)

def certify(name, folder, out):
    kind = MODELS[name]
    model, pairs = lt.load(folder), []
    for turn in range(2):
        found = lt.certify(model, data_of(kind, seed=2).take(np.arange(turn, 120)), only=["variables", "fit"])
        pairs.append({out + "/certificate.json": found.to_json(), out + "/report.html": found.to_html()})
        write_whole(pairs[-1])
    while True:
        write_whole(pairs[0])
        write_whole(pairs[1])

def sweep(name, folder):
    kind = MODELS[name]
    models = [model_of(kind).set_params(seed=seed) for seed in (1, 2)]
    lt.fit_many(models, data_of(kind), folder=folder, executor="here", progress=False)

"""

# Starts children, and waits for them: "start save vae folder" and "wait 123" are answered by a number each.
SERVE = """
print("ready", flush=True)
while line := sys.stdin.readline().split():
    if line[0] == "wait":
        print(os.waitstatus_to_exitcode(os.waitpid(int(line[1]), 0)[1]), flush=True)
        continue
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        globals()[line[1]](*line[2:])
        os._exit(0)
    print(child, flush=True)
"""

# The same without a model: many saves in a second.
WRITERS = """
import os, resource, signal, sys
sys.path.insert(0, sys.argv[1])
from fault_trials import runs_of
from latentry.errors import CheckpointError
from latentry.training import RunFolder

def write(folder, how):
    if how == "short":
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))
    number = 0
    try:
        with RunFolder(folder) as held:
            while True:
                number += 1
                held.write(runs_of(float(number)))
                if how == "clock":
                    past = 10 ** 9 * (10 ** 6 - number % 3)
                    os.utime(folder + "/manifest.json", ns=(past, past))
    except CheckpointError as problem:
        with open(folder + "-said", "w") as file:
            file.write(str(problem))
        os._exit(3)
"""


class Server:
    """Starts children that fit, save, certify or write, and ends them by signals.

    Args:
        folder: Where its script is kept.
        work: What the children can do: source text.
    """

    def __init__(self, folder: Path, work: str = SERVER) -> None:
        script = folder / "server.py"
        script.write_text(work + SERVE)
        self._process = subprocess.Popen(
            [sys.executable, str(script), str(Path(__file__).parent)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._process.stdout.readline()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()

    def _asked(self, words: str) -> int:
        print(words, file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())

    def start(self, *words: object) -> int:
        """Let a child work, and return its number."""
        return self._asked(f"start {' '.join(map(str, words))}")

    def wait(self, child: int) -> int:
        """Return how a child ended."""
        return self._asked(f"wait {child}")

    def run(
        self,
        *words: object,
        number: signal.Signals | None = None,
        after: float = 0.0,
        once: Callable[[], bool] | None = None,
    ) -> int:
        """Let a child work, end it by a signal if one is given, and return its exit code.

        The signal comes after some seconds, which begin when ``once`` is true, if it is given.
        """
        child = self.start(*words)
        if number is not None:
            patience = time.monotonic() + 120
            while once is not None and not once() and time.monotonic() < patience:
                time.sleep(0.01)
            time.sleep(after)
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, number)
        return self.wait(child)


# Run folders without a model: many saves in a second ---------------------------------------------


def runs_of(note: float, size: int = 2000) -> RunFiles:
    """Return the files of a run whose every number is the note."""
    return RunFiles({"note": note}, {"w": np.full(size, note)}, {"o": np.full(size, note)}, [{"loss": note}])


def whole(folder: Path) -> str:
    """Return an empty text where the run in a folder is one that was written, and what is wrong otherwise."""
    try:
        run = read_run(folder)
    except CheckpointError as problem:
        return str(problem)
    note = run.manifest["note"]
    same = (run.weights["w"] == note).all() and (run.optimiser["o"] == note).all() and run.history[0]["loss"] == note
    return "" if same else "contents of two saves"


def killed_writers(place: Path, tries: int, rng: np.random.Generator) -> Outcome:
    """Kill a process that saves into one folder, each time at another moment, and read the folder."""
    outcome = Outcome("SIGKILL while a run is saved again and again")
    write_run(place / "run", runs_of(0.0))
    with Server(place, WRITERS) as server:
        for _ in range(tries):
            server.run("write", place / "run", "loop", number=signal.SIGKILL, after=rng.uniform(0, 0.06))
            outcome.add("lost" if (why := whole(place / "run")) else "kept", why)
    return outcome


def two_writers(place: Path, tries: int, rng: np.random.Generator) -> Outcome:
    """Start a second process into a folder that one writes to: it is refused, and names the first."""
    outcome = Outcome("a second process writes into the folder")
    with Server(place, WRITERS) as server:
        first = server.start("write", place / "run", "loop")
        while whole(place / "run"):
            time.sleep(0.01)
        for _ in range(tries):
            code, said = server.run("write", place / "run", "loop"), (place / "run-said").read_text()
            named = f"process {first} on" in said and code == 3
            outcome.add("kept" if named and not whole(place / "run") else "lost", said)
        os.kill(first, signal.SIGKILL)
        server.wait(first)
    return outcome


def readers(place: Path, tries: int, rng: np.random.Generator, how: str = "loop") -> Outcome:
    """Read a folder again and again while a process writes to it."""
    words = {"loop": "reading while a process saves", "clock": "reading while a process saves and its clock goes back"}
    outcome = Outcome(words[how])
    write_run(place / "run", runs_of(0.0))
    with Server(place, WRITERS) as server:
        child = server.start("write", place / "run", how)
        for _ in range(tries):
            outcome.add("lost" if (why := whole(place / "run")) else "kept", why)
        os.kill(child, signal.SIGKILL)
        server.wait(child)
    return outcome


def clock(place: Path, tries: int, rng: np.random.Generator) -> Outcome:
    """Read while the times of files go back and repeat."""
    return readers(place, tries, rng, "clock")


def short_files(place: Path, tries: int, rng: np.random.Generator) -> Outcome:
    """Let the operating system refuse files beyond a size (RLIMIT_FSIZE)."""
    outcome = Outcome("files may not grow (RLIMIT_FSIZE)")
    with Server(place, WRITERS) as server:
        for _ in range(tries):
            write_run(place / "run", runs_of(0.0))
            code, said = server.run("write", place / "run", "short"), (place / "run-said").read_text()
            sentence = code == 3 and "could not be saved" in said and "untouched" in said
            kept = sentence and not whole(place / "run") and read_run(place / "run").manifest["note"] == 0.0
            outcome.add("kept" if kept else "lost", said)
    return outcome


@contextmanager
def small_disk(place: Path, size: str = "300k") -> Iterator[bool]:
    """Mount a small file system, where that is allowed; say whether it was."""
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
    mounted = subprocess.run(words, capture_output=True, check=False).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(place)], check=True)


def refused(folder: Path, outcome: Outcome, size: int = 2000) -> None:
    """Save where it cannot succeed: a sentence, and the earlier run."""
    try:
        write_run(folder, runs_of(9.0, size))
    except CheckpointError as problem:
        why = whole(folder)
        kept = not why and read_run(folder).manifest["note"] == 0.0 and "untouched" in str(problem)
        outcome.add("kept" if kept else "lost", why or str(problem))
    else:
        outcome.add("lost", "it was not refused")


def full_disk(place: Path, tries: int, rng: np.random.Generator) -> Outcome:
    """Save onto a disk that is nearly full; then make room, and save again."""
    outcome = Outcome("the disk is full")
    with small_disk(place / "disk") as mounted:
        for _ in range(tries if mounted else 0):
            write_run(place / "disk" / "run", runs_of(0.0))
            (place / "disk" / "other").write_bytes(b"0" * int(rng.integers(150_000, 236_000)))
            refused(place / "disk" / "run", outcome, 8000)
            (place / "disk" / "other").unlink()
            write_run(place / "disk" / "run", runs_of(1.0))
    return outcome


def read_only(place: Path, tries: int, rng: np.random.Generator) -> Outcome:
    """Save onto a disk that became read-only."""
    outcome = Outcome("the disk becomes read-only")
    with small_disk(place / "still") as mounted:
        for _ in range(tries if mounted else 0):
            write_run(place / "still" / "run", runs_of(0.0))
            subprocess.run(["mount", "-o", "remount,ro", str(place / "still")], check=True)
            refused(place / "still" / "run", outcome)
            subprocess.run(["mount", "-o", "remount,rw", str(place / "still")], check=True)
    return outcome


def _failing(true: Callable[..., object], left: list[int]) -> Callable[..., object]:
    """Return a call that fails once, when so many calls of all kinds lie behind."""

    def call(*args: object, **named: object) -> object:
        left[0] -= 1
        if left[0] == 0:
            raise OSError(5, "Input/output error")
        return true(*args, **named)

    return call


def failing_calls(place: Path, tries: int, rng: np.random.Generator) -> Outcome:
    """Let a random call of the operating system fail in a save: open, write, rename, flush or unlink."""
    outcome = Outcome("a call of the operating system fails (open, rename, flush, unlink)")
    true = {name: getattr(os, name) for name in ("open", "replace", "rename", "fsync", "unlink", "mkdir", "listdir")}
    for _ in range(tries):
        write_run(place / "run", runs_of(0.0))
        left = [int(rng.integers(0, 25))]
        for name in true:
            setattr(os, name, _failing(true[name], left))
        try:
            write_run(place / "run", runs_of(1.0))
            saved = True
        except CheckpointError:
            saved = False
        except OSError as problem:
            outcome.add("lost", f"a bare error: {problem}")
            continue
        finally:
            for name, call in true.items():
                setattr(os, name, call)
        why = whole(place / "run")
        note = -1.0 if why else read_run(place / "run").manifest["note"]
        outcome.add("kept" if note == 1.0 or (note == 0.0 and not saved) else "lost", why or f"note {note}")
    return outcome


PLAIN = (killed_writers, two_writers, readers, clock, short_files, full_disk, read_only, failing_calls)
