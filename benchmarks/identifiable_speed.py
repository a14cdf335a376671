"""Seconds until the latents are found (MCC of .95 on held-out rows), beside the released schedule in PyTorch; one run.

    .venv/bin/python benchmarks/identifiable_speed.py

Both see the same rows of the centred segments and are scored on the same fifth that neither trained on, from posterior
means. Our seconds are those of whole fits of growing length, imports and compilation included, in a fresh process with an
empty compilation cache; PyTorch's are those of training alone, with the clock stopped while an epoch is scored.
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

from common import peer_environment, provenance, publish, table

AIM = 0.95
LENGTHS = (5, 10, 20, 40, 80)

OURS = """
import json, sys, time
began = time.perf_counter()
import numpy as np, latentry as lt
arrays = np.load(sys.argv[1])
model = lt.IFlow(epochs=int(sys.argv[2]), seed=int(sys.argv[3]), progress=False).fit(arrays["x"], arrays["u"])
seconds = time.perf_counter() - began
print(json.dumps({"seconds": seconds, "mcc": lt.mcc(model.transform(arrays["x_test"]), arrays["s_test"])}))
"""

THEIRS = """
import json, sys, time
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
from scipy.optimize import linear_sum_assignment
arrays, epochs, seed = np.load(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
torch.manual_seed(seed); torch.set_num_threads(2)
x, s_test, x_test = (torch.tensor(arrays[k], dtype=torch.float32) for k in ("x", "s_test", "x_test"))
M = int(arrays["u"].max()) + 1
u, u_test = (F.one_hot(torch.tensor(arrays[k]).long(), M).float() for k in ("u", "u_test"))
d, n = x.shape[1], s_test.shape[1]
class MLP(nn.Module):
    def __init__(self, a, b, hidden=100):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(a, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, b)])
        for layer in self.layers: nn.init.xavier_uniform_(layer.weight)
    def forward(self, h):
        for layer in self.layers[:-1]: h = F.leaky_relu(layer(h), 0.1)
        return self.layers[-1](h)
class IVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.logl, self.f, self.g, self.logv = MLP(M, n), MLP(n, d), MLP(d + M, n), MLP(d + M, n)
model = IVAE()
def log_normal(z, mean, var): return -0.5 * ((z - mean) ** 2 / var + torch.log(var) + np.log(2 * np.pi))
def loss_of(x, u, N, a=100.0, b=1.0, c=0.0, d=10.0):
    xu = torch.cat([x, u], 1)
    mean, var, prior = model.g(xu), torch.exp(model.logv(xu)), torch.exp(model.logl(u))
    z = mean + torch.sqrt(var) * torch.randn_like(mean)
    log_px = log_normal(x, model.f(z), torch.tensor(0.1)).sum(1)
    log_q, log_p = log_normal(z, mean, var).sum(1), log_normal(z, torch.zeros(1), prior).sum(1)
    pairs = log_normal(z[:, None], mean[None], var[None])
    whole = torch.logsumexp(pairs.sum(2), 1) - np.log(len(x) * N)
    single = (torch.logsumexp(pairs, 1) - np.log(len(x) * N)).sum(1)
    return -(a * log_px - b * (log_q - whole) - c * (whole - single) - d * (single - log_p)).mean()
def mcc():
    with torch.no_grad(): found = model.g(torch.cat([x_test, u_test], 1)).numpy()
    both = np.abs(np.corrcoef(found.T, s_test.numpy().T)[:n, n:])
    rows, columns = linear_sum_assignment(-both)
    return float(both[rows, columns].mean())
optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimiser, factor=0.1, patience=4)
seconds, curve = 0.0, []
for epoch in range(epochs):
    began = time.perf_counter()
    order, total = torch.randperm(len(x)), 0.0
    for i in range(0, len(x), 64):
        rows = order[i:i + 64]
        optimiser.zero_grad(); loss = loss_of(x[rows], u[rows], len(x)); loss.backward(); optimiser.step()
        total += float(loss)
    plateau.step(total)
    seconds += time.perf_counter() - began
    curve.append((seconds, mcc()))
print(json.dumps(curve))
"""


def run(python: str, code: str, *words: object) -> object:
    # An empty cache, so that compilation is paid for.
    with tempfile.TemporaryDirectory() as cache:
        settings = os.environ | {"JAX_COMPILATION_CACHE_DIR": cache, "XDG_CACHE_HOME": cache}
        done = subprocess.run([python, "-c", code, *map(str, words)], capture_output=True, text=True, env=settings)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def make(seed: int, folder: Path) -> Path:
    import latentry as lt

    training, held_out = lt.generators.segments(seed=seed).split(0.8, 0.2, seed=seed)
    path = folder / f"centred-{seed}.npz"
    np.savez(
        path,
        x=training["x"],
        u=training.domain.values,
        x_test=held_out["x"],
        u_test=held_out.domain.values,
        s_test=np.column_stack([*held_out.factors.values()]),
    )
    return path


def compare(seed: int, epochs: int, python: str, folder: Path) -> list[object]:
    path = make(seed, folder)
    lengths = []
    for length in LENGTHS:
        lengths.append(run(sys.executable, OURS, path, length, seed) | {"epochs": length})
        if lengths[-1]["mcc"] >= AIM:
            break
    curve = run(python, THEIRS, path, epochs, seed)
    reached = [seconds for seconds, value in curve if value >= AIM]
    ours = lengths[-1]
    theirs = f"{reached[0]:.0f}" if reached else f"never (best {max(v for _, v in curve):.3f} in {curve[-1][0]:.0f} s)"
    ratio = f"{reached[0] / ours['seconds']:.1f}×" if reached else f"> {curve[-1][0] / ours['seconds']:.1f}×"
    print(seed, ours, theirs, flush=True)
    return [seed, f"{ours['seconds']:.1f}", ours["epochs"], f"{ours['mcc']:.3f}", theirs, f"{curve[-1][1]:.3f}", ratio]


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--seeds", nargs="*", type=int, default=[0, 1, 2])
    words.add_argument("--epochs", type=int, default=20, help="of the released schedule")
    chosen = words.parse_args()
    python = peer_environment("torch", ["torch==2.13.0", "numpy", "scipy"])
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        rows = [compare(seed, chosen.epochs, python, Path(folder)) for seed in chosen.seeds]
    head = ["data seed", "IFlow, s", "its epochs", "its MCC", "released schedule, s", "its MCC at the end", "ratio"]
    publish(
        "identifiable_speed",
        "\n\n".join(
            [
                f"# Seconds to an MCC of {AIM} on held-out rows, centred segments (40 × 1000, n = d = 5)",
                "IFlow: the shortest of fits with 5, 10, 20, 40, 80 epochs that gets there, imports and compilation included. "
                f"Released schedule: four networks of 3 × 100, loss (100, 1, 0, 10), Adam 1e-2, batch 64, {chosen.epochs} "
                "epochs, in PyTorch 2.13.0 with 2 threads, training alone. Where it never gets there, the ratio is that of "
                "its whole run.",
                table(head, rows),
                f"The whole comparison took {time.perf_counter() - began:.0f} s. " + provenance(),
            ]
        ),
    )


if __name__ == "__main__":
    main()
