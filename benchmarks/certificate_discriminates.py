"""Whether the top of a certificate tells good latents from worthless ones, on digits from three laboratories.

Digits (scikit-learn) in two halves, three laboratories with another gain and noise each, rows shuffled. Latents: noise, a random
label, two principal components, two components of UMAP (in an environment of its own), the digit itself. And CausalPIMA with two
nodes, on rows with two coins behind them and on rows with one.
"""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

import latentry as lt

from common import peer_environment, provenance, publish, table


def digits(seed: int) -> tuple[lt.Dataset, dict[str, np.ndarray]]:
    """Rows from three laboratories, and latents of known worth."""
    rng = np.random.default_rng(1000 + seed)
    pixels, digit = load_digits(return_X_y=True)
    order = rng.permutation(len(digit))
    pixels, digit = pixels[order] / 16.0, digit[order]
    lab = rng.integers(0, 3, len(digit))
    pixels = pixels * np.array([1.0, 0.9, 1.1])[lab][:, None] + 0.05 * rng.normal(size=pixels.shape)
    data = lt.Dataset(
        {"upper half": pixels[:, :32], "lower half": pixels[:, 32:]}, domain=np.array(["A", "B", "C"])[lab]
    )
    latents = {
        "noise": rng.normal(size=(len(digit), 2)),
        "random label": rng.integers(0, 10, len(digit)),
        "PCA": PCA(2, random_state=0).fit_transform(pixels),
        "UMAP": umap(pixels),
        "digit": digit,
    }
    return data, latents


UMAP = """
import sys
import numpy as np
from umap import UMAP
np.save(sys.argv[2], UMAP(2, random_state=0).fit_transform(np.load(sys.argv[1])).astype(float))
"""


def umap(pixels: np.ndarray) -> np.ndarray:
    """Two components of UMAP, by its own package."""
    python = peer_environment("umap", ["umap-learn==0.5.12", "scikit-learn==1.9.1"])
    with TemporaryDirectory() as folder:
        rows, found = Path(folder) / "rows.npy", Path(folder) / "found.npy"
        np.save(rows, pixels)
        subprocess.run([python, "-c", UMAP, str(rows), str(found)], check=True)
        latents: np.ndarray = np.load(found)
    return latents


def first_screen(certificate: lt.Certificate) -> list[str]:
    """The sentences at the top of the page."""
    return [str(one) for one in certificate.statements[:6]]


def worthless(certificate: lt.Certificate) -> bool:
    """Whether the page calls the latent worthless."""
    return any("worthless" in one.sentence for one in certificate.statements)


def two_nodes(coins: int, seed: int) -> lt.Certificate:
    """CausalPIMA with two nodes, on two tables that show two coins, or one coin twice."""
    rng = np.random.default_rng(2000 + seed)
    hidden = rng.integers(0, 2, (1500, 2))
    hidden[:, 1] = hidden[:, coins - 1]
    data = lt.Dataset({name: 4.0 * hidden + rng.normal(size=(1500, 2)) for name in ("left", "right")})
    training, _ = data.split(0.6, 0.4)
    model = lt.CausalPIMA(nodes=(2, 2), latent_dim=2, epochs=60, seed=seed, progress=False).fit(training)
    return lt.certify(model, data, epsilon=0.1, only=["variables", "fit", "informative", "causal"])


def seeds_of_digits(count: int) -> tuple[list[list[object]], Mapping[str, lt.Certificate]]:
    """How often each latent is called worthless, and how many pairs have different sentences."""
    called: dict[str, int] = {}
    apart, last = 0, {}
    for seed in range(count):
        data, latents = digits(seed)
        together = lt.certify(latents, data, epsilon=0.1, seed=seed)
        last = together.certificates
        for name, one in last.items():
            called[name] = called.get(name, 0) + worthless(one)
        tops = ["\n".join(first_screen(one)) for one in last.values()]
        apart += len(set(tops)) == len(tops)
        print(seed, together, flush=True)
    return [[name, f"{times} of {count}"] for name, times in called.items()] + [
        ["all five tops differ", f"{apart} of {count}"]
    ], last


def main() -> None:
    """Run the seeds that are asked for, and write the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seeds", type=int, default=3)
    chosen = options.parse_args()
    rows, last = seeds_of_digits(chosen.seeds)
    fits = {f"CausalPIMA, {coins} behind two nodes": two_nodes(coins, 0) for coins in (2, 1)}
    last = {**last, **fits}
    tops = "\n\n".join(
        f"**{name}**\n\n" + "\n".join(f"- {words}" for words in first_screen(one)) for name, one in last.items()
    )
    publish(
        "certificate_discriminates",
        f"# Tops of certificates of latents of known worth\n\n{provenance()}\n\n{table(['latent', 'called worthless'], rows)}\n\n"
        f"## The first sentences, last seed\n\n{tops}\n",
    )


if __name__ == "__main__":
    main()
