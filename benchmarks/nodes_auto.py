"""CausalPIMA(nodes="auto"): nodes, outcomes and modalities that the rows are said to have, beside the true ones.

Run: python benchmarks/nodes_auto.py [--only lattices "counts circles" "planted 100" ...] [--seeds 5] [--first 100] [--fresh]
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
from latentry.models.causal_pima.node_candidates import candidates, count_components

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


def counts(task, seed):
    """The nodes nearest to the counts of groups, without any fit."""
    name, began = task.removeprefix("counts "), time.time()
    data = TASKS[name][0](seed)
    strengths = count_components(data, data.names, seed)
    near = candidates(strengths)
    truth = {acted: size**times for (size, acted), times in true_nodes(name).items()}
    return {
        "task": task,
        "seed": seed,
        "seconds": time.time() - began,
        "counts": {"+".join(chosen): found.count for chosen, found in strengths.items()},
        "right": bool(near) and {node.modalities: node.outcomes for node in near[0].nodes} == truth,
    }


def planted(task, seed):
    """Counts of Gaussian groups whose nearest means are 5 standard deviations apart, and of one group with no valley."""
    rng, found, rows = np.random.default_rng(seed), {}, int(task.removeprefix("planted "))
    for count in (1, 2, 3, 4, 6, 8):
        found[f"{count}"] = group_strengths(_groups(rng, rows, count), seed=seed).count
    found["1 long"] = group_strengths(rng.normal(size=(rows, 4)) * [5, 1, 1, 1], seed=seed).count
    found["1 flat"] = group_strengths(rng.random((rows, 2)) * [4, 1], seed=seed).count
    return {"task": task, "seed": seed, "counts": found}


def _groups(rng, rows, count):
    """Groups of unequal sizes in five columns, the nearest two 5 standard deviations apart."""
    centres = rng.normal(size=(count, 5))
    apart = [np.linalg.norm(a - b) for i, a in enumerate(centres) for b in centres[:i]]
    centres *= 5 / min(apart, default=1)
    sizes = rng.dirichlet(np.full(count, 10.0))
    return centres[rng.choice(count, rows, p=sizes)] + rng.normal(size=(rows, 5))


def page(rows):
    parts = ["# Nodes that were chosen from the rows\n"]
    models = [row for row in rows if row["task"] in TASKS]
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
    parts.append(_counts_table([row for row in rows if row["task"].startswith("counts")]))
    parts.append(_planted_table([row for row in rows if row["task"].startswith("planted")]))
    parts.append(f"\n{provenance()}")
    return "\n".join(parts)


def _counts_table(rows):
    words = "\n## Nodes nearest to the counts, before any fit\n\nNodes with the same modalities count as one.\n\n"
    lines = []
    for task in dict.fromkeys(row["task"] for row in rows):
        those = [row for row in rows if row["task"] == task]
        seen = Counter(", ".join(f"{chosen} {count}" for chosen, count in row["counts"].items()) for row in those)
        shown = "; ".join(f"{what} ({times} times)" for what, times in seen.items())
        seconds = f"{np.mean([row['seconds'] for row in those]):.0f}"
        lines.append([task.removeprefix("counts "), len(those), sum(row["right"] for row in those), shown, seconds])
    return words + table(["data", "seeds", "right", "groups counted", "seconds"], lines)


def _planted_table(rows):
    lines = []
    for task in dict.fromkeys(row["task"] for row in rows):
        those = [row["counts"] for row in rows if row["task"] == task]
        for case in those[0]:
            found = [one[case] for one in those]
            right = sum(count == int(case.split()[0]) for count in found)
            shown = "; ".join(f"{count} ({times} times)" for count, times in sorted(Counter(found).items()))
            lines.append([task.removeprefix("planted "), case, f"{right} of {len(found)}", shown])
    words = (
        "\n## Counts on planted groups\n\nGaussian groups of unequal sizes in five columns, the nearest two 5 standard "
        "deviations apart; one long Gaussian; one flat rectangle.\n\n"
    )
    return words + table(["rows", "true groups", "right", "counted"], lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--only", nargs="+", default=[*TASKS, *(f"counts {name}" for name in TASKS), "planted 100", "planted 400"]
    )
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
                measure = {"counts": counts, "planted": planted}.get(task.split()[0], run)
                rows.append(measure(task, seed))
                with LINES.open("a") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
    (RESULTS / "nodes_auto.md").write_text(page(rows) + "\n")


if __name__ == "__main__":
    main()
