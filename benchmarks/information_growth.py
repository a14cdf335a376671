"""How does the time of `mutual_information` (estimator "auto") grow with the rows, and does the answer stay right?

    .venv/bin/python benchmarks/information_growth.py
    .venv/bin/python benchmarks/information_growth.py --before FOLDER     # the same with an older version's src folder

Writes benchmarks/results/information_growth.md. Every run in a fresh process, after a warm-up on a few rows that pays for imports
and compilation; processor time, once. Runs are kept in benchmarks/.data, so that some can be measured again (--cases 10x10000).
"""

import argparse
import json
import os
import subprocess
import sys
import time
from importlib.metadata import version

import numpy as np

from common import HERE, publish, table

ROWS = (10_000, 20_000, 40_000, 100_000, 1_000_000)
CASES = [(1000, 1, 1), (3000, 3, 3), *[(n, 10, 10) for n in ROWS], *[(n, 20, 20) for n in ROWS]]
TASKS = [
    "dense normal 5x5",
    "two-pair normal 25x25",
    "Student 5x5 df=2",
    "half-cube of two-pair normal 3x3",
    "spiral of two-pair normal 3x3",
    "spiral of normal CDF of two-pair normal 5x5",
]
TASK_ROWS = (10_000, 40_000)
TIMEOUT = 450.0
STORE = HERE / ".data" / "information_growth.json"


def rows(n, d, e):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, d))
    return x, 0.6 * x[:, :e] + 0.8 * rng.standard_normal((n, e))


def once(name):
    """One measurement, in this process: "nxdxe" of correlated normals, or a task and its rows."""
    import latentry as lt
    from latentry.generators import information_tasks as it

    if name[0].isdigit():
        n, d, e = map(int, name.split("x"))
        (x, y), truth = rows(n, d, e), -0.5 * min(d, e) * np.log(1 - 0.6**2)
    else:
        task, n = name.rsplit(" @", 1)
        (x, y), truth = it.task(task).sample(int(n), seed=1), it.task(task).truth
    lt.mutual_information(x[:300], y[:300])
    spent = []
    while len(spent) < (5 if len(x) < 10_000 else 1):
        start = time.process_time()
        found = lt.mutual_information(x, y)
        spent.append(time.process_time() - start)
    print(json.dumps({
        "cpu": min(spent), "value": float(found), "low": found.low, "high": found.high, "method": found.method,
        "warnings": found.warnings, "truth": float(truth),
    }))  # fmt: skip


def run(name, source):
    environment = {**os.environ, **({"PYTHONPATH": source} if source else {})}
    command = [sys.executable, __file__, "--once", name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=True, env=environment)
    except subprocess.TimeoutExpired:
        return {"missing": f"> {TIMEOUT:.0f}"}
    return json.loads(done.stdout)


def seconds(found):
    return "–" if found is None else found.get("missing") or f"{found['cpu']:.3g}"


def answer(found):
    if found is None or "missing" in found:
        return "–"
    return f"{found['value']:.3f} [{found['low']:.3f}, {found['high']:.3f}]"


def holds(found):
    return (
        "–"
        if found is None or "missing" in found
        else ("yes" if found["low"] <= found["truth"] <= found["high"] else "no")
    )


def times(results):
    lines = []
    for n, d, e in CASES:
        old, new = (results.get(f"{which}:{n}x{d}x{e}") for which in ("before", "now"))
        truth = f"{new['truth']:.3f}" if new and "truth" in new else "–"
        lines.append([f"{d}+{e}", n, seconds(old), seconds(new), answer(new), truth, holds(new)])
    return table(["columns", "rows", "before", "now", "the answer now", "truth", "inside"], lines)


def answers(results):
    lines = []
    for task, n in [(task, n) for task in TASKS for n in TASK_ROWS]:
        old, new = (results.get(f"{which}:{task} @{n}") for which in ("before", "now"))
        if new is not None and "missing" not in new:
            same = "–" if old is None else "yes" if old["value"] == new["value"] else "no"
            lines.append([task, n, answer(old), answer(new), same, f"{new['truth']:.3f}", holds(new), new["method"]])
    return table(["task", "rows", "before", "now", "same bits", "truth", "inside now", "method now"], lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--once")
    parser.add_argument("--before", help="src folder of an older version")
    parser.add_argument(
        "--cases", nargs="*", default=[f"{n}x{d}x{e}" for n, d, e in CASES], help="rows x columns x columns"
    )
    parser.add_argument("--tasks", nargs="*", default=[f"{task} @{n}" for task in TASKS for n in TASK_ROWS])
    given = parser.parse_args()
    if given.once:
        return once(given.once)
    results = json.loads(STORE.read_text()) if STORE.exists() else {}
    which = "before" if given.before else "now"
    for name in [*given.cases, *given.tasks]:
        results[f"{which}:{name}"] = found = run(name, given.before)
        STORE.parent.mkdir(exist_ok=True)
        STORE.write_text(json.dumps(results))
        print(which, name, seconds(found), answer(found), found.get("method", ""), flush=True)
    versions = ", ".join(f"{name} {version(name)}" for name in ("latentry", "numba", "numpy", "scipy"))
    publish("information_growth", TEXT.format(times=times(results), answers=answers(results), versions=versions))
    return None


TEXT = """# Growth of `mutual_information` with the rows (estimator "auto", defaults)

`python benchmarks/information_growth.py`; processor seconds of one call in a fresh process after a warm-up on 300 rows, below
10⁴ rows the best of five; correlated normals, seed 0. "before" is commit 8f4865a, measured on the same machine with
`--before`; "–" was not run.

{times}

Above 20,000 rows and three joint columns, neighbours are counted around 20,000 rows drawn by seed, among all rows: the bias is
that of all rows, the sampling error that of the drawn ones. The method or the reason names their number; a warning says so where
the answer stands on them. Functions are learned, and their neighbours counted, on the drawn rows alone, as before. Copulas take
all rows. From 10⁵ to 10⁶ rows of 10+10 columns the time grew by a factor of 7.

The answers, seed 1; up to 20,000 rows they must not change:

{answers}

{versions}.
"""


if __name__ == "__main__":
    main()
