"""Mean absolute error over the forty tasks of known truth, and how often the 95 % intervals hold it.

    .venv/bin/python benchmarks/information_accuracy.py [--seeds 5] [--sizes 2000 5000]

Writes benchmarks/results/information_accuracy.md. Finished runs are kept in benchmarks/.data, so an interrupted benchmark goes on
where it stopped. Peers run in their own environment on the same rows, standardised column by column; an estimate that takes longer
than five minutes is left out and said so.
"""

import argparse
import json
import platform
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from information_peers import HERE, peer_python
from latentry.generators import information_tasks as it
from latentry.information import NORMALISERS, mutual_information

OURS = ("auto", "ksg", "ksg copula", "gaussian copula", "student")
PEERS = ("cca", "ennemi", "npeet_plus", "infomeasure", "scikit_learn", "torch_mist_infonce")
FEWER_SEEDS = {"torch_mist_infonce": 3}  # a trained peer takes seconds a run
K = 5
TIMEOUT = 300.0
NAMES = tuple(t.name for t in it.tasks())
CACHE = HERE / ".data" / "information_accuracy.json"


def ours(method, x, y):
    name, _, normaliser = method.partition(" ")
    k = K if name == "ksg" else None
    found = mutual_information(x, y, estimator=name, normalize=normaliser or "default", k=k)
    doubts = ("may still be too low", "cannot refute", "too few")
    warned = any(words in sentence for sentence in found.warnings for words in doubts)
    return {"value": float(found), "low": found.low, "high": found.high, "method": found.method, "warned": warned}


def peers(name, samples):
    """Values of one peer for all seeds of a task, in one process; if it runs out of time, None."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{i}.npz" for i in range(len(samples))]
        for path, (x, y) in zip(paths, samples, strict=True):
            np.savez(path, x=NORMALISERS["std"](x), y=NORMALISERS["std"](y))
        command = [peer_python(name), str(HERE / "information_peers.py"), name, str(K), *map(str, paths), "--once"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT * len(samples), check=True)
        except subprocess.TimeoutExpired:
            return [{"value": None}] * len(samples)
    return [{"value": json.loads(line).get("value")} for line in done.stdout.splitlines()]


def load():
    return json.loads(CACHE.read_text()) if CACHE.exists() else {}


def save(results):
    """Write down what is new beside what other runs of this script have found meanwhile."""
    CACHE.parent.mkdir(exist_ok=True)
    CACHE.write_text(json.dumps(load() | results))


def fill(results, sizes, seeds, methods):
    for n in sizes:
        for method in methods:
            for task in it.tasks():
                wanted = range(min(seeds, FEWER_SEEDS.get(method, seeds)))
                missing = [s for s in wanted if f"{method}|{task.name}|{n}|{s}" not in results]
                samples = [task.sample(n, seed=s) for s in missing]
                if method in OURS:
                    found = [ours(method, x, y) for x, y in samples]
                elif method == "scikit_learn" and (task.dim_x, task.dim_y) != (1, 1):
                    found = [{"value": None}] * len(missing)
                else:
                    found = peers(method, samples) if samples else []
                for seed, one in zip(missing, found, strict=True):
                    results[f"{method}|{task.name}|{n}|{seed}"] = one
                if missing:
                    save(results)
            print(n, method, f"{error(results, method, it.tasks(), n, seeds):.4f}", flush=True)


def draws(results, method, n, seeds):
    """On how many draws of every task a method has been run."""
    whole = [all(f"{method}|{name}|{n}|{s}" in results for name in NAMES) for s in range(seeds)]
    return whole.index(False) if False in whole else seeds


def values(results, method, task, n, seeds):
    found = [results[f"{method}|{task.name}|{n}|{s}"]["value"] for s in range(draws(results, method, n, seeds))]
    return np.array([np.nan if v is None else v for v in found])


def error(results, method, tasks, n, seeds):
    if not draws(results, method, n, seeds):
        return np.nan
    each = [np.mean(np.abs(values(results, method, t, n, seeds) - t.truth)) for t in tasks]
    return float(np.mean(each))


def spread(results, method, tasks, n, seeds):
    """Standard deviation over seeds of the mean absolute error."""
    table = np.array([np.abs(values(results, method, t, n, seeds) - t.truth) for t in tasks])
    return float(np.std(table.mean(axis=0), ddof=1)) if table.shape[1] > 1 else np.nan


def summary(results, sizes, seeds, methods):
    groups = {"all 40": it.tasks(), "d ≤ 3": [t for t in it.tasks() if max(t.dim_x, t.dim_y) <= 3]}
    groups |= {f"1+1 ({len(_single())})": _single()}
    lines = ["| n | method | seeds | " + " | ".join(groups) + " |", "|---|---|---|" + "---|" * len(groups)]
    for n in sizes:
        for method in finished(results, methods, n, seeds):
            cells = []
            for tasks in groups.values():
                value = error(results, method, tasks, n, seeds)
                over = spread(results, method, tasks, n, seeds)
                shown = f"{value:.4f}" if np.isnan(over) else f"{value:.4f} ± {over:.4f}"
                cells.append("–" if np.isnan(value) else shown)
            lines.append(f"| {n} | {method} | {draws(results, method, n, seeds)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _single():
    return [t for t in it.tasks() if t.dim_x == t.dim_y == 1]


def picks(results, task, n, seeds):
    runs = [results[f"auto|{task.name}|{n}|{s}"] for s in range(draws(results, "auto", n, seeds))]
    found = [run["method"].removeprefix("auto: ").split(" ")[0] for run in runs]
    return ", ".join(f"{name} {found.count(name)}" for name in dict.fromkeys(found))


def finished(results, methods, n, seeds):
    """The methods that have been run on every task at this size."""
    return [method for method in methods if draws(results, method, n, seeds)]


def every_task(results, n, seeds, methods):
    methods = finished(results, methods, n, seeds)
    lines = ["| task | truth | " + " | ".join(methods) + " | auto picked |", "|---|---|" + "---|" * (len(methods) + 1)]
    for task in it.tasks():
        cells = []
        for method in methods:
            value = np.mean(values(results, method, task, n, seeds))
            cells.append("–" if np.isnan(value) else f"{value:.3f}")
        lines.append(
            f"| {task.name} | {task.truth:.3f} | " + " | ".join(cells) + f" | {picks(results, task, n, seeds)} |"
        )
    return "\n".join(lines)


def coverage(results, sizes, seeds):
    """Share of intervals that hold the truth, by groups of tasks, and by whether `auto` itself doubted them."""
    heads = ["all 40", "d ≤ 3", "spirals (6)", "all but spirals (34)", "without a warning", "with a warning"]
    lines = ["| n | method | " + " | ".join(heads) + " |", "|---|---|" + "---|" * len(heads)]
    for n in sizes:
        for method in finished(results, ("auto", "ksg"), n, seeds):
            some = range(draws(results, method, n, seeds))
            runs = [(t, results[f"{method}|{t.name}|{n}|{s}"]) for t in it.tasks() for s in some]
            groups = [
                runs,
                [(t, r) for t, r in runs if max(t.dim_x, t.dim_y) <= 3],
                [(t, r) for t, r in runs if "spiral" in t.name],
                [(t, r) for t, r in runs if "spiral" not in t.name],
                [(t, r) for t, r in runs if r.get("warned") is False],
                [(t, r) for t, r in runs if r.get("warned")],
            ]
            lines.append(f"| {n} | {method} | " + " | ".join(map(_share, groups)) + " |")
    return "\n".join(lines)


def _share(runs):
    inside = [r["low"] <= t.truth <= r["high"] for t, r in runs]
    return f"{100 * np.mean(inside):.0f} % of {len(inside)}" if inside else "–"


def _holds(results, method, task, n, seed):
    found = results[f"{method}|{task.name}|{n}|{seed}"]
    return found["low"] <= task.truth <= found["high"]


def uncovered(results, n, seeds):
    bad = []
    for task in it.tasks():
        share = np.mean([_holds(results, "auto", task, n, s) for s in range(draws(results, "auto", n, seeds))])
        if share < 0.8:
            bad.append(f"{task.name} ({100 * share:.0f} %)")
    return "; ".join(bad) or "none"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sizes", type=int, nargs="+", default=[2000, 5000])
    parser.add_argument("--methods", nargs="+", default=[*OURS, *PEERS])
    parser.add_argument("--table", action="store_true", help="only write the table from the finished runs")
    options = parser.parse_args()
    results = load()
    if not options.table:
        fill(results, options.sizes, options.seeds, options.methods)
    write(results, options.sizes, options.seeds, [*OURS, *PEERS])


def write(results, sizes, seeds, methods):
    last = sizes[-1]
    best = {
        n: min(
            e for m in finished(results, PEERS, n, seeds) if not np.isnan(e := error(results, m, it.tasks(), n, seeds))
        )
        for n in sizes
    }
    ratio = "; ".join(f"n = {n}: {best[n] / error(results, 'auto', it.tasks(), n, seeds):.1f}×" for n in sizes)
    text = f"""# Accuracy on forty tasks of known truth (nats)

`python benchmarks/information_accuracy.py`; tasks of Czyż et al. (NeurIPS 2023) sampled natively, seeds from 0 on,
neighbours k = {K}, Python {platform.python_version()}, numpy {np.__version__}. Peers get standardised columns: ennemi 1.5.0,
npeet-plus 0.2.0, infomeasure 0.6.3, scikit-learn 1.9.1, torch-mist 0.2.17 (InfoNCE, two layers of 64, up to 50 epochs, measured on
the last quarter of the rows), and `cca`, plain canonical correlations. A peer is
listed where it was run on all tasks; "–" marks shapes that it does not take, or runs of more than {TIMEOUT:.0f} s.

## Mean absolute error (mean over tasks ± standard deviation over seeds)

{summary(results, sizes, seeds, methods)}

Error of the best peer listed over the error of `auto`: {ratio}. `cca` is our own few lines of the textbook formula.

These forty tasks are not unseen: the candidates of `auto`, the thresholds between them and the settings of the learned functions
were chosen while looking at errors on these tasks (seeds 0 and 1, n = 2000 mostly). Truths never enter a run, but read the table as
performance on the tasks that it was developed on. Check on one seed never used before (1000, n = 2000): `auto` 0.035 over all 40,
0.026 for d ≤ 3, `cca` 0.203 (before the upper ends were raised; their rates were chosen looking at seeds 0, 7 and 8).

## Coverage of the 95 % intervals

{coverage(results, sizes, seeds)}

`ksg` speaks of sampling error alone and fails wherever the answer is too low, as in many dimensions. `auto` raises the upper end
by what it extrapolates to be missing, and warns (last columns: doubt about the interval, in words) where that may not do: learned
functions, neighbour counts that still grow, Gaussian copulas that a test of their residuals refutes, and Gaussian copulas of
so many columns that nothing here could refute them. Tasks that `auto` covers in fewer than four fifths of its runs at n = {last}:
{uncovered(results, last, seeds)}.

Tried for the same end, on seed 0: (1) the largest disagreement between candidates, which says nothing at 25 + 25 columns, where
every other candidate reads less than the copula; (2) the held-out gain of learned over linear functions, negative there for
normals and spirals alike; (3) a test of the residuals of the copula, which finds five of the six spirals in nearly every draw (not
the weak one at 25 + 25) and normals at its level; (4) extrapolation in k and in the rows learned from. Kept: (3) and (4).

## Every task, mean over seeds, n = {last}

{every_task(results, last, seeds, methods)}

## Every task, mean over seeds, n = {sizes[0]}

{every_task(results, sizes[0], seeds, methods)}
"""
    (HERE / "results" / "information_accuracy.md").write_text(text)
    print(summary(results, sizes, seeds, methods), coverage(results, sizes, seeds), sep="\n")


if __name__ == "__main__":
    main()
