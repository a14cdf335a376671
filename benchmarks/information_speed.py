"""How fast is KSG? Every contender in a fresh process, one after the other, on the same rows.

    .venv/bin/python benchmarks/information_speed.py

Writes benchmarks/results/information_speed.md; cases are kept in benchmarks/.data, so that some can be measured again.
Times are the best of two to five runs in one process, after a
warm-up on a few rows that pays for imports. Processor time is given too: on a busy machine it is the steadier measure.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from information_peers import HERE, peer_python

CASES = [
    (1, 10**4),
    (1, 10**5),
    (1, 10**6),
    (3, 10**4),
    (3, 3 * 10**4),
    (3, 10**5),
    (5, 10**4),
    (5, 3 * 10**4),
    (5, 10**5),
    (10, 10**4),
]
PEERS = ["scikit_learn", "ennemi", "npeet_plus", "infomeasure"]
K = 3
TIMEOUT = 180.0
STORE = HERE / ".data" / "information_speed.json"


def load():
    """Cases measured earlier."""
    return {(d, n): found for d, n, found in json.loads(STORE.read_text())} if STORE.exists() else {}


def rows(d, n):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, d))
    return x, 0.6 * x + 0.8 * rng.standard_normal((n, d))


def run(name, path):
    python = sys.executable if name == "latentry" else peer_python()
    try:
        done = subprocess.run(
            [python, str(HERE / "information_peers.py"), name, str(K), str(path)],
            capture_output=True, text=True, timeout=TIMEOUT, check=True,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"missing": f"> {TIMEOUT:.0f} s"}
    return json.loads(done.stdout)


def faster(one, two):
    """The better of two processes, wall and processor time each."""
    return one | {what: min(one[what], two[what]) for what in ("best", "cpu")}


def cell(found):
    return found.get("missing") or f"{found['best']:.3g} ({found['cpu']:.3g})"


def ratio(found, what):
    """The fastest peer's time over ours."""
    peers = [found[p][what] for p in PEERS if what in found[p]]
    return f"**{min(peers) / found['latentry'][what]:.1f}×**" if peers else "–"


def table(results):
    head = [
        "columns",
        "rows",
        "latentry",
        *PEERS,
        "fastest peer / latentry, wall",
        "the same, processor",
        "latentry peak MB",
    ]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for (d, n), found in sorted(results.items()):
        times = [cell(found[name]) for name in ["latentry", *PEERS]]
        ends = [ratio(found, "best"), ratio(found, "cpu"), f"{found['latentry'].get('peak_mb', 0):.0f}"]
        lines.append("| " + " | ".join([f"{d}+{d}", f"{n:.0e}", *times, *ends]) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--cases", nargs="*", default=[f"{d}x{n}" for d, n in CASES], help="columns a side x rows, as 3x10000"
    )
    cases = [tuple(map(int, case.split("x"))) for case in parser.parse_args().cases]
    results = load()
    with tempfile.TemporaryDirectory() as folder:
        for d, n in cases:
            path = Path(folder) / f"{d}-{n}.npz"
            x, y = rows(d, n)
            np.savez(path, x=x, y=y)
            found = {name: run(name, path) for name in ["latentry", *PEERS]}
            for name in ("latentry", "npeet_plus") if n < 10**5 else ():  # the closest race: once more, in turn
                found[name] = faster(found[name], run(name, path))
            results[d, n] = found
            STORE.write_text(json.dumps([[*case, found] for case, found in results.items()]))
            values = {name: round(f["value"], 4) for name, f in results[d, n].items() if "value" in f}
            print(d, n, {name: cell(f) for name, f in results[d, n].items()}, values, flush=True)
    text = f"""# Speed of KSG1 (wall seconds, in brackets processor seconds; k = {K})

`python benchmarks/information_speed.py`; correlated normals, {os.cpu_count()} cores, Python {platform.python_version()}.
scikit-learn 1.9.1 (single columns only), ennemi 1.5.0, npeet-plus 0.2.0, infomeasure 0.6.3, each in a fresh
process after a warm-up on 500 rows, best of two to five runs; below 10⁵ rows latentry and npeet-plus, the closest
race, in two processes each. All agree on the value to one part in a thousand. Every process was kept on
{len(os.sched_getaffinity(0))} of {os.cpu_count()} cores; given more, latentry uses them and
the peers do not. Other work was running: read the ratios of processor time.

{table(results)}

3+3 at 1e+05 was measured twice, because other work had disturbed npeet-plus (9.95 seconds of processor time); the second stands.

What was tried: processor seconds of the three searches alone, measured once or twice on one core, not at the time of the table
above. The first row is the whole call, from the table before this one.

| engine | 3+3, 1e+04 | 5+5, 1e+04 | 5+5, 3e+04 | 10+10, 1e+04 |
|---|---|---|---|---|
| before: scikit-learn's trees on reordered rows (10+10: all pairs by JAX), whole call | 0.267 | 0.696 | 2.77 | 0.86 |
| numba, a leaf of rows at a time, leaves of 8 | 0.117 | 0.477 | 2.20 | 1.40 |
| leaves of 16 | 0.090 | 0.268 | 1.45 | 0.743 |
| leaves of 32 | 0.048 | 0.134 | 0.748 | 0.418 |
| leaves of 64 | 0.032 | 0.081 | 0.424 | 0.273 |
| leaves of 128 | 0.027 | 0.074 | 0.354 | 0.253 |
| as used: leaves of 64, three columns at a time instead of four, rows of another tree may ask | 0.033 | 0.096 | 0.477 | 0.298 |

SciPy's tree was the engine in the plane before: 0.0113 against 0.0047 seconds for the k-th distances of 1+1 at 1e+04. A
search for one row at a time in numba was not tried. All pairs by JAX took 1.1 to 2.9 times as long as
the tree on one core at 6+6 to 50+50 columns and 3,000 to 10,000 rows. It is left for accelerators, on which nothing was measured.

Cases not run: {", ".join(f"{d}+{d} at {n:.0e}" for d, n in CASES if (d, n) not in results) or "none"}.
"""
    (HERE / "results" / "information_speed.md").write_text(text)


if __name__ == "__main__":
    main()
