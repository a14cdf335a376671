"""Processor seconds per epoch of IFlow as rows and domains grow, in one process.

.venv/bin/python benchmarks/identifiable_cost.py
"""

from __future__ import annotations

import time

import numpy as np

import latentry as lt

from common import provenance, publish, table

ROWS = (40_000, 400_000, 4_000_000)
DOMAINS = (40, 400, 4_000)


def epoch(rows: int, domains: int) -> float:
    """The second of two equal fits of three epochs less one of one epoch, halved: no compilation, no preparation."""
    rng = np.random.default_rng(0)
    u = np.arange(rows) % domains
    scale = rng.uniform(0.5, 3, size=(domains, 5)).astype(np.float32)
    data = lt.Dataset(np.tanh(rng.standard_normal((rows, 5), dtype=np.float32) * scale[u]) @ np.eye(5), u)
    del scale

    def fit(epochs: int) -> float:
        began = time.process_time()
        lt.IFlow(epochs=epochs, validation=0, progress=False).fit(data)
        return time.process_time() - began

    fit(1)
    short = fit(1)
    return (fit(3) - short) / 2


def main() -> None:
    by_rows = [(rows, epoch(rows, 40)) for rows in ROWS]
    by_domains = [(domains, epoch(400_000, domains)) for domains in DOMAINS]

    def lines(found: list[tuple[int, float]]) -> list[list[object]]:
        return [[f"{size:,}", f"{seconds:.2f}", f"{seconds / found[0][1]:.1f}×"] for size, seconds in found]

    publish(
        "identifiable_cost",
        "\n\n".join(
            [
                "# Cost of IFlow (n = d = 5, batches of 256)",
                "40 domains:\n\n" + table(["rows", "processor seconds per epoch", "of the first"], lines(by_rows)),
                "400,000 rows:\n\n"
                + table(["domains", "processor seconds per epoch", "of the first"], lines(by_domains)),
                provenance(),
            ]
        ),
    )


if __name__ == "__main__":
    main()
