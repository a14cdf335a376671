"""What is lost when work is killed, when disks are full and when two write at once: tried, counted and written down.

    python tools/faults.py                  # all models; writes benchmarks/results/faults.md
    python tools/faults.py --tries 2 --models vae iflow
    python tools/faults.py --more --seed 1 --models vae   # adds to what the page counts, in pieces of a few minutes

Every trial is a process of its own. "Kept" is a run that loads whole and goes on, or a pair of reports that belong together;
"before" is a fault before the first save, when there is nothing to lose. A chain is a fit that is killed at a random moment and
resumed until it ends; its weights are then compared, bit by bit, with those of a fit that nothing disturbed. So are those of
the fits of a sweep.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import sys
import tempfile
import time
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np

from latentry.certificate import Certificate
from latentry.errors import CheckpointError, LatentryError
from latentry.models import MODELS
from latentry.training import holds_run, read_run

from fault_trials import ENDS, PLAIN, Outcome, Server

RESULTS = Path(__file__).resolve().parents[1] / "benchmarks" / "results" / "faults.md"
TOTAL = "**all**"


def fits(server: Server, name: str, place: Path, tries: int, rng: np.random.Generator) -> list[Outcome]:
    """End fits of a model by each signal, resume each to its end, and compare it with the fit that nothing disturbed."""
    straight = place / f"{name}-straight"
    began = time.monotonic()
    if server.run("fit", name, straight) != 0:
        raise RuntimeError(f"{name}: the fit that nothing disturbs did not end")
    lasts = time.monotonic() - began
    outcomes = []
    for number in ENDS:
        outcome, chain = Outcome(f"{number.name} in a fit of {name}"), Outcome(f"{name} resumed to its end, bit by bit")
        for trial in range(tries):
            folder = place / f"{name}-{number.name}-{trial}"
            code = server.run("fit", name, folder, number=number, after=rng.uniform(0.1, 1.0) * lasts)
            outcome.add(*_after_signal(folder, number, code))
            again = server.run("fit", name, folder)
            chain.add("kept" if again == 0 and _same(folder, straight) else "lost", f"exit {again}")
        outcomes += [outcome, chain]
    return outcomes


def _after_signal(folder: Path, number: signal.Signals, code: int) -> tuple[str, str]:
    if code not in (*ENDS[number], 0):
        return "lost", f"exit {code}"
    if not holds_run(folder):
        return "before", ""
    try:
        read_run(folder)
    except CheckpointError as problem:
        return "lost", str(problem)
    if number == signal.SIGTERM and code == 0 and not read_run(folder).manifest["state"]["finished"]:
        return "lost", "SIGTERM went unheard"
    return "kept", ""


def _same(folder: Path, other: Path) -> bool:
    one, two = read_run(folder), read_run(other)
    return one.history == two.history and all(
        (one.weights[key] == two.weights[key]).all() and set(one.weights) == set(two.weights) for key in one.weights
    )


def saves(server: Server, name: str, place: Path, tries: int, rng: np.random.Generator) -> Outcome:
    """Kill a process that saves a fitted model under two sets of names in turn."""
    outcome = Outcome(f"SIGKILL in saves of {name}")
    folder = place / f"{name}-straight"
    before = read_run(folder).weights
    for _ in range(tries):
        server.run("save", name, folder, number=signal.SIGKILL, after=rng.uniform(0.2, 1.5))
        try:
            run = read_run(folder)
        except CheckpointError as problem:
            outcome.add("lost", str(problem))
            continue
        same = all((run.weights[key] == before[key]).all() for key in before)
        new = {name.startswith("new ") for name in run.manifest["record"].get("latents") or ()}
        outcome.add("kept" if same and len(new) < 2 else "lost", "another content")
    return outcome


def certificates(server: Server, name: str, place: Path, tries: int, rng: np.random.Generator) -> list[Outcome]:
    """End a process by each signal in turn: while it certifies, and while it writes two certificates again and again."""
    folder = place / f"{name}-straight"
    outcomes = []
    for words, once in (("certifies", _begins), ("writes certificates", _has_both)):
        outcome = Outcome(f"signals while {name} {words}")
        for trial in range(tries):
            out, number = place / f"{name}-{words}-{trial}".replace(" ", "-"), list(ENDS)[trial % len(ENDS)]
            out.mkdir()
            after = rng.uniform(0.0, 3.0 if once is _begins else 0.3)
            code = server.run("certify", name, folder, out, number=number, after=after, once=partial(once, out))
            outcome.add(*(_after_certificates(folder, out) if code in ENDS[number] else ("lost", f"exit {code}")))
        outcomes.append(outcome)
    return outcomes


def _begins(out: Path) -> bool:
    return True


def _has_both(out: Path) -> bool:
    return (out / "certificate.json").exists() and (out / "report.html").exists()


def _after_certificates(folder: Path, out: Path) -> tuple[str, str]:
    record, page = out / "certificate.json", out / "report.html"
    try:
        read_run(folder)
        if not record.exists():
            return "lost" if page.exists() else "before", "a page without its record"
        certificate = Certificate.from_json(record)
    except LatentryError as problem:
        return "lost", str(problem)
    if not page.exists():  # it is drawn again from the record
        return ("kept", "") if certificate.to_html() else ("lost", "no page can be drawn")
    inside = page.read_text().split("id='certificate'>")[1].split("</script>")[0]
    same = json.loads(inside)["checksum"] == json.loads(record.read_text())["checksum"]
    return "kept" if same else "lost", "page and record of two certificates"


def sweeps(server: Server, name: str, place: Path, tries: int, rng: np.random.Generator) -> Outcome:
    """End a process that fits a model with two seeds, by each signal in turn; go on, and compare with what nothing disturbed."""
    outcome, straight = Outcome(f"signals in sweeps of {name}, then resumed"), place / f"{name}-sweep-straight"
    began = time.monotonic()
    if server.run("sweep", name, straight) != 0:
        raise RuntimeError(f"{name}: the sweep that nothing disturbs did not end")
    lasts = time.monotonic() - began
    for trial in range(tries):
        folder, number = place / f"{name}-sweep-{trial}", list(ENDS)[trial % len(ENDS)]
        code = server.run("sweep", name, folder, number=number, after=rng.uniform(0.05, 1.0) * lasts)
        again = server.run("sweep", name, folder)
        runs = [path.name for path in sorted(straight.iterdir()) if holds_run(path)]
        same = again == 0 and len(runs) == 2 and all(_same(folder / run, straight / run) for run in runs)
        outcome.add("kept" if same else "lost", f"exit {code}, then {again}")
    return outcome


def together(outcomes: list[Outcome]) -> list[Outcome]:
    """Put trials of one fault into one row."""
    rows: dict[str, Outcome] = {}
    for one in outcomes:
        row = rows.setdefault(one.fault, Outcome(one.fault))
        row.tries, row.kept, row.before = row.tries + one.tries, row.kept + one.kept, row.before + one.before
        row.lost += one.lost
    return list(rows.values())


def table(rows: list[Outcome]) -> str:
    """Return a markdown table."""
    lines = ["| fault | tried | kept | before the first save | lost |", "|---|---|---|---|---|"]
    total = Outcome(TOTAL, *(sum(getattr(row, name) for row in rows) for name in ("tries", "kept", "before")))
    total.lost = [why for row in rows for why in row.lost]
    lines += [f"| {r.fault} | {r.tries} | {r.kept} | {r.before} | {len(r.lost)} |" for r in (*rows, total)]
    return "\n".join(lines)


def counted(page: str) -> tuple[list[Outcome], list[str]]:
    """Return what a page counts, losses too, and the lines beneath that say how."""
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("| ")
    ]
    rows = [
        Outcome(name, *map(int, numbers[:3]), ["in an earlier run"] * int(numbers[3]))
        for name, *numbers in cells[1:]
        if name != TOTAL
    ]
    return rows, [line for line in page.splitlines() if line.startswith("`python ")]


def main() -> int:
    """Try every fault, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=4, help="of each signal, for each model")
    parser.add_argument("--plain", type=int, default=40, help="of each fault of folders and disks")
    parser.add_argument("--models", nargs="+", default=sorted(MODELS), choices=sorted(MODELS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--more", action="store_true", help="add to the counts of the page")
    asked = parser.parse_args()
    rng = np.random.default_rng(asked.seed)
    earlier = counted(RESULTS.read_text()) if asked.more else ([], [])
    outcomes = list(earlier[0])
    with tempfile.TemporaryDirectory() as scratch:
        for number, fault in enumerate(PLAIN):
            (Path(scratch) / str(number)).mkdir()
            outcomes.append(fault(Path(scratch) / str(number), asked.plain, rng))
            print(table(outcomes[-1:]).splitlines()[2], *outcomes[-1].lost[:2], flush=True)
        with Server(Path(scratch)) as server:
            for name in asked.models:
                one = fits(server, name, Path(scratch), asked.tries, rng)
                one += [task(server, name, Path(scratch), asked.tries, rng) for task in (saves, sweeps)]
                one += certificates(server, name, Path(scratch), asked.tries, rng)
                outcomes += one
                write(outcomes, earlier[1])
                for row in together(one):
                    print(table([row]).splitlines()[2], *row.lost[:2], flush=True)
    print(RESULTS.read_text())
    return 1 if any(outcome.lost for outcome in outcomes) else 0


def write(outcomes: list[Outcome], before: list[str]) -> None:
    """Write what was counted so far, beneath it how, and how earlier runs did: a run that is stopped leaves it."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("latentry", "jax", "numpy"))
    command = " ".join(["python tools/faults.py", *sys.argv[1:]])
    foot = f"`{command}`; {versions}; Python {platform.python_version()}, {len(os.sched_getaffinity(0))} core(s)."
    text = __doc__.split("\n\n", 2)[2].strip()
    feet = "\n\n".join([*before, foot])
    RESULTS.write_text(f"# Faults\n\n{text}\n\n{table(together(outcomes))}\n\n{feet}\n")


if __name__ == "__main__":
    sys.exit(main())
