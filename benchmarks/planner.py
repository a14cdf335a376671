"""How near plans come: seconds and memory of ten fits, predicted by `plan_fit` and measured, each in a process of its own.

    .venv/bin/python benchmarks/planner.py [--only NAME ...]

Writes benchmarks/results/planner.md. Rows of earlier runs stay.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import latentry as lt
from latentry.models import plan_fit

from common import HERE, provenance, publish, table

STORE = HERE / ".data" / "planner.json"


def gaussian(rows: int, columns: int) -> lt.Dataset:
    rng = np.random.default_rng(0)
    return lt.Dataset(
        rng.normal(size=(rows, 4)) @ rng.normal(size=(4, columns)) + 0.3 * rng.normal(size=(rows, columns))
    )


def images(rows: int, size: int) -> lt.Dataset:
    rng, grid = np.random.default_rng(0), np.linspace(-1, 1, size)
    place = rng.uniform(-0.5, 0.5, (rows, 2))
    across, along = (np.exp(-8 * (grid - place[:, [k]]) ** 2) for k in (0, 1))
    return lt.Dataset(across[:, :, None] * along[:, None] + 0.05 * rng.normal(size=(rows, size, size)))


def segments(domains: int, rows: int, latents: int) -> lt.Dataset:
    return lt.generators.segments(domains=domains, rows_per_domain=rows, latents=latents, seed=0)


CASES = {
    "VAE, 20,000 × 20": (lambda: gaussian(20_000, 20), lambda: lt.VAE(latent_dim=4, epochs=60)),
    "VAE, 200,000 × 20": (lambda: gaussian(200_000, 20), lambda: lt.VAE(latent_dim=4, epochs=15)),
    "VAE, 3,000 × 2,000": (lambda: gaussian(3_000, 2_000), lambda: lt.VAE(latent_dim=4, epochs=40)),
    "VAE, 2,000 images of 28 × 28": (lambda: images(2_000, 28), lambda: lt.VAE(latent_dim=2, epochs=25)),
    "IVAE, 12 × 1,000 rows, 5 columns": (lambda: segments(12, 1_000, 5), lambda: lt.IVAE(latent_dim=5, epochs=40)),
    "IFlow, 12 × 1,000 rows, 2 columns": (lambda: segments(12, 1_000, 2), lambda: lt.IFlow(epochs=60)),
    "IFlow, 20 × 2,000 rows, 5 columns": (lambda: segments(20, 2_000, 5), lambda: lt.IFlow(epochs=30)),
    "CGVAE, 2 × 5,000 rows, 4 columns": (
        lambda: lt.generators.sparse_mixing(latents=4, domains=2, seed=0),
        lambda: lt.CGVAE(latent_dim=4, epochs=20, restarts=2),
    ),
    "CausalPIMA, 3,000 circles": (
        lambda: lt.generators.circles(rows=3_000, seed=0),
        lambda: lt.CausalPIMA(nodes=(2, 2, 2), latent_dim=3, epochs=30, encoder="dense"),
    ),
    "NaturalLatents, 4,000 rows, two views": (
        lambda: lt.Dataset({"a": np.asarray(gaussian(4_000, 6)["x"])[:, :3], "b": np.asarray(gaussian(4_000, 6)["x"])[:, 3:]}),
        lambda: lt.NaturalLatents(values=8, epochs=40, restarts=2),
    ),
}  # fmt: skip


def measured(name: str) -> dict[str, float]:
    """Seconds and peak memory of the fit itself, in this process."""
    data, model = CASES[name]
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "rows.npz"
        data().write(path)
        began = time.perf_counter()
        model().set_params(progress=False).fit(lt.read(path))
    return {"seconds": time.perf_counter() - began, "memory": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}


def both(name: str) -> dict[str, dict[str, float]]:
    """Plan, then fit, both without compiled programs of earlier runs."""
    data, model = CASES[name]
    plan = plan_fit(model(), data())
    fresh = {**os.environ, "JAX_ENABLE_COMPILATION_CACHE": "false"}
    fit = subprocess.run(
        [sys.executable, __file__, "--fit", name], check=True, capture_output=True, text=True, env=fresh
    )
    return {"plan": {"seconds": plan.seconds, "memory": plan.memory}, "fit": json.loads(fit.stdout.splitlines()[-1])}


def page(kept: dict) -> str:
    rows, near = [], {"seconds": 0, "memory": 0}
    for name in (case for case in CASES if case in kept):
        plan, fit = kept[name]["plan"], kept[name]["fit"]
        off = {what: plan[what] / fit[what] for what in near}
        near = {what: count + (1 / 1.3 <= off[what] <= 1.3) for what, count in near.items()}
        rows.append([name, f"{plan['seconds']:.1f}", f"{fit['seconds']:.1f}", f"{off['seconds']:.2f}",
                     f"{plan['memory'] / 1e9:.2f}", f"{fit['memory'] / 1e9:.2f}", f"{off['memory']:.2f}"])  # fmt: skip
    head = ["fit", "planned s", "took s", "ratio", "planned GB", "peak GB", "ratio"]
    text = (
        "# Plans beside fits\n\nWhat `plan_fit` (`latentry info --plan`) said beforehand, and what the fit took then, by the "
        "clock and in the memory of its process, reading the file included. No compiled program "
        "was kept from earlier runs; where one is, a fit takes less."
    )
    within = f"Within 30 %: time {near['seconds']} of {len(rows)}, memory {near['memory']} of {len(rows)}."
    return f"{text}\n\n{table(head, rows)}\n\n{within}\n\n{provenance()}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="*", default=list(CASES))
    parser.add_argument("--fit")
    asked = parser.parse_args()
    if asked.fit:
        print(json.dumps(measured(asked.fit)))
        return
    for name in asked.only:
        found = both(name)
        kept = json.loads(STORE.read_text()) if STORE.exists() else {}
        STORE.parent.mkdir(parents=True, exist_ok=True)
        STORE.write_text(json.dumps({**kept, name: found}))
        print(name, found, flush=True)
    publish("planner", page(json.loads(STORE.read_text())))


if __name__ == "__main__":
    main()
