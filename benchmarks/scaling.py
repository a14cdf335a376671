"""Many fits: the same sweep in one process, in two, on a cluster of Dask and one of Ray, with a worker killed in the middle.

    .venv/bin/python benchmarks/scaling.py [--fits 60]

Dask: a scheduler and two workers on the loopback interface, one of which is killed after a third of the fits. Ray: one node,
one of whose worker processes is killed likewise. Tables are compared bit for bit, but for seconds and folders.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import latentry as lt

from common import provenance, publish, table

MACHINE = {"seconds", "folder"}


def jobs(count: int) -> list[lt.Job]:
    data = lt.generators.segments(domains=6, rows_per_domain=200, latents=3)
    return [
        lt.Job(lt.VAE(latent_dim=1 + number % 3, epochs=20, seed=number // 3), data, f"fit-{number:03d}")
        for number in range(count)
    ]


def decisive(found: lt.ManyFits) -> dict:
    return {name: column for name, column in found.columns().items() if name not in MACHINE}


class Killer(threading.Thread):
    """Kills a process when so many fits are done."""

    def __init__(self, folder: Path, after: int, victim) -> None:
        super().__init__(daemon=True)
        self.folder, self.after, self.victim, self.killed = folder, after, victim, 0

    def run(self) -> None:
        while len(list(self.folder.glob("*/outcome.json"))) < self.after:
            time.sleep(0.2)
        self.killed = self.victim()
        os.kill(self.killed, signal.SIGKILL)


def timed(name: str, count: int, victim=None, **engine) -> tuple[dict, float, int]:
    with tempfile.TemporaryDirectory() as place:
        killer = None if victim is None else Killer(Path(place), count // 3, victim)
        if killer is not None:
            killer.start()
        began = time.perf_counter()
        found = lt.fit_many(jobs(count), folder=place, progress=False, **engine)
        seconds = time.perf_counter() - began
        print(name, f"{seconds:.1f} s", len(found.failed), "failed", flush=True)
        for row in found.failed:
            print(row.name, row.reason, flush=True)
        return decisive(found), seconds, len(found.failed)


def on_dask(count: int) -> tuple[dict, float, int]:
    start = [
        sys.executable,
        "-m",
        "distributed.cli.dask_scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        "18786",
        "--no-dashboard",
    ]
    scheduler = subprocess.Popen(start, stderr=subprocess.DEVNULL)
    work = [
        sys.executable,
        "-m",
        "distributed.cli.dask_worker",
        "tcp://127.0.0.1:18786",
        "--nthreads",
        "1",
        "--no-nanny",
    ]
    time.sleep(4)
    workers = [subprocess.Popen([*work, "--no-dashboard"], stderr=subprocess.DEVNULL) for _ in range(2)]
    try:
        return timed("dask", count, lambda: workers[0].pid, executor="dask", address="tcp://127.0.0.1:18786")
    finally:
        for process in (*workers, scheduler):
            process.terminate()


def on_ray(count: int) -> tuple[dict, float, int]:
    import psutil

    def victim() -> int:
        while True:
            for process in psutil.process_iter(["cmdline"]):
                if "job_text" in " ".join(process.info["cmdline"] or ()):
                    return process.pid
            time.sleep(0.05)

    return timed("ray", count, victim, executor="ray", workers=2)


def local_with_a_kill(count: int) -> tuple[dict, float, int]:
    import psutil

    def victim() -> int:
        return next(child.pid for child in psutil.Process().children() if "serve" in " ".join(child.cmdline()))

    return timed("two processes, one killed", count, victim, workers=2)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--fits", type=int, default=60)
    count = parser.parse_args().fits
    timed("first, which compiles", 3, executor="here")
    alone, seconds, failed = timed("this process", count, executor="here")
    rows = [["this process, one after the other", f"{seconds:.0f}", failed, "–"]]
    runs = {
        "two processes of this machine": lambda: timed("two processes", count, workers=2),
        "the same, one killed after a third": lambda: local_with_a_kill(count),
        "Dask: scheduler and two workers on loopback, one killed after a third": lambda: on_dask(count),
        "Ray: two workers on one node, one killed after a third": lambda: on_ray(count),
    }
    for name, run in runs.items():
        columns, seconds, failed = run()
        rows.append([name, f"{seconds:.0f}", failed, "yes" if columns == alone else "no"])
    text = f"# Many fits\n\n{count} fits of a VAE (20 epochs, 1,200 rows × 3 columns, 1 to 3 latents, {count // 3} seeds).\n\n"
    text += table(["engine", "seconds", "failed", "same table, bit for bit"], rows)
    text += "\n\nSeconds by the clock, starting of processes included; compiled programs were in the cache. "
    text += "Other programs ran on the machine.\n\n"
    publish("many_fits", text + provenance(("latentry", "jax", "distributed", "ray")))


if __name__ == "__main__":
    main()
