"""What is lost when work is killed, when disks are full and when two write at once: tried, counted and written down.

    python tools/faults.py                  # all models; writes benchmarks/results/faults.md
    python tools/faults.py --tries 2 --models vae iflow

Every trial is a process of its own. "Kept" is a run that loads whole and goes on, or a pair of reports that belong together;
"before" is a fault before the first save, when there is nothing to lose. A chain is a fit that is killed at a random moment and
resumed until it ends; its weights are then compared, bit by bit, with those of a fit that nothing disturbed.
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
from importlib.metadata import version
from pathlib import Path

import numpy as np

from latentry.errors import CheckpointError
from latentry.models import MODELS
from latentry.training import holds_run, read_run

from fault_trials import ENDS, PLAIN, Outcome, Server

RESULTS = Path(__file__).resolve().parents[1] / "benchmarks" / "results" / "faults.md"


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


def certificates(server: Server, name: str, place: Path, tries: int, rng: np.random.Generator) -> Outcome:
    """End a process that certifies and writes page and record, by each signal in turn."""
    outcome = Outcome(f"signals in certificates of {name}")
    folder, page, record = place / f"{name}-straight", place / "report.html", place / "certificate.json"
    for trial in range(tries):
        number = list(ENDS)[trial % len(ENDS)]
        server.run("certify", name, folder, number=number, after=rng.uniform(1.0, 6.0))
        try:
            read_run(folder)
        except CheckpointError as problem:
            outcome.add("lost", str(problem))
            continue
        if not record.exists() or not page.exists():
            outcome.add("before")
            continue
        made = json.loads(record.read_text())["made"]
        inside = page.read_text().split("id='certificate'>")[1].split("</script>")[0]
        outcome.add("kept" if json.loads(inside)["made"] == made else "lost", "page and record of two certificates")
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
    total = Outcome("**all**", *(sum(getattr(row, name) for row in rows) for name in ("tries", "kept", "before")))
    total.lost = [why for row in rows for why in row.lost]
    lines += [f"| {r.fault} | {r.tries} | {r.kept} | {r.before} | {len(r.lost)} |" for r in (*rows, total)]
    return "\n".join(lines)


def main() -> int:
    """Try every fault, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=4, help="of each signal, for each model")
    parser.add_argument("--plain", type=int, default=40, help="of each fault of folders and disks")
    parser.add_argument("--models", nargs="+", default=sorted(MODELS), choices=sorted(MODELS))
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    rng, outcomes = np.random.default_rng(asked.seed), []
    with tempfile.TemporaryDirectory() as scratch:
        for number, fault in enumerate(PLAIN):
            (Path(scratch) / str(number)).mkdir()
            outcomes.append(fault(Path(scratch) / str(number), asked.plain, rng))
            print(table(outcomes[-1:]).splitlines()[2], *outcomes[-1].lost[:2], flush=True)
        with Server(Path(scratch)) as server:
            for name in asked.models:
                one = fits(server, name, Path(scratch), asked.tries, rng)
                one += [task(server, name, Path(scratch), asked.tries, rng) for task in (saves, certificates)]
                outcomes += one
                for row in together(one):
                    print(table([row]).splitlines()[2], *row.lost[:2], flush=True)
    rows = together(outcomes)
    versions = ", ".join(f"{name} {version(name)}" for name in ("latentry", "jax", "numpy"))
    command = " ".join(["python tools/faults.py", *sys.argv[1:]])
    foot = f"`{command}`; {versions}; Python {platform.python_version()}, {len(os.sched_getaffinity(0))} core(s)."
    RESULTS.write_text(f"# Faults\n\n{__doc__.split(chr(10) * 2, 2)[2].strip()}\n\n{table(rows)}\n\n{foot}\n")
    print(RESULTS.read_text())
    return 1 if any(row.lost for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
