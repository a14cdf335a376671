"""Would `auto` gain from trained estimators? Critics and flows beside it on tasks that its other candidates find hard, or easy.

    .venv/bin/python benchmarks/information_trained.py [--seeds 1] [--tasks "normal 1x1" ...]

Writes benchmarks/results/information_trained.md: mean value over seeds, and seconds a run. Finished rows are kept
in benchmarks/.data.
"""

import argparse
import json
import platform
import time

import numpy as np

from information_peers import HERE
from latentry.generators import information_tasks as it
from latentry.information import mutual_information

TASKS = [
    "normal 1x1",
    "two-pair normal 5x5",
    "Student 3x3 df=2",
    "spiral of two-pair normal 3x3",
    "spiral of two-pair normal 5x5",
    "spiral of two-pair normal 25x25",
]
METHODS = ["auto", "infonce", "mine", "nwj", "smile", "flow"]
ROWS = 2000
CACHE = HERE / ".data" / "information_trained.json"


def row(name, seeds):
    task, cells, spent = it.task(name), [], []
    for method in METHODS:
        start = time.perf_counter()
        found = [mutual_information(*task.sample(ROWS, s), estimator=method, confidence=None) for s in range(seeds)]
        spent.append((time.perf_counter() - start) / seeds)
        cells.append(f"{np.mean(found):.3f}")
    return f"| {name} | {task.truth:.3f} | " + " | ".join(cells) + f" | {spent[0]:.0f} / {np.mean(spent[1:]):.0f} |"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--tasks", nargs="+", default=TASKS)
    options = parser.parse_args()
    seeds, kept = options.seeds, json.loads(CACHE.read_text()) if CACHE.exists() else {}
    for name in options.tasks:
        kept[f"{name}|{seeds}"] = kept.get(f"{name}|{seeds}") or row(name, seeds)
        CACHE.parent.mkdir(exist_ok=True)
        CACHE.write_text(json.dumps(kept))
    lines = [kept[f"{name}|{seeds}"] for name in TASKS if f"{name}|{seeds}" in kept]
    text = f"""# Trained estimators beside `auto` (nats)

`python benchmarks/information_trained.py --seeds {seeds}`; n = {ROWS}, mean over seeds 0 to {seeds - 1}, default steps,
Python {platform.python_version()}, a shared machine. The last column is seconds a run: auto / mean of the others.

| task | truth | {" | ".join(METHODS)} | seconds |
|---|---|{"---|" * (len(METHODS) + 1)}
{chr(10).join(lines)}

A trained estimator would have to read more than the others, on rows that it did not see, to be picked.
"""
    (HERE / "results" / "information_trained.md").write_text(text)


if __name__ == "__main__":
    main()
