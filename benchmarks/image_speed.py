"""What images cost with default settings: a step beside PyTorch's, an epoch, whole fits, start-up, and growth.

    .venv/bin/python benchmarks/image_speed.py [--only step epoch pima small start growth]

Writes benchmarks/results/image_speed.md and docs/pictures/growth-fits.svg. Every measurement in a process of its own; ours and
PyTorch's in turn. Results of each part are kept in benchmarks/.data, so that one part can be measured again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from common import HERE, growth_panels, peer_environment, provenance, publish, table

STORE = HERE / ".data" / "image_speed.json"
PICTURE = HERE.parent / "docs" / "pictures" / "growth-fits.svg"
RUNS, BATCH, SIZE, STEPS = 2, 64, 28, 40

PEER = """
import json, sys, time, torch, torch.nn as nn, torch.nn.functional as F
mode, threads, B, STEPS, L = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), 2
torch.manual_seed(0); torch.set_num_threads(threads)
bend = lambda: nn.GELU(approximate="tanh")
class Up(nn.Module):
    def __init__(self, size): super().__init__(); self.size = size
    def forward(self, x): return F.interpolate(x, size=(self.size, self.size), mode="nearest")
class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 16, 3, 2, 1), bend(), nn.Conv2d(16, 32, 3, 2, 1), bend(), nn.Conv2d(32, 64, 3, 2, 1), bend(),
            nn.Flatten(), nn.Linear(1024, 2 * L))
        self.decoder = nn.Sequential(
            nn.Linear(L, 1024), bend(), nn.Unflatten(1, (64, 4, 4)), Up(7), nn.Conv2d(64, 32, 3, 1, 1), bend(), Up(14),
            nn.Conv2d(32, 16, 3, 1, 1), bend(), Up(28), nn.Conv2d(16, 16, 3, 1, 1), bend(), nn.Conv2d(16, 1, 1))
        self.log_scale = nn.Parameter(torch.zeros(()))
    def forward(self, x):
        h = self.encoder(x[:, None]); mean, log = h[:, :L], h[:, L:]
        r = self.decoder(mean + torch.exp(log) * torch.randn_like(mean))[:, 0]
        fit = (-0.5 * ((x - r) * torch.exp(-self.log_scale)) ** 2 - self.log_scale).sum((1, 2))
        return (0.5 * (mean ** 2 + torch.exp(2 * log) - 1) - log).sum(1).mean() - fit.mean()
model = VAE(); optimiser = torch.optim.Adam(model.parameters(), 1e-3); x = torch.randn(B, 28, 28)
loss_of = torch.compile(model) if mode == "compiled" else model
def step():
    optimiser.zero_grad(); loss = loss_of(x); loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 5.0); optimiser.step()
for _ in range(5): step()
wall, spent = [], []
for _ in range(4):
    began, used = time.perf_counter(), time.process_time()
    for _ in range(STEPS // 4): step()
    wall.append((time.perf_counter() - began) / (STEPS // 4)); spent.append((time.process_time() - used) / (STEPS // 4))
print(json.dumps({"wall": sorted(wall)[1], "cpu": sorted(spent)[1]}))
"""


def gaussians(rows: int, size: int) -> np.ndarray:
    """Blurred points at random places, with noise."""
    rng, grid = np.random.default_rng(0), np.linspace(-1, 1, size)
    place = rng.uniform(-0.5, 0.5, (rows, 2))
    across, along = (np.exp(-8 * (grid - place[:, [k]]) ** 2) for k in (0, 1))
    return across[:, :, None] * along[:, None] + 0.05 * rng.normal(size=(rows, size, size))


class Clock:
    """A logger that notes when each epoch ends."""

    def __init__(self) -> None:
        self.at = [(time.perf_counter(), time.process_time())]

    def log(self, row) -> None:
        self.at.append((time.perf_counter(), time.process_time()))

    def epochs(self) -> dict[str, float]:
        """Median wall and processor seconds of an epoch, after the first two, which compile."""
        wall, cpu = np.median(np.diff(self.at, axis=0)[2:], axis=0)
        return {"wall": float(wall), "cpu": float(cpu)}


def own_step() -> dict[str, float]:
    """Steps of the fit loop: shuffled batches, clipping, checks of every step."""
    import jax

    import latentry as lt
    from latentry.models.estimator.fitting import task_for

    data = lt.Dataset({"image": gaussians(BATCH * STEPS // 4, SIZE)})
    model = lt.VAE(batch_size=BATCH, epochs=6, validation=0, progress=False)
    model.record_ = model.study(data)
    task = task_for(model, data)
    state, wall, spent = task.start(), [], []
    while not state.finished:
        began, used, before = time.perf_counter(), time.process_time(), task.done(state)
        state = task.advance(state, 10_000)
        jax.block_until_ready(jax.tree.leaves(state.arrays()))
        steps = max(1, task.done(state) - before)
        wall.append((time.perf_counter() - began) / steps)
        spent.append((time.process_time() - used) / steps)
    return {"wall": sorted(wall[1:])[2], "cpu": sorted(spent[1:])[2]}


def epoch(model: str, rows: str, size: str, encoder: str = "auto", domains: str = "9") -> dict[str, float]:
    """An epoch of a default fit."""
    import latentry as lt

    clock, count = Clock(), int(rows)
    images = {"image": gaussians(count, int(size))}
    data = lt.Dataset(images, domain=np.arange(count) % int(domains) if model == "IVAE" else None)
    short = {"epochs": 6, "training__patience": None, "progress": False, "encoder": encoder, "decoder": encoder}
    elbo = {"estimation": "elbo"} if model == "IVAE" else {}
    getattr(lt, model)(latent_dim=2).set_params(**short, **elbo).fit(data, logger=clock)
    return clock.epochs()


def pima(encoder: str, seed: str) -> dict[str, float]:
    """The whole default fit of CausalPIMA to 3,000 images of 24 × 24, and its clusters on other rows."""
    from sklearn.metrics import adjusted_rand_score

    import latentry as lt

    data, test = (
        lt.generators.circles(rows=n, size=24, seed=s) for n, s in ((3000, int(seed)), (1000, 1000 + int(seed)))
    )
    began, used = time.perf_counter(), time.process_time()
    model = lt.CausalPIMA(
        nodes=(2, 2, 2), latent_dim=3, encoder=encoder, decoder=encoder, seed=int(seed), progress=False
    ).fit(data)
    seconds = {"wall": time.perf_counter() - began, "cpu": time.process_time() - used, "epochs": len(model.history_)}
    truth = np.stack([test.factors[name] for name in ("hue", "radius", "shift")], axis=1) @ [4, 2, 1]
    return seconds | {"ari": float(adjusted_rand_score(truth, model.clusters(test)))}


def small(rows: str) -> dict[str, float]:
    """Epochs of a dense CausalPIMA on few rows or many, as in the table of lattices, batch 27."""
    import latentry as lt

    rng, count, clock = np.random.default_rng(0), int(rows), Clock()
    bits = rng.integers(0, 2, size=(count, 2))
    data = lt.Dataset({"x": 4 * bits @ rng.normal(size=(2, 60)) + rng.normal(size=(count, 60))})
    model = lt.CausalPIMA(nodes=(2, 2), batch_size=27, progress=False)
    model.set_params(training__patience=None).fit(data, logger=clock)
    steps = np.diff(clock.at, axis=0)[100:]  # of the second half, in which nodes are updated
    return {"wall": float(steps[:, 0].mean()), "cpu": float(steps[:, 1].mean())}


def start(what: str) -> dict[str, float]:
    """Processor seconds of an import, or of a first fit with the cache that the environment names."""
    used = time.process_time()
    if what == "jax":
        import jax  # noqa: F401
    else:
        import latentry as lt
    found = {"import": time.process_time() - used}
    if what != "fit":
        return found
    make = lt.VAE  # loads what models need, which is not part of the fit
    loaded, rows = time.process_time() - used, np.random.default_rng(0).normal(size=(640, 25))
    used, began = time.process_time(), time.perf_counter()
    make(latent_dim=5, hidden=(50, 50), batch_size=64, epochs=2, progress=False).fit(rows)
    return found | {"loaded": loaded, "cpu": time.process_time() - used, "wall": time.perf_counter() - began}


WORK = {"own_step": own_step, "epoch": epoch, "pima": pima, "small": small, "start": start}


def ask(*words: str, **environment: str) -> dict[str, float]:
    """One measurement in a process of its own."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__)), "--work", *words],
        env={**os.environ, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.strip().splitlines()[-1])


def theirs(mode: str, threads: int) -> dict[str, float]:
    python = peer_environment("torch", ["torch==2.13.0", "numpy"])
    words = [python, "-c", PEER, mode, str(threads), str(BATCH), str(STEPS)]
    return json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def measure_step() -> dict:
    found: dict = {"latentry": []}
    for _ in range(RUNS):
        found["latentry"].append(ask("own_step"))
        for mode in ("eager", "compiled"):
            for threads in (1, 2):
                found.setdefault(f"PyTorch {mode}, threads: {threads}", []).append(theirs(mode, threads))
    return found


def measure_epoch() -> dict:
    cases = [("VAE", "1000", "28"), ("VAE", "1000", "28", "dense"), ("IVAE", "1000", "28"), ("VAE", "2000", "24")]
    return {" ".join(case): ask("epoch", *case) for case in cases}


def measure_pima() -> dict:
    return {f"{encoder} {seed}": ask("pima", encoder, seed) for seed in ("0", "1") for encoder in ("auto", "dense")}


def measure_small() -> dict:
    return {rows: ask("small", rows) for rows in ("91", "2000")}


def measure_start() -> dict:
    with tempfile.TemporaryDirectory() as folder:
        cold, warm = (ask("start", "fit", XDG_CACHE_HOME=folder) for _ in range(2))
    imports = {
        what: min((ask("start", what) for _ in range(3)), key=lambda f: f["import"]) for what in ("jax", "latentry")
    }
    return {"cold": cold, "warm": warm, **imports}


def measure_growth() -> dict:
    rows = {n: ask("epoch", "VAE", n, "16") for n in ("500", "1000", "2000", "4000", "8000")}
    sizes = {n: ask("epoch", "VAE", "1000", n) for n in ("8", "16", "32", "64")}
    domains = {n: ask("epoch", "IVAE", "1000", "16", "auto", n) for n in ("3", "9", "27")}
    return {"rows": rows, "pixels a side": sizes, "domains": domains}


PARTS = {
    "step": measure_step,
    "epoch": measure_epoch,
    "pima": measure_pima,
    "small": measure_small,
    "start": measure_start,
    "growth": measure_growth,
}


def step_text(found: dict) -> str:
    best = {name: {what: min(run[what] for run in runs) for what in ("wall", "cpu")} for name, runs in found.items()}
    mine, rows = best["latentry"], []
    for name, t in best.items():
        times = [f"{1e3 * t['wall']:.1f}", f"{1e3 * t['cpu']:.1f}"]
        rows.append([name, *times, *(f"{t[what] / mine[what]:.2f}" for what in ("wall", "cpu"))])
    return (
        f"## A step of the default convolutional VAE, {SIZE} × {SIZE}, batch {BATCH}\n\nThe same layers, Adam and clipping; "
        "latentry's step is that of `fit`, with shuffling and a check of every step. "
        f"Best of {RUNS} processes in turn.\n\n"
        + table(["step", "wall ms", "processor ms", "wall, times latentry's", "processor, times latentry's"], rows)
    )


def epoch_text(found: dict) -> str:
    rows = [[*(name.split() + ["auto"])[:4], f"{t['wall']:.2f}", f"{t['cpu']:.2f}"] for name, t in found.items()]
    head = ["model", "images", "size", "networks", "wall s", "processor s"]
    foot = 'IVAE by its bound alone (`estimation="elbo"`), so that each epoch is alike; 9 domains.'
    return f"## An epoch with default settings\n\n{table(head, rows)}\n\n{foot}"


def pima_text(found: dict) -> str:
    rows = []
    for name, t in found.items():
        rows.append([*name.split(), f"{t['wall']:.0f}", f"{t['cpu']:.0f}", t["epochs"], f"{t['ari']:.3f}"])
    head = ["networks", "seed", "wall s", "processor s", "epochs", "ARI, 1,000 other rows"]
    title = "## `CausalPIMA(nodes=(2, 2, 2), latent_dim=3)` on 3,000 circles of 24 × 24 × 3, the whole fit"
    return f"{title}\n\n{table(head, rows)}"


def small_text(found: dict) -> str:
    rows = [[n, f"{1e3 * t['cpu']:.1f}", f"{1e6 * t['cpu'] / int(n):.0f}"] for n, t in found.items()]
    title = "## CausalPIMA on few rows\n\nA table of 60 columns, batch 27, epochs in which nodes are updated."
    return f"{title}\n\n{table(['rows', 'processor ms an epoch', 'µs a row'], rows)}"


def start_text(found: dict) -> str:
    rows = [
        ["import jax", f"{found['jax']['import']:.2f}"],
        ["import latentry", f"{found['latentry']['import']:.2f}"],
        ["first use of a model, which loads JAX, scikit-learn and the rest", f"{found['warm']['loaded']:.2f}"],
        ["first fit of a small VAE, nothing cached", f"{found['cold']['cpu']:.2f}"],
        ["the same in a second process", f"{found['warm']['cpu']:.2f}"],
    ]
    return f"## Starting\n\n{table(['', 'processor s'], rows)}"


def growth_text(found: dict) -> str:
    panels = {name: {int(n): t["cpu"] for n, t in by.items()} for name, by in found.items()}
    PICTURE.write_text(growth_panels(panels, "Processor seconds of an epoch of a default fit", ("now",)))
    rows = [[name, n, f"{s:.3f}"] for name, by in panels.items() for n, s in by.items()]
    return (
        "## Growth of an epoch\n\nVAE on 16 × 16 images by rows; on 1,000 images by size; IVAE on 1,000 images of 16 × 16 by "
        f"domains.\n\n{table(['by', '', 'processor s'], rows)}\n\n![growth](../../docs/pictures/growth-fits.svg)"
    )


TEXTS = {
    "step": step_text,
    "epoch": epoch_text,
    "pima": pima_text,
    "small": small_text,
    "start": start_text,
    "growth": growth_text,
}


def report(kept: dict) -> None:
    parts = [text(kept[name]) for name, text in TEXTS.items() if name in kept]
    foot = provenance(("latentry", "jax", "equinox", "numpy")) + " Peer: torch 2.13.0."
    publish("image_speed", "\n\n".join(["# What images cost", *parts, foot]))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", nargs="+")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    chosen = parser.parse_args()
    if chosen.work:
        print(json.dumps(WORK[chosen.work[0]](*chosen.work[1:])))
        return
    kept = json.loads(STORE.read_text()) if STORE.exists() else {}
    for name in chosen.only:
        kept[name] = PARTS[name]()
        STORE.parent.mkdir(exist_ok=True)
        STORE.write_text(json.dumps(kept))
        print(name, kept[name], flush=True)
    report(kept)


if __name__ == "__main__":
    main()
