"""CausalPIMA(nodes="auto"): nodes, outcomes and modalities that the rows are said to have, beside the true ones.

Run: python benchmarks/nodes_auto.py [--only lattices circles pendulum planted] [--seeds 5] [--first 100] [--fresh]
Runs that are in .data/nodes_auto.jsonl are not repeated; tables go to results/nodes_auto.md.
The rule for counts saw lattices of seeds 0 to 2, circles of seeds 0 to 4, pendulum of seed 0, and the penguins.
"""

import argparse
import json
import time
from collections import Counter

import numpy as np

import latentry as lt
from causal_pima import CIRCLES, LATTICES, PENDULUM
from latentry.generators import circles, lattices, pendulum
from latentry.models.causal_pima.component_counts import group_strengths

from common import HERE, RESULTS, provenance, table

LINES = HERE / ".data" / "nodes_auto.jsonl"
BOTH = ("image", "curve")
TASKS = {
    "lattices": (lambda seed: lattices(seed=seed), LATTICES, ("lattice", "profile")),
    "circles": (lambda seed: circles(seed=seed), CIRCLES, ("hue", "radius", "shift")),
    "pendulum": (
        lambda seed: pendulum(rows=2048, seed=seed), PENDULUM, ("angle_state", "light_state"),
    ),
}  # fmt: skip


def true_nodes(name):
    """Outcomes and modalities of each true node: all are binary."""
    if name == "lattices":
        return Counter({(2, BOTH): 1, (2, ("curve",)): 1})
    return Counter({(2, ("image",)): 3}) if name == "circles" else Counter({(2, ("image", "readings")): 2})


def accuracy(model, data, factors):
    """Of each factor, the fraction of rows that its best node tells."""
    labels = model.node_values(data)
    found = []
    for factor in factors:
        truth = np.asarray(data.factors[factor])
        told = [sum(np.bincount(truth[node == v]).max() for v in np.unique(node)) for node in labels.T]
        found.append(max(told) / len(truth))
    return found


def run(name, seed):
    make, settings, factors = TASKS[name]
    data, began = make(seed), time.time()
    row = {"task": name, "seed": seed}
    try:
        model = lt.CausalPIMA().set_params(**settings | {"nodes": "auto", "seed": seed}).fit(data)
    except lt.DataError as error:
        return row | {"seconds": time.time() - began, "refused": str(error)}
    acts = model.modalities_of_nodes_
    found = Counter((size, acts[node]) for node, size in model.nodes_.items())
    return row | {
        "seconds": time.time() - began,
        "outcomes": sorted(model.nodes_.values()),
        "right outcomes": sorted(model.nodes_.values()) == sorted(size for size, _ in true_nodes(name).elements()),
        "right modalities": found == true_nodes(name),
        "accuracy": accuracy(model, make(1000 + seed), factors),
        "choices": list(model.choices_),
    }


def planted(seed):
    """Counts of Gaussian groups whose means are 4 to 6 standard deviations apart, and of one group with no valley."""
    rng, found = np.random.default_rng(seed), {}
    for rows in (100, 400, 1600):
        for count in (1, 2, 3, 4, 6, 8):
            points = _groups(rng, rows, count)
            found[f"{rows} rows, {count}"] = group_strengths(points, seed=seed).count
        found[f"{rows} rows, 1 long"] = group_strengths(rng.normal(size=(rows, 4)) * [5, 1, 1, 1], seed=seed).count
        found[f"{rows} rows, 1 flat"] = group_strengths(rng.random((rows, 2)) * [4, 1], seed=seed).count
    return {"task": "planted", "seed": seed, "counts": found}


def _groups(rng, rows, count):
    """Groups of unequal sizes in five columns, the nearest two 5 standard deviations apart."""
    centres = rng.normal(size=(count, 5))
    apart = [np.linalg.norm(a - b) for i, a in enumerate(centres) for b in centres[:i]]
    centres *= 5 / min(apart, default=1)
    sizes = rng.dirichlet(np.full(count, 10.0))
    return centres[rng.choice(count, rows, p=sizes)] + rng.normal(size=(rows, 5))


def page(rows):
    parts = ["# Nodes that were chosen from the rows\n"]
    models = [row for row in rows if row["task"] != "planted"]
    lines = []
    for task in dict.fromkeys(row["task"] for row in models):
        those = [row for row in models if row["task"] == task]
        lines.append([
            task, len(those), sum(row.get("right outcomes", False) for row in those),
            sum(row.get("right modalities", False) for row in those), f"{np.mean([row['seconds'] for row in those]):.0f}",
        ])  # fmt: skip
    head = ["data", "runs", "outcomes right", "outcomes and modalities right", "seconds a fit, choosing included"]
    parts.append(table(head, lines))
    for row in models:
        what = row.get("refused") or f"outcomes {row['outcomes']}, accuracy of the factors on new rows " + ", ".join(
            f"{value:.2f}" for value in row["accuracy"]
        )
        parts.append(f"\n**{row['task']}, seed {row['seed']}** ({row['seconds']:.0f} s): {what}.\n")
        parts += [f"- {sentence}" for sentence in row.get("choices", ())]
    parts.append(_planted_table([row for row in rows if row["task"] == "planted"]))
    parts.append(f"\n{provenance()}")
    return "\n".join(parts)


def _planted_table(rows):
    if not rows:
        return ""
    cases = list(rows[0]["counts"])
    lines = []
    for case in cases:
        truth = int(case.split(", ")[1].split()[0])
        counts = [row["counts"][case] for row in rows]
        lines.append(
            [case, f"{np.mean([count == truth for count in counts]):.2f}", dict(sorted(Counter(counts).items()))]
        )
    words = (
        "\n## Counts on planted groups\n\nGaussian groups of unequal sizes in five columns, the nearest two 5 standard "
        f"deviations apart; one long Gaussian; one flat rectangle. {len(rows)} draws each.\n\n"
    )
    return words + table(["rows and true groups", "right", "counted"], lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="+", default=[*TASKS, "planted"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=100)
    parser.add_argument("--fresh", action="store_true")
    options = parser.parse_args()
    LINES.parent.mkdir(exist_ok=True)
    if options.fresh:
        LINES.unlink(missing_ok=True)
    rows = [json.loads(line) for line in LINES.read_text().splitlines()] if LINES.exists() else []
    done = {(row["task"], row["seed"]) for row in rows}
    for seed in range(options.first, options.first + options.seeds):
        for task in options.only:
            if (task, seed) not in done:
                rows.append(planted(seed) if task == "planted" else run(task, seed))
                with LINES.open("a") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
    (RESULTS / "nodes_auto.md").write_text(page(rows) + "\n")


if __name__ == "__main__":
    main()
