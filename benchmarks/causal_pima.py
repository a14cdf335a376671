"""CausalPIMA on circles and lattices with known graphs: nodes, clusters, graphs, interventions, missing modalities.

Run: python benchmarks/causal_pima.py [--only circles hodge lattices missing] [--seeds 10]; tables go to results/causal_pima.md.
Settings saw circles of seeds 0 and 1, and which groupings are tried saw seeds 0 to 8; a run never looks at true factors.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import jax
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, balanced_accuracy_score

import latentry as lt
from latentry import graphs
from latentry.generators.circles import circles, circles_graph, measure_circles
from latentry.generators.lattices import LATTICE_CURVES, lattices, lattices_graph

HERE = Path(__file__).parent / "results"
LINES = HERE / "causal_pima.jsonl"
COMMAND = "python benchmarks/causal_pima.py"
TITLES = {
    "circles": "Circles, graph=\"search\"",
    "hodge": "Circles, graph=\"hodge\" (the paper's differentiable graph)",
    "lattices": "Lattices",
    "missing": "Lattices with missing modalities",
}
CIRCLES = {
    "nodes": (2, 2, 2), "latent_dim": 3, "epochs": 40, "encoder": "dense", "decoder": "dense", "hidden": (128, 64),
    "patience": None, "progress": False,
}  # fmt: skip
LATTICES = {"nodes": (2, 2), "latent_dim": 2, "epochs": 200, "hidden": (32, 32), "patience": None, "progress": False}
LATTICES |= {"batch_size": 27}


def matched(model, data, factors):
    """Balanced accuracy of each factor by its best node (values may be renamed), and the names of the nodes."""
    labels = model.nodes(data)
    truth = np.stack([data.factors[name] for name in factors], axis=1)
    score = np.empty((len(factors), len(factors)))
    for i in range(len(factors)):
        for j in range(len(factors)):
            one = balanced_accuracy_score(truth[:, j], labels[:, i])
            score[i, j] = max(one, 1 - one)
    nodes, names = linear_sum_assignment(-score)
    values = {}
    for i, j in zip(nodes, names, strict=True):
        same = balanced_accuracy_score(truth[:, j], labels[:, i])
        values[factors[j]] = (f"N{i + 1}", same >= 0.5)
    return {factors[j]: float(score[i, j]) for i, j in zip(nodes, names, strict=True)}, values


def renamed(cpdag, values, factors):
    name = {node: factor for factor, (node, _) in values.items()}
    swap = lambda edges: tuple((name[a], name[b]) for a, b in edges)  # noqa: E731
    return graphs.CPDAG(tuple(factors), swap(cpdag.compelled), swap(cpdag.reversible))


def circle_run(seed, graph):
    factors = ("hue", "radius", "shift")
    data, test = circles(seed=seed), circles(rows=2000, seed=1000 + seed)
    began = time.time()
    model = lt.CausalPIMA(**CIRCLES, seed=seed, graph=graph).fit(data)
    seconds = time.time() - began
    accuracy, values = matched(model, test, factors)
    found = renamed(model.graph_.cpdag, values, factors)
    clusters = np.stack([test.factors[name] for name in factors], axis=1) @ [4, 2, 1]
    return {
        "seed": seed,
        "graph": repr(found),
        "collider": found == graphs.cpdag(circles_graph()),
        "shd": graphs.shd(found, graphs.cpdag(circles_graph())),
        "accuracy": accuracy,
        "ari": float(adjusted_rand_score(clusters, model.clusters(test))),
        "seconds": seconds,
        "do": {name: interventional(model, values, name) for name in factors} if graph == "search" else None,
    }


def interventional(model, values, name):
    """Total variation between measured features of drawn pictures (without pixel noise) and the true law of do(name = 1)."""
    node, same = values[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lt.DataWarning)
        drawn = measure_circles(model.sample(4000, do={node: 1 if same else 0}, noise=False, seed=1)["image"])
    law = np.zeros((2, 2, 2))
    np.add.at(law, tuple(drawn[factor] for factor in ("hue", "radius", "shift")), 1 / 4000)
    return float(0.5 * np.abs(law - graphs.joint_table(circles_graph(), do={name: 1})).sum())


def lattice_expert():
    return lt.nets.two_piece_linear(np.linspace(0, 1, 100))


def lattice_run(seed, missing=0.0, experts=True):
    data, test = lattices(seed=seed, missing=missing), lattices(rows=500, seed=1000 + seed)
    began = time.time()
    chosen = {"experts": {"curve": lattice_expert()}} if experts else {}
    model = lt.CausalPIMA(**LATTICES, seed=seed, **chosen).fit(data)
    seconds = time.time() - began
    accuracy, values = matched(model, test, ("lattice", "profile"))
    row = {"seed": seed, "missing": missing, "both": accuracy, "seconds": seconds}
    for name in ("image", "curve"):
        row[name] = matched(model, test.select(name), ("lattice", "profile"))[0]
    found = renamed(model.graph_.cpdag, values, ("lattice", "profile"))
    row["reversible"] = found == graphs.cpdag(lattices_graph())
    row["graph"] = repr(found)
    row["experts"] = parameter_errors(model, values)
    row["imputed"] = imputation(model, data, test)
    return row


def parameter_errors(model, values):
    """Relative error of each parameter in each cluster, and how many lie within two standard errors."""
    found, errors, inside = model.experts_["curve"], {}, []
    for pair, truth in LATTICE_CURVES.items():
        cell = [0, 0]
        for factor, value in zip(("lattice", "profile"), pair, strict=True):
            node, same = values[factor]
            cell[int(node[1:]) - 1] = value if same else 1 - value
        at = np.ravel_multi_index(cell, (2, 2))
        for name, number in truth.items():
            errors.setdefault(name, []).append(float(abs(found[name][at] - number) / abs(number)))
            inside.append(bool(abs(found[name][at] - number) <= 2 * found[f"{name}_error"][at]))
    return {**{name: max(each) for name, each in errors.items()}, "covered": float(np.mean(inside))}


def imputation(model, data, test):
    """Root mean squared error of one modality from the other, over that of the training mean."""
    result = {}
    for name, other in (("image", "curve"), ("curve", "image")):
        guess = model.impute(test.select(other))[name]
        truth, plain = np.asarray(test[name], float), np.asarray(data[name])[data.observed[name]].mean(axis=0)
        result[name] = float(np.sqrt(((guess - truth) ** 2).mean() / ((plain - truth) ** 2).mean()))
    return result


TASKS = {
    "circles": lambda seed: [{"task": "circles", **circle_run(seed, "search")}],
    "hodge": lambda seed: [{"task": "hodge", **circle_run(seed, "hodge")}],
    "lattices": lambda seed: [{"task": "lattices", **lattice_run(seed)}],
    "missing": lambda seed: [{"task": "missing", **lattice_run(seed, missing)} for missing in (0.3, 0.6)],
}


def table(rows):
    """Markdown of everything measured so far, one line per run."""
    parts = ["# CausalPIMA\n", f"`{COMMAND}`; latentry {lt.__version__}, JAX {jax.__version__}, NumPy {np.__version__}.\n"]
    parts.append(__doc__.strip().splitlines()[-1] + "\n")
    for task, title in TITLES.items():
        found = [row for row in rows if row["task"] == task]
        if found:
            parts += [f"## {title}\n", *(lattice_table if "both" in found[0] else circle_table)(found), ""]
    return "\n".join(parts)


def circle_table(rows):
    yield "| seed | class found | hue | radius | shift | ARI | largest total variation under do | seconds |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in rows:
        accuracy = " | ".join(f"{row['accuracy'][name]:.3f}" for name in ("hue", "radius", "shift"))
        shift = "–" if row["do"] is None else f"{max(row['do'].values()):.3f}"
        yield f"| {row['seed']} | {row['graph'][6:-1]} | {accuracy} | {row['ari']:.3f} | {shift} | {row['seconds']:.0f} |"
    mean = np.mean([list(row["accuracy"].values()) for row in rows])
    yield ""
    yield (
        f"True class in {sum(row['collider'] for row in rows)} of {len(rows)}; mean balanced accuracy {mean:.3f}; "
        f"ARI {np.mean([row['ari'] for row in rows]):.3f} (least {min(row['ari'] for row in rows):.3f})."
    )


def lattice_table(rows):
    yield (
        "| seed | missing | lattice: both | image | curve | profile: both | curve | class found | largest error x0, y0, slope "
        "| within 2 s.e. | imputed image, curve | seconds |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|"
    for row in rows:
        lattice = " | ".join(f"{row[name]['lattice']:.3f}" for name in ("both", "image", "curve"))
        profile = " | ".join(f"{row[name]['profile']:.3f}" for name in ("both", "curve"))
        errors = ", ".join(f"{row['experts'][name]:.1%}" for name in ("x0", "y0", "slope"))
        imputed = f"{row['imputed']['image']:.2f}, {row['imputed']['curve']:.2f}"
        yield (
            f"| {row['seed']} | {row['missing']:.0%} | {lattice} | {profile} | {row['graph'][6:-1]} | {errors} | "
            f"{row['experts']['covered']:.0%} | {imputed} | {row['seconds']:.0f} |"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--add", action="store_true", help="to the rows of earlier runs")
    chosen = parser.parse_args()
    HERE.mkdir(exist_ok=True)
    if not chosen.add:
        LINES.unlink(missing_ok=True)
    for name in chosen.only:
        for seed in range(chosen.first, chosen.first + chosen.seeds):
            for row in TASKS[name](seed):
                with LINES.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                print(json.dumps(row), flush=True)
                rows = [json.loads(line) for line in LINES.read_text().splitlines()]
                (HERE / "causal_pima.md").write_text(table(rows))


if __name__ == "__main__":
    main()
