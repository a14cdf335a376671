"""Embeddings of other tools, certified by the same call: scikit-learn's PCA and FastICA, and a PyTorch autoencoder.

Two views of one hidden angle and one hidden size, in three laboratories; half of the rows train the embedding, the other
half are audited.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA, FastICA

import latentry as lt

from common import peer_environment, provenance, publish, table

TORCH = """
import sys, numpy as np, torch
rows, seen, out = np.load(sys.argv[1]), np.load(sys.argv[2]), sys.argv[3]
torch.manual_seed(0)
x = torch.tensor((rows - rows[seen].mean(0)) / rows[seen].std(0), dtype=torch.float32)
layer = torch.nn.Linear
encode = torch.nn.Sequential(layer(x.shape[1], 32), torch.nn.Tanh(), layer(32, 2))
decode = torch.nn.Sequential(layer(2, 32), torch.nn.Tanh(), layer(32, x.shape[1]))
steps = torch.optim.Adam([*encode.parameters(), *decode.parameters()], lr=3e-3)
for _ in range(1500):
    steps.zero_grad()
    loss = ((decode(encode(x[seen])) - x[seen]) ** 2).mean()
    loss.backward()
    steps.step()
np.save(out, encode(x).detach().numpy())
"""


def world(rows: int = 2000, seed: int = 0) -> lt.Dataset:
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(rows, 2))
    left = np.tanh(z @ rng.normal(size=(2, 6))) + 0.05 * rng.normal(size=(rows, 6))
    right = np.tanh(z @ rng.normal(size=(2, 6))) + 0.05 * rng.normal(size=(rows, 6))
    return lt.Dataset(
        {"left": left, "right": right}, domain=rng.integers(0, 3, rows), factors={"z1": z[:, 0], "z2": z[:, 1]}
    )


def torch_latents(rows: np.ndarray, seen: np.ndarray) -> np.ndarray:
    python = peer_environment("torch", ["torch==2.13.0", "numpy", "scipy"])
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("rows.npy", "seen.npy", "latents.npy")]
        np.save(paths[0], rows)
        np.save(paths[1], seen)
        subprocess.run([python, "-c", TORCH, *map(str, paths)], check=True)
        return np.load(paths[2])


def main() -> None:
    data = world()
    rows = np.hstack([data["left"], data["right"]])
    seen = np.random.default_rng(1).permutation(len(rows))[: len(rows) // 2]
    found = {
        "PCA (scikit-learn)": PCA(2).fit(rows[seen]).transform(rows),
        "FastICA (scikit-learn)": FastICA(2, random_state=0, whiten="unit-variance").fit(rows[seen]).transform(rows),
        "autoencoder (PyTorch), from an npy file": torch_latents(rows, seen),
        "noise": np.random.default_rng(2).normal(size=(len(rows), 2)),
    }
    lines = [line(name, latents, data, seen) for name, latents in found.items()]
    head = ["embedding", "mcc", "I(Λ; left), nats", "I(Λ; right), nats", "mediation error", "redundancy error",
            "natural within 0.1", "controls hold", "processor seconds"]  # fmt: skip
    text = (
        "Two sources behind two views of six columns, in three laboratories; 1,000 rows train the embedding, 1,000 are\n"
        "audited. Λ is the embedding in units of its spread plus noise of 0.25, as declared: with so much noise it cannot explain\n"
        "all that the views share, whoever made it, and the certificate says by how much. Errors are bounds over every mixture\n"
        "of the laboratories.\n"
    )
    publish("certificate_embeddings", f"# Embeddings of other tools\n\n{text}\n{table(head, lines)}\n\n{provenance()}")


def line(name: str, latents: np.ndarray, data: lt.Dataset, seen: np.ndarray) -> list[object]:
    """What the certificate says of one embedding."""
    start = time.process_time()
    certificate = lt.certify(latents, data, epsilon=0.1, seen=seen)
    seconds = time.process_time() - start
    told = [certificate["informative"].numbers[f"I(Λ; {view})"] for view in data.names]
    mixed = [row for row in certificate["natural"].details["table"] if row["place"] == "every mixture"]
    lower = max(row["lower"] for row in mixed if row["error"] == "mediation error")
    upper = max(row["upper"] for row in mixed if row["error"] != "mediation error")
    return [
        name, f"{certificate['fit'].numbers['mcc with the known factors'].value:.2f}",
        *(f"{float(e):.2f} [{e.low:.2f}, {e.high:.2f}]" for e in told), f"≥ {lower:.2f}", f"≤ {upper:.2f}",
        certificate["natural"].verdict.status, "yes" if certificate.trusted else "no", f"{seconds:.0f}",
    ]  # fmt: skip


if __name__ == "__main__":
    main()
