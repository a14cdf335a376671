"""CausalPIMA on circles, pendulum and lattices with known graphs: nodes, clusters, graphs, interventions, missing modalities.

Run: python benchmarks/causal_pima.py [--only circles pendulum "missing 30%" ...] [--seeds 10] [--first 10] [--fresh]
Runs that are in .data/causal_pima.jsonl are not repeated; tables go to results/causal_pima.md.
Settings saw circles of seeds 0 and 1, pendulum of seeds 0 to 3, lattices of seeds 0 to 2, and which groupings are
tried saw circles of seeds 0 to 8; a run never looks at true factors. Held-out rows everywhere.
"""

import argparse
import json
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, balanced_accuracy_score
from sklearn.mixture import GaussianMixture

import latentry as lt
from causal_pima_page import page
from latentry import graphs
from latentry.generators import (
    LATTICE_CURVES,
    circles,
    circles_graph,
    lattices,
    lattices_graph,
    measure_circles,
    measure_pendulum,
    pendulum,
)

from common import HERE as SCRIPTS
from common import RESULTS, peer_environment

LINES = SCRIPTS / ".data" / "causal_pima.jsonl"
PEER = ["torch==2.13.0", "multivae==1.0.3"]
CIRCLES = {
    "nodes": (2, 2, 2), "latent_dim": 3, "epochs": 40, "encoder": "dense", "decoder": "dense", "hidden": (128, 64),
    "training__patience": None, "progress": False,
}  # fmt: skip
PENDULUM = CIRCLES | {"nodes": (2, 2), "latent_dim": 2, "epochs": 60}
LATTICES = {
    "nodes": (2, 2), "latent_dim": 2, "epochs": 200, "encoder": "dense", "decoder": "dense", "hidden": (64, 64),
    "batch_size": 27, "training__patience": None, "progress": False,
}  # fmt: skip


def matched(model, data, factors):
    """Balanced accuracy of each factor by its best node (values may be renamed), and the names of the nodes."""
    labels = model.node_values(data)
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


def named_accuracy(labels, data, values):
    """Balanced accuracy of each factor by the node and values that stand for it."""
    found = {}
    for factor, (node, same) in values.items():
        label = labels[:, int(node[1:]) - 1]
        found[factor] = float(balanced_accuracy_score(data.factors[factor], label if same else 1 - label))
    return found


def renamed(cpdag, values, factors):
    name = {node: factor for factor, (node, _) in values.items()}
    swap = lambda edges: tuple((name[a], name[b]) for a, b in edges)  # noqa: E731
    return graphs.CPDAG(tuple(factors), swap(cpdag.compelled), swap(cpdag.reversible))


def circle_run(seed, graph):
    factors = ("hue", "radius", "shift")
    data, test = circles(seed=seed), circles(rows=2000, seed=1000 + seed)
    began = time.time()
    model = lt.CausalPIMA().set_params(**CIRCLES, seed=seed, graph=graph).fit(data)
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
    """Largest total variation, over both values v, of features measured in drawn pictures and the true law of do(name = v).

    Pictures are drawn without pixel noise, which would be measured as area.
    """
    node, same = values[name]
    away = []
    for value in (0, 1):
        drawn = measure_circles(drawn_under(model, node, value if same else 1 - value))
        law = shares([drawn[factor] for factor in ("hue", "radius", "shift")])
        away.append(0.5 * np.abs(law - graphs.joint_table(circles_graph(), do={name: value})).sum())
    return float(max(away))


def drawn_under(model, node, value):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lt.DataWarning)
        return model.sample(4000, do={node: value}, noise=False, seed=1)["image"]


def shares(outcomes):
    law = np.zeros((2,) * len(outcomes))
    np.add.at(law, tuple(outcomes), 1 / len(outcomes[0]))
    return law


def pendulum_run(seed):
    """Rod and sun are found from picture and readings; under do(cause = v) the pictures' four features are measured."""
    features = [f"{name}_state" for name in ("angle", "light", "position", "length")]
    data, test = pendulum(rows=2048, seed=seed), pendulum(rows=2000, seed=1000 + seed)
    began = time.time()
    model = lt.CausalPIMA().set_params(**PENDULUM, seed=seed).fit(data)
    seconds = time.time() - began
    accuracy, values = matched(model, test, ("angle_state", "light_state"))
    away = {}
    for factor, (node, same) in values.items():
        name, each = factor.removesuffix("_state"), []
        for value in (0, 1):
            drawn = measure_pendulum(drawn_under(model, node, value if same else 1 - value))
            truth = measure_pendulum(pendulum(rows=20_000, do={name: value}, seed=7)["image"])
            each.append(0.5 * np.abs(shares([drawn[f] for f in features]) - shares([truth[f] for f in features])).sum())
        away[name] = float(max(each))
    found = repr(model.graph_.cpdag)
    return {"seed": seed, "accuracy": accuracy, "graph": found, "do": away, "seconds": seconds}


def lattice_expert():
    return lt.nets.two_piece_linear(np.linspace(0, 1, 100))


def lattice_run(seed):
    """91 rows, as many as the paper had; 500 others to test on."""
    data, test = lattices(seed=seed), lattices(rows=500, seed=1000 + seed)
    began = time.time()
    model = lattice_model(data, seed)
    seconds = time.time() - began
    accuracy, values = matched(model, test, ("lattice", "profile"))
    row = {"seed": seed, "both": accuracy, "seconds": seconds}
    for name in ("image", "curve"):
        row[name] = named_accuracy(model.node_values(test.select(name)), test, values)
    found = renamed(model.graph_.cpdag, values, ("lattice", "profile"))
    return row | {
        "reversible": found == graphs.cpdag(lattices_graph()),
        "graph": repr(found),
        "experts": parameter_errors(model, values),
        "known": known_errors(data),
    }


def lattice_model(data, seed):
    return lt.CausalPIMA().set_params(**LATTICES, seed=seed, experts={"curve": lattice_expert()}).fit(data)


def missing_run(seed, share):
    """A share of the training rows, and of the test rows, lacks one modality; MVAE gets the same arrays."""
    data = lattices(seed=seed, missing=share)
    tests = {"holes": lattices(rows=500, seed=1000 + seed, missing=share)}
    whole = lattices(rows=500, seed=2000 + seed)
    tests |= {"image": whole.select("image"), "curve": whole.select("curve")}
    model = lattice_model(data, seed)
    ours = {part: clustering(model.clusters(rows), rows) for part, rows in tests.items()}
    ours["imputed"] = {
        name: model.impute(tests[other])[name] for name, other in (("image", "curve"), ("curve", "image"))
    }
    theirs = mvae(data, tests, seed)
    for found in (ours, theirs):
        found["imputed"] = {n: imputation(guess, data, whole, n) for n, guess in found["imputed"].items()}
    return {"seed": seed, "missing": share, "ours": ours, "mvae": theirs}


def clustering(clusters, rows):
    """Accuracy of the four cells by the best one-to-one naming; of the type alone by the best naming of each cluster."""
    cells = 2 * rows.factors["lattice"] + rows.factors["profile"]
    table = np.zeros((4, 4))
    np.add.at(table, (clusters, cells), 1)
    types = table.reshape(4, 2, 2).sum(axis=2)
    one, two = linear_sum_assignment(-table)
    return {"cells": float(table[one, two].sum() / len(cells)), "type": float(types.max(axis=1).sum() / len(cells))}


def imputation(guess, data, whole, name):
    """Root mean squared error of a modality from the other, over that of the training mean."""
    truth, plain = np.asarray(whole[name], float), np.asarray(data[name])[data.observed[name]].mean(axis=0)
    return float(np.sqrt(((guess - truth) ** 2).mean() / ((plain - truth) ** 2).mean()))


def mvae(data, tests, seed, epochs=200, batch=27):
    """MultiVae's MVAE on the same arrays; its clusters are four Gaussians fitted to its training latents."""
    seen = {n: np.asarray(data[n])[data.observed[n]] for n in data.names}
    scales = {n: (rows.mean(axis=0), rows.std()) for n, rows in seen.items()}
    arrays = {}
    for part, rows in {"train": data, **tests}.items():
        for name, (mean, scale) in scales.items():
            there = name in rows.names
            arrays[f"{part}_{name}"] = (
                (np.asarray(rows[name]) - mean) / scale if there else np.zeros((len(rows), *mean.shape))
            )
            arrays[f"{part}_{name}_seen"] = rows.observed[name] if there else np.zeros(len(rows), bool)
    found = peer_run(arrays, list(data.names), list(tests), seed, epochs=epochs, batch=batch)
    mixture = GaussianMixture(4, n_init=10, random_state=0).fit(found["train"])
    out = {part: clustering(mixture.predict(found[part]), rows) for part, rows in tests.items()}
    if {"image", "curve"} <= set(tests):
        pairs = {"image": "curve", "curve": "image"}
        out["imputed"] = {n: found[f"{other}_{n}"] * scales[n][1] + scales[n][0] for n, other in pairs.items()}
    return out | {"seconds": float(found["seconds"])}


def peer_run(arrays, names, parts, seed, *, latents=2, hidden=(64, 64), epochs=200, batch=27):
    with tempfile.TemporaryDirectory() as folder:
        given, out = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(given, **arrays)
        spec = {"file": str(given), "out": str(out), "names": names, "parts": parts, "seed": seed, "latents": latents}
        spec |= {"hidden": list(hidden), "epochs": epochs, "batch": batch, "rate": 2e-3}
        command = [peer_environment("multivae", PEER), str(SCRIPTS / "causal_pima_peers.py"), json.dumps(spec)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stderr[-3000:])
        return dict(np.load(out))


def speed_run(seed):
    """Seconds per epoch at 91 and at 2,000 rows: the difference of a long and a short fit, so that set-up does not count."""
    row = {"seed": seed}
    for rows, batch in ((91, 27), (2000, 64)):
        data = lattices(rows=rows, seed=seed)
        for name, each in (("ours", our_seconds), ("mvae", their_seconds)):
            row[f"{name}{rows}"] = (each(data, 60, batch) - each(data, 10, batch)) / 50
    return row


def our_seconds(data, epochs, batch):
    model = lt.CausalPIMA().set_params(
        **LATTICES | {"epochs": epochs, "batch_size": batch}, experts={"curve": lattice_expert()}
    )
    model.fit(data)  # compiles
    began = time.time()
    model.fit(data)
    return time.time() - began


def their_seconds(data, epochs, batch):
    return mvae(data, {}, 0, epochs, batch)["seconds"]


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
            inside.append(
                bool(abs(found[name][at] - number) <= 2 * found[f"{name}_error"][at])
            )  # NaN counts as outside
    mean = {f"mean {name}": float(np.mean(each)) for name, each in errors.items()}
    return {**{name: max(each) for name, each in errors.items()}, **mean, "covered": float(np.mean(inside))}


def known_errors(data):
    """What is left if every label were known: largest relative error of the rows' own mean parameters, by parameter."""
    errors = {}
    for (lattice, profile), truth in LATTICE_CURVES.items():
        rows = (data.factors["lattice"] == lattice) & (data.factors["profile"] == profile)
        for name, number in truth.items():
            errors.setdefault(name, []).append(float(abs(data.factors[name][rows].mean() - number) / abs(number)))
    return {name: max(each) for name, each in errors.items()}


TASKS = {
    "circles": lambda seed: circle_run(seed, "search"),
    "hodge": lambda seed: circle_run(seed, "hodge"),
    "pendulum": pendulum_run,
    "lattices": lattice_run,
    "missing 0%": lambda seed: missing_run(seed, 0.0),
    "missing 30%": lambda seed: missing_run(seed, 0.3),
    "missing 60%": lambda seed: missing_run(seed, 0.6),
    "speed": speed_run,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=10)
    parser.add_argument("--fresh", action="store_true", help="forget earlier runs of these tasks")
    chosen = parser.parse_args()
    LINES.parent.mkdir(exist_ok=True)
    rows = [json.loads(line) for line in LINES.read_text().splitlines()] if LINES.exists() else []
    rows = [row for row in rows if not (chosen.fresh and row["task"] in chosen.only)]
    for name in chosen.only:
        for seed in range(chosen.first, chosen.first + (1 if name == "speed" else chosen.seeds)):
            if not any(row["task"] == name and row["seed"] == seed for row in rows):
                rows.append({"task": name, **TASKS[name](seed)})
                print(json.dumps(rows[-1]), flush=True)
                LINES.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (RESULTS / "causal_pima.md").write_text(page(rows, " ".join(["python benchmarks/causal_pima.py"]), __doc__))


if __name__ == "__main__":
    main()
