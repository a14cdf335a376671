"""Best latents: against the closed form of 2×2 laws, larger tables, and worst mixtures of many domains."""

from __future__ import annotations

import time

import numpy as np

from latentry.generators import noisy_copies, random_family
from latentry.natural import Family, search, two_by_two, weighted_score, worst_mediation, worst_redundancy

from common import provenance, publish, table


def closed_form(count: int = 1000) -> str:
    rng = np.random.default_rng(0)
    off, gaps, times = [], [], []
    for i in range(count):
        law = rng.dirichlet(np.full(4, (0.3, 1.0, 3.0)[i % 3])).reshape(2, 2)
        start = time.perf_counter()
        found = search(law)
        times.append(time.perf_counter() - start)
        off.append(abs(found.score.value - two_by_two(law)[0]))
        gaps.append(found.gap)
    rows = [
        ["largest distance from the closed form", f"{max(off):.1e} nats"],
        ["largest certified gap", f"{max(gaps):.1e} nats"],
        ["tables with gap ≤ 1e-6", f"{sum(g <= 1e-6 for g in gaps)} of {count}"],
        ["median / largest time", f"{np.median(times):.3f} / {max(times):.2f} s"],
    ]
    return table([f"{count} random 2×2 laws (Dirichlet 0.3, 1, 3; seed 0)", ""], rows)


def larger() -> str:
    rows = []
    cases = [("three noisy copies, flip 0.05", noisy_copies(3, 0.05).laws[0])]
    for shape in [(2, 3), (3, 3), (4, 4), (2, 2, 2), (3, 3, 2), (2, 2, 2, 2)]:
        cases += [(f"random {'×'.join(map(str, shape))}", random_law(shape, s)) for s in range(3)]
    for name, law in cases:
        start = time.perf_counter()
        found = search(law, tolerance=1e-4)
        seconds = time.perf_counter() - start
        best = min(found.baselines.values())
        rows.append(
            [
                name,
                f"{found.score.value:.5f}",
                f"{found.lower.value:.5f}",
                f"{found.gap:.1e}",
                f"{best:.5f}",
                f"{seconds:.2f}",
            ]
        )
    copies = noisy_copies(3, 0.05)
    bit = weighted_score(copies.laws[0], copies.channel)
    return (
        table(["law", "score", "no latent below", "gap", "best baseline", "s"], rows)
        + f"\n\nThe bit that generated the noisy copies scores {bit:.4f}: it is not their best natural latent."
    )


def random_law(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.full(int(np.prod(shape)), 0.5)).reshape(shape)


def suprema() -> str:
    rows = []
    for k in (2, 3, 4, 5, 6):
        gaps, times, nodes, beaten, quick = [], [], [], 0, []
        points = np.random.default_rng(k).dirichlet(np.full(k, 0.5), size=20_000)
        for seed in range(10):
            drawn = random_family((2, 2, 2)[: 2 + seed % 2], 2, k, seed, concentration=0.5)
            family = Family(drawn.laws, drawn.channel)
            start = time.perf_counter()
            worst = worst_mediation(family, tolerance=1e-5)
            times.append(time.perf_counter() - start)
            nodes.append(worst.nodes)
            gaps.append(worst.interval.gap)
            beaten += family.mediation(points).max() > worst.upper.value
            start = time.perf_counter()
            other = worst_redundancy(family, [0])
            quick.append(time.perf_counter() - start)
            beaten += family.redundancy([0], points).max() > other.upper.value
        rows.append(
            [
                k,
                f"{max(gaps):.1e}",
                f"{np.median(times):.2f} / {max(times):.2f}",
                f"{max(nodes)}",
                f"{max(quick):.3f}",
                beaten,
            ]
        )
    header = [
        "domains",
        "largest gap",
        "mediation, median / largest s",
        "most nodes",
        "redundancy, largest s",
        "bounds beaten",
    ]
    return table(header, rows) + "\n\n10 random families each; 20,000 random mixtures tried against every bound."


if __name__ == "__main__":
    text = "\n\n".join(
        [
            "# Best latents and worst mixtures",
            "## The closed form of 2×2 laws",
            closed_form(),
            "## Larger laws (tolerance 1e-4 nats)",
            larger(),
            "## Worst mixtures",
            suprema(),
            provenance(("latentry", "numpy", "scipy")),
        ]
    )
    publish("natural_search", text)
