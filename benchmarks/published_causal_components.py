"""Latents that cause each other, each changed alone by one domain (Liang et al. 2023): targets and causes known, and not."""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np

import latentry as lt

from common import provenance, publish, table

STORE = Path(__file__).parent / ".data" / "published_causal_components.json"
ROWS, EPOCHS, FIRST = 200_000, 10, 301
# latents, layers, probability of an arrow, their mean and median
SETTINGS = {
    "L = 2, n = 4": (4, 2, 0.5, ".897", ".955"),
    "L = 3, n = 4": (4, 3, 0.5, ".830", ".852"),
    "L = 5, n = 4": (4, 5, 0.5, ".757", ".750"),
    "n = 2, L = 3": (2, 3, 0.5, ".956", ""),
    "n = 3, L = 3": (3, 3, 0.5, ".878", ""),
    "n = 5, L = 3": (5, 3, 0.5, ".833", ""),
    "no arrows, n = 4, L = 3": (4, 3, 0.0, ".911", ".963"),
}
NAIVE = "targets not told, L = 3, n = 4"


def run(latents: int, layers: int, edges: float, seed: int, *, told: bool = True) -> dict:
    law = lt.generators.causal_components_law(latents=latents, layers=layers, edges=edges, seed=seed)
    training, fresh = law.draw(ROWS, seed), law.draw(2000, seed + 10_000)
    prior = lt.models.DomainPrior(targets=law.targets, parents=law.parents) if told else lt.models.DomainPrior()
    model = lt.IFlow(epochs=EPOCHS, domain_prior=prior, seed=seed, progress=False)
    start = time.perf_counter()
    model.fit(training)
    seconds = time.perf_counter() - start
    true, found = np.column_stack([*fresh.factors.values()]), model.transform(fresh)
    place = np.mean([abs(np.corrcoef(true[:, i], found[:, i])[0, 1]) for i in range(latents)])
    return {"mcc": float(lt.mcc(found, true)), "place": float(place), "seconds": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", nargs="*", default=[*SETTINGS, NAIVE])
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    kept = json.loads(STORE.read_text()) if STORE.exists() else {}
    for seed in range(
        FIRST, FIRST + asked.seeds
    ):  # one seed of every row first, so that a stopped run says something of each
        for name in asked.only:
            if str(seed) not in kept.setdefault(name, {}):
                setting = SETTINGS.get(name, SETTINGS["L = 3, n = 4"])
                kept[name][str(seed)] = run(*setting[:3], seed, told=name != NAIVE)
                STORE.parent.mkdir(exist_ok=True)
                STORE.write_text(json.dumps(kept))
                print(name, seed, kept[name][str(seed)], flush=True)
    report(kept)


def report(kept: dict) -> None:
    rows = []
    for name, theirs in ({k: v[3:] for k, v in SETTINGS.items()} | {NAIVE: (".379", "")}).items():
        found = list(kept.get(name, {}).values())
        if found:
            mcc = np.array([one["mcc"] for one in found])
            each = ", ".join(f"{one:.3f}" for one in mcc)
            place = "–" if name == NAIVE else f"{np.mean([one['place'] for one in found]):.3f}"
            seconds = f"{np.mean([one['seconds'] for one in found]):.0f}"
            rows.append([name, *theirs, len(mcc), f"{mcc.mean():.3f}", f"{np.median(mcc):.3f}", place, seconds, each])
    head = [
        "data",
        "theirs, mean",
        "theirs, median",
        "seeds",
        "ours, mean",
        "ours, median",
        "in its place",
        "s a fit",
        "each seed",
    ]
    text = f"""# Causal components, published and ours

Mean correlation (Pearson) of found and true latents on 2,000 rows of each domain that no fit saw. Data of Liang et al. (*Causal
component analysis*, 2023), remade from their description: `generators.causal_components`. They know, and so do we, which latent
each domain changes and which latents cause which; in the last row neither is told. They fit 200,000 rows of each domain for a
median of 9,392 s, ten data seeds with three training seeds each; so do we, with one training seed. Two
settings are not IFlow's defaults: `epochs={EPOCHS}`, because there are many rows, and what is told. It was chosen on
other seeds. "In its place" pairs found and true latents by their numbers instead of by the best match.

{table(head, rows)}

`python benchmarks/published_causal_components.py`; {provenance()}"""
    publish("published_causal_components", text)


if __name__ == "__main__":
    main()
