"""Time per optimiser step of the same VAE here and in PyTorch, eager and compiled, side by side in one run."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from common import peer_environment, provenance, publish, table

COLUMNS, LATENTS, BATCH, ROWS = 25, 5, 64, 12_800


def ours(hidden: int) -> dict[str, float]:
    """Steps as a user gets them: fit, with shuffling, checks and history."""
    began = time.perf_counter()
    import latentry as lt
    from latentry.models.estimator.fitting import task_for
    from latentry.training import Feed, Task

    imported = time.perf_counter() - began
    rows = np.random.default_rng(0).normal(size=(ROWS, COLUMNS))
    model = lt.VAE().set_params(
        latent_dim=LATENTS,
        hidden=(hidden, hidden),
        batch_size=BATCH,
        epochs=40,
        validation=0,
        progress=False,
        learning_rate=1e-3,
        training__schedule="constant",
    )
    data = lt.Dataset(rows)
    model.record_ = model.study(data)
    task: Task = task_for(model, data)
    assert isinstance(task.training, Feed)
    began = time.perf_counter()
    state = task.advance(task.start(), 1)
    compiled = time.perf_counter() - began
    times = []
    while not state.finished:
        began = time.perf_counter()
        before = task.done(state)
        state = task.advance(state, 10_000)
        times.append((time.perf_counter() - began) / (task.done(state) - before))
    return {"step": float(np.median(times)), "import": imported, "first": compiled}


PEER = """
import json, sys, time
began = time.perf_counter()
import torch, torch.nn as nn
imported = time.perf_counter() - began
hidden, mode, threads = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
torch.manual_seed(0); torch.set_num_threads(threads)
D, N, B, ROWS = 25, 5, 64, 12800
def net(a, b):
    bend = lambda: nn.GELU(approximate="tanh")
    return nn.Sequential(nn.Linear(a, hidden), bend(), nn.Linear(hidden, hidden), bend(), nn.Linear(hidden, b))
class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder, self.log_scale = net(D, 2 * N), net(N, D), nn.Parameter(torch.zeros(D))
    def forward(self, x):
        h = self.encoder(x); mean, log = h[:, :N], h[:, N:]
        z = mean + torch.exp(log) * torch.randn_like(mean)
        r = self.decoder(z)
        fit = (-0.5 * ((x - r) * torch.exp(-self.log_scale)) ** 2 - self.log_scale).sum(1)
        return (0.5 * (mean ** 2 + torch.exp(2 * log) - 1) - log).sum(1).mean() - fit.mean()
model = VAE(); optimiser = torch.optim.Adam(model.parameters(), 1e-3)
data = torch.randn(ROWS, D)
def step(x):
    optimiser.zero_grad(); loss = model(x); loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 5.0); optimiser.step()
    return loss
if mode == "compiled":
    loss_of = torch.compile(model)
    def forward_backward(x):
        optimiser.zero_grad(); loss = loss_of(x); loss.backward(); return loss
    @torch.compile
    def update():
        nn.utils.clip_grad_norm_(model.parameters(), 5.0); optimiser.step()
    def step(x):
        loss = forward_backward(x); update(); return loss
began = time.perf_counter(); step(data[:B]); first = time.perf_counter() - began
for i in range(20): step(data[:B])
times = []
for epoch in range(4):
    order = torch.randperm(ROWS)
    began = time.perf_counter()
    for i in range(0, ROWS, B): step(data[order[i:i + B]])
    times.append((time.perf_counter() - began) / (ROWS // B))
times.sort()
print(json.dumps({"step": times[len(times) // 2], "import": imported, "first": first}))
"""


def theirs(python: str, hidden: int, mode: str, threads: int) -> dict[str, float]:
    words = [python, "-c", PEER, str(hidden), mode, str(threads)]
    return json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def here(hidden: int) -> dict[str, float]:
    words = [sys.executable, str(Path(__file__)), "--only", str(hidden)]
    return json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", type=int)
    only = parser.parse_args().only
    if only is not None:
        print(json.dumps(ours(only)))
        return
    python = peer_environment("torch", ["torch==2.13.0", "numpy"])
    rows = []
    for hidden in (50, 200):
        contenders = {"latentry (fit loop)": [here(hidden) for _ in range(3)]}
        for mode in ("eager", "compiled"):
            for threads in (1, 2):
                contenders[f"PyTorch {mode}, {threads} thread{'s' * (threads > 1)}"] = [
                    theirs(python, hidden, mode, threads) for _ in range(1 if mode == "compiled" else 2)
                ]
        mine = np.median([run["step"] for run in contenders["latentry (fit loop)"]])
        for name, runs in contenders.items():
            best = min(run["step"] for run in runs) if "PyTorch" in name else mine
            rows.append(
                [
                    hidden,
                    name,
                    f"{1e6 * best:.0f}",
                    f"{best / mine:.1f}",
                    f"{runs[0]['import']:.1f}",
                    f"{runs[0]['first']:.1f}",
                ]
            )
    header = ["hidden", "loop", "µs per step", "times latentry's", "import s", "first step s"]
    publish(
        "training_speed",
        "# Time per optimiser step\n\n"
        f"The same VAE (two hidden layers each way, {COLUMNS} columns, {LATENTS} latents, batch {BATCH}, Adam, clipping), "
        "float32. latentry: median epoch of 40, median of three processes, with shuffling and divergence checks. "
        "PyTorch: median epoch of four, for one and two threads (eager: the better of two processes). "
        '"First step" includes compilation, without a cache for latentry and with whatever PyTorch has cached.\n\n'
        + table(header, rows)
        + "\n\n"
        + provenance()
        + " Peer: torch 2.13.0.",
    )


if __name__ == "__main__":
    main()
