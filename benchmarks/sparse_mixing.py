"""Few domains and a sparse mixing: are the latents found, which weight is right, and does the audit know?

    .venv/bin/python benchmarks/sparse_mixing.py                              # everything that is not in the store yet
    .venv/bin/python benchmarks/sparse_mixing.py --cases "cyclic, 2 domains" --seeds 0 1

Each case and seed is kept in benchmarks/.data/sparse_mixing.jsonl as it ends; the tables in
benchmarks/results/sparse_mixing.md are made of all that is there. Starts and weights are compared by rows set aside,
never by the true factors; every number is from the fifth of the rows that no fit and no choice saw.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np

import latentry as lt
from latentry.identifiability import sparsity
from latentry.models import choose_sparsity

from common import HERE, provenance, publish, table
from sparse_mixing_picture import Line, picture

STORE = HERE / ".data" / "sparse_mixing.jsonl"
ROWS = 10_000  # in all domains together, so that their number alone differs
STARTS = 4
SHORT = (0.0, 0.02)
SWEEP = (0.0, 0.01, 0.02, 0.05, 0.1, 0.5, 1.0)
WIDE = {"observed": 8, "noise": 0.05}
CASES: dict[str, tuple[dict[str, object], tuple[float, ...]]] = {
    "cyclic, 2 domains": ({}, SWEEP),
    "cyclic, 2 domains, half the latents invariant": ({"invariant": 2}, SHORT),
    "structured, 2 domains": ({"mixing": "structured"}, SHORT),
    "cyclic, 3 domains": ({"domains": 3}, SHORT),
    "cyclic, 5 domains": ({"domains": 5}, SHORT),
    "cyclic, 7 domains": ({"domains": 7}, SHORT),
    "cyclic, 9 domains": ({"domains": 9}, SHORT),
    "chain, 2 domains": ({"mixing": "chain"}, SHORT),
    "dense, 2 domains": ({"mixing": "dense"}, SHORT),
    "cyclic with 10 % extra edges, 2 domains": ({"extra": 0.1}, SHORT),
    "cyclic with 30 % extra edges, 2 domains": ({"extra": 0.3}, SHORT),
    "cyclic with 50 % extra edges, 2 domains": ({"extra": 0.5}, SHORT),
    "4 latents to 8 variables, cyclic, 2 domains": (WIDE, SHORT),
    "4 latents to 8 variables, cyclic, 3 domains": (WIDE | {"domains": 3}, SHORT),
    "4 latents to 8 variables, cyclic, 5 domains": (WIDE | {"domains": 5}, SHORT),
    "4 latents to 8 variables, cyclic, 7 domains": (WIDE | {"domains": 7}, SHORT),
    "4 latents to 8 variables, cyclic, 9 domains": (WIDE | {"domains": 9}, SHORT),
}


def generated(case: str, seed: int) -> tuple[lt.Dataset, lt.generators.SparseLaw]:
    settings = dict(CASES[case][0])
    law = lt.generators.sparse_law(**settings, seed=seed)
    return law.draw(ROWS // int(settings.get("domains", 2)), seed), law


def measure(case: str, seed: int, weights: tuple[float, ...], *, baselines: bool) -> dict[str, object]:
    """All weights from several starts each, on four fifths of the rows."""
    data, law = generated(case, seed)
    training, held_out = data.split(0.8, 0.2, seed=seed)
    began = time.perf_counter()
    model = lt.CGVAE(latent_dim=4, progress=False)
    path = choose_sparsity(model, training, path=weights, starts=STARTS, seed=seed)
    row: dict[str, object] = {
        "case": case,
        "seed": seed,
        "seconds": time.perf_counter() - began,
        "chosen": path.weight,
        "path": path.weights,
        "losses": path.losses,
        "errors": path.errors,
    }
    for at, weight in enumerate(path.weights):
        best = path.best[at]
        starts = path.starts_of(weight)
        audit = sparsity(starts, held_out)
        row[f"{weight:g}"] = quality(best, held_out, law) | {
            "stability": path.stability[at],
            "starts": [
                {
                    "spearman": lt.mcc(fit.transform(held_out), held_out.factors, "spearman"),
                    "loss": float(fit.penalised_rows(held_out).mean()),
                    "mixing": fit.mixing(held_out).round(4).tolist(),
                }
                for fit in starts
            ],
            "verdict": audit.verdict.sentence,
            "kept": STARTS - audit.left_out,
            "open": [
                named(best, held_out, k) for k, holds in enumerate(audit.pinned) if not holds or k in audit.single
            ],
        }
    if baselines:
        row["others"] = others(training, held_out, seed)
    return row


def quality(model: object, held_out: lt.Dataset, law: lt.generators.SparseLaw) -> dict[str, object]:
    found = model.transform(held_out)
    support = model.support(held_out)
    return {
        "spearman": lt.mcc(found, held_out.factors, "spearman"),
        "pearson": lt.mcc(found, held_out.factors),
        "score": model.score(held_out),
        "f1": law.support.matched(support)[0],
        "edges": support.edges,
    }


def named(model: object, held_out: lt.Dataset, latent: int) -> str:
    """The true factor that a recovered latent is most correlated with."""
    found = model.transform(held_out)[:, latent]
    of = {name: abs(np.corrcoef(found, factor)[0, 1]) for name, factor in held_out.factors.items()}
    return max(of, key=of.get)


def others(training: lt.Dataset, held_out: lt.Dataset, seed: int) -> dict[str, float]:
    """What needs no penalty; starts are compared by the likelihood or bound on a tenth of the training rows."""
    common = {"latent_dim": 4, "seed": seed, "progress": False}
    models = {
        "IVAE": lt.IVAE().set_params(**common, batch_size=256, flow__blocks=6, epochs=100, restarts=2),
        "VAE": lt.VAE().set_params(**common, batch_size=256, epochs=60),
    }
    if held_out.layout.size == 4:  # with fewer latents than variables it is IVAE's stages
        models["IFlow"] = lt.IFlow().set_params(**common, flow__blocks=6, epochs=150, restarts=STARTS)
    return {
        name: lt.mcc(m.fit(training).transform(held_out), held_out.factors, "spearman") for name, m in models.items()
    }


def stored() -> list[dict[str, object]]:
    return [json.loads(line) for line in STORE.read_text().splitlines()] if STORE.exists() else []


def covers(row: dict[str, object], weights: tuple[float, ...]) -> bool:
    return all(f"{weight:g}" in row for weight in weights)


def latest(rows: list[dict[str, object]], case: str, weights: tuple[float, ...]) -> list[dict[str, object]]:
    """What is known of each seed: weights may have been measured one by one."""
    seeds = sorted({row["seed"] for row in rows if row["case"] == case})
    merged = [{k: v for row in rows if (row["case"], row["seed"]) == (case, s) for k, v in row.items()} for s in seeds]
    return [row for row in merged if covers(row, weights)]


def spread(values: list[float]) -> str:
    mean = np.mean(values)
    return f"{mean:.3f} ± {np.std(values, ddof=1):.3f}" if len(values) > 1 else f"{mean:.3f}"


def of(rows: list[dict[str, object]], weight: str, key: str) -> list[float]:
    return [row[weight][key] for row in rows if weight in row]


def recovery(rows: list[dict[str, object]]) -> str:
    lines = []
    for case in CASES:
        if mine := latest(rows, case, SHORT):
            lines.append(recovered(case, mine))
    head = ["data", "seeds", "λ = 0", "λ = 0.02", "λ chosen", "gain", "F1 of edges", "others", "each seed"]
    return table(head, lines)


def recovered(case: str, mine: list[dict[str, object]]) -> list[object]:
    fixed = [spread(of(mine, weight, "spearman")) for weight in ("0", "0.02")]
    free, tight = of(mine, "0", "spearman"), at_chosen(mine, "spearman")
    edges = f"{np.mean(of(mine, '0', 'f1')):.2f} → {np.mean(at_chosen(mine, 'f1')):.2f}"
    rest = {
        name: [row["others"][name] for row in mine if name in row.get("others", {})]
        for name in ("IFlow", "IVAE", "VAE")
    }
    baselines = "; ".join(f"{name} {np.mean(values):.3f}" for name, values in rest.items() if values)
    each = " ".join(f"{a:.3f}→{b:.3f}" for a, b in zip(free, tight, strict=True))
    gain = f"{np.mean(tight) - np.mean(free):+.3f}"
    return [case, seeds_of(mine), *fixed, spread(tight), gain, edges, baselines or "–", each]


def seeds_of(mine: list[dict[str, object]]) -> str:
    return ", ".join(str(row["seed"]) for row in mine)


def at_chosen(mine: list[dict[str, object]], key: str) -> list[float]:
    return [row[f"{row['chosen']:g}"][key] for row in mine]


def sweep(rows: list[dict[str, object]]) -> str:
    mine = [row for row in latest(rows, "cyclic, 2 domains", SWEEP) if row["path"] == list(SWEEP)]
    return swept(mine) if mine else ""


def swept(mine: list[dict[str, object]]) -> str:
    lines = [
        [f"{w:g}", *(spread(of(mine, f"{w:g}", key)) for key in ("spearman", "f1", "stability", "score"))]
        for w in SWEEP
    ]
    best = [max(row[f"{w:g}"]["spearman"] for w in SWEEP) for row in mine]
    chosen = at_chosen(mine, "spearman")
    picks = ", ".join(f"{row['chosen']:g}" for row in mine)
    words = (
        f"Seeds {seeds_of(mine)}. "
        f"Chosen weights, seed by seed: {picks}; their MCC {spread(chosen)}; the best weight of each seed, which only "
        f"the truth tells, has {spread(best)}; largest gap {max(b - c for b, c in zip(best, chosen, strict=True)):.3f}."
    )
    return (
        table(["λ", "MCC (Spearman)", "F1 of edges", "κ between starts", "held-out log likelihood"], lines)
        + "\n\n"
        + words
    )


def audits(rows: list[dict[str, object]]) -> str:
    lines = []
    for case in CASES:
        for row in latest(rows, case, (0.02,)):
            found = row["0.02"]
            mcc, left = f"{found['spearman']:.3f}", ", ".join(found["open"]) or "–"
            lines.append([case, row["seed"], mcc, f"{found['kept']} of {STARTS}", found["verdict"], left])
    head = [
        "data",
        "seed",
        "MCC",
        "starts that count",
        "verdict of the audit, λ = 0.02",
        "true factors nearest to what it leaves open",
    ]
    return table(head, lines)


def panels(rows: list[dict[str, object]]) -> dict[str, list[Line]]:
    """Every method at every number of domains, cyclic mixing."""
    names = {
        "4 variables, exact": "cyclic, {} domains",
        "8 variables with noise": "4 latents to 8 variables, cyclic, {} domains",
    }
    return {title: lines(rows, case) for title, case in names.items()}


def lines(rows: list[dict[str, object]], case: str) -> list[Line]:
    by = {count: latest(rows, case.format(count), SHORT) for count in (2, 3, 5, 7, 9)}
    own = {"CGVAE, λ chosen": at_chosen, "CGVAE, λ = 0": lambda mine, key: of(mine, "0", key)}
    found = {name: {count: read(mine, "spearman") for count, mine in by.items()} for name, read in own.items()}
    for name in ("IFlow", "IVAE", "VAE"):
        found[name] = {c: [r["others"][name] for r in mine if name in r.get("others", {})] for c, mine in by.items()}
    return [
        Line(name, {c: v for c, v in values.items() if v}) for name, values in found.items() if any(values.values())
    ]


def report(rows: list[dict[str, object]]) -> str:
    return "\n\n".join(
        [
            "# Few domains and a sparse mixing",
            f"`generators.sparse_mixing`, {ROWS:,} rows in all domains together; mean Spearman correlation of found and true "
            f"latents, best one-to-one pairing, on the fifth of the rows that no fit and no choice saw. Each weight λ of CGVAE has "
            f"{STARTS} starts, of which the penalised loss on rows set aside picks one; `choose_sparsity` picks a weight by the "
            "same rows: out of the seven below in the first case, else out of these two. The gain and the seeds show λ = 0 "
            "against the chosen weight. Four latents; unless it says otherwise four "
            "variables, exact likelihood, and laws that move by `change=1`. "
            "The rule that chooses a weight was made on seeds 10 to 14, the number of linear starts set on 30 to 39 (by the starts "
            "alone); neither on these. The default, 0.02, was set after these had been seen; that the search for starts weighs "
            "an edge by 0.02 at most, after seed 20 of the first case. IFlow has four starts too and IVAE two, compared by the "
            "likelihood or bound of rows set aside; VAE has one. Without a penalty the entry of a seed depends on "
            "rounding: of the four starts of seed 20, first case, computed again on one core, the losses on rows set aside "
            "lie within 0.008 nats (standard error 0.036) and the correlations between 0.77 and 0.94.",
            recovery(rows),
            "## Which weight\n\nCyclic mixing, 2 domains. A weight is chosen by `models.choose_sparsity`.\n\n"
            + sweep(rows),
            "## What the audit says\n\n" + audits(rows),
            f"CGVAE: `{lt.CGVAE(latent_dim=4)!r}`",
            provenance(),
        ]
    )


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--cases", nargs="*", default=list(CASES))
    words.add_argument("--seeds", nargs="*", type=int, default=list(range(20, 25)))
    words.add_argument("--weights", nargs="*", type=float, help="instead of those of the case")
    words.add_argument("--baselines", action="store_true", help="IFlow, IVAE and VAE too")
    words.add_argument("--table", action="store_true", help="only make the tables of what is stored")
    chosen = words.parse_args()
    STORE.parent.mkdir(exist_ok=True)
    for case in [] if chosen.table else chosen.cases:
        for seed in chosen.seeds:
            weights = tuple(chosen.weights or CASES[case][1])
            known = [row for row in stored() if (row["case"], row["seed"]) == (case, seed) and covers(row, weights)]
            if any("others" in row or not chosen.baselines for row in known):
                continue
            row = measure(case, seed, weights, baselines=chosen.baselines)
            with STORE.open("a") as file:
                file.write(json.dumps(row) + "\n")
            shown = {w: round(row[w]["spearman"], 3) for w in row if isinstance(row[w], dict) and w != "others"}
            print(case, seed, shown, "chosen", row["chosen"], f"{row['seconds']:.0f} s", flush=True)
    publish("sparse_mixing", report(stored()))
    (HERE.parent / "docs" / "pictures" / "sparse-mixing.svg").write_text(picture(panels(stored())))


if __name__ == "__main__":
    main()
