"""Are the true latents found? IFlow, IVAE, plain-bound IVAE and VAE on segments, ten data seeds, held-out rows.

    .venv/bin/python benchmarks/identifiable_recovery.py                 # everything that is not in the store yet
    .venv/bin/python benchmarks/identifiable_recovery.py --cases centred --seeds 0 1

Each fit is kept in benchmarks/.data/identifiable.jsonl as it ends, so that a run can be interrupted; the table in
benchmarks/results/identifiable_recovery.md is made of all that is there. Nothing is chosen by the true factors.
"""

from __future__ import annotations

import argparse
import json
import re
import time

import numpy as np

import latentry as lt
from latentry.identifiability import r_squared

from common import HERE, provenance, publish, table

STORE = HERE / ".data" / "identifiable.jsonl"
SQUARE = {"domains": 40, "rows_per_domain": 1000, "latents": 5}
WIDE = SQUARE | {"observed": 25}
CASES = {
    "centred": SQUARE,
    "uncentred": SQUARE | {"means": "uniform"},
    "staircase": SQUARE | {"means": "staircase"},
    "Laplace": SQUARE | {"base": "laplace"},
    "n = 5 to d = 25, noise .01": WIDE | {"noise": 0.01},
    "n = 5 to d = 25, noise .1": WIDE | {"noise": 0.1},
    "n = d = 10, 60 segments": SQUARE | {"domains": 60, "latents": 10},
    "Bernoulli n = 10, d = 100": dict(lt.generators.SEGMENTS["bernoulli"]),
}
MUST = {
    "centred": ".99, worst .97",
    "uncentred": ".98, worst .95",
    "staircase": ".95",
    "Laplace": ".95",
    "n = 5 to d = 25, noise .01": ".97",
    "n = 5 to d = 25, noise .1": ".97",
    "n = d = 10, 60 segments": ".95",
}


def models(case: str) -> dict[str, object]:
    """What is fitted to a case: ours first, then the baselines."""
    latents = CASES[case]["latents"]
    kind = "bernoulli" if "Bernoulli" in case else "gaussian"
    common = {"latent_dim": latents, "progress": False}
    plain = common | {"likelihood": kind, "hidden": (100, 100), "epochs": 60, "batch_size": 256}
    found: dict[str, object] = {}
    if "observed" in CASES[case]:
        found["IVAE, staged"] = lt.IVAE().set_params(**common, likelihood=kind, **STAGED)
    else:
        found["IFlow"] = lt.IFlow().set_params(**common, **FLOW, **OWN.get(case, {}))
    if case == "staircase":  # that one mean moves is a guess, to be confirmed by held-out rows
        found[ONE_MOVES] = lt.IFlow().set_params(**common, **FLOW, **OWN[case], domain_prior__moving=1)
    bound = plain | {"estimation": "elbo", "bound__encoder_sees": "joint"}  # as published
    found["IVAE, bound"] = lt.IVAE().set_params(**bound)
    found["IVAE, released loss"] = lt.IVAE().set_params(**bound, bound__split=(100, 1, 0, 10))
    found["VAE"] = lt.VAE().set_params(**plain)
    return found


FLOW: dict[str, object] = {}
OWN = {"Laplace": {"prior": "laplace"}, "staircase": {"epochs": 200, "training__patience": None}}
ONE_MOVES, CHOSEN = "IFlow, one mean moves", "IFlow, the better of the two on held-out rows"
STAGED = {"epochs": 150, "batch_size": 256}


def measure(case: str, name: str, seed: int) -> dict[str, object]:
    """One fit on four fifths of the rows; every number from the other fifth."""
    data = lt.generators.segments(**CASES[case], seed=seed)
    training, held_out = data.split(0.8, 0.2, seed=seed)
    model = models(case)[name]
    began = time.perf_counter()
    model.set_params(seed=seed).fit(training)
    seconds = time.perf_counter() - began
    true = np.column_stack([*held_out.factors.values()])
    others = training.take(np.random.default_rng(seed).permutation(len(training))[:5000])
    fitted = (model.transform(others), np.column_stack([*others.factors.values()]))
    found = model.transform(held_out)
    return {
        "case": case,
        "model": name,
        "seed": seed,
        "mcc": lt.mcc(found, true),
        "spearman": lt.mcc(found, true, "spearman"),
        "weak": lt.mcc(found, true, weak_on=fitted),
        "r2": float(r_squared(found, true, fit_on=fitted).mean()),
        "score": model.score(held_out),
        "inner": model.score(training.split(1 - model.validation, model.validation, seed=seed)[1]),
        "seconds": seconds,
        "settings": repr(model),
    }


def stored() -> list[dict[str, object]]:
    return [json.loads(line) for line in STORE.read_text().splitlines()] if STORE.exists() else []


def chosen(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Of the two fits to each staircase, the one that explains the rows better that chose its epoch."""
    pairs: dict[object, list[dict[str, object]]] = {}
    for row in rows:
        if row["case"] == "staircase" and row["model"] in ("IFlow", ONE_MOVES):
            pairs.setdefault(row["seed"], []).append(row)
    better = [max(pair, key=lambda row: float(str(row["inner"]))) for pair in pairs.values() if len(pair) == 2]
    return [row | {"model": CHOSEN} for row in better]


def _settings(row: dict[str, object]) -> str:
    words = re.sub(r"(, )?(seed=\d+|progress=False)", "", " ".join(str(row["settings"]).split()))
    return f"{row['model']}: `{words}`"


def report(rows: list[dict[str, object]]) -> str:
    lines, every = [], []
    rows = rows + chosen(rows)
    for case in CASES:
        for name in [*models(case), CHOSEN]:
            mine = sorted((r for r in rows if (r["case"], r["model"]) == (case, name)), key=lambda r: r["seed"])
            if not mine:
                continue
            of = {key: np.array([r[key] for r in mine]) for key in ("mcc", "spearman", "weak", "r2", "seconds")}
            spread = f"{of['mcc'].mean():.3f} ± {of['mcc'].std(ddof=1) if len(mine) > 1 else 0:.3f}"
            must = MUST.get(case, "") if name.startswith("IFlow") or name == "IVAE, staged" else ""
            others = [f"{of[key].mean():.3f}" for key in ("spearman", "weak", "r2")]
            worst, seconds = f"{of['mcc'].min():.3f}", f"{np.median(of['seconds']):.0f}"
            lines.append([case, name, len(mine), spread, worst, must, *others, seconds])
            every.append([case, name, " ".join(f"{value:.3f}" for value in of["mcc"])])
    head = ["data", "model", "seeds", "MCC, mean ± sd", "worst", "aim", "Spearman", "weak (CCA)", "R²", "median s"]
    return "\n\n".join(
        [
            "# Are the true latents found?",
            "Mean correlation coefficient (Pearson, best one-to-one pairing) of posterior means with the true factors, on the "
            "fifth of the rows that no fit saw; weak is after a CCA fitted on other rows; R² is linear, fitted on other rows. "
            "The best epoch is chosen by the held-out loss inside the other four fifths. Seconds are those of a shared machine. "
            "IFlow's rows were made with the spread of scales measured over each batch, not over all domains, and without the "
            "last phase, which fits the laws alone and leaves the latents as they are.",
            table(head, lines),
            "Released code of the identifiable VAE, on its own generator's centred file: .924 (one seed); uncentred .533 "
            "(one seed), .48 (an independent reproduction, 100 seeds). Those are on training rows, with u given to the encoder.",
            "## Every seed\n\n" + table(["data", "model", "MCC of each data seed, in order"], every),
            "Settings (the seed is that of the data): " + "; ".join(sorted({_settings(row) for row in rows})),
            provenance(),
        ]
    )


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--cases", nargs="*", default=list(CASES))
    words.add_argument("--models", nargs="*")
    words.add_argument("--seeds", nargs="*", type=int, default=list(range(10)))
    words.add_argument("--table", action="store_true", help="only make the table of what is stored")
    chosen = words.parse_args()
    STORE.parent.mkdir(exist_ok=True)
    for case in [] if chosen.table else chosen.cases:
        for name in models(case):
            if chosen.models and name not in chosen.models:
                continue
            for seed in chosen.seeds:
                if any((r["case"], r["model"], r["seed"]) == (case, name, seed) for r in stored()):
                    continue
                row = measure(case, name, seed)
                with STORE.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                print(case, name, seed, f"{row['mcc']:.4f} R² {row['r2']:.3f} {row['seconds']:.0f} s", flush=True)
    publish("identifiable_recovery", report(stored()))


if __name__ == "__main__":
    main()
